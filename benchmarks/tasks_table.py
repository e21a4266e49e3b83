"""Markdown tables of the ten tasks from results of ``exll bench run`` (benchmarks/configs/tasks.toml).

``tasks_table.py RESULTS [RESULTS ...]``: learners down, tasks across, one table an order; the mean over seeds, in
thousandths of accuracy, ± the standard deviation where there is one. The mean is of
the tasks whose test videos are new.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from exll.bench.metrics import mean_of
from exll.bench.results import NAME, ResultsFile
from exll.bench.summary import Measured, Summary
from tasks import SHARED_VIDEOS

ORDERS = ("iid", "class-iid")
EITHER = "ExLL, either right"


def tables(summary: Summary) -> Iterator[str]:
    for order in ORDERS:
        settings = [setting for setting in summary.settings if setting.order == order]
        names = [setting.dataset.removesuffix(".npz") for setting in settings]
        yield f"**{order}**\n"
        yield f"| | {' | '.join(names)} | mean of {len(set(names) - {SHARED_VIDEOS})} |"
        yield f"|{'---|' * (len(names) + 2)}"
        for variant in summary.variants:
            yield _row(variant, names, [summary.accuracy(setting, variant) for setting in settings])
            if variant == "ExLL-F":
                either = [summary.measured(s, variant, None, lambda entry: entry["either_right"]) for s in settings]
                yield _row(EITHER, names, either)
        yield ""


def _row(title: str, names: list[str], found: list[Measured | None]) -> str:
    nine = [None if m is None else m.mean for name, m in zip(names, found, strict=True) if name != SHARED_VIDEOS]
    mean = mean_of(nine)
    cells = [*map(_cell, found), "" if mean is None or None in nine else _thousandths(mean)]
    return f"| {title} | {' | '.join(cells)} |"


def _cell(measured: Measured | None) -> str:
    if measured is None:
        return ""
    std = "" if measured.std is None else f" ± {_thousandths(measured.std)}"
    return f"{_thousandths(measured.mean)}{std}"


def _thousandths(value: float) -> str:
    return f"{1000 * value:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", help="folders of runs")
    entries = [entry for folder in parser.parse_args().results for entry in ResultsFile(folder / NAME).read().values()]
    print("\n".join(tables(Summary.of(entries))))


if __name__ == "__main__":
    main()
