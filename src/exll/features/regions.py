"""Regions of an image that somebody names, where it shows other things too: left, top, right, bottom, in pixels of the
upright image."""

import re
from typing import Any, TypeAlias

from PIL.Image import Image

from exll.errors import ImageError, InputError

PixelBox: TypeAlias = tuple[int, int, int, int]


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
