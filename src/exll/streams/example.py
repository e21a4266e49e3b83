"""One labelled example: where it comes from and what it shows, but not yet its pixels."""

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from exll.features.regions import PixelBox


@dataclass(frozen=True, slots=True)
class Example:
    """An image file, a frame of a video, or a row of a features file.

    >>> Example("mugs/red/1.jpg", "mug", path=Path("mugs/red/1.jpg"), instance="red").label
    'mug'
    """

    ref: str  # what explanations call it: a path as given, "clip.mp4#120" or "features.npz#17"
    label: str
    path: Path | None = None  # an image file; None for frames and vectors
    instance: str | None = None  # which object
    video: str | None = None  # which recording
    frame: int | None = None
    row: int | None = None  # of a features file
    factor: str | None = None  # what makes the recording hard: clutter, illumination, occlusion or size
    level: int | None = None  # how hard, from 1 on
    domain: str | None = None  # which kind of picture it is: a photo, a sketch
    box: PixelBox | None = None  # the region of the image that shows it, where that is not all
    group: str | None = None  # examples of one group are not independent: of one place, one day, one person


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC).

    The same name is spelt one way on a Mac's disk and another on Linux; labels and sort keys must not notice.

    >>> composed("Ka\u0308se") == "K\u00e4se"
    True
    """
    return unicodedata.normalize("NFC", text)
