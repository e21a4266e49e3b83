"""OpenLORIS-Object: videos of 121 household objects of 40 classes, under four factors that make them hard.

``ROOT/{train,test}/{clutter,illumination,occlusion,pixel}/segment{1..9}/{object_NN}/`` holds the frames of one video.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from exll.errors import StreamError
from exll.streams.dataset import SQUASHED, Dataset, missing
from exll.streams.example import Example, composed
from exll.streams.folder import images_below, subfolders
from exll.streams.stream import Stream

FACTORS = {"clutter": "clutter", "illumination": "illumination", "occlusion": "occlusion", "pixel": "size"}
SEGMENTS_A_LEVEL = 3
LAYOUT = "train/ and test/ with clutter, illumination, occlusion and pixel, each with segment1 to segment9"
WHERE = "Get OpenLORIS-Object from the project of its paper (She et al., OpenLORIS-Object, ICRA 2020)."


def openloris(root: Path) -> Dataset:
    """Both parts, frames in order. An object's class is its name less the number; three segments make a level."""
    train, test = (_part(root, part) for part in ("train", "test"))
    return Dataset("openloris", train, test, SQUASHED)


def _part(root: Path, part: str) -> Stream:
    folder = root / part
    if not folder.is_dir():
        raise missing("OpenLORIS", folder, LAYOUT, WHERE)
    examples = [
        example
        for factor in subfolders(folder)
        if factor in FACTORS
        for segment in subfolders(folder / factor)
        if re.fullmatch("segment[1-9]", segment)
        for name in subfolders(folder / factor / segment)
        for example in _video(folder / factor / segment / name, f"{part}/{factor}/{segment}/{name}")
    ]
    if not examples:
        raise missing("OpenLORIS", folder / "clutter" / "segment1", LAYOUT, WHERE)
    return Stream("folder", examples, folder)


def _video(folder: Path, video: str) -> Iterator[Example]:
    _, factor, segment, name = video.split("/")
    numbered = re.fullmatch("(.+)_[0-9]+", name)
    if numbered is None:
        raise StreamError(f"OpenLORIS: an object's folder is called like mug_01; got {folder}.")
    level = (int(segment.removeprefix("segment")) - 1) // SEGMENTS_A_LEVEL + 1
    for frame, path in enumerate(images_below(folder)):
        yield Example(
            str(path),
            composed(numbered[1]),
            path=path,
            instance=composed(name),
            video=composed(video),
            frame=frame,
            factor=FACTORS[factor],
            level=level,
        )
