"""Networks that are Python objects, beside those that ONNX Runtime runs."""

import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image, Resampling, fromarray

from exll.errors import BackboneError, OtherBackboneError
from exll.features.backbone import OnnxBackbone, Seen, View
from exll.features.image import ImageSource, read_image
from exll.features.regions import cut_out

SIDE = 512  # of the pictures that a network gets which does not say how large it wants them
TOGETHER = 16
WHOLE = (0.0, 0.0, 1.0, 1.0)


@runtime_checkable
class Backbone(Protocol):
    """What an ImageLearner needs of a network. Any object that has these will do.

    ``features`` gets upright RGB pictures and gives one row of ``width`` numbers for each. More is optional:

    - ``identity``, a string that changes whenever the same picture would give another vector. A model is refused by a
      network of another identity. Without one it is the name and the width.
    - ``side``: pictures with a longer short side than this are made smaller before they come; 512 without one.
    - ``see(picture)`` gives a :class:`Seen` with feature maps, for evidence maps. Without it there are none.

    >>> class MeanColour:
    ...     name, width = "mean colour", 3
    ...     def features(self, images):
    ...         return [np.asarray(image).mean(axis=(0, 1)) for image in images]
    >>> from exll import ImageLearner
    >>> learner = ImageLearner(backbone=MeanColour())
    >>> learner.learn([np.full((8, 8, 3), colour, np.uint8) for colour in ((255, 0, 0), (0, 0, 255))], ["red", "blue"])
    >>> learner.predict(np.full((8, 8, 3), (0, 9, 200), np.uint8)).label
    'blue'
    """

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...

    def features(self, images: list[Any]) -> Any:
        """(images, width) numbers.

        >>> from exll import OnnxBackbone
        >>> OnnxBackbone("nano").features([np.zeros((8, 8, 3), np.uint8)]).shape
        (1, 512)
        """
        ...


class OwnBackbone:
    """A Python object as the network of an ImageLearner: exll reads the images, the object makes the vectors."""

    looks = 1

    def __init__(self, network: Backbone) -> None:
        lacking = [name for name in ("name", "width", "features") if not hasattr(network, name)]
        if lacking:
            raise BackboneError(
                "a backbone must be a name, an .onnx file, or an object with name, width and features(images); "
                f"this {type(network).__name__} has no {' and no '.join(lacking)}."
            )
        self.network = network
        self.name = network.name
        self.width = network.width
        self.identity = str(getattr(network, "identity", f"{network.name}/{network.width}"))
        self.has_map = hasattr(network, "see")
        self._side: int = getattr(network, "side", SIDE)

    @property
    def source(self) -> str:
        """How an error names it."""
        return self.name

    def metadata(self) -> dict[str, Any]:
        """What a model file says of it."""
        made_by = f"{type(self.network).__module__}.{type(self.network).__qualname__}"
        return {"name": self.name, "identity": self.identity, "looks": self.looks, "object": made_by}

    def prepare(self, image: ImageSource, box: Any = None, **limits: Any) -> View:
        """One image as the object gets it; safe to call in many threads."""
        if box is None:
            picture = read_image(image, at_least=self._side, **limits)
        else:
            picture = cut_out(read_image(image, **limits), box)
        scale = self._side / min(picture.size)
        if scale < 1:
            width, height = (max(1, round(scale * side)) for side in picture.size)
            picture = picture.resize((width, height), Resampling.BICUBIC, reducing_gap=2.0)
        return View(picture, (WHOLE,), np.asarray(picture)[None])

    def run(self, inputs: list[NDArray[Any]]) -> NDArray[np.float32]:
        """Vectors of images that were prepared before, (images, width), from the inputs of their views."""
        pictures = [fromarray(pixels[0]) for pixels in inputs]
        return np.concatenate([self._vectors(pictures[i : i + TOGETHER]) for i in range(0, len(pictures), TOGETHER)])

    def features(self, images: list[Any], boxes: list[Any] | None = None) -> NDArray[np.float32]:
        """Vectors of images, (images, width)."""
        regions = boxes or [None] * len(images)
        return self.run([self.prepare(image, box).inputs for image, box in zip(images, regions, strict=True)])

    def see(self, image: ImageSource | View, box: Any = None) -> Seen:
        """One image, decoded once and run through the network once, for several questions."""
        picture = (image if isinstance(image, View) else self.prepare(image, box)).picture
        if not self.has_map:
            return Seen(picture, (WHOLE,), self._vectors([picture])[0], None)
        seen: Seen = self.network.see(picture)  # type: ignore[attr-defined]  # optional, and there
        return seen

    def _vectors(self, pictures: list[Image]) -> NDArray[np.float32]:
        try:
            vectors = np.asarray(self.network.features(pictures), np.float32)
        except ValueError as error:  # rows of different lengths, or no numbers
            raise BackboneError(f"the backbone {self.name} gave no table of numbers: {error}") from error
        if vectors.shape != (len(pictures), self.width):
            raise BackboneError(
                f"the backbone {self.name} must give {self.width} numbers for each of {len(pictures)} images; "
                f"got shape {vectors.shape}."
            )
        return vectors


