"""Each metric against a case counted by hand."""

import numpy as np
import pytest

from exll.bench import metrics

TRUTHS = np.array(["a", "a", "b", "b", "c"])
RIGHT = np.array([True, False, True, True, False])


def test_top_1_is_the_share_of_right_answers() -> None:
    assert metrics.top_1(RIGHT) == 3 / 5
    assert metrics.top_1(np.array([], np.bool_)) == 0.0


def test_accuracy_on_seen_classes_leaves_the_others_out() -> None:
    assert metrics.of_seen(RIGHT, TRUTHS, {"a", "b"}) == 3 / 4
    assert metrics.of_seen(RIGHT, TRUTHS, {"b", "never asked"}) == 1.0
    assert metrics.of_seen(RIGHT, TRUTHS, set()) == 0.0


def test_accuracy_of_each_class_that_was_seen_and_is_asked() -> None:
    assert metrics.per_class(RIGHT, TRUTHS, {"a", "c", "never asked"}) == {"a": 0.5, "c": 0.0}


POINTS = [{"a": 0.8}, {"a": 0.9, "b": 0.6}, {"a": 0.5, "b": 0.7, "c": 1.0}]


def test_forgetting_is_the_fall_from_the_best_earlier_value() -> None:
    # a fell from 0.9 to 0.5, b rose from 0.6 to 0.7, c is new.
    assert metrics.forgetting(POINTS) == pytest.approx((0.4 - 0.1) / 2)


def test_backward_transfer_is_the_end_less_the_first_value() -> None:
    # a went from 0.8 to 0.5, b from 0.6 to 0.7.
    assert metrics.backward_transfer(POINTS) == pytest.approx((-0.3 + 0.1) / 2)


@pytest.mark.parametrize("points", [[], [{"a": 1.0}], [{}, {"a": 0.3}]])
def test_nothing_can_be_forgotten_where_nothing_was_known_before(points: list[dict[str, float]]) -> None:
    assert metrics.forgetting(points) is None
    assert metrics.backward_transfer(points) is None


def test_either_right_counts_each_question_once() -> None:
    one = np.array([True, True, False, False])
    other = np.array([True, False, True, False])
    assert metrics.either_right(one, other) == 3 / 4


def test_means_and_spreads_pass_over_what_is_not_known() -> None:
    assert metrics.mean_of([1.0, None, 3.0]) == 2.0
    assert metrics.std_of([1.0, None, 3.0]) == pytest.approx(2**0.5)
    assert metrics.mean_of([None]) is None
    assert metrics.std_of([1.0]) is None


def test_top_n_counts_the_right_class_among_the_best_and_last_among_equals() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 5.0], [9.0, 0.0, 8.0]])
    truths = np.array(["b", "c", "a", "never learned"])
    assert metrics.top_n(scores, ["a", "b", "c"], truths, 2) == 1 / 4
    assert metrics.top_n(scores, ["a", "b", "c"], truths, 3) == 3 / 4
