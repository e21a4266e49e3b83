"""Running a plan: features first, then every cell that is not in the results file yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from exll.bench.cell import Cell
from exll.bench.config import Plan
from exll.bench.datasets import open_dataset
from exll.bench.executors import Executor
from exll.bench.features import Source, backbone_parameters
from exll.bench.protocol import Task, nothing_to_ask
from exll.bench.results import NAME, Grid, ResultsFile
from exll.errors import BenchError
from exll.streams.orderings import leaves_some_out


class Watcher(Protocol):
    """Is told about the progress of a run."""

    def stage(self, what: str, total: int, done: int = 0) -> None: ...
    def advance(self, done: int, remark: str = "") -> None: ...


class Unwatched:
    def stage(self, what: str, total: int, done: int = 0) -> None:
        pass

    def advance(self, done: int, remark: str = "") -> None:
        pass


@dataclass(frozen=True)
class GridResults:
    """The results of the whole grid, those of earlier runs among them, and the cells that failed now."""

    results: list[dict[str, Any]]
    fresh: int
    failed: dict[str, str] = field(default_factory=dict)  # label of a cell -> why


def run(plan: Plan, out: Path, executor: Executor, progress: Watcher | None = None, command: str = "") -> GridResults:
    """Run the missing part of the grid. If it is killed, the same call continues."""
    watcher = progress or Unwatched()
    if out.exists() and not out.is_dir():
        raise BenchError(f"{out} is a file; results go into a folder.")
    file = ResultsFile(out / NAME)
    places = _places(plan)
    _check_that_some_are_asked(plan, places)
    cells = list(_cells(plan, places, out))
    with file.writing() as writer:
        Grid(plan.name, command, [cell.key for cell in cells]).write(out)
        done = file.read()
        waiting = [cell for cell in cells if cell.key not in done]
        _extract({cell.folder: places[_where(cell.task, cell.backbone)] for cell in waiting}, executor, watcher)
        watcher.stage("cells", len(cells), len(cells) - len(waiting))
        failed: dict[str, str] = {}
        sizes = {name: _network_parameters(place.backbone) for (*_, name), place in places.items()}
        for finished, (number, found) in enumerate(executor.run(Cell.run, waiting), start=1):
            cell = waiting[number]
            if "error" in found:
                failed[cell.label] = found["error"]
            else:
                entry = {
                    "key": cell.key,
                    **cell.metadata(),
                    **found["result"],
                    "backbone_parameters": sizes[cell.backbone],
                }
                writer.add(entry)
                done[cell.key] = entry
            watcher.advance(len(cells) - len(waiting) + finished, _remark(cell, found))
    results = [done[cell.key] | cell.metadata() for cell in cells if cell.key in done]
    return GridResults(results, len(waiting) - len(failed), failed)


Where: TypeAlias = tuple[str, str | None, str, str]


@dataclass(frozen=True)
class _Place:
    """A data set seen by a backbone; its vectors are not kept in memory, for a plan may name many."""

    task: Task  # one that names it
    backbone: str | None
    name: str
    identity: str
    tested: bool

    def source(self) -> Source:
        return Source(open_dataset(self.task.dataset, self.task.root, self.task.options), self.backbone)


def _where(task: Task, backbone: str) -> Where:
    return task.dataset, task.root, repr(sorted(task.options.items())), backbone


def _places(plan: Plan) -> dict[Where, _Place]:
    """Each data set once for each backbone, by what names it in a cell."""
    opened: set[Where] = set()
    places: dict[Where, _Place] = {}
    for task in plan.tasks:
        if _where(task, "") in opened:
            continue
        opened.add(_where(task, ""))
        dataset = open_dataset(task.dataset, task.root, task.options)
        for backbone in [None] if dataset.train.kind == "features" else plan.backbones:
            source = Source(dataset, backbone)
            place = _Place(task, backbone, dataset.name, source.identity(), dataset.test is not None)
            places[_where(task, source.seen_by)] = place
    return places


def _check_that_some_are_asked(plan: Plan, places: dict[Where, _Place]) -> None:
    """If no task has anything to ask, say so once before the work, and not for every cell."""
    tested = {where[:3] for where, place in places.items() if place.tested}
    if not any(
        leaves_some_out(task.order) or task.conditions.make_a_test_part or _where(task, "")[:3] in tested
        for task in plan.tasks
    ):
        raise nothing_to_ask(plan.tasks)


def _cells(plan: Plan, places: dict[Where, _Place], out: Path) -> Iterator[Cell]:
    for task in plan.tasks:
        for where, place in places.items():
            if where[:3] != _where(task, "")[:3]:
                continue
            seen_by = where[3]
            folder = out.resolve() / "features" / f"{place.name}-{seen_by}-{place.identity[:12]}"
            for learner, seed in plan.runs_of(task):
                # One that sees all data at once has nothing to say on the way.
                asked = task.asked_at_the_end if learner.offline else task
                yield Cell(learner, asked, seed, seen_by, place.identity, folder)


def _extract(places: dict[Path, _Place], executor: Executor, watcher: Watcher) -> None:
    for folder, place in places.items():
        if not folder.is_dir():
            source = place.source()
            watcher.stage(f"features: {source.dataset.name}, {source.seen_by}", len(source.dataset.examples))
            skipped = source.extract(folder, executor, watcher.advance)
            if skipped:
                watcher.advance(len(source.dataset.examples), f"{skipped:,} examples could not be read")


def _network_parameters(backbone: str | None) -> int:
    return 0 if backbone is None else backbone_parameters(backbone)


def _remark(cell: Cell, found: dict[str, Any]) -> str:
    if "error" in found:
        return f"{cell.label}: failed, {found['error']}"
    answers = ", ".join(
        f"{variant} {figures['accuracy']:.3f}" for variant, figures in found["result"]["variants"].items()
    )
    return f"{cell.task.label}, {cell.backbone}, seed {cell.seed}: {answers}"
