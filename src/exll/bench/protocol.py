"""Which data, in which order, and when questions are asked: the protocols of Hayes and Kanan, as in the paper."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from exll.bench.conditions import Conditions
from exll.errors import BenchError
from exll.streams.example import Example

NO_CONDITIONS = Conditions()
AXES = ("NetScore", "Video", "Low-Shot", "Scale", "Imbalance")


@dataclass(frozen=True)
class Evaluation:
    """When a learner is asked. It is always asked at the end; more points give a curve over time.

    ``when`` is "end", "videos" or "domains" (after each), "classes N" (each time N more classes are known) or
    "examples N".
    """

    when: str = "end"
    most: int | None = None  # points at most, evenly chosen

    def __post_init__(self) -> None:
        self._parsed()
        if self.most is not None and self.most < 1:
            raise BenchError(f"points must be 1 or more; got {self.most}.")

    def points(self, stream: Sequence[Example]) -> list[int]:
        """After how many examples of the stream; the last is its end."""
        kind, step = self._parsed()
        points = [*_boundaries(stream, kind, step), len(stream)]
        if self.most is not None and len(points) > self.most:
            chosen = np.linspace(0, len(points) - 1, self.most + 1).round().astype(int)[1:]
            points = [points[i] for i in chosen]
        return points

    def _parsed(self) -> tuple[str, int]:
        if self.when in ("end", "videos", "domains"):
            return self.when, 0
        stepped = re.fullmatch(r"(classes|examples) ([1-9][0-9]{0,8})", self.when)
        if stepped is None:
            raise BenchError(
                f"evaluate must be 'end', 'videos', 'domains', 'classes N' or 'examples N'; got {self.when!r}."
            )
        return stepped[1], int(stepped[2])


@dataclass(frozen=True)
class Task:
    """One data set in one order, run once per seed."""

    dataset: str  # a name of exll.bench.datasets, or a path
    order: str
    seeds: tuple[int, ...] = (0,)
    evaluation: Evaluation = Evaluation()
    root: str | None = None  # where the data lies
    options: dict[str, Any] = field(default_factory=dict)  # of the data set
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)  # of a learner, for this task only
    axis: str | None = None  # of the spider plot
    without: tuple[str, ...] = ()  # learners that take no part
    test_then_train: int = 0  # examples asked before they are learned, so many at a time; 0: none
    conditions: Conditions = NO_CONDITIONS

    @property
    def shown(self) -> str:
        """The data set's name, or the last part of its path."""
        return Path(self.dataset).stem

    @property
    def asked_at_the_end(self) -> "Task":
        """The same, asked only then."""
        return replace(self, evaluation=Evaluation(), test_then_train=0)

    @property
    def label(self) -> str:
        conditions = ", ".join(f"{name} {value}" for name, value in self.conditions.shown.items())
        return f"{self.shown}{f' ({conditions})' if conditions else ''}, {self.order}"


def nothing_to_ask(tasks: Sequence[Task]) -> BenchError:
    data = " and ".join(dict.fromkeys(task.shown for task in tasks))
    orders = " or ".join(dict.fromkeys(task.order for task in tasks))
    return BenchError(
        f"nothing of {data} can be asked: there is no test part, and the order {orders} leaves nothing out; choose one "
        "that does, as with --orders 'few-shot 5'."
    )


PAPER_TASKS = (
    Task("openloris", "instance", (0, 1, 2), Evaluation("videos"), axis="Video"),
    Task("openloris", "low-shot-instance", (0, 1, 2), Evaluation("videos"), axis="Low-Shot"),
    Task("places365", "iid", (0,), axis="Scale"),
    Task("places365", "class-iid", (0,), Evaluation("classes 75"), axis="Scale"),
    Task("places-lt", "iid", (0, 1, 2), axis="Imbalance"),
    Task("places-lt", "class-iid", (0, 1, 2), axis="Imbalance"),
    Task("fsiol", "few-shot 5", (0, 1, 2)),
    Task("fsiol", "few-shot 10", (0, 1, 2)),
)


def _boundaries(stream: Sequence[Example], kind: str, step: int) -> list[int]:
    if kind == "videos":
        return _changes([(example.label, example.video or example.instance) for example in stream])
    if kind == "domains":
        return _changes([example.domain for example in stream])
    if kind == "classes":
        return _new_classes(stream, step)
    return list(range(step, len(stream), step)) if kind == "examples" else []


def _changes(units: Sequence[Any]) -> list[int]:
    """Where a video or a domain ends and another begins."""
    return [i for i in range(1, len(units)) if units[i] != units[i - 1]]


def _new_classes(stream: Sequence[Example], step: int) -> list[int]:
    """Where ``step`` more classes are known and the next one begins."""
    known: set[str] = set()
    points = []
    for i, example in enumerate(stream):
        if example.label not in known:
            if known and len(known) % step == 0:
                points.append(i)
            known.add(example.label)
    return points
