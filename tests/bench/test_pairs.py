"""Learners compared row by row, from the entries of a results file."""

from typing import Any

import numpy as np
import pytest

from exll.bench.pairs import difference, rows_of
from exll.bench.results import packed
from exll.bench.summary import Setting, Summary

SETTING = Setting("data", "{}", "iid")


def entry(learner: str, right: list[int], seed: int = 0, **more: Any) -> dict[str, Any]:
    rows = np.array([False] * 3 + [True] * len(right))
    asked = {"rows": packed(rows), "of": len(rows), "vectors": "abc", "groups": None}
    facts = {"accuracy": float(np.mean(right)), "right": packed(np.array(right, np.bool_))}
    names = {"dataset": "data", "options": {}, "order": "iid", "backbone": "b", "seed": seed, "axis": None}
    return {"learner": learner, **names, "variants": {learner: facts}, "asked": asked, **more}


def test_rows_are_averaged_over_orders_first() -> None:
    entries = [entry("a", [1, 1, 0], 0), entry("a", [1, 0, 0], 1), entry("b", [0, 1, 0], 0), entry("b", [0, 0, 1], 1)]
    rows = rows_of(Summary.of(entries), SETTING, "a", "b")
    assert rows is not None
    assert rows.sums.tolist() == [2, 0, -1]
    assert rows.counts.tolist() == [2, 2, 2]
    found = difference(Summary.of(entries), [SETTING], "a", "b")
    assert found is not None
    assert found.interval.mean == pytest.approx(1 / 6)
    assert (found.tasks, found.by_groups) == (1, False)


def test_an_order_that_only_one_was_run_with_does_not_count() -> None:
    summary = Summary.of([entry("a", [1, 1], 0), entry("a", [0, 0], 1), entry("b", [0, 1], 0)])
    rows = rows_of(summary, SETTING, "a", "b")
    assert rows is not None
    assert rows.sums.tolist() == [1, 0]


def test_results_of_before_or_of_other_rows_are_not_compared() -> None:
    old = entry("b", [0, 1])
    del old["asked"]
    assert difference(Summary.of([entry("a", [1, 1]), old]), [SETTING], "a", "b") is None
    other = entry("b", [0, 1])
    other["asked"] = {**other["asked"], "vectors": "def"}
    assert difference(Summary.of([entry("a", [1, 1]), other]), [SETTING], "a", "b") is None


def test_rows_are_drawn_by_groups_where_there_are_ten() -> None:
    for number, by_groups in ((9, False), (10, True)):
        right = [1, 0] * number
        asked = entry("a", right)["asked"] | {"groups": packed(np.repeat(np.arange(number), 2))}
        summary = Summary.of([entry("a", right, asked=asked), entry("b", [1] * (2 * number), asked=asked)])
        found = difference(summary, [SETTING], "a", "b")
        assert found is not None
        assert found.by_groups is by_groups
        # In every group one of two is lost, so whole groups show no spread at all.
        assert (found.interval.low == found.interval.high) is by_groups


def test_settings_that_ask_the_same_vectors_share_their_draws() -> None:
    right = [1, 0, 0, 1, 0] * 40
    first = [entry("a", right), entry("b", right[::-1])]
    again = [e | {"order": "class-iid"} for e in first]
    others = [e | {"asked": {**e["asked"], "vectors": "def"}} for e in again]
    both = [SETTING, Setting("data", "{}", "class-iid")]
    widths = []
    for second in (again, others):
        found = difference(Summary.of(first + second), both, "a", "b")
        assert found is not None
        assert found.tasks == 2
        widths.append(found.interval.high - found.interval.low)
    assert widths[0] / widths[1] == pytest.approx(2**0.5, rel=0.15)
