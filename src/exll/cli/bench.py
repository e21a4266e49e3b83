"""``exll bench``: compare learners with the paper's protocols."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import check_folder, progress_bar, stopped_by_ctrl_c

if TYPE_CHECKING:
    from exll.bench.config import Plan
    from exll.bench.runner import GridResults
    from exll.bench.summary import Summary
    from exll.bench.tables import Table

FAILED_SHOWN = 5
MOST_COLUMNS = 26  # more are means of all
PLAIN_MARKS = ("", "*", "+", "~")  # for terminals without the circled digits

app = typer.Typer(rich_markup_mode=None)

OutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="The folder for results and report; an unfinished run there is continued.", file_okay=False
    ),
]
JobsOption = Annotated[int | None, typer.Option(min=1, max=1024, help="Processes at a time [default: cores].")]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler to send the work to, like tcp://10.0.0.5:8786."),
]


@app.command("run")
def run_config(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A TOML file (docs/bench.md).", show_default=False)],
    out: OutOption = Path("exll-bench"),
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Run learners x backbones x data x orders x seeds. If it is stopped, the same command continues the run."""
    from exll.bench.config import read_plan

    _run(read_plan(config), out, jobs, cluster)


@app.command("demo")
def demo(out: OutOption = Path("exll-bench-demo"), jobs: JobsOption = None, cluster: ClusterOption = None) -> None:
    """Run every protocol in a small form on drawn objects.

    The program draws the objects; nothing is downloaded.
    """
    from importlib.resources import files

    from exll.bench.config import read_plan

    _run(read_plan(Path(str(files("exll") / "bench" / "demo.toml"))), out, jobs, cluster)


@app.command("features")
def features(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="An .npz of features with splits train and test; without these, an order must leave examples out.",
            show_default=False,
        ),
    ],
    learners: Annotated[
        str, typer.Option(help="Names, separated by commas; a class of your own is my_module:MyLearner.")
    ] = "ncm,slda,slda-unit,exll,glocal",
    orders: Annotated[
        str, typer.Option(help="Orders, separated by commas; 'few-shot 5' leaves examples out.")
    ] = "iid,class-iid",
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="How many seeds.")] = 3,
    out: OutOption = Path("exll-bench"),
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Compare learners on features that were made before.

    They can come from anything: images, sounds, sensors.
    """
    from exll.bench.config import plan_of

    config = {
        "name": path.stem,
        "learners": _names(learners),
        "seeds": seeds,
        "tasks": [{"dataset": str(path.resolve()), "orders": _names(orders)}],
    }
    _run(plan_of(config, Path.cwd(), path.stem), out, jobs, cluster)


@app.command("compare")
def compare(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder with features files (*.npz).", show_default=False)
    ],
    out: OutOption = Path("exll-compare"),
    learners: Annotated[
        str | None, typer.Option(help="Names, separated by commas [default: all, each in its better form].")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="How many orders; slow learners get one.")] = 3,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Compare all learners on a folder of features.

    The tasks are fixed. Which of them a file gets depends on what it has: a split, domains, videos (docs/bench.md).
    """
    from exll.bench.compare import all_learners, compare_plan

    _run(compare_plan(folder, _names(learners) if learners else all_learners(), seeds), out, jobs, cluster)


@app.command("report")
def report(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="The folder of a run, or its results.jsonl.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder for the report [default: the folder of the results].")
    ] = None,
) -> None:
    """Write the report of a run again.

    The run may be unfinished.
    """
    from exll.bench.report import read_results, report_of, write_report

    entries, title, command = read_results(results)
    folder = out or (results if results.is_dir() else results.parent)
    check_folder(folder)
    typer.echo(f"wrote {', '.join(str(path) for path in write_report(report_of(entries, title, command), folder))}")


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _run(plan: "Plan", out: Path, jobs: int | None, cluster: str | None) -> None:
    from exll.bench.executors import Cluster, Local
    from exll.bench.report import report_of, write_report
    from exll.bench.runner import run

    check_folder(out)
    command = _command()
    with ExitStack() as stack:
        executor = stack.enter_context(Cluster(cluster)) if cluster is not None else Local(jobs)
        watcher = _Watcher(stack.enter_context(progress_bar()))
        with stopped_by_ctrl_c(lambda: f"stopped; the same command continues from there ({out})."):
            outcome = run(plan, out, executor, watcher, command)
    if outcome.results:
        made = write_report(report_of(outcome.results, plan.name, command), out)
        _print_overview(outcome, plan.name)
        typer.echo(f"The report: {made[1]} (also {made[0].name} and pictures in the same folder)")
    if outcome.failed:
        _show_failed(outcome)
        raise typer.Exit(1)


