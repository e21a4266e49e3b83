"""Where in an image the network looks.

One look is as the network's own file wants it: the whole squashed into a square, or the middle cut out. Two looks are
the whole image squashed, so that nothing is cut off, and its centre, where the thing that was photographed mostly is.
"""

import math
import re
from typing import Any, Literal, TypeAlias, get_args

from PIL.Image import Image

from exll.errors import ImageError, InputError
from exll.features.preprocessing import Preprocessing

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
PixelBox: TypeAlias = tuple[int, int, int, int]
Looks = Literal[1, 2]

CENTRE = 0.65  # of the short side


def check_looks(looks: Any) -> None:
    if looks not in get_args(Looks):
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


def check_region(box: Any, size: tuple[int, int]) -> PixelBox:
    """A region (left, top, right, bottom) that somebody named, in whole pixels of an image of this size."""
    try:
        left, top, right, bottom = (int(edge) for edge in box)
        whole = (left, top, right, bottom) == tuple(box)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise InputError(f"a box must be four whole numbers, left, top, right and bottom; got {box!r}.")
    width, height = size
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise ImageError(
            f"a box must lie within the image, which has {width} x {height} pixels, with left < right and "
            f"top < bottom; got ({left}, {top}, {right}, {bottom})."
        )
    return left, top, right, bottom


def parse_box(text: str) -> PixelBox:
    """
    >>> parse_box("10,20,110,90")
    (10, 20, 110, 90)
    """
    edges = re.fullmatch(r"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*", text)
    if edges is None:
        raise InputError(f"a box is written left,top,right,bottom, like 10,20,110,90; got {text!r}.")
    left, top, right, bottom = (int(edge) for edge in edges.groups())
    return left, top, right, bottom


def cut_out(picture: Image, box: Any) -> Image:
    """The region of a picture that somebody named."""
    return picture.crop(check_region(box, picture.size))


def region_ref(ref: str, box: PixelBox | None) -> str:
    """What explanations call a region of an image.

    >>> region_ref("shelf.jpg", (10, 20, 110, 90))
    'shelf.jpg#10,20,110,90'
    """
    return ref if box is None else f"{ref}#{','.join(str(int(edge)) for edge in box)}"


def split_region_ref(ref: str) -> tuple[str, PixelBox | None]:
    """The image and the box of a ref.

    >>> split_region_ref("shelf.jpg#10,20,110,90")
    ('shelf.jpg', (10, 20, 110, 90))
    """
    named = re.fullmatch(r"(.+)#([0-9]{1,9}(?:,[0-9]{1,9}){3})", ref, re.DOTALL)
    return (ref, None) if named is None else (named[1], parse_box(named[2]))
