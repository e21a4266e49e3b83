"""How much memory a decoder takes for an image, as measured, from what the file says before a pixel is decoded."""

import re
from typing import Any, BinaryIO

from PIL.Image import Image

MODE_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16L": 2, "I;16B": 2, "I;16N": 2}  # of a pixel; all others have 4
WEBP_BYTES = 12  # two canvases inside of the decoder and the frame that it gives

# The codec of an item in a HEIC (version, 15 bytes, chroma, depth) or an AVIF (version, profile, a byte of flags).
HEVC_SETTINGS = re.compile(rb"hvcC\x01.{15}(.)(.)", re.DOTALL)
AV1_SETTINGS = re.compile(rb"av1C\x81.(.)", re.DOTALL)
PLANES = (1.0, 1.5, 2.0, 3.0)  # samples of a pixel: grey, 4:2:0, 4:2:2, 4:4:4

ROWS_PER_STRIP, TILE_WIDTH, TILE_LENGTH, BITS_PER_SAMPLE = 278, 322, 323, 258


def picture_bytes(picture: Image) -> int:
    return picture.width * picture.height * MODE_BYTES.get(picture.mode, 4)


def decoder_bytes(name: str, picture: Any, pixels: int, file: BinaryIO) -> int:
    """The most that is taken while a picture is loaded, the picture itself included.

    ``pixels`` are those in the file. The picture may have fewer: a JPEG may be decoded at a fraction of its size.
    """
    taken = picture_bytes(picture)
    if name == "WebP":
        return WEBP_BYTES * pixels
    if name == "JPEG" and _is_decoded_whole(_content(file), len(picture.layer)):
        areas = [across * down for _, across, down, _ in picture.layer]
        return taken + int(2 * pixels * sum(areas) / max(areas))
    if name == "TIFF":
        return taken + _tiff_buffer(picture)
    if name in ("GIF", "BMP"):
        return max(taken, 4 * pixels)
    if name in ("HEIC", "AVIF"):
        has_alpha = picture.mode in ("LA", "RGBA")
        return round(pixels * (1.6 * _plane_bytes(_content(file), has_alpha) + (8 if has_alpha else 6)))
    return taken


def _content(file: BinaryIO) -> bytes:
    place = file.tell()
    file.seek(0)
    content = file.read()
    file.seek(place)
    return content


def _is_decoded_whole(jpeg: bytes, components: int) -> bool:
    """Whether the coefficients of all pixels are held at once: unless the first scan has all of them, as in libjpeg."""
    at = 2
    while at + 4 < len(jpeg):
        marker, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4])
        if jpeg[at] != 0xFF or marker == 0xFF or marker <= 1 or 0xD0 <= marker <= 0xD8:
            at += 1  # between segments, or a marker without one
        elif marker in (0xC2, 0xCA):  # progressive
            return True
        elif marker == 0xDA:
            return jpeg[at + 4] < components
        else:
            at += 2 + length
    return True


def _tiff_buffer(picture: Any) -> int:
    """A strip or a tile, which libtiff unpacks at once. Files made to harm may claim anything for its size."""
    tags = picture.tag_v2
    bits = max(32, sum(tags.get(BITS_PER_SAMPLE, (1,))))
    strip = picture.width * min(picture.height, tags.get(ROWS_PER_STRIP, picture.height))
    tile = tags.get(TILE_WIDTH, 0) * tags.get(TILE_LENGTH, 0)
    return int(max(strip, tile) * bits / 8)


def _plane_bytes(content: bytes, has_alpha: bool) -> float:
    """Bytes of a pixel after the codec, before its colours become RGB."""
    found = [(PLANES[chroma[0] & 3], depth[0] & 7) for chroma, depth in HEVC_SETTINGS.findall(content)]
    for flags in (byte[0] for byte in AV1_SETTINGS.findall(content)):
        halved = bool(flags & 8) + bool(flags & 4)
        found.append((PLANES[0 if flags & 16 else 3 - halved], flags & 64))
    planes = max((planes for planes, _ in found), default=PLANES[-1])
    is_deep = not found or any(deep for _, deep in found)
    return (planes + has_alpha) * (2 if is_deep else 1)
