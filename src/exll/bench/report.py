"""The content of a report and its order. report_markdown and report_html decide how it looks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exll.bench.charts import charts
from exll.bench.curve_tables import WORDS, ahead_table, curve_table
from exll.bench.difference_tables import dataset_groups, difference_table, rival_table, wide_tables
from exll.bench.legend import legend
from exll.bench.paper_results import oddities
from exll.bench.results import NAME, Grid, ResultsFile
from exll.bench.summary import Entry, Summary
from exll.bench.tables import (
    ON_THE_WAY,
    Table,
    accuracy_tables,
    axes_table,
    factor_table,
    netscore_table,
    overviews,
    stream_table,
)
from exll.errors import BenchError

MOST_DIFFERENCES = 4  # columns; each has a mean and an interval


@dataclass(frozen=True)
class Picture:
    name: str
    words: str
    png: bytes


@dataclass(frozen=True)
class Section:
    """A heading with tables and pictures under it; ``folded`` sections are closed at first."""

    title: str
    parts: tuple[Table | Picture, ...]
    folded: bool = False
    words: str = ""  # what holds for all of it


@dataclass(frozen=True)
class Report:
    title: str
    lead: str
    sections: tuple[Section, ...]
    legend: tuple[tuple[str, str], ...]  # what the names mean
    footnotes: tuple[str, ...]
    made_with: tuple[tuple[str, str], ...]


def report_of(entries: Iterable[Entry], title: str, command: str) -> Report:
    summary = Summary.of(entries)
    if not summary.entries:
        raise BenchError("there are no results to report on.")
    return Report(
        title,
        _lead(summary),
        tuple(_sections(summary)),
        tuple(legend(summary)),
        tuple(oddities({setting.dataset for setting in summary.settings}, set(summary.variants))),
        tuple(_made_with(summary, command)),
    )


def read_results(path: Path) -> tuple[list[Entry], str, str]:
    """The results of a run, its title and its command: from its folder, or from the file in it.

    Where the folder says what its last run was about, only the results of that run count, in its order.
    """
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        raise BenchError(f"there are no results at {file}.")
    entries, grid = ResultsFile(file).read(), Grid.read(file.parent)
    if grid is None:
        return list(entries.values()), file.parent.resolve().name, "unknown"
    return [entries[key] for key in grid.keys if key in entries], grid.title, grid.command


def write_report(report: Report, folder: Path) -> list[Path]:
    """report.md, report.html and the pictures, each written whole."""
    from exll.bench.report_html import html
    from exll.bench.report_markdown import markdown

    folder.mkdir(parents=True, exist_ok=True)
    files = {"report.md": markdown(report).encode(), "report.html": html(report).encode()}
    files |= {f"{part.name}.png": part.png for s in report.sections for part in s.parts if isinstance(part, Picture)}
    for name, content in files.items():
        making = folder / f".{name}.part"
        making.write_bytes(content)
        making.replace(folder / name)
    return [folder / name for name in files]


def _sections(summary: Summary) -> Iterator[Section]:
    pictures = {name: Picture(name, words, png) for name, words, png in charts(summary)}
    yield Section("At a glance", (*overviews(summary), pictures["accuracy"]))
    differences = difference_table(summary, dataset_groups(summary))
    if differences is not None:
        rivals = rival_table(summary)
        parts = (*wide_tables(differences, MOST_DIFFERENCES), *([] if rivals is None else [rivals]))
        yield Section("Differences", parts)
    axes = axes_table(summary)
    if axes is not None:
        yield Section("Strengths and weaknesses", tuple(p for p in (pictures.get("spider"), axes) if p is not None))
    if "curves" in pictures or "ahead" in pictures:
        yield Section("While the stream goes on", tuple(pictures[p] for p in ("curves", "ahead") if p in pictures))
        kinds = (curve_table, ahead_table)
        tables = [table(summary, summary.title(s), [s]) for s in summary.settings for table in kinds]
        known = tuple(table for table in tables if table is not None)
        yield Section("While the stream goes on, in figures", known, folded=True, words=WORDS)
    scores = netscore_table(summary)
    if scores is not None:
        yield Section("NetScore", (scores,))
    yield Section("Every setting", tuple(accuracy_tables(summary)))
    ways = tuple(stream_table(summary, setting) for setting in summary.settings)
    yield Section("On the way", ways, folded=True, words=ON_THE_WAY)
    factors = [table for s in summary.settings if (table := factor_table(summary, s)) is not None]
    if factors:
        yield Section("What makes it hard", tuple(factors), folded=True)


def _lead(summary: Summary) -> str:
    counts = (
        (len(summary.variants), "learner"),
        (len(summary.backbones), "backbone"),
        (len(summary.settings), "setting"),
        (len(summary.seeds), "seed"),
        (len(summary.entries), "run"),
    )
    return ", ".join(f"{count:,} {name}{'s' if count != 1 else ''}" for count, name in counts) + "."


def _made_with(summary: Summary, command: str) -> Iterator[tuple[str, str]]:
    machines = [entry["machine"] for entry in summary.entries]

    def each(name: str) -> str:
        return "; ".join(sorted({str(machine[name]) for machine in machines if machine[name] is not None}))

    yield "Command", command
    yield "Seeds", ", ".join(map(str, summary.seeds))
    yield "Backbones", ", ".join(summary.backbones)
    yield "Processor", f"{each('processor')} ({each('cores')} cores)"
    yield "System", f"{each('system')}, Python {each('python')}"
    commit = each("commit")
    yield "exll", each("exll") + (f", commit {commit}" if commit else "")
    yield "Packages", _packages(machines)


def _packages(machines: list[dict[str, Any]]) -> str:
    found = sorted({f"{name} {version}" for machine in machines for name, version in machine["packages"].items()})
    return ", ".join(found)
