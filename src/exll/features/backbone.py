"""Frozen networks, run by ONNX Runtime: images in, vectors out."""

import hashlib
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from exll.errors import BackboneError, InputError, OtherBackboneError
from exll.features.export import PUBLISHED
from exll.features.folders import backbone_folder
from exll.features.image import ImageSource, read_image
from exll.features.looks import Box, as_shares, check_looks, looks_at, side_needed
from exll.features.onnx_reader import has_external_data, metadata_of
from exll.features.packaged import PACKAGED, choice_of, is_installed, packaged_content
from exll.features.preprocessing import ResizeRule, find_preprocessing
from exll.features.regions import cut_out

DEFAULT = "efficientnet_lite0"
BUILT_IN = "nano"
BATCH = 4  # images that go through the network together: more at once are slower, past the CPU's caches


@dataclass(frozen=True)
class View:
    """An image prepared for the network: decoded once, for several questions."""

    picture: Image  # upright and perhaps reduced; only the region, where one was named
    boxes: tuple[Box, ...]  # where in the picture the network looks, as shares of its width and height
    inputs: NDArray[Any]  # (looks, ...) what it gets to see


@dataclass(frozen=True)
class Seen:
    """An image after one run of the network."""

    picture: Image
    boxes: tuple[Box, ...]
    vector: NDArray[np.float32]  # (width,)
    maps: NDArray[np.float32] | None  # (looks, width, rows, columns); summed over the looks, their means are the vector