def _command() -> str:
    """The command as typed, without the place of the program."""
    return " ".join(["exll", *sys.argv[1:]])


class _Watcher:
    """A progress bar in a terminal; else a line for each cell, so that a log shows the progress."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None
        self._total = 0

    def stage(self, what: str, total: int, done: int = 0) -> None:
        self._total = total
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total, completed=done)
        if self._progress.disable:
            typer.echo(f"{what}: {total:,}" + (f", {done:,} done before" if done else ""), err=True)

    def advance(self, done: int, remark: str = "") -> None:
        self._progress.update(self._task, completed=done)
        if self._progress.disable and remark:
            typer.echo(f"{done:,} of {self._total:,}: {remark}", err=True)


def _print_overview(outcome: "GridResults", title: str) -> None:
    """Settings are columns called A, B, C, so that eight of them fit a terminal of 80 characters."""
    from rich.console import Console
    from rich.table import Table

    from exll.bench.summary import Summary
    from exll.bench.tables import MARKS, overview

    console = Console(highlight=False)
    marks = MARKS if _can_print("".join(MARKS), console.encoding) else PLAIN_MARKS
    summary = Summary.of(outcome.results)
    found = overview(summary) if len(summary.settings) <= MOST_COLUMNS else _means(summary)
    letters = [f"{place // 26 or ''}{chr(ord('A') + place % 26)}" for place in range(len(found.columns))]
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    for letter in letters:
        table.add_column(f"{letter}  ", justify="right", no_wrap=True)
    for name, values in found.rows:
        table.add_row(name, *(f"{value.text}{marks[value.rank] or ' '}" for value in values))
    console.print(f"[bold]{title}[/]: accuracy at the end of each stream, the three best marked {' '.join(marks[1:])}")
    console.print(table)
    for letter, column in zip(letters, found.columns, strict=True):
        console.print(f"  {letter}  {column}", markup=False)
    for words in _either_right(outcome):
        console.print(words, markup=False, soft_wrap=True)


def _means(summary: "Summary") -> "Table":
    """One column instead of many: the mean of all settings, of the learners that were run on all of them."""
    from exll.bench.metrics import mean_of
    from exll.bench.tables import MISSING, Table, Value, ranks

    means = []
    for variant in summary.variants:
        found = [summary.accuracy(setting, variant) for setting in summary.settings]
        means.append(None if None in found else mean_of([m.mean for m in found if m is not None]))
    values = [
        Value(MISSING if mean is None else f"{mean:.3f}", rank) for mean, rank in zip(means, ranks(means), strict=True)
    ]
    title = f"the mean of all {len(summary.settings)} settings; each of them is in the report"
    return Table("", (title,), tuple((name, (value,)) for name, value in zip(summary.variants, values, strict=True)))


def _can_print(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _either_right(outcome: "GridResults") -> list[str]:
    from exll.bench.metrics import mean_of

    learners = dict.fromkeys(e["learner"] for e in outcome.results if e["either_right"] is not None)
    means = {name: mean_of([e["either_right"] for e in outcome.results if e["learner"] == name]) for name in learners}
    return [f"{name}: local or global inference was right in {mean:.1%}" for name, mean in means.items()]


def _show_failed(outcome: "GridResults") -> None:
    failed = list(outcome.failed.items())
    typer.echo(f"{len(failed):,} cell{'s' if len(failed) > 1 else ''} failed; the same command tries again:", err=True)
    for label, reason in failed[:FAILED_SHOWN]:
        typer.echo(f"  {label}: {reason}", err=True)
    if len(failed) > FAILED_SHOWN:
        typer.echo(f"  and {len(failed) - FAILED_SHOWN:,} more", err=True)
