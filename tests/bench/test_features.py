from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.bench.datasets import open_dataset
from exll.bench.executors import Local
from exll.bench.features import FeatureSet, Source, backbone_parameters
from exll.errors import BenchError, StreamError
from exll.features.backbone import OnnxBackbone
from exll.features.preprocessing import ResizeRule
from grids import write_features
from pictures import picture, write_class_folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "cache"))


def extracted(source: Source, folder: Path, processes: int = 1) -> tuple[FeatureSet, int, list[int]]:
    seen: list[int] = []
    skipped = source.extract(folder, Local(processes), seen.append)
    return FeatureSet.load(folder), skipped, seen


def test_images_become_rows_that_the_backbone_would_give(tmp_path: Path) -> None:
    for part in ("train", "val"):
        write_class_folder(tmp_path / "data" / part, classes=2, each=3)
    features, skipped, seen = extracted(Source(open_dataset(str(tmp_path / "data")), "nano"), tmp_path / "out")
    assert skipped == 0
    assert seen == [12]
    assert features.test is not None
    assert [len(features.train), len(features.test)] == [6, 6]
    example = features.train[4]
    assert example.row == 4
    np.testing.assert_allclose(
        features.vectors[4], OnnxBackbone("nano", looks=1).features([tmp_path / example.ref])[0], rtol=1e-4, atol=1e-5
    )


@pytest.mark.process
def test_processes_give_the_same_vectors(tmp_path: Path) -> None:
    home = open_dataset("household", options={"instances": 1, "frames": 1, "test_frames": 1})
    alone, spread = (extracted(Source(home, "nano"), tmp_path / str(n), n)[0] for n in (1, 2))
    np.testing.assert_array_equal(alone.vectors, spread.vectors)
    assert alone.train == spread.train
    assert {e.factor for e in alone.train} == {"clutter", "illumination", "occlusion", "size"}
    assert {e.level for e in alone.train} == {1, 2, 3}


def test_an_unreadable_image_leaves_no_example_behind(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=3)
    (folder / "kind 0" / "001.png").write_bytes(b"no image")
    features, skipped, _ = extracted(Source(open_dataset(str(folder)), "nano"), tmp_path / "out")
    assert skipped == 1
    assert len(features.train) == 5
    assert features.test is None
    assert all(np.isfinite(features.vectors[e.row]).all() and features.vectors[e.row].any() for e in features.train)
    assert "001.png" not in {Path(e.ref).name for e in features.train if e.label == "kind 0"}


def test_a_data_set_without_a_readable_image_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "data" / "mug").mkdir(parents=True)
    (tmp_path / "data" / "mug" / "1.png").write_bytes(b"no image")
    with pytest.raises(BenchError, match="none of the 1 examples of data could be read"):
        extracted(Source(open_dataset(str(tmp_path / "data")), "nano"), tmp_path / "out" / "features")
    assert not list((tmp_path / "out").iterdir())


def test_vectors_are_taken_as_they_are(tmp_path: Path) -> None:
    source = Source(open_dataset(str(write_features(tmp_path / "data.npz"))), None)
    features, _, _ = extracted(source, tmp_path / "out")
    given = np.load(tmp_path / "data.npz")
    np.testing.assert_array_equal(features.vectors[:48], given["X"][given["split"] == 0])
    assert source.seen_by == "data.npz"


def test_half_precision_and_domains_are_kept_and_the_split_to_learn_can_be_chosen(tmp_path: Path) -> None:
    X = np.arange(1, 13).reshape(6, 2).astype(np.float16)
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=np.arange(6) % 2, split=np.array([0, 0, 1, 1, 2, 2]), domain=np.array([*"ppssps"]))
    features, _, _ = extracted(Source(open_dataset(str(path), None, {"learn": "val"}), None), tmp_path / "out")
    assert features.test is not None
    assert features.vectors.dtype == np.float16
    np.testing.assert_array_equal(features.vectors, X[2:])
    assert [example.domain for example in [*features.train, *features.test]] == [*"ssps"]
    assert open_dataset(str(path)).fingerprint() != open_dataset(str(path), None, {"learn": "val"}).fingerprint()
    with pytest.raises(StreamError, match="has no split 'clips'; it has test, train, val"):
        open_dataset(str(path), None, {"learn": "clips"})


def test_pictures_that_no_file_reader_knows_go_through_the_network_too(tmp_path: Path) -> None:
    for folder in (tmp_path / "Training" / "00000", tmp_path / "Final_Test" / "Images"):
        folder.mkdir(parents=True)
        picture(0, 0).save(folder / "00000_00001.ppm")
        (folder / "00000_00002.ppm").write_bytes(b"no picture")
    table = "Filename;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n" + "".join(f"00000_0000{n};0;0;9;9;0\n" for n in (1, 2))
    for name in ("Training/00000/GT-00000.csv", "GT-final_test.csv"):
        (tmp_path / name).write_text(table.replace(";0;0;9", ".ppm;0;0;9"))
    features, skipped, _ = extracted(Source(open_dataset("gtsrb", str(tmp_path)), "nano"), tmp_path / "out")
    assert (skipped, len(features.train), features.train[0].video) == (2, 1, "0/00000")
    np.testing.assert_array_equal(features.vectors[0], features.vectors[2])


def test_another_resize_is_another_backbone(tmp_path: Path) -> None:
    own, squashed = OnnxBackbone("nano", looks=1), OnnxBackbone("nano", resize=ResizeRule("squash"))
    wide = picture(0, 0).resize((200, 60))
    assert own.identity != squashed.identity
    assert np.abs(own.features([wide]) - squashed.features([wide])).max() > 0.01


def test_the_identity_follows_data_and_backbone(tmp_path: Path) -> None:
    def identity(**options: Any) -> str:
        return Source(open_dataset("household", options={"instances": 1, **options}), "nano").identity()

    assert identity() == identity()
    assert identity() != identity(seed=1)


def test_sizes_of_backbones() -> None:
    assert backbone_parameters("resnet-18") == 11_176_512
    assert backbone_parameters("nano") == 2_971_430


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("nowhere", {}, "there is no data set 'nowhere'; there are: household"),
        ("openloris", {}, 'root = "/path/to/openloris"'),
        ("household", {"speed": 1}, "household has no option 'speed'"),
        ("openloris", {"frames": 1}, "openloris has no option 'frames'; it has none"),
        ("gtsrb", {"frames": 1}, "gtsrb has no option 'frames'; it has every, crop"),
    ],
)
def test_a_data_set_that_is_not_there_is_said_so(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BenchError, match=words):
        open_dataset(name, None, options)
