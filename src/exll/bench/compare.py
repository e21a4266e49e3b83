"""The fixed comparison: what a features file of a folder holds decides its tasks. There is nothing to choose.

The rules are those of docs/bench.md.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from exll.bench.config import Plan, plan_of
from exll.bench.datasets import open_dataset
from exll.bench.learners import BUILT_IN, find_learner
from exll.errors import BenchError

POINTS = 5  # along streams in which classes, domains or clips follow each other
BLOCKS = 5  # of a stream that is asked before it is learned
LATE = 10  # late labels come after a tenth of the stream
HELD_OUT = 0.2  # of files without a test part
RAREST = 0.02


# Those that step along a gradient hardly leave chance on unit vectors (docs/results.md); the others are better on them.
ON_RAW_FEATURES = ("perceptron", "fine-tune", "replay-2pc", "replay-20pc")
# One seed. Of these only the two strongest take part in the conditions.
COSTLY = ("fine-tune", "replay-", "ranpac", "klda", "fecam", "rda", "knn", "offline-")
ALSO_IN_CONDITIONS = ("ranpac", "klda-cosine")


def all_learners() -> list[str]:
    """Each once, on the features that it is better on."""
    forms = {name.removesuffix("-unit"): name for name in BUILT_IN}  # that of unit vectors, where there is one
    return [name if name in ON_RAW_FEATURES else form for name, form in forms.items()]


def compare_plan(folder: Path, learners: Sequence[str], seeds: int) -> Plan:
    """All tasks of a folder for these learners."""
    files = sorted(folder.glob("*.npz")) if folder.is_dir() else []
    if not files:
        raise BenchError(f"{folder} must be a folder with features files (*.npz); there are none.")
    costly = {name: find_learner(name).name for name in learners if name.startswith(COSTLY)}
    table: dict[str, Any] = {
        "name": f"All learners on {folder.resolve().name}",
        "learners": list(learners),
        "seeds": seeds,
        "most_seeds": dict.fromkeys(costly.values(), 1),
        "tasks": [{"dataset": path.name, **task} for path in files for task in tasks_of(path)],
    }
    left_away = [name for learner, name in costly.items() if not learner.startswith(ALSO_IN_CONDITIONS)]
    for task in table["tasks"]:
        if {"wrong_labels", "long_tail", "delay"} & task.keys():
            task["without"] = left_away
    return plan_of(table, folder.resolve(), folder.name)


def tasks_of(path: Path) -> Iterator[dict[str, Any]]:
    """The tasks that a file can be used for, as entries of a plan."""
    data = open_dataset(str(path))
    examples = data.train.examples
    domains = {example.domain for example in examples}
    asked = {} if data.test is not None else {"hold_out": HELD_OUT}
    learned = len(examples) if data.test is not None else round((1 - HELD_OUT) * len(examples))
    block = max(1, learned // BLOCKS)
    yield {"orders": ["iid"], "test_then_train": block, **asked}
    if data.test is not None or domains == {None}:
        yield {"orders": ["class-iid"], "evaluate": "classes 1", "points": POINTS, **asked}
    if None not in domains:
        yield {"orders": ["domain-iid"], "evaluate": "domains", "points": POINTS, **asked}
        asked_domains = {example.domain for example in (data.test or data.train).examples}
        left_out = sorted(str(domain) for domain in asked_domains if domains - {domain})
        if left_out:
            yield {"orders": ["iid"], "test_domains": left_out}
    if all(example.video is not None and example.frame is not None for example in examples):
        orders = ["instance", "low-shot-instance", "low-shot-instance 2"]
        yield {"orders": orders, "evaluate": "videos", "points": POINTS, **asked}
    once = {"orders": ["iid"], "seeds": 1, **asked}
    for wrong in (0.2, 0.4):
        yield {**once, "wrong_labels": wrong}
    yield {**once, "long_tail": RAREST}
    yield {**once, "test_then_train": block, "delay": max(1, learned // LATE)}
