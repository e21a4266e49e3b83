"""The data sets of the benchmark, from tiny trees of the shape they have on disk."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from exll.errors import StreamError
from exll.streams.dataset import CENTRE_CROP, SQUASHED
from exll.streams.fsiol import fsiol
from exll.streams.openloris import openloris
from exll.streams.orderings import arrange, split
from exll.streams.places import places365, places_lt


def image(path: Path, shade: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((4, 6, 3), shade, np.uint8)).save(path)


def openloris_tree(root: Path) -> Path:
    for part in ("train", "test"):
        for factor in ("clutter", "illumination", "occlusion", "pixel"):
            for segment in (1, 4, 9):
                for name in ("paper_cutter_01", "paper_cutter_02", "mug_07"):
                    for frame in (2, 10, 1):
                        image(root / part / factor / f"segment{segment}" / name / f"{frame}.jpg")
    return root


def test_openloris_knows_class_object_video_frame_factor_and_level(tmp_path: Path) -> None:
    dataset = openloris(openloris_tree(tmp_path))
    assert dataset.test is not None
    assert len(dataset.train) == len(dataset.test) == 4 * 3 * 3 * 3
    assert sorted(dataset.train.labels) == ["mug", "paper_cutter"]
    frames = [e for e in dataset.train.examples if e.video == "train/pixel/segment4/mug_07"]
    assert [Path(e.ref).name for e in frames] == ["1.jpg", "2.jpg", "10.jpg"]
    assert [e.frame for e in frames] == [0, 1, 2]
    assert {(e.instance, e.factor, e.level) for e in frames} == {("mug_07", "size", 2)}
    assert {e.level for e in dataset.test.examples if e.video and "segment9" in e.video} == {3}
    assert dataset.resize == SQUASHED


def test_low_shot_openloris_is_one_video_a_class(tmp_path: Path) -> None:
    stream = arrange(openloris(openloris_tree(tmp_path)).train.examples, "low-shot instance", 1)
    assert len({e.video for e in stream}) == 2
    assert [e.frame for e in stream] == [0, 1, 2, 0, 1, 2]


def test_openloris_refuses_an_object_without_a_number(tmp_path: Path) -> None:
    image(openloris_tree(tmp_path) / "train" / "clutter" / "segment1" / "mug" / "1.jpg")
    with pytest.raises(StreamError, match="called like mug_01"):
        openloris(tmp_path)


def test_frames_may_lie_a_folder_deeper(tmp_path: Path) -> None:
    for part in ("train", "test"):
        image(tmp_path / part / "clutter" / "segment1" / "mug_01" / "frames" / "1.png")
    assert [e.label for e in openloris(tmp_path).train.examples] == ["mug"]


def test_places_is_cropped_and_the_others_squashed(tmp_path: Path) -> None:
    for part in ("train", "val"):
        image(tmp_path / part / "abbey" / "1.jpg")
        image(tmp_path / part / "airport" / "2.jpg")
    dataset = places365(tmp_path)
    assert dataset.resize == CENTRE_CROP
    assert CENTRE_CROP.resize_to(224) == 256
    assert dataset.test is not None
    assert dataset.train.labels == dataset.test.labels == ["abbey", "airport"]


def test_places_lt_reads_its_two_lists(tmp_path: Path) -> None:
    (tmp_path / "Places_LT_train.txt").write_text("data/a b/1.jpg 0\ndata/x/2.jpg 364\n\n")
    (tmp_path / "Places_LT_test.txt").write_text("val/3.jpg 364\n")
    dataset = places_lt(tmp_path)
    assert [(e.path, e.label) for e in dataset.train.examples] == [
        (tmp_path / "data/a b/1.jpg", "0"),
        (tmp_path / "data/x/2.jpg", "364"),
    ]
    assert dataset.test is not None
    assert dataset.test.labels == ["364"]


@pytest.mark.parametrize("line", ["1.jpg", "1.jpg abbey", "1.jpg -1", " 7"])
def test_a_bad_line_of_places_lt_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "Places_LT_train.txt").write_text(f"ok.jpg 1\n{line}\n")
    with pytest.raises(StreamError, match="line 2: expected 'path label'"):
        places_lt(tmp_path)


def test_fsiol_has_no_test_part_and_a_spatula(tmp_path: Path) -> None:
    for name in ("spatuala", "lotion"):
        for number in range(7):
            image(tmp_path / "object_images" / name / f"{number}.jpg")
    dataset = fsiol(tmp_path)
    assert dataset.test is None
    assert sorted(dataset.train.labels) == ["lotion", "spatula"]
    learned, rest = split(dataset.train.examples, "few-shot 5", seed=3)
    assert [len(learned), len(rest)] == [10, 4]
    assert not {e.ref for e in learned} & {e.ref for e in rest}
    assert {e.ref for e in learned} | {e.ref for e in rest} == {e.ref for e in dataset.train.examples}


@pytest.mark.parametrize(
    ("opened", "looked_for", "whose"),
    [
        (openloris, "train", "OpenLORIS-Object"),
        (places365, "train", "Zhou et al."),
        (places_lt, "Places_LT_train.txt", "Liu et al."),
        (fsiol, "object_images", "Ayub and Wagner"),
    ],
)
def test_missing_data_is_said_with_where_to_get_it(tmp_path: Path, opened: object, looked_for: str, whose: str) -> None:
    with pytest.raises(StreamError) as refusal:
        opened(tmp_path)  # type: ignore[operator]
    assert f"there is no {tmp_path / looked_for}" in str(refusal.value)
    assert whose in str(refusal.value)


def test_other_data_has_another_fingerprint(tmp_path: Path) -> None:
    for root, shade in (("one", 0), ("same", 0), ("other", 9)):
        for part in ("train", "val"):
            image(tmp_path / root / part / "abbey" / "1.png", shade if part == "val" else 0)
    one, same, other = (places365(tmp_path / root).fingerprint() for root in ("one", "same", "other"))
    assert one == same != other