class ClosedNetwork(OwnBackbone):
    """A network that is known only from a model file: for edits of a model that need no network."""

    def __init__(self, known: dict[str, Any], width: int) -> None:
        self._known, self.width = known, width
        self.name, self.identity, self.looks = known["name"], known["identity"], known.get("looks", 1)
        self.has_map = False

    def metadata(self) -> dict[str, Any]:
        return self._known

    def prepare(self, image: ImageSource, box: Any = None, **limits: Any) -> View:
        raise BackboneError(
            f"the backbone {self.name} was not opened; load the model with exll.load to show it images."
        )


Network: TypeAlias = OnnxBackbone | OwnBackbone


def as_network(
    backbone: str | os.PathLike[str] | Backbone | Network, threads: int | None = None, looks: int | None = None
) -> Network:
    """The network of a name, of a file, or of an object."""
    if isinstance(backbone, str | os.PathLike):
        return OnnxBackbone(backbone, threads, looks=looks)
    return backbone if isinstance(backbone, OnnxBackbone | OwnBackbone) else OwnBackbone(backbone)


def opened_again(
    known: dict[str, Any], backbone: str | os.PathLike[str] | Backbone | None, threads: int | None
) -> Network:
    """The network that a model file names, or the one that is given, which must be the same."""
    looks = known.get("looks", 1)  # which files of before did not say
    try:
        found = _found(known, threads, looks) if backbone is None else as_network(backbone, threads, looks)
        if found.identity != known["identity"]:
            raise OtherBackboneError(found.source, found.identity)
    except OtherBackboneError as error:
        raise BackboneError(
            f"this model was taught with the backbone {known['name']} (identity {known['identity'][:12]}), and "
            f"{error.source} is another one (identity {error.identity[:12]}); vectors of the two cannot be mixed."
        ) from error
    return found


def _found(known: dict[str, Any], threads: int | None, looks: int) -> OnnxBackbone:
    if "object" in known:
        raise BackboneError(
            f"this model was taught with the backbone {known['name']}, a Python object ({known['object']}); "
            "pass it with load(path, backbone=...)."
        )
    path = known.get("path")
    try:
        # A file may name any path: nothing is run before its identity is seen to be the one that was learned with.
        source = path if path is not None and Path(path).is_file() else known["name"]
        return OnnxBackbone(source, threads, looks=looks, identity=known["identity"])
    except OtherBackboneError:
        raise
    except BackboneError as error:
        raise BackboneError(
            f"this model was taught with the backbone {known['name']}, which is not found here: {error} "
            "Name its file with backbone=... (--backbone on the command line)."
        ) from error
