"""Outlines that objects are drawn from: filled polygons in a square from -1 to 1, y downwards, last on top."""

import colorsys
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]  # (n, 2)
Colour: TypeAlias = tuple[float, float, float]  # red, green, blue from 0 to 255


@dataclass(frozen=True, eq=False)
class Shape:
    points: Points
    colour: Colour


def hsv(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return 255 * red, 255 * green, 255 * blue


def shaded(colour: Colour, by: float) -> Colour:
    """The colour lighter (above 1) or darker."""
    red, green, blue = (min(255.0, by * channel) for channel in colour)
    return red, green, blue


def polygon(*corners: tuple[float, float]) -> Points:
    return np.array(corners, np.float64)


def rectangle(left: float, top: float, right: float, bottom: float) -> Points:
    return polygon((left, top), (right, top), (right, bottom), (left, bottom))


def ellipse(x: float, y: float, rx: float, ry: float, start: float = 0.0, end: float = 360.0) -> Points:
    """An ellipse or the part between two angles, in degrees, clockwise from the right."""
    angles = np.radians(np.linspace(start, end, 40))
    return np.stack([x + rx * np.cos(angles), y + ry * np.sin(angles)], axis=1)


def ring(x: float, y: float, outer: float, inner: float, start: float = 0.0, end: float = 360.0) -> Points:
    """The band between two circles, whole or in part."""
    return np.concatenate([ellipse(x, y, outer, outer, start, end), ellipse(x, y, inner, inner, start, end)[::-1]])


def rounded(left: float, top: float, right: float, bottom: float, radius: float) -> Points:
    corners = [
        (right - radius, top + radius, -90.0),
        (right - radius, bottom - radius, 0.0),
        (left + radius, bottom - radius, 90.0),
        (left + radius, top + radius, 180.0),
    ]
    return np.concatenate([ellipse(x, y, radius, radius, a, a + 90)[::5] for x, y, a in corners])


def stroke(line: Points, width: float | Points) -> Points:
    """A line with a width, which may change along it."""
    along = np.gradient(line, axis=0)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    half = np.broadcast_to(np.asarray(width) / 2, (len(line),))[:, None]
    return np.concatenate([line + half * normal, (line - half * normal)[::-1]])


def straight(x0: float, y0: float, x1: float, y1: float, width: float) -> Points:
    return stroke(polygon((x0, y0), (x1, y1)), width)


def rotated(points: Points, degrees: float, about: tuple[float, float] = (0.0, 0.0)) -> Points:
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    centre = np.array(about)
    return np.asarray((points - centre) @ turn + centre)
