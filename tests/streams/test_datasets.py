"""The data sets of the benchmark, from tiny trees of the shape they have on disk."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from exll.errors import ImageError, StreamError
from exll.streams.dataset import CENTRE_CROP, SQUASHED
from exll.streams.fsiol import fsiol
from exll.streams.gtsrb import gtsrb
from exll.streams.openloris import openloris
from exll.streams.orderings import arrange, split
from exll.streams.pacs import pacs
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


@pytest.mark.parametrize("folder", ["", "kfold"])
def test_pacs_knows_the_domain_of_every_picture(tmp_path: Path, folder: str) -> None:
    for domain in ("art_painting", "cartoon", "photo", "sketch"):
        for label in ("dog", "horse"):
            image(tmp_path / folder / domain / label / "pic_001.jpg")
    (tmp_path / "pacs_label").mkdir()
    dataset = pacs(tmp_path)
    assert dataset.test is None
    assert dataset.train.labels == ["dog", "horse"]
    assert [(e.domain, e.label) for e in dataset.train.examples[1:3]] == [("art_painting", "horse"), ("cartoon", "dog")]
    assert len({e.domain for e in dataset.train.examples}) == 4


HEADER = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n"


def gtsrb_tree(learned: Path, asked: Path, labels: Path) -> None:
    for number in (0, 14):
        folder = learned / f"{number:05}"
        lines = [f"{t:05}_{f:05}.ppm;6;4;1;1;4;2;{number}\n" for t in range(2) for f in range(3)]
        for line in lines:
            image(folder / line.split(";")[0], 9 * number)
        (folder / f"GT-{number:05}.csv").write_text(HEADER + "".join(lines))
    image(asked / "00000.ppm", 126)
    labels.mkdir(parents=True, exist_ok=True)
    (labels / "GT-final_test.csv").write_text(HEADER + "00000.ppm;6;4;1;1;4;2;14\n")


@pytest.mark.parametrize(
    ("learned", "labels"), [("Final_Training/Images", "Final_Test/Images"), ("GTSRB/Training", "."), ("Training", ".")]
)
def test_gtsrb_s_tracks_are_videos_in_every_layout(tmp_path: Path, learned: str, labels: str) -> None:
    base = tmp_path / "GTSRB" if learned.startswith("GTSRB") else tmp_path
    gtsrb_tree(tmp_path / learned, base / "Final_Test" / "Images", tmp_path / labels)
    dataset = gtsrb(tmp_path)
    assert dataset.test is not None
    assert [(e.label, e.video, e.frame) for e in dataset.train.examples[4:8]] == [
        ("0", "0/00001", 1),
        ("0", "0/00001", 2),
        ("14", "14/00000", 0),
        ("14", "14/00000", 1),
    ]
    assert [(e.label, e.video) for e in dataset.test.examples] == [("14", None)]
    assert len(gtsrb(tmp_path, every=2).train) == 8
    picture = dataset.picture(dataset.train.examples[6])
    assert not isinstance(picture, Path)
    assert (picture.size, picture.getpixel((0, 0))) == ((6, 4), (126, 126, 126))
    cropped = gtsrb(tmp_path, crop=True)
    assert cropped.picture(cropped.train.examples[6]).size == (4, 2)  # type: ignore[union-attr]
    assert cropped.fingerprint() != dataset.fingerprint()


def test_gtsrb_s_bad_tables_options_and_pictures_are_refused_in_one_sentence(tmp_path: Path) -> None:
    gtsrb_tree(tmp_path / "Training", tmp_path / "Final_Test" / "Images", tmp_path)
    with pytest.raises(StreamError, match="every must be a whole number of at least 1"):
        gtsrb(tmp_path, every=0)
    (tmp_path / "Final_Test" / "Images" / "00000.ppm").write_bytes(b"P6 9 9")
    dataset = gtsrb(tmp_path)
    assert dataset.test is not None
    with pytest.raises(ImageError, match=r"00000\.ppm is not a picture that can be read"):
        dataset.picture(dataset.test.examples[0])
    (tmp_path / "GT-final_test.csv").write_text(HEADER + "00000.ppm;6;4;1;1;4;2;\n")
    with pytest.raises(StreamError, match="line 2: expected Filename; Roi"):
        gtsrb(tmp_path)
    (tmp_path / "GT-final_test.csv").unlink()
    with pytest.raises(StreamError, match=r"there is no .*GT-final_test\.csv"):
        gtsrb(tmp_path)


@pytest.mark.parametrize(
    ("opened", "looked_for", "whose"),
    [
        (openloris, "train", "OpenLORIS-Object"),
        (places365, "train", "Zhou et al."),
        (places_lt, "Places_LT_train.txt", "Liu et al."),
        (fsiol, "object_images", "Ayub and Wagner"),
        (pacs, "art_painting", "Li et al."),
        (gtsrb, "Final_Training/Images", "Stallkamp et al."),
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
