from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.bench.datasets import open_dataset
from tasks import Task, export


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two tasks over one file of features, of which they take different rows and labels."""
    folder = tmp_path / "data"
    (folder / "features").mkdir(parents=True)
    rows = np.arange(6)
    facts_of_rows: dict[str, Any] = {"video": rows // 2, "frame": rows % 2, "instance": np.array([0, 1, -1, 0, 1, 2])}
    np.savez(folder / "features" / "things.npz", X=np.eye(6), y=rows % 3, y_coarse=rows % 2, **facts_of_rows)
    facts = {"fine": ("y", [0, 1, 2], [3, 4]), "coarse": ("y_coarse", [5, 0], [1])}
    arrays: dict[str, Any] = {}
    for name, (label, train, test) in facts.items():
        arrays |= {f"{name}/dataset": "things", f"{name}/label": label, f"{name}/train": train, f"{name}/test": test}
    np.savez(folder / "tasks.npz", **arrays)
    return folder


def test_an_exported_task_is_a_data_set_with_the_split_of_its_own(source: Path, tmp_path: Path) -> None:
    paths = export(tmp_path / "out", source)
    assert [path.name for path in paths] == ["fine.npz", "coarse.npz"]
    coarse = open_dataset(str(paths[1]))
    assert coarse.test is not None
    assert [example.label for example in coarse.train.examples] == ["1", "0"]
    assert [example.label for example in coarse.test.examples] == ["1"]
    assert [(e.video, e.frame, e.instance) for e in coarse.train.examples] == [("2", 1, "2"), ("0", 0, "0")]
    assert {example.instance for example in open_dataset(str(paths[0])).train.examples} == {None}  # not of all known
    again, task = Task("", paths[0]), Task("fine", source)
    np.testing.assert_array_equal(again.X, task.X)
    np.testing.assert_array_equal(again.y_test, task.y_test)


def test_data_sets_of_domains_and_of_clips_are_exported_too(source: Path, tmp_path: Path) -> None:
    rows = np.arange(6)
    np.savez(source / "features" / "pacs.npz", X=np.eye(6), y=rows % 2, domain=rows // 2)
    facts: dict[str, Any] = {
        "video": np.array([0, 0, 1, 1, -1, -1]),
        "frame": np.array([0, 1, 4, 9, -1, -1]),
        "split": rows // 2,
    }
    np.savez(source / "features" / "gtsrb.npz", X=np.eye(6), y=rows % 2, **facts)
    pacs, clips, frames = (open_dataset(str(path)) for path in export(tmp_path / "out", source)[2:])
    assert {example.domain for example in pacs.train.examples} == {"0", "1", "2"}
    assert [(example.video, example.frame) for example in clips.train.examples] == [("0", 0), ("0", 1)]
    assert [example.video for example in frames.train.examples] == [None, None]
    assert frames.train.fingerprint() != clips.train.fingerprint()
