"""The colours of a picture as sRGB, whatever colour profile its file carries."""

import io
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageCms

LARGEST_PROFILE = 4_000_000
PROFILES_KEPT = 16
# A profile that changes no colour by more than this many levels of 255 is taken for sRGB itself.
SRGB_TOLERANCE = 2
DISPLAY_P3_CODES = (12, 13)  # primaries and transfer in the numbers of ITU-T H.273

GREY_MODES = frozenset({"1", "L", "LA", "La", "I", "F", "I;16", "I;16L", "I;16B", "I;16N"})


def converter_to_srgb(picture: Image.Image) -> ImageCms.ImageCmsTransform | None:
    """What converts the colours of this picture to sRGB; None where they are sRGB already or nothing is known of them.

    A profile that is broken, or made for other channels than the picture has, is ignored. Profiles are compared by
    their bytes, so that each is examined once and the photos of one camera share a converter.
    """
    profile = _profile(picture.info)
    if profile is None:
        return None
    channels = {b"RGB ": "RGB", b"GRAY": "L", b"CMYK": "CMYK"}.get(profile[16:20])
    if channels is None or (channels == "CMYK") != (picture.mode == "CMYK"):
        return None
    if channels == "L" and picture.mode not in GREY_MODES:
        return None
    return _converter(profile, channels)


def as_rgb(picture: Image.Image, converter: ImageCms.ImageCmsTransform | None) -> Image.Image:
    """A picture in RGB without its transparency, its colours converted if there is a converter."""
    if converter is None:
        return picture.convert("RGB")
    return converter.apply(picture.convert(converter.input_mode))


def _profile(info: Mapping[Any, Any]) -> bytes | None:
    profile = info.get("icc_profile")
    if isinstance(profile, bytes) and profile:
        return profile if len(profile) <= LARGEST_PROFILE else None
    # HEIC and AVIF may name their colours by numbers. Of these only Display P3 is converted. The others stay as they
    # are: BT.709 has the primaries of sRGB, and pictures of high dynamic range (PQ, HLG) would need tone mapping.
    codes = info.get("nclx_profile")
    if isinstance(codes, Mapping):
        named = (codes.get("color_primaries"), codes.get("transfer_characteristics"))
        if named == DISPLAY_P3_CODES:
            return DISPLAY_P3
    return None


@lru_cache(PROFILES_KEPT)
def _converter(profile: bytes, channels: str) -> ImageCms.ImageCmsTransform | None:
    try:
        converter = ImageCms.ImageCmsTransform(
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")),
            channels,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )
        unchanged = channels != "CMYK" and _changes_nothing(converter)
    except (OSError, ValueError, ImageCms.PyCMSError):
        return None
    return None if unchanged else converter


def _changes_nothing(converter: ImageCms.ImageCmsTransform) -> bool:
    """Tried on a grid of colours: descriptions of profiles are free text, and "sRGB" may stand in any of them."""
    steps = np.linspace(0, 255, 16).astype(np.uint8)
    colours = Image.fromarray(np.stack(np.meshgrid(steps, steps, steps), -1).reshape(64, 64, 3))
    probe = colours.convert(converter.input_mode)
    before, after = (np.asarray(image.convert("RGB"), int) for image in (probe, converter.apply(probe)))
    return bool(np.abs(before - after).max() <= SRGB_TOLERANCE)


def _display_p3() -> bytes:
    """An ICC profile: the header, a table of tags, and what they point to."""

    def fixed(*values: float) -> bytes:
        return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))

    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    parts = {  # primaries as seen under the white of all profiles, D50
        b"rXYZ": b"XYZ \0\0\0\0" + fixed(0.51512, 0.24120, -0.00105),
        b"gXYZ": b"XYZ \0\0\0\0" + fixed(0.29198, 0.69225, 0.04189),
        b"bXYZ": b"XYZ \0\0\0\0" + fixed(0.15710, 0.06657, 0.78407),
        b"wtpt": b"XYZ \0\0\0\0" + fixed(0.96420, 1.0, 0.82491),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, content = struct.pack(">I", len(parts)), b""
    start = 128 + 4 + 12 * len(parts)
    for name, part in parts.items():
        table += struct.pack(">4sII", name, start + len(content), len(part))
        content += part
    header = struct.pack(
        ">I4sI4s4s4s12s4s", start + len(content), b"", 0x04000000, b"mntr", b"RGB ", b"XYZ ", b"", b"acsp"
    )
    white = fixed(0.96420, 1.0, 0.82491)
    return header.ljust(68, b"\0") + white + bytes(48) + table + content


DISPLAY_P3 = _display_p3()
