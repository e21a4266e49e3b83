from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.baselines import NCM, SLDA
from exll.bench.executors import Local
from exll.bench.questions import Questions, group_numbers, top_5
from exll.bench.results import bits_of, numbers_of
from exll.bench.runner import run
from exll.estimator import ExLLClassifier
from exll.streams.example import Example
from grids import LAST_SEEN, plan, write_features


def test_what_is_kept_of_each_row_does_not_depend_on_the_order_of_asking() -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    test = [Example(str(row), "mug", row=row, video=video) for row, video in ((4, "b"), (1, "a"), (3, "a"))]
    right = np.array([True, False, False])
    for order in ([0, 1, 2], [2, 0, 1]):
        questions = Questions([test[place] for place in order], vectors)
        facts = questions.facts()
        assert np.flatnonzero(bits_of(facts["rows"], facts["of"])).tolist() == [1, 3, 4]
        first, second, third = numbers_of(facts["groups"])
        assert first == second != third
        assert bits_of(questions.right(right[order]), 3).tolist() == [False, False, True]
    other = Questions(test, vectors + 1).facts()
    assert other["vectors"] != facts["vectors"]


def test_groups_are_objects_then_recordings_then_named_groups() -> None:
    facts: list[dict[str, Any]] = [
        {"instance": "red", "video": "1"},
        {"instance": "red", "video": "2"},
        {"video": "red"},
        {"group": "red"},
        {},
        {},
    ]
    numbers = group_numbers([Example("", "mug", row=row, **fact) for row, fact in enumerate(facts)])
    assert numbers[0] == numbers[1] == numbers[2]
    assert len(set(numbers)) == 4
    assert len(set(group_numbers([Example("", label, video="1") for label in ("mug", "pan")]))) == 2


def blobs() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(8), 12)
    return (rng.normal(size=(8, 20))[y] + 3 * rng.normal(size=(96, 20))).astype(np.float32), y.astype(str)


@pytest.mark.parametrize("inference", ["global", "local", "fused"])
def test_top_5_of_exll_is_that_of_its_probabilities(inference: str) -> None:
    X, y = blobs()
    learner = ExLLClassifier().partial_fit(X[::2], y[::2])
    best = np.argsort(-learner.predict_proba(X[1::2], inference), axis=1)[:, :5]  # type: ignore[arg-type]
    by_hand = (learner.classes_[best] == y[1::2, None]).any(axis=1).mean()
    found = top_5(learner, {"inference": inference}, X[1::2], y[1::2])
    assert found == by_hand
    assert 0.5 < by_hand < 1


def test_top_5_ranks_classes_whose_softmax_is_zero() -> None:
    X, y = blobs()
    small, large = NCM().partial_fit(X[::2], y[::2]), NCM().partial_fit(1000 * X[::2], y[::2])
    assert (large.predict_proba(1000 * X[1::2]) == 0).sum(axis=1).max() > 3
    assert top_5(large, {}, 1000 * X[1::2], y[1::2]) == top_5(small, {}, X[1::2], y[1::2])


def test_there_is_no_top_5_of_five_classes_or_of_a_learner_without_scores() -> None:
    X, y = blobs()
    few = y < "5"
    assert top_5(SLDA().partial_fit(X[few], y[few]), {}, X[few], y[few]) is None
    six = y < "6"
    learner = SLDA().partial_fit(X[six], y[six])
    assert top_5(learner, {}, X[six], y[six]) is not None
    assert top_5(learner, {"of_predict_only": 1}, X[six], y[six]) is None


def test_a_result_keeps_each_row_and_each_part_of_the_stream(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LAST_SEEN)
    write_features(tmp_path / "data.npz")
    grid = plan(tmp_path, ["mine:LastSeen", "ncm"], ["class-iid"], test_then_train=4)
    outcome = run(grid, tmp_path / "out", Local(1))
    for result in outcome.results:
        ((name, facts),) = result["variants"].items()
        right = bits_of(facts["right"], result["questions"])
        assert right.mean() == facts["accuracy"]
        assert sum(result["stream_parts"]) == 48
        assert len(facts["right_by_part"]) == len(result["stream_parts"]) == 10
        assert sum(facts["right_by_part"]) / 48 == facts["test_then_train"]
        assert facts["top_5"] is None, name
    one, other = (result["asked"] for result in outcome.results)
    assert one == other
    assert len(set(numbers_of(one["groups"]).tolist())) == 12  # videos of the test part
