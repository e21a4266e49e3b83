"""Running a plan: features first, then every cell that is not in the results file yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

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
    """Whoever watches a run."""

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
    """Run what is missing of the grid. Killed at any moment, the same call goes on where it stood."""
    watcher = progress or Unwatched()
    if out.exists() and not out.is_dir():
        raise BenchError(f"{out} is a file; results go into a folder.")
    file = ResultsFile(out / NAME)
    sources = _sources(plan)
    _check_that_some_are_asked(plan, sources)
    cells = list(_cells(plan, sources, out))
    with file.writing() as writer:
        Grid(plan.name, command, [cell.key for cell in cells]).write(out)
        done = file.read()
        waiting = [cell for cell in cells if cell.key not in done]
        _extract({cell.folder: sources[_where(cell.task, cell.backbone)] for cell in waiting}, executor, watcher)
        watcher.stage("cells", len(cells), len(cells) - len(waiting))
        failed: dict[str, str] = {}
        sizes = {source.seen_by: _network_parameters(source) for source in sources.values()}
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


def _where(task: Task, backbone: str) -> tuple[str, str | None, str, str]:
    return task.dataset, task.root, repr(sorted(task.options.items())), backbone


def _sources(plan: Plan) -> dict[tuple[str, str | None, str, str], Source]:
    """Each data set once for each backbone, by what names it in a cell."""
    opened: dict[tuple[Any, ...], Any] = {}
    sources: dict[tuple[str, str | None, str, str], Source] = {}
    for task in plan.tasks:
        place = _where(task, "")
        if place not in opened:
            opened[place] = open_dataset(task.dataset, task.root, task.options)
        dataset = opened[place]
        for backbone in [None] if dataset.train.kind == "features" else plan.backbones:
            source = Source(dataset, backbone)
            sources[_where(task, source.seen_by)] = source
    return sources


def _check_that_some_are_asked(plan: Plan, sources: dict[Any, Source]) -> None:
    """Where not one task has anything to ask, that is one sentence before the work and not one for every cell."""
    tested = {place[:3] for place, source in sources.items() if source.dataset.test is not None}
    if not any(leaves_some_out(task.order) or _where(task, "")[:3] in tested for task in plan.tasks):
        raise nothing_to_ask(plan.tasks)


def _cells(plan: Plan, sources: dict[Any, Source], out: Path) -> Iterator[Cell]:
    identities = {place: source.identity() for place, source in sources.items()}
    for task in plan.tasks:
        for place, source in sources.items():
            if place[:3] != _where(task, "")[:3]:
                continue
            folder = out.resolve() / "features" / f"{source.dataset.name}-{source.seen_by}-{identities[place][:12]}"
            for learner in plan.learners_for(task):
                for seed in task.seeds:
                    yield Cell(learner, task, seed, source.seen_by, identities[place], folder)


def _extract(sources: dict[Path, Source], executor: Executor, watcher: Watcher) -> None:
    for folder, source in sources.items():
        if not folder.is_dir():
            watcher.stage(f"features: {source.dataset.name}, {source.seen_by}", len(source.dataset.examples))
            skipped = source.extract(folder, executor, watcher.advance)
            if skipped:
                watcher.advance(len(source.dataset.examples), f"{skipped:,} examples could not be read")


def _network_parameters(source: Source) -> int:
    return 0 if source.backbone is None else backbone_parameters(source.backbone)


def _remark(cell: Cell, found: dict[str, Any]) -> str:
    if "error" in found:
        return f"{cell.label}: failed, {found['error']}"
    answers = ", ".join(
        f"{variant} {figures['accuracy']:.3f}" for variant, figures in found["result"]["variants"].items()
    )
    return f"{cell.task.label}, {cell.backbone}, seed {cell.seed}: {answers}"
