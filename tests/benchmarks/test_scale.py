import numpy as np
import pytest

import scale
from exll import ExLLClassifier
from streams import ClusteredStream


@pytest.fixture
def marks() -> list[scale.Mark]:
    """A stream whose prototypes grow by 100 for every e-fold, 8 bytes a sample and 1,000 a prototype."""
    samples = [10_000 * step for step in range(1, 11)]
    prototypes = [round(100 * np.log(n)) for n in samples]
    return [
        scale.Mark(n, 600.0 if n > 50_000 else 1_000.0, 900.0, p, 5_000_000 + 8 * n + 1_000 * p, 20_000_000)
        for n, p in zip(samples, prototypes, strict=True)
    ]


def test_a_stream_is_learned_up_to_its_marks() -> None:
    learning = scale.Learning("paper", ClusteredStream(8, 3))
    first, second = learning.go_to(60), learning.go_to(150)
    assert (first.samples, second.samples, learning.model.learner_.sample_count) == (60, 150, 150)
    assert second.prototypes == learning.model.n_prototypes_ >= first.prototypes
    assert second.microseconds == second.processor > 0
    assert second.peak >= learning.start_bytes > 1_000_000


def test_where_two_cores_work_the_wall_counts() -> None:
    spent = scale.Seconds(processor=3.0, wall=2.0)
    assert (spent.counting(1), spent.counting(2)) == (3.0, 2.0)


def test_two_models_learn_the_same_blocks_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "WIDTH", 8)
    monkeypatch.setattr(scale, "SHORT", 50)  # some of these blocks meet a refresh, some do not
    stream = ClusteredStream(8, 3)
    early, late = (ExLLClassifier("paper").fit(*stream.take(rows)) for rows in (1_000, 1_200))
    turns = scale.in_turns(early, late, stream, 6)
    assert early.learner_.sample_count == 1_000 + 6 * 50
    assert late.learner_.sample_count == 1_200 + 6 * 50
    assert min(turns.early, turns.late, turns.floor) > 0


def test_a_forecast_follows_the_growth_that_was_seen(marks: list[scale.Mark]) -> None:
    turns = scale.Turns(early=400.0, late=500.0, floor=100.0, refresh=0.0)
    best, other = scale.forecasts(marks, turns, 0, 1_000_000)
    assert (best.law, other.law) == ("a + b ln n", "a n^b")
    assert best.prototypes == pytest.approx(100 * np.log(1_000_000), rel=0.01)
    per_prototype = 100.0 / (marks[-1].prototypes - marks[0].prototypes)
    mean_prototypes = 100 * (np.log(1_000_000) - 1)  # of ln n from 0 on
    lately = float(np.mean([mark.prototypes for mark in marks[5:]]))
    expected = 600.0 + per_prototype * (mean_prototypes - lately)
    assert best.seconds == pytest.approx(expected, rel=0.01)
    final_bytes = 5_000_000 + 8_000_000 + 1_000 * best.prototypes
    assert best.peak == pytest.approx(final_bytes * marks[-1].peak / marks[-1].nbytes, rel=0.01)


def test_a_promise_says_whether_it_was_kept() -> None:
    assert scale.verdict("time", 19.0, 20.0, " min") == "time: 19.00 min, promised at most 20 min: kept"
    assert scale.verdict("time", 21.0, 20.0, " min").endswith("BROKEN")
