from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.bench.compare import all_learners, compare_plan
from exll.bench.executors import Local
from exll.bench.learners import BUILT_IN
from exll.bench.runner import run
from exll.errors import BenchError

ROWS = 120
Y = np.arange(ROWS) % 3
X = (np.eye(3)[Y] @ np.ones((3, 8)) + np.eye(3, 8)[Y] + np.random.default_rng(0).normal(size=(ROWS, 8))).astype("f2")
SPLIT = np.where(np.arange(ROWS) < 80, "train", "test")
CONDITIONS = ["(wrong labels 20%), iid", "(wrong labels 40%), iid", "(long tail 2%), iid"]


def write(folder: Path, name: str, **arrays: Any) -> None:
    np.savez(folder / name, X=X, y=Y, **arrays)


def test_a_file_with_a_split_is_learned_shuffled_and_class_by_class(tmp_path: Path) -> None:
    write(tmp_path, "a.npz", split=SPLIT)
    plan = compare_plan(tmp_path, ["ncm"], 3)
    assert [task.label for task in plan.tasks] == [
        "a, iid",
        "a, class-iid",
        *(f"a {words}" for words in CONDITIONS),
        "a (delay 8), iid",
    ]
    assert [task.evaluation.most for task in plan.tasks[:2]] == [None, 5]
    assert [task.test_then_train for task in plan.tasks] == [16, 0, 0, 0, 0, 16]
    assert [task.seeds for task in plan.tasks] == [(0, 1, 2), (0, 1, 2), (0,), (0,), (0,), (0,)]


def test_of_a_file_with_domains_each_is_left_out_and_a_fifth_is_asked_otherwise(tmp_path: Path) -> None:
    write(tmp_path, "b.npz", domain=np.array([*"pqr"])[np.arange(ROWS) // 40])
    assert [task.label for task in compare_plan(tmp_path, ["ncm"], 1).tasks] == [
        "b (hold out 20%), iid",
        "b (hold out 20%), domain-iid",
        *(f"b (test domain {domain}), iid" for domain in "pqr"),
        *(f"b (hold out 20%, {words[1:]}" for words in CONDITIONS),
        "b (hold out 20%, delay 9), iid",
    ]


def test_a_file_with_videos_is_learned_clip_by_clip_too_and_every_task_can_be_run(tmp_path: Path) -> None:
    facts = {"split": SPLIT, "video": np.arange(ROWS) // 10, "frame": np.arange(ROWS) % 10}
    write(tmp_path, "c.npz", domain=np.array([*"pq"])[np.arange(ROWS) % 2], **facts)
    plan = compare_plan(tmp_path, ["ncm-unit"], 1)
    labels = [task.label for task in plan.tasks]
    assert labels[1:8] == [
        "c, class-iid",
        "c, domain-iid",
        "c (test domain p), iid",
        "c (test domain q), iid",
        "c, instance",
        "c, low-shot-instance",
        "c, low-shot-instance 2",
    ]
    outcome = run(plan, tmp_path / "out", Local(1))
    assert not outcome.failed
    assert len(outcome.results) == len(labels) == 12
    assert len({(entry["order"], str(entry["options"])) for entry in outcome.results}) == 12


def test_every_learner_takes_part_once_and_those_that_cost_much_with_one_seed(tmp_path: Path) -> None:
    write(tmp_path, "a.npz", split=SPLIT)
    learners = all_learners()
    assert {name.removesuffix("-unit") for name in learners} == {name.removesuffix("-unit") for name in BUILT_IN}
    assert len(learners) == len({name.removesuffix("-unit") for name in learners})
    assert {"glocal", "slda-unit", "replay-20pc"} <= set(learners)
    plan = compare_plan(tmp_path, ["ncm", "replay-20pc"], 3)
    runs = [(learner.name, seed) for learner, seed in plan.runs_of(plan.tasks[0])]
    assert runs == [("NCM", 0), ("Replay (20pc)", 0), ("NCM", 1), ("NCM", 2)]


def test_a_folder_without_features_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(BenchError, match=r"must be a folder with features files \(\*\.npz\); there are none"):
            compare_plan(folder, ["ncm"], 1)
