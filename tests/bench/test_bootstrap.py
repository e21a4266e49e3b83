import numpy as np
import pytest

from exll.bench import bootstrap
from exll.bench.bootstrap import TestSet as Rows
from exll.bench.bootstrap import paired_interval


def column(values: object) -> Rows:
    sums = np.asarray(values, float).reshape(-1, 1)
    return Rows(sums, np.ones_like(sums))


def test_two_rows_are_drawn_as_two_coins() -> None:
    """Of rows with 1 and 0, a draw has a mean of 0, 1/2 or 1, with odds of 1, 2 and 1: the middle half is 1/2."""
    drawn = column([1, 0]).drawn(4000, np.random.default_rng(0))
    shares = [(drawn == value).mean() for value in (0.0, 0.5, 1.0)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)
    assert paired_interval([column([1, 0])], level=0.4) == (0.5, 0.5, 0.5)
    assert paired_interval([column([1, 0])]) == (0.5, 0.0, 1.0)


def test_the_interval_is_as_wide_as_the_textbook_says() -> None:
    """Of 900 rows, a third with 1, a third with 0 and a third with -1: 1.96 standard errors either side."""
    found = paired_interval([column([1, 0, -1] * 300)], draws=8000)
    assert found.mean == 0
    assert found.high == pytest.approx(1.96 * (2 / 3 / 900) ** 0.5, rel=0.06)
    assert found.low == pytest.approx(-found.high, rel=0.06)


def test_about_95_of_100_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(7)
    odds = (0.15, 0.75, 0.10)  # of -1, 0 and 1
    held = 0
    for seed in range(400):
        found = paired_interval([column(rng.choice([-1, 0, 1], 300, p=odds))], draws=400, seed=seed)
        held += found.low <= -0.05 <= found.high
    assert 0.925 <= held / 400 <= 0.975


def test_frames_of_one_video_are_drawn_together() -> None:
    """Ten frames of a video with the same answer are one observation, and not ten."""
    videos = np.repeat(np.arange(40), 10)
    values = np.repeat([1.0, 0.0, 0.0, -1.0] * 10, 10).reshape(-1, 1)
    grouped = Rows.of_units(values, np.ones_like(values), videos)
    assert grouped.sums.shape == (40, 1)
    apart, together = paired_interval([column(values)]), paired_interval([grouped])
    assert together.mean == apart.mean == 0
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(10**0.5, rel=0.15)


def test_tasks_that_ask_the_same_rows_go_up_and_down_together() -> None:
    values = np.array([1.0, 0.0, 0.0, -1.0] * 50)
    same = Rows(np.stack([values, values], axis=1), np.ones((200, 2)))
    alone, apart, joined = (paired_interval(sets) for sets in ([column(values)], [column(values)] * 2, [same]))
    assert joined.high == pytest.approx(alone.high, rel=0.1)
    assert apart.high == pytest.approx(alone.high / 2**0.5, rel=0.15)


def test_tasks_count_alike_however_many_rows_they_have() -> None:
    assert paired_interval([column([1] * 10), column([0] * 1000)]).mean == 0.5


def test_draws_in_blocks_are_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = column(np.random.default_rng(3).normal(size=500))
    whole = paired_interval([rows], draws=50)
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", 3000)
    assert paired_interval([rows], draws=50) == pytest.approx(whole)
