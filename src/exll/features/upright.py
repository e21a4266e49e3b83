"""From the picture in a file to an upright one in RGB, strip by strip, so that there is no whole copy in between."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.ImageCms import ImageCmsTransform

from exll.errors import ImageError
from exll.features.colour import as_rgb, converter_to_srgb

RGB_BYTES = 4  # PIL stores all modes of more than one channel in four bytes per pixel
STRIP_PIXELS = 500_000
ORIENTATION_TAG = 0x0112
TRANSPOSITIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDES_SWAPPED = (5, 6, 7, 8)
FROM_THE_END = (3, 4, 6, 7)  # the first rows come last


def upright_rgb(picture: Image.Image, orientation: int, factor: int, where: str) -> Image.Image:
    """A new picture from one that is loaded, reduced by a whole factor."""
    converter = converter_to_srgb(picture)
    grey_scale = _grey_scale(picture, where) if _is_deep(picture) else None
    width, height = -(-picture.width // factor), -(-picture.height // factor)
    swapped = orientation in SIDES_SWAPPED
    upright = Image.new("RGB", (height, width) if swapped else (width, height))
    for top, strip in _strips(picture, factor):
        part = _rgb(strip if grey_scale is None else _eight_bits(strip, grey_scale), converter)
        if factor > 1:
            part = part.reduce(factor)
        start = top // factor
        if orientation in FROM_THE_END:
            start = height - start - part.height
        if orientation in TRANSPOSITIONS:
            part = part.transpose(TRANSPOSITIONS[orientation])
        upright.paste(part, (start, 0) if swapped else (0, start))
    return upright


def is_upright_rgb(picture: Image.Image, orientation: int) -> bool:
    """Whether the pixels of a loaded picture can stay as they are."""
    plain = picture.mode == "RGB" and not picture.has_transparency_data
    return plain and orientation not in TRANSPOSITIONS and converter_to_srgb(picture) is None


def exif_orientation(info: Mapping[Any, Any]) -> int:
    """The EXIF orientation, 1 where there is none. PIL's own reader warns about every other fault in the block."""
    try:
        exif = info.get("exif") or bytes.fromhex("".join(info.get("Raw profile type exif", "").split("\n")[3:]))
        while exif.startswith(b"Exif\0\0"):
            exif = exif[6:]
        order = {b"II": "<", b"MM": ">"}[exif[:2]]
        (start,) = struct.unpack_from(order + "I", exif, 4)
        (count,) = struct.unpack_from(order + "H", exif, start)
        for place in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind = struct.unpack_from(order + "HH", exif, place)
            if tag == ORIENTATION_TAG:
                number: int = struct.unpack_from(order + {1: "B", 3: "H", 4: "I"}[kind], exif, place + 8)[0]
                return number
    except (struct.error, KeyError, ValueError, TypeError, AttributeError):
        pass
    return 1


def _strips(picture: Image.Image, factor: int) -> Iterator[tuple[int, Image.Image]]:
    """Some rows at a time, as many as the factor divides, each with the number of its first row."""
    width, height = picture.size
    rows = max(1, STRIP_PIXELS // (width * factor)) * factor
    for top in range(0, height, rows):
        yield top, picture.crop((0, top, width, min(top + rows, height)))


def _rgb(picture: Image.Image, converter: ImageCmsTransform | None) -> Image.Image:
    return _over_white(picture, converter) if picture.has_transparency_data else as_rgb(picture, converter)


def _over_white(picture: Image.Image, converter: ImageCmsTransform | None) -> Image.Image:
    straight = picture.convert("LA") if picture.mode == "La" else picture
    colours = straight.convert("RGBA")
    if converter is not None:
        converted = as_rgb(colours, converter)
        converted.putalpha(colours.getchannel("A"))
        colours = converted
    canvas = Image.new("RGB", picture.size, "white")
    canvas.paste(colours, mask=colours)
    return canvas


def _is_deep(picture: Image.Image) -> bool:
    return picture.mode in ("I", "F") or picture.mode.startswith("I;16")


def _grey_scale(picture: Image.Image, where: str) -> float:
    """What the numbers of a deep grey picture are multiplied by to end at 255."""
    lowest, highest, finite = np.inf, -np.inf, True
    for _, strip in _strips(picture, 1):
        values = np.asarray(strip)
        lowest, highest = min(lowest, values.min()), max(highest, values.max())
        finite = finite and bool(np.isfinite(values).all())
    if not finite:
        raise ImageError(f"{where}the image must hold finite numbers; it holds NaN or inf.")
    largest = 255 if picture.mode == "F" else 65535
    if lowest < 0 or highest > largest:
        raise ImageError(
            f"{where}the image must hold numbers from 0 to {largest}; they go from {lowest:.6g} to {highest:.6g}."
        )
    if picture.mode == "F":
        return 255 if highest <= 1 else 1
    return 1 / 257  # 65535 = 257 * 255


def _eight_bits(picture: Image.Image, scale: float) -> Image.Image:
    values = np.asarray(picture)
    grey = Image.fromarray(scaled(values, scale))
    clear = picture.info.get("transparency")
    if isinstance(clear, int):  # the one grey that is transparent, among all the 65,536
        grey.putalpha(Image.fromarray(np.where(values == clear, 0, 255).astype(np.uint8)))
    return grey


def scaled(values: NDArray[Any], scale: float) -> NDArray[np.uint8]:
    levels: NDArray[np.float32] = values.astype(np.float32) * np.float32(scale)
    return np.rint(levels).astype(np.uint8)
