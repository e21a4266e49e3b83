"""Where in an image the network looks.

One look is as the network's own file wants it: the whole squashed into a square, or the middle cut out. Two looks are
the whole image squashed, so that nothing is cut off, and its centre, where the thing that was photographed mostly is.
"""

import math
from typing import Any, TypeAlias

from exll.errors import InputError
from exll.features.preprocessing import Preprocessing

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

LOOKS = (1, 2)
CENTRE = 0.65  # of the short side


def check_looks(looks: Any) -> None:
    if looks not in LOOKS:
        raise InputError(f"looks must be 1 or 2; got {looks!r}.")


def looks_at(size: tuple[int, int], looks: int, preprocessing: Preprocessing) -> tuple[Box, ...]:
    """The parts of an image of this width and height that the network sees, in pixels."""
    width, height = size
    if looks == 1:
        return (preprocessing.box(size),)
    side = CENTRE * min(size)
    centre = (width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2
    return (0.0, 0.0, float(width), float(height)), centre


def as_shares(box: Box, size: tuple[int, int]) -> Box:
    """A box in pixels as shares of the width and height, from 0 to 1."""
    left, top, right, bottom = box
    return left / size[0], top / size[1], right / size[0], bottom / size[1]


def side_needed(looks: int, preprocessing: Preprocessing) -> int:
    """The shortest side that an image must keep for every look to be sharp."""
    return preprocessing.resize_to if looks == 1 else math.ceil(preprocessing.size / CENTRE)
