from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from exll.errors import StreamError
from exll.streams.orderings import ORDERS
from exll.streams.stream import StreamKind, default_order, open_images, open_stream

Plant = Callable[..., Path]


def test_a_folder_is_opened_as_listed(plant: Plant) -> None:
    root = plant("mug/1.jpg", "cup/1.jpg", "cup/2.jpg", "readme.txt")
    stream = open_stream(str(root))
    assert (stream.kind, stream.source, len(stream)) == ("folder", root, 3)
    assert stream.labels == ["cup", "mug"]
    assert stream.vectors is None
    assert stream.passed_over == [root / "readme.txt"]


@pytest.mark.parametrize("name", ["data.csv", "data.CSV", "data.tsv"])
def test_a_table_is_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("path,label\nb.jpg,mug\na.jpg,cup\nc.jpg,mug\n")
    stream = open_stream(tmp_path / name)
    assert (stream.kind, stream.labels) == ("table", ["mug", "cup"])


def test_features_are_opened_whole_or_by_split(tmp_path: Path) -> None:
    source = tmp_path / "features.npz"
    np.savez(source, X=np.eye(3), y=["a", "b", "a"], split=["train", "test", "train"])
    whole = open_stream(source)
    assert (whole.kind, len(whole)) == ("features", 3)
    train = open_stream(f"{source}:train")
    assert (train.source, [example.row for example in train.examples]) == (source, [0, 2])
    assert train.vectors is not None
    np.testing.assert_array_equal(train.vectors, np.eye(3))
    with pytest.raises(StreamError, match="has no split 'dev'; it has test, train"):
        open_stream(f"{source}:dev")


def test_a_folder_named_like_a_file_is_a_folder(plant: Plant, tmp_path: Path) -> None:
    for name in ("data.csv", "data.npz", "data.mp4"):
        assert open_stream(plant("mug/1.jpg", root=tmp_path / name)).kind == "folder"


def test_another_order_is_another_stream_of_the_same_data(plant: Plant) -> None:
    root = plant(*(f"{label}/{i}.jpg" for label in ("cup", "mug") for i in range(20)), "notes.txt")
    stream = open_stream(root)
    listed = list(stream.examples)
    shuffled = stream.ordered("iid", seed=4)
    assert stream.examples == listed
    assert shuffled.examples != listed
    assert set(shuffled.examples) == set(listed)
    assert shuffled.passed_over == stream.passed_over
    assert shuffled.ordered("iid", seed=4).examples == shuffled.examples
    assert stream.ordered("iid", seed=5).examples != shuffled.examples
    assert len(stream.ordered("few-shot 3").examples) == 6


def test_plain_folders_can_be_ordered_by_instance(plant: Plant) -> None:
    root = plant(*(f"{label}/{i}/{j}.jpg" for label in ("cup", "mug") for i in (1, 2) for j in range(12)))
    examples = open_stream(root).ordered("instance").examples
    for start in range(0, 48, 12):
        take = examples[start : start + 12]
        assert len({(example.label, example.video) for example in take}) == 1
        assert [example.path.stem for example in take if example.path] == [str(j) for j in range(12)]


def test_every_kind_has_a_default_order() -> None:
    defaults = {kind: default_order(kind) for kind in get_args(StreamKind)}
    assert defaults == {
        "folder": "iid",
        "images": "as-is",
        "table": "as-is",
        "video": "as-is",
        "features": "as-is",
        "rendered": "instance",
    }
    assert set(defaults.values()) <= set(ORDERS)


@pytest.mark.parametrize("data", ["nowhere", "nowhere/data.csv", "", "x" * 5000, "a\0b", "gone.npz:train"])
def test_a_path_that_leads_nowhere_is_answered_with_what_was_expected(data: str) -> None:
    with pytest.raises(StreamError) as refusal:
        open_stream(data)
    assert str(refusal.value).startswith(f"There is no {data!r}; expected a folder with one sub-folder per class")
    assert "DATA/mug/1.jpg" in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "what"),
    [("data.zip", "a .zip file"), ("DATA", "a file without an extension")],
)
def test_any_other_file_is_named_for_what_it_is(plant: Plant, name: str, what: str) -> None:
    root = plant(name)
    with pytest.raises(StreamError) as refusal:
        open_stream(root / name)
    assert f"{root / name} is {what}; expected a folder" in str(refusal.value)


def test_images_of_one_label_are_a_stream_in_their_own_order(plant: Plant) -> None:
    root = plant("photos/10.jpg", "photos/9.png", "photos/notes.txt", "one.jpg")
    stream = open_stream(root / "photos", label=" kiwi ")
    assert [example.ref for example in stream.examples] == [str(root / "photos" / name) for name in ("9.png", "10.jpg")]
    assert (stream.labels, default_order(stream.kind)) == (["kiwi"], "as-is")
    several = open_images([root / "one.jpg", root / "photos"], "kiwi")
    assert [example.path.name for example in several.examples if example.path] == ["one.jpg", "9.png", "10.jpg"]
    assert open_stream(root / "one.jpg", label="kiwi").labels == ["kiwi"]
    for path, label, sentence in (
        ("one.jpg", None, "say with a label what it shows"),
        ("one.jpg", " ", "must not be empty"),
        ("none.jpg", "kiwi", "There is no "),
        ("photos/notes.txt", "kiwi", "is a .txt file"),
    ):
        with pytest.raises(StreamError, match=sentence):
            open_stream(root / path, label=label)


def test_a_label_or_a_stride_for_anything_but_a_video_is_refused(plant: Plant) -> None:
    root = plant("mug/1.jpg")
    with pytest.raises(StreamError, match=r"a label is for .*; .* has sub-folders \(mug\)\. Leave the label out"):
        open_stream(root, label="mug")
    (root / "data.csv").touch()
    with pytest.raises(StreamError, match=r"a label is for images, .*; .* is a \.csv file\."):
        open_stream(root / "data.csv", label="mug")
    with pytest.raises(StreamError, match=r"every is for videos only; .* is a folder\."):
        open_stream(root, every=2)


@pytest.mark.data
def test_the_development_photos_are_streamed(data_folder: Path) -> None:
    stream = open_stream(data_folder / "grocery128" / "train")
    assert (len(stream), len(stream.labels), stream.passed_over) == (2640, 81, [])
