"""Two products in one photo, each taught and asked by its box."""

from pathlib import Path

import pytest
from PIL import Image

from exll import ImageLearner

pytestmark = [pytest.mark.data, pytest.mark.slow]

PAIRS = 20
TAUGHT, ASKED = 8, 2  # photos of each pair
SIDE = 160


def side_by_side(left: Path, right: Path) -> Image.Image:
    photo = Image.new("RGB", (2 * SIDE, SIDE))
    for place, path in enumerate((left, right)):
        with Image.open(path) as image:
            photo.paste(image.convert("RGB").resize((SIDE, SIDE)), (place * SIDE, 0))
    return photo


def test_boxes_tell_two_products_in_one_photo_apart(data_folder: Path) -> None:
    """With the 8-bit network, which takes half the time."""
    folder = data_folder / "grocery128"
    classes = sorted(path.name for path in (folder / "train").iterdir())[: 2 * PAIRS]
    pairs = list(zip(classes[::2], classes[1::2], strict=True))
    boxes = [(0, 0, SIDE, SIDE), (SIDE, 0, 2 * SIDE, SIDE)]

    def photos(split: str, pair: tuple[str, str], count: int) -> list[Image.Image]:
        left, right = (sorted((folder / split / name).iterdir())[:count] for name in pair)
        return [side_by_side(*both) for both in zip(left, right, strict=True)]

    learner = ImageLearner("efficientnet_lite0-int8")
    for pair in pairs:
        for photo in photos("train", pair, TAUGHT):
            learner.learn([photo, photo], list(pair), box=boxes)
    right_by_box = right_as_a_whole = 0
    for pair in pairs:
        for photo in photos("test", pair, ASKED):
            answers = [answer.label for answer in learner.predict([photo, photo], box=boxes)]
            whole = learner.predict(photo).label
            right_by_box += answers == list(pair)
            right_as_a_whole += [whole, whole] == list(pair)
    assert right_by_box >= 15, f"{right_by_box} of {PAIRS * ASKED}"
    assert right_as_a_whole == 0  # one answer cannot name two things
