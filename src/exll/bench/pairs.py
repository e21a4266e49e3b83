"""Two learners on the same test rows, from what a results file keeps of each row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exll.bench.bootstrap import Interval, TestSet, paired_interval
from exll.bench.results import bits_of, numbers_of
from exll.bench.summary import Entry, Setting, Summary
from exll.types import Matrix

LEAST_GROUPS = 10  # with fewer, drawing groups anew says little


class Difference(NamedTuple):
    """What one learner has more than another, as a share, over so many tasks; drawn by groups of rows or by rows."""

    interval: Interval
    tasks: int
    by_groups: bool


@dataclass(frozen=True)
class Rows:
    """The differences on one setting, for every row that was asked, summed over orders (and backbones)."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    groups: NDArray[np.integer] | None
    asked: frozenset[str]  # digests of the vectors asked: settings that share them share their rows


def difference(summary: Summary, settings: Iterable[Setting], one: str, other: str) -> Difference | None:
    """Of ``one`` less ``other``, the mean over the settings; None where no rows were kept that both were asked.

    Settings that ask about the same rows draw them together, because their differences are correlated.
    """
    found = [rows for s in settings if (rows := rows_of(summary, s, one, other)) is not None]
    if not found:
        return None
    together: dict[tuple[frozenset[str], int], list[Rows]] = {}
    for rows in found:
        together.setdefault((rows.asked, len(rows.sums)), []).append(rows)
    sets = [_test_set(members) for members in together.values()]
    return Difference(paired_interval([s for s, _ in sets]), len(found), any(by_groups for _, by_groups in sets))


def rows_of(summary: Summary, setting: Setting, one: str, other: str) -> Rows | None:
    """Orders and backbones that only one of the two was run with do not count."""
    theirs = {_run(entry): entry for entry in summary.of_setting(setting, other)}
    mine = summary.of_setting(setting, one)
    pairs = [(e, theirs[_run(e)]) for e in mine if _run(e) in theirs and _same_rows(e, theirs[_run(e)])]
    if not pairs:
        return None
    total = pairs[-1][0]["asked"]["of"]  # of another length was another file of that name
    pairs = [pair for pair in pairs if pair[0]["asked"]["of"] == total]
    sums, counts = np.zeros(total), np.zeros(total)
    groups = np.zeros(total, np.int64)
    for own, its in pairs:
        asked = own["asked"]
        rows = np.flatnonzero(bits_of(asked["rows"], total))
        right = [
            bits_of(e["variants"][name]["right"], len(rows)).astype(float) for e, name in ((own, one), (its, other))
        ]
        sums[rows] += right[0] - right[1]
        counts[rows] += 1
        if asked["groups"] is not None:
            groups[rows] = numbers_of(asked["groups"])
    kept = counts > 0
    grouped = all(own["asked"]["groups"] is not None for own, _ in pairs)
    digests = frozenset(own["asked"]["vectors"] for own, _ in pairs)
    return Rows(sums[kept], counts[kept], groups[kept] if grouped else None, digests)


def _test_set(members: Sequence[Rows]) -> tuple[TestSet, bool]:
    sums, counts = (_columns([getattr(rows, name) for rows in members]) for name in ("sums", "counts"))
    groups = next((rows.groups for rows in members if rows.groups is not None), None)
    if groups is None or len(np.unique(groups)) < LEAST_GROUPS:
        return TestSet(sums, counts), False
    return TestSet.of_units(sums, counts, groups), True


def _columns(vectors: list[NDArray[np.float64]]) -> Matrix:
    return np.stack(vectors, axis=1)


def _run(entry: Entry) -> tuple[str, int]:
    return entry["backbone"], entry["seed"]


def _same_rows(mine: Entry, its: Entry) -> bool:
    """False also for older results, which keep no rows."""
    return "asked" in mine and mine["asked"] == its.get("asked")
