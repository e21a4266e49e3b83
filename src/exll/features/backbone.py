"""Frozen networks, run by ONNX Runtime: images in, vectors out."""

import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.errors import BackboneError
from exll.features.export import PUBLISHED
from exll.features.folders import backbone_folder
from exll.features.image import ImageSource
from exll.features.preprocessing import ResizeRule, find_preprocessing

BUILT_IN = "nano"
BATCH = 16


class Backbone:
    """A network by name (``nano`` is built in; others once added) or by the path of an ``.onnx`` file.

    ``identity`` is a SHA-256 over the weights and the preprocessing: two backbones with one identity give the same
    vectors. ``resize`` overrules how the network wants images brought to its size.
    """

    def __init__(
        self, name: str | os.PathLike[str] = BUILT_IN, threads: int | None = None, resize: ResizeRule | None = None
    ) -> None:
        import onnxruntime

        self.path = find_backbone(name)
        self.name = self.path.stem
        self._how = threads, resize
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or max(1, (os.cpu_count() or 2) - 1)
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # leave the cores to others meanwhile
        options.log_severity_level = 3
        content = self.path.read_bytes()
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime raises a family of its own for every way a file can be wrong
            raise BackboneError(f"{self.path} is no network that ONNX Runtime can run.") from error
        self.preprocessing = find_preprocessing(self._session.get_modelmeta().custom_metadata_map, self.path)
        if resize is not None:
            self.preprocessing = resize.applied_to(self.preprocessing)
        digest = hashlib.sha256(content)
        digest.update(repr(self.preprocessing).encode())
        self.identity = digest.hexdigest()
        self._input = self._session.get_inputs()[0].name
        outputs = {output.name for output in self._session.get_outputs()}
        wanted = self.preprocessing.features_output, self.preprocessing.map_output
        for output in wanted:
            if output is not None and output not in outputs:
                raise BackboneError(f"{self.path} has no output {output!r}; it has {', '.join(sorted(outputs))}.")
        self.width = self.features([np.zeros((8, 8, 3), np.uint8)]).shape[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, opens the file again."""
        source = BUILT_IN if self.path == find_backbone(BUILT_IN) else self.path.resolve()
        return _opened_again, (source, *self._how, self.identity)

    @property
    def has_map(self) -> bool:
        return self.preprocessing.map_output is not None

    def prepare(self, source: ImageSource) -> NDArray[Any]:
        """One image as the network wants it; safe to call in many threads."""
        return self.preprocessing.prepare(source)

    def run(self, prepared: list[NDArray[Any]]) -> NDArray[np.float32]:
        """Vectors of images that were prepared before."""
        vectors = [
            self._run(self.preprocessing.features_output, np.stack(prepared[start : start + BATCH]))
            for start in range(0, len(prepared), BATCH)
        ]
        return np.concatenate(vectors)

    def features(self, images: list[Any]) -> NDArray[np.float32]:
        """Vectors of images, (images, width)."""
        return self.run([self.prepare(image) for image in images])

    def feature_map(self, image: ImageSource) -> NDArray[np.float32]:
        """The vectors of an image's places, (width, rows, columns); their mean is its feature vector."""
        if self.preprocessing.map_output is None:
            raise BackboneError(f"the backbone {self.name} gives no feature map.")
        places: NDArray[np.float32] = self._run(self.preprocessing.map_output, self.prepare(image)[None])[0]
        return places

    def _run(self, output: str, batch: NDArray[Any]) -> NDArray[Any]:
        try:
            result: NDArray[Any] = self._session.run([output], {self._input: batch})[0]
        except Exception as error:
            raise BackboneError(
                f"{self.path} cannot run on an input of {batch.dtype} {batch.shape}; does its preprocessing fit it?"
            ) from error
        return result


def _opened_again(source: str | Path, threads: int | None, resize: ResizeRule | None, identity: str) -> Backbone:
    backbone = Backbone(source, threads, resize)
    if backbone.identity != identity:
        raise BackboneError(f"{backbone.path} is another network than the one that was copied.")
    return backbone


def find_backbone(name: str | os.PathLike[str]) -> Path:
    """The file of a backbone: a path to one, the built-in, or one that was added."""
    text = os.fspath(name)
    if text.endswith(".onnx") or os.sep in text:
        path = Path(text)
        if not path.is_file():
            raise BackboneError(f"there is no backbone file at {text}.")
        return path
    if text == BUILT_IN:
        return Path(str(files("exll") / "assets" / "nano.onnx"))
    path = backbone_folder() / f"{text}.onnx"
    if not path.is_file():
        known = ", ".join(available_backbones())
        way = f"'exll backbone add {text}' adds it" if text in PUBLISHED else "'exll backbone list' names more to add"
        raise BackboneError(f"there is no backbone {text!r} here; there are: {known}. {way}, or name an .onnx file.")
    return path


def available_backbones() -> list[str]:
    """Names that can be used now: the built-in first."""
    return [BUILT_IN, *sorted(path.stem for path in backbone_folder().glob("*.onnx"))]
