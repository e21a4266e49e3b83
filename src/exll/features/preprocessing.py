"""How an image becomes a network's input: read from the network's own file, never guessed."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from exll.errors import BackboneError
from exll.features.image import middle, resized

Resize = Literal["short-side-crop", "squash"]
Interpolation = Literal["bilinear", "bicubic", "lanczos", "nearest"]
Layout = Literal["NHWC", "NCHW"]
Dtype = Literal["uint8", "float32"]

LARGEST_SIZE = 4096
OPTIONS = (
    'size, resize ("short-side-crop" or "squash"), resize_to, interpolation ("bilinear", "bicubic", "lanczos" or '
    '"nearest"), layout ("NHWC" or "NCHW"), dtype ("uint8" or "float32"), scale, mean, std, outputs'
)


@dataclass(frozen=True)
class Preprocessing:
    """The entry ``exll`` of an ONNX file's metadata, or NAME.json beside it (docs/backbones.md).

    A float input is (pixel * scale - mean) / std, per channel, with pixels from 0 to 255 in the order RGB.
    """

    size: int
    resize: Resize
    resize_to: int
    interpolation: Interpolation
    layout: Layout
    dtype: Dtype
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    features_output: str
    map_output: str | None

    @classmethod
    def from_json(cls, text: str, where: str) -> "Preprocessing":
        try:
            settings = json.loads(text)
            outputs = settings["outputs"]
            preprocessing = cls(
                size=int(settings["size"]),
                resize=_one_of(Resize, settings, "resize"),
                resize_to=int(settings.get("resize_to", settings["size"])),
                interpolation=_one_of(Interpolation, settings, "interpolation"),
                layout=_one_of(Layout, settings, "layout"),
                dtype=_one_of(Dtype, settings, "dtype"),
                scale=float(settings.get("scale", 1.0)),
                mean=_channels(settings.get("mean", [0, 0, 0])),
                std=_channels(settings.get("std", [1, 1, 1])),
                features_output=str(outputs["features"]),
                map_output=None if outputs.get("map") is None else str(outputs["map"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise BackboneError(
                f"{where} does not say correctly how to prepare an image ({_reason(error)}); it needs {OPTIONS}."
            ) from error
        size, resize_to = preprocessing.size, preprocessing.resize_to
        if not 1 <= size <= resize_to <= LARGEST_SIZE or 0.0 in preprocessing.std:
            raise BackboneError(
                f"{where}: size must be at least 1, resize_to at least size and at most {LARGEST_SIZE}, and std not 0."
            )
        return preprocessing

    def box(self, size: tuple[int, int]) -> tuple[float, float, float, float]:
        """The part of an image of this size that one look sees: left, top, right, bottom."""
        if self.resize == "squash":
            return 0.0, 0.0, float(size[0]), float(size[1])
        return middle(size, self.resize_to, self.size)

    def network_input(self, image: Image, box: tuple[float, float, float, float]) -> NDArray[Any]:
        """A part of an upright RGB image as one input, without the batch axis."""
        pixels = resized(image, box, self.size, self.interpolation)
        if self.dtype == "uint8":
            return pixels if self.layout == "NHWC" else np.ascontiguousarray(pixels.transpose(2, 0, 1))
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        values = (pixels * np.float32(self.scale) - mean) / std
        return np.ascontiguousarray(values if self.layout == "NHWC" else values.transpose(2, 0, 1), np.float32)


@dataclass(frozen=True)
class ResizeRule:
    """How a data set wants its images brought to size, whichever network looks at them.

    >>> ResizeRule("short-side-crop", margin=256 / 224).resize_to(224)
    256
    """

    resize: Resize
    margin: float = 1.0  # how much larger than the network's input an image is before the crop

    def resize_to(self, size: int) -> int:
        return round(self.margin * size)

    def applied_to(self, preprocessing: Preprocessing) -> Preprocessing:
        return replace(preprocessing, resize=self.resize, resize_to=self.resize_to(preprocessing.size))


def find_preprocessing(metadata: dict[str, str], path: Path) -> Preprocessing:
    """From the file's own metadata, else from NAME.json beside it."""
    if "exll" in metadata:
        return Preprocessing.from_json(metadata["exll"], f"the metadata of {path}")
    beside = path.with_suffix(".json")
    if beside.is_file():
        return Preprocessing.from_json(beside.read_text(encoding="utf-8", errors="replace"), str(beside))
    raise BackboneError(
        f"{path} does not say how to prepare an image for it: write {beside.name} beside it, or the metadata entry "
        f"'exll', with {OPTIONS}."
    )


def _one_of(choices: Any, settings: dict[str, Any], name: str) -> Any:
    value = settings[name]
    if value not in get_args(choices):
        raise ValueError(f"{name} is {value!r}")
    return value


def _channels(values: Any) -> tuple[float, ...]:
    channels = tuple(float(value) for value in values)
    if len(channels) != 3:
        raise ValueError("mean and std have one number for each of R, G and B")
    return channels


def _reason(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