class OnnxBackbone:
    """A network by name or by the path of an ``.onnx`` file.

    Names are those of ``exll backbone list``: ``efficientnet_lite0``, whose weights are a package of their own,
    ``nano``, which is part of exll, and others once they are added. ``identity`` is a SHA-256 over the weights, the
    preprocessing and the looks: two backbones with one identity give the same vectors. ``looks=2`` adds the vectors of
    the whole image and of its centre, each at unit length; ``looks=1`` sees what the network's file asks for, or what
    ``resize`` says instead.
    """

    def __init__(
        self,
        name: str | os.PathLike[str] = DEFAULT,
        threads: int | None = None,
        resize: ResizeRule | None = None,
        looks: int | None = None,
        identity: str | None = None,
    ) -> None:
        self.looks = looks if looks is not None else 2 if resize is None else 1
        check_looks(self.looks)
        if resize is not None and self.looks != 1:
            raise InputError("two looks are always the whole image and its centre; resize is for looks=1.")
        self.name, self.path, content = read_network(name)
        self._arguments = threads, resize, self.looks
        self.preprocessing = find_preprocessing(_metadata(content, self.name), self.path or Path(self.name))
        if resize is not None:
            self.preprocessing = resize.applied_to(self.preprocessing)
        digest = hashlib.sha256(content)
        digest.update(repr(self.preprocessing).encode())
        if self.looks != 1:  # models of one look are older than this line
            digest.update(f"looks={self.looks}".encode())
        self.identity = digest.hexdigest()
        if identity not in (None, self.identity):
            raise OtherBackboneError(self.source, self.identity)
        self._session = _session(content, threads, self.name)
        self._input = self._session.get_inputs()[0].name
        self._one_at_a_time = self._session.get_inputs()[0].shape[:1] == [1]  # exported for single images
        outputs = {output.name: output.shape for output in self._session.get_outputs()}
        wanted = self.preprocessing.features_output, self.preprocessing.map_output
        for output in wanted:
            if output is not None and output not in outputs:
                raise BackboneError(f"{self.name} has no output {output!r}; it has {', '.join(sorted(outputs))}.")
        if self.path is None:
            self.width = int(outputs[self.preprocessing.features_output][1])
        else:  # other people's networks are tried, to see whether their preprocessing fits them
            trial = self.features([np.zeros((8, 8, 3), np.uint8)] * 2)
            self.width = trial.shape[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, opens the network again."""
        return _opened_again, (self.source, *self._arguments, self.identity)

    @property
    def source(self) -> str:
        """The name or the path that opens this network again."""
        return self.name if self.path is None else str(self.path.resolve())

    def metadata(self) -> dict[str, Any]:
        """What a model file says of it."""
        place = {} if self.path is None else {"path": self.source}  # which others need not have
        return {"name": self.name, "identity": self.identity, "looks": self.looks, **place}

    @property
    def has_map(self) -> bool:
        return self.preprocessing.map_output is not None

    def prepare(self, image: ImageSource, box: Any = None, **limits: Any) -> View:
        """One image as the network wants it; safe to call in many threads.

        ``box`` is the region (left, top, right, bottom) to look at, in pixels of the upright image; ``limits`` are
        those of :func:`exll.features.image.read_image`.
        """
        if box is None:
            picture = read_image(image, at_least=side_needed(self.looks, self.preprocessing), **limits)
        else:
            picture = cut_out(read_image(image, **limits), box)
        boxes = looks_at(picture.size, self.looks, self.preprocessing)
        inputs = np.stack([self.preprocessing.network_input(picture, box) for box in boxes])
        return View(picture, tuple(as_shares(box, picture.size) for box in boxes), inputs)

    def run(self, inputs: list[NDArray[Any]]) -> NDArray[np.float32]:
        """Vectors of images that were prepared before, (images, width), from the inputs of their views."""
        output = [self.preprocessing.features_output]
        vectors = [
            self._added(self._run(output, np.concatenate(inputs[start : start + BATCH]))[0])
            for start in range(0, len(inputs), BATCH)
        ]
        return np.concatenate(vectors)

    def features(self, images: list[Any], boxes: list[Any] | None = None) -> NDArray[np.float32]:
        """Vectors of images, (images, width)."""
        regions = boxes or [None] * len(images)
        return self.run([self.prepare(image, box).inputs for image, box in zip(images, regions, strict=True)])

    def see(self, image: "ImageSource | View", box: Any = None) -> Seen:
        """One image, decoded once and run through the network once, for several questions."""
        view = image if isinstance(image, View) else self.prepare(image, box)
        outputs = [self.preprocessing.features_output]
        if self.preprocessing.map_output is not None:
            outputs.append(self.preprocessing.map_output)
        features, *maps = self._run(outputs, view.inputs)
        weights = self._weights(features)
        found = maps[0] * weights[:, :, None, None] if maps else None
        return Seen(view.picture, view.boxes, (features * weights).sum(axis=0), found)

    def _added(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """The looks of each image made one vector."""
        weighted = (features * self._weights(features)).reshape(-1, self.looks, features.shape[1])
        added: NDArray[np.float32] = weighted.sum(axis=1)
        return added

    def _weights(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """What each look is multiplied by before they are added, (rows, 1): one alone stays as it is."""
        if self.looks == 1:
            return np.ones((len(features), 1), np.float32)
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        weights: NDArray[np.float32] = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        return weights

    def _run(self, outputs: list[str], batch: NDArray[Any]) -> list[NDArray[Any]]:
        step = 1 if self._one_at_a_time else len(batch)
        runs = [self._run_once(outputs, batch[start : start + step]) for start in range(0, len(batch), step)]
        features, *maps = runs[0] if len(runs) == 1 else [np.concatenate(parts) for parts in zip(*runs, strict=True)]
        if features.ndim > 2 and set(features.shape[2:]) == {1}:
            features = features.reshape(features.shape[:2])
        if features.ndim != 2 or len(features) != len(batch):
            raise BackboneError(
                f"{self.name} gives features of shape {features.shape} for {len(batch)} inputs; one row per input is "
                "needed, (n, width)."
            )
        return [features, *maps]

    def _run_once(self, outputs: list[str], batch: NDArray[Any]) -> list[NDArray[Any]]:
        try:
            results: list[NDArray[Any]] = self._session.run(outputs, {self._input: batch})
        except Exception as error:
            raise BackboneError(
                f"{self.name} cannot run on an input of {batch.dtype} {batch.shape}; does its preprocessing fit it?"
            ) from error
        return results


def read_network(name: str | os.PathLike[str]) -> tuple[str, Path | None, bytes]:
    """The name, the file and the content of a network; those that everybody gets with exll have no file to name."""
    text = os.fspath(name)
    choice = None if _is_path(text) else choice_of(text)
    if choice is not None:
        return choice.name, None, packaged_content(choice)
    path = find_backbone(text)
    content = path.read_bytes()
    if text == BUILT_IN:
        return path.stem, None, content
    _check_one_file(content, path)
    return path.stem, path, content


def _metadata(content: bytes, name: str) -> dict[str, str]:
    try:
        return metadata_of(content)
    except ValueError as error:
        raise BackboneError(f"{name} is not a network that ONNX Runtime can run.") from error


def _check_one_file(content: bytes, path: Path) -> None:
    try:
        external = has_external_data(content)
    except ValueError as error:
        raise BackboneError(f"{path.stem} is not a network that ONNX Runtime can run.") from error
    if external:
        raise BackboneError(
            f"{path} keeps its weights in another file, so nobody could tell which network it is; save it as one file "
            "(onnx.save_model(onnx.load(path), path, save_as_external_data=False))."
        )


def _session(content: bytes, threads: int | None, name: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or max(1, (os.cpu_count() or 2) - 1)
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # leave the cores to others meanwhile
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises a family of its own for every way a file can be wrong
        raise BackboneError(f"{name} is not a network that ONNX Runtime can run.") from error


def _opened_again(
    source: str, threads: int | None, resize: ResizeRule | None, looks: int, identity: str
) -> OnnxBackbone:
    try:
        return OnnxBackbone(source, threads, resize, looks, identity)
    except OtherBackboneError as error:
        raise BackboneError(f"{source} is another network than the one that was copied.") from error


def find_backbone(name: str) -> Path:
    """The file of a backbone: a path to one, the built-in, or one that was added."""
    if _is_path(name):
        path = Path(name)
        if not path.is_file():
            raise BackboneError(f"there is no backbone file at {name}.")
        return path
    if name == BUILT_IN:
        return Path(str(files("exll") / "assets" / "nano.onnx"))
    path = backbone_folder() / f"{name}.onnx"
    if not path.is_file():
        known = ", ".join(available_backbones())
        way = f"'exll backbone add {name}' adds it" if name in PUBLISHED else "'exll backbone list' names more to add"
        raise BackboneError(f"there is no backbone {name!r} here; there are: {known}. {way}, or name an .onnx file.")
    return path


def available_backbones() -> list[str]:
    """Names that can be used now: the default first, then the built-in."""
    packaged = [network.name for network in PACKAGED.values() if is_installed(network)]
    added = sorted(path.stem for path in backbone_folder().glob("*.onnx"))
    return [*packaged[:1], BUILT_IN, *packaged[1:], *added]


def _is_path(name: str) -> bool:
    return name.endswith(".onnx") or os.sep in name
