from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import exll.features.extract as extract_module
from exll.features.backbone import OnnxBackbone, View
from exll.features.cache import FeatureCache
from exll.features.extract import extract


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1)


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = []
    for i in range(40):
        path = tmp_path / f"{i}.png"
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(path)
        paths.append(path)
    return paths


def test_vectors_come_in_order_and_equal_single_ones(nano: OnnxBackbone, pictures: list[Path]) -> None:
    together = [item.vector for item in extract(pictures, nano, workers=3)]
    for path, vector in zip(pictures[::7], together[::7], strict=True):
        assert vector is not None
        np.testing.assert_allclose(vector, nano.features([path])[0], rtol=1e-3, atol=1e-3)


def test_a_bad_file_has_its_error_in_its_place(nano: OnnxBackbone, pictures: list[Path]) -> None:
    pictures[3].write_bytes(b"")
    pictures[20].unlink()
    results = list(extract(pictures, nano))
    assert [i for i, item in enumerate(results) if item.error is not None] == [3, 20]
    assert str(pictures[3]) in str(results[3].error)
    assert str(pictures[20]) in str(results[20].error)


def test_the_second_time_comes_from_the_cache(
    nano: OnnxBackbone, pictures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = FeatureCache(tmp_path / "c.sqlite")
    first = np.array([item.vector for item in extract(pictures, nano, cache)])

    def no_network(*_: object) -> None:
        raise AssertionError("the network ran")

    monkeypatch.setattr(nano, "run", no_network)
    second = np.array([item.vector for item in extract(pictures, nano, cache)])
    np.testing.assert_array_equal(first, second)


def test_vectors_of_an_earlier_way_to_read_images_are_not_used(
    nano: OnnxBackbone, pictures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = FeatureCache(tmp_path / "c.sqlite")
    monkeypatch.setattr(extract_module, "READING", extract_module.READING - 1)
    list(extract(pictures, nano, cache))
    monkeypatch.undo()
    read = []
    prepare = nano.prepare

    def counted(content: bytes, box: Any) -> View:
        read.append(content)
        return prepare(content, box)

    monkeypatch.setattr(nano, "prepare", counted)
    for _ in range(2):
        list(extract(pictures, nano, cache))
    assert len(read) == len(pictures)


def test_a_changed_file_is_seen_anew(nano: OnnxBackbone, pictures: list[Path], tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path / "c.sqlite")
    before = next(extract(pictures, nano, cache)).vector
    Image.new("RGB", (40, 50), "green").save(pictures[0])
    after = next(extract(pictures, nano, cache)).vector
    assert before is not None
    assert after is not None
    assert not np.allclose(before, after)


def test_stopping_early_ends_the_threads(nano: OnnxBackbone, pictures: list[Path]) -> None:
    import threading

    results = extract(pictures, nano)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("exll-read")]
