"""Colour profiles written by hand, and the conversion to sRGB by formula, without any library for colours."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
SRGB = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
DISPLAY_P3 = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
ADOBE_RGB = ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))
D65, D50 = (0.3127, 0.3290), (0.9642, 1.0, 0.8249)
SRGB_CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def rgb_profile(primaries: Sequence[Point], curve: float | Sequence[float] = SRGB_CURVE, name: str = "made") -> bytes:
    """``curve`` is a gamma, or the five numbers of a power with a straight part at its foot."""
    matrix = _to_d50() @ _to_xyz(primaries)
    colours = {b"rgb"[i : i + 1] + b"XYZ": _xyz(*matrix[:, i]) for i in range(3)}
    curves = {letter + b"TRC": _curve(curve) for letter in (b"r", b"g", b"b")}
    return _profile(b"mntr", b"RGB ", b"XYZ ", {**colours, **curves, b"wtpt": _xyz(*D50), b"desc": _text(name)})


def srgb_profile_of_1998() -> bytes:
    """As most photos carry it: primaries of four digits and a curve in 1024 steps."""
    steps = np.linspace(0, 1, 1024)
    levels = np.where(steps <= 0.04045, steps / 12.92, ((steps + 0.055) / 1.055) ** 2.4) * 65535
    curve = b"curv\0\0\0\0" + struct.pack(">I1024H", 1024, *np.rint(levels).astype(int))
    parts = {
        b"wtpt": _xyz(0.9505, 1.0, 1.0891),
        b"rXYZ": _xyz(0.4361, 0.2225, 0.0139),
        b"gXYZ": _xyz(0.3851, 0.7169, 0.0971),
        b"bXYZ": _xyz(0.1431, 0.0606, 0.7141),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve),
    }
    return _profile(b"mntr", b"RGB ", b"XYZ ", parts, version=2)


def grey_profile(curve: float | Sequence[float]) -> bytes:
    return _profile(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": _curve(curve), b"wtpt": _xyz(*D50)})


def cmyk_profile() -> bytes:
    """A print in which cyan, magenta, yellow and black each take some lightness, and the first three give a colour."""
    corners = []
    for c, m, y, k in np.ndindex(2, 2, 2, 2):
        lightness = (100 - 30 * c - 35 * m - 5 * y) * (1 - k)
        a, b = (1 - k) * (-35 * c + 60 * m - 5 * y), (1 - k) * (-40 * c - 5 * m + 70 * y)
        corners += [round(lightness * 2.55), round(a + 128), round(b + 128)]
    straight = bytes(range(256))
    identity = struct.pack(">9i", *(65536 * int(i in (0, 4, 8)) for i in range(9)))
    table = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + identity + straight * 4 + bytes(corners) + straight * 3
    return _profile(b"prtr", b"CMYK", b"Lab ", {b"A2B0": table, b"A2B1": table, b"wtpt": _xyz(*D50)}, version=2)


def to_srgb(colours: NDArray[Any], primaries: Sequence[Point], gamma: float | None = None) -> NDArray[Any]:
    """Levels from 0 to 255 in another RGB, white D65, as levels of sRGB; what sRGB does not have is clipped."""
    values = colours / 255
    foot = values <= 0.04045
    linear = values**gamma if gamma else np.where(foot, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    clipped = np.clip(linear @ (np.linalg.inv(_to_xyz(SRGB)) @ _to_xyz(primaries)).T, 0, 1)
    return encoded(clipped)


def encoded(linear: NDArray[Any]) -> NDArray[Any]:
    return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _to_xyz(primaries: Sequence[Point]) -> NDArray[Any]:
    columns = np.array([_point(*primary) for primary in primaries]).T
    return np.asarray(columns * np.linalg.solve(columns, _point(*D65)))


def _to_d50() -> NDArray[Any]:
    scale = np.diag((BRADFORD @ D50) / (BRADFORD @ _point(*D65)))
    return np.asarray(np.linalg.inv(BRADFORD) @ scale @ BRADFORD)


def _point(x: float, y: float) -> tuple[float, float, float]:
    return x / y, 1.0, (1 - x - y) / y


def _profile(kind: bytes, space: bytes, between: bytes, parts: dict[bytes, bytes], version: int = 4) -> bytes:
    start = 132 + 12 * len(parts)
    table, content = struct.pack(">I", len(parts)), b""
    for name, part in parts.items():
        table += struct.pack(">4sII", name, start + len(content), len(part))
        content += part.ljust(-len(part) % 4 + len(part), b"\0")
    header = struct.pack(">I4xI4s4s4s12x4s", start + len(content), version << 24, kind, space, between, b"acsp")
    return header.ljust(68, b"\0") + _fixed(*D50) + bytes(48) + table + content


def _xyz(*values: float) -> bytes:
    return b"XYZ \0\0\0\0" + _fixed(*values)


def _curve(curve: float | Sequence[float]) -> bytes:
    numbers = [curve] if isinstance(curve, float) else [*curve]
    return b"para\0\0\0\0" + struct.pack(">HH", 3 if len(numbers) == 5 else 0, 0) + _fixed(*numbers)


def _text(text: str) -> bytes:
    letters = text.encode("utf-16-be")
    return b"mluc\0\0\0\0" + struct.pack(">II2s2sII", 1, 12, b"en", b"US", len(letters), 28) + letters


def _fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))
