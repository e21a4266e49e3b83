"""A benchmark as a TOML file: learners x backbones x tasks x seeds (docs/bench.md)."""

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exll.bench.conditions import Conditions
from exll.bench.learners import LearnerSpec, find_learner, with_arguments
from exll.bench.protocol import AXES, Evaluation, Task
from exll.errors import BenchError, StreamError
from exll.streams.orderings import order_name

DEFAULT_BACKBONE = "nano"
TOP = ("name", "learners", "backbones", "seeds", "most_seeds", "test_then_train", "tasks")
COMMON = ("seeds", "test_then_train")  # said once for all tasks, or in a task for itself
LEARNER = ("name", "class", "arguments", "variants")
CONDITIONS = ("test_domains", "hold_out", "long_tail", "wrong_labels", "delay")
TASK = (
    *(
        "dataset",
        "root",
        "options",
        "orders",
        "seeds",
        "evaluate",
        "points",
        "test_then_train",
        "axis",
        "arguments",
        "without",
    ),
    *CONDITIONS,
)


@dataclass(frozen=True)
class Plan:
    """The whole grid."""

    name: str
    learners: tuple[LearnerSpec, ...]
    backbones: tuple[str, ...]
    tasks: tuple[Task, ...]
    most_seeds: dict[str, int] = field(default_factory=dict)  # by the name of a learner: it is run on the first of them

    def __post_init__(self) -> None:
        names = [variant for learner in self.learners for variant in learner.reported]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BenchError(f"two learners have the name {twice[0]}; give one of them another name.")

    def learners_for(self, task: Task) -> Iterator[LearnerSpec]:
        for learner in self.learners:
            if learner.name not in task.without:
                yield with_arguments(learner, task.arguments.get(learner.name, {}))

    def runs_of(self, task: Task) -> Iterator[tuple[LearnerSpec, int]]:
        """Each learner with each of its seeds; those of one seed together, for they share a stream."""
        for number, seed in enumerate(task.seeds):
            for learner in self.learners_for(task):
                if number < self.most_seeds.get(learner.name, len(task.seeds)):
                    yield learner, seed


def read_plan(path: Path) -> Plan:
    """The plan in a file, or one sentence about what is wrong with it. Paths in it start at the file's folder."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BenchError(f"{path} is not a TOML file that can be read: {error}.") from error
    try:
        return plan_of(table, path.resolve().parent, path.stem)
    except (BenchError, StreamError) as error:
        raise BenchError(f"{path}: {error}") from error


def plan_of(table: dict[str, Any], folder: Path, name: str) -> Plan:
    _check_names(table, TOP, "a benchmark")
    learners = tuple(_learner(entry, str(folder)) for entry in _list(table, "learners"))
    common: dict[str, Any] = {setting: table[setting] for setting in COMMON if setting in table}
    tasks = tuple(task for entry in _list(table, "tasks") for task in _tasks(entry, common, folder))
    backbones = tuple(_text(entry, "a backbone") for entry in table.get("backbones", [DEFAULT_BACKBONE]))
    most_seeds = {learner: len(_seeds(count)) for learner, count in table.get("most_seeds", {}).items()}
    plan = Plan(_text(table.get("name", name), "name"), learners, backbones, tasks, most_seeds)
    names = {learner.name for learner in learners}
    if unknown := most_seeds.keys() - names:
        raise BenchError(f"most_seeds are given for {min(unknown)}, which is not one of the learners.")
    for task in tasks:
        if unknown := set(task.without) - names:
            raise BenchError(f"without names {min(unknown)}, which is not one of the learners.")
        if unknown := task.arguments.keys() - names:
            raise BenchError(f"arguments are given for {min(unknown)}, which is not one of the learners.")
        for learner in plan.learners_for(task):
            learner.check()
    return plan


def _learner(entry: Any, folder: str) -> LearnerSpec:
    if isinstance(entry, str):
        return find_learner(entry, folder)
    _check_names(entry, LEARNER, "a learner")
    if "class" not in entry:
        raise BenchError(f"a learner needs a class: a known name, or my_module:MyLearner; got {entry}.")
    learner = with_arguments(find_learner(_text(entry["class"], "class"), folder), entry.get("arguments", {}))
    name = _text(entry.get("name", learner.name), "name")
    if "variants" in entry:
        return replace(learner, name=name, variants=entry["variants"])
    if name == learner.name:
        return learner
    return replace(
        learner, name=name, variants={f"{name}{v.removeprefix(learner.name)}": a for v, a in learner.variants.items()}
    )


def _tasks(entry: Any, common: dict[str, Any], folder: Path) -> Iterator[Task]:
    _check_names(entry, TASK, "a task")
    if "dataset" not in entry:
        raise BenchError(f"a task needs a dataset; got {entry}.")
    table = {**common, **entry}
    axis = table.get("axis")
    if axis is not None and axis not in AXES[1:]:
        raise BenchError(f"axis must be one of {', '.join(AXES[1:])}; got {axis!r}.")
    domains = (
        [_text(domain, "a test domain") for domain in _list(table, "test_domains")]
        if "test_domains" in table
        else [None]
    )
    for domain, order in itertools.product(domains, _list(table, "orders")):
        yield Task(
            dataset=_place(_text(table["dataset"], "dataset"), folder),
            order=order_name(_text(order, "an order")),
            seeds=_seeds(table.get("seeds", 1)),
            evaluation=Evaluation(_text(table.get("evaluate", "end"), "evaluate"), table.get("points")),
            root=str(folder / table["root"]) if "root" in table else None,
            options=dict(table.get("options", {})),
            arguments=dict(table.get("arguments", {})),
            axis=axis,
            without=tuple(_text(name, "a learner of without") for name in table.get("without", [])),
            test_then_train=_whole(table.get("test_then_train", 0), "test_then_train"),
            conditions=Conditions(
                test_domain=domain,
                hold_out=table.get("hold_out"),
                long_tail=table.get("long_tail"),
                wrong_labels=table.get("wrong_labels"),
                delay=_whole(table.get("delay", 0), "delay"),
            ),
        )


def _place(dataset: str, folder: Path) -> str:
    from exll.bench.datasets import NAMES

    return dataset if dataset in NAMES else str(folder / dataset)


def _seeds(value: Any) -> tuple[int, ...]:
    """A list of seeds, or how many: 3 is 0, 1, 2."""
    if isinstance(value, list) and value:
        return tuple(_whole(seed, "a seed") for seed in value)
    if _whole(value, "seeds") == 0:
        raise BenchError("seeds must be a list of seeds or a number of at least 1; got 0.")
    return tuple(range(value))


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BenchError(f"{name} must be a whole number of at least 0; got {value!r}.")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BenchError(f"{name} must be a text that is not empty; got {value!r}.")
    return value


def _list(table: dict[str, Any], name: str) -> list[Any]:
    value = table.get(name)
    if not isinstance(value, list) or not value:
        raise BenchError(f"{name} must be a list that is not empty; got {value!r}.")
    return value


def _check_names(table: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(table, dict):
        raise BenchError(f"{what} must be a table of {', '.join(known)}; got {table!r}.")
    unknown = sorted(table.keys() - set(known))
    if unknown:
        raise BenchError(f"{what} has no setting {unknown[0]!r}; it has {', '.join(known)}.")
