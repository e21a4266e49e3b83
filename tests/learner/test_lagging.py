import numpy as np
import pytest

from exll.learner.lagging import LaggingPrecision, RoundedPrecision
from exll.learner.megacloud import MegaClouds
from exll.learner.paper.learner import PaperBlock
from exll.learner.precision import Shrinkage
from exll.learner.prototypes import Prototypes
from exll.learner.statistics import GlobalStatistics, total_residual
from support import random_stream

EPSILON = 1e-4
SHRINKAGE = Shrinkage.towards_identity(EPSILON)


@pytest.mark.parametrize("refresh_at", [4, 30, 60])
def test_the_own_sample_is_put_in_exactly(refresh_at: int) -> None:
    stream = random_stream(2, width=12, samples=80)
    statistics, lagging = GlobalStatistics(12, total_residual), LaggingPrecision(12, SHRINKAGE, 0.1)
    for x in stream.unit[:refresh_at]:
        statistics.learn(x, np.zeros(12), 0)
    lagging.refresh(statistics, SHRINKAGE)
    stale = np.linalg.inv(lagging.current.apply(np.eye(12)))
    centres, prototypes = stream.unit[40:44].copy(), Prototypes(12)
    for p in centres:
        prototypes.add(p)
    block = PaperBlock(stream.unit[refresh_at:], statistics.total, lagging.current, prototypes, MegaClouds(12))
    for row, x in enumerate(block.X):
        statistics.learn(x, np.zeros(12), 0)
        block.add_to_total(row)
        v = x - statistics.mean
        renewed = np.linalg.inv(stale + (1 - EPSILON) / statistics.count * np.outer(v, v))
        before, after = (
            [(x - p) @ precision @ (x - p) for p in prototypes.vectors] for precision in (np.linalg.inv(stale), renewed)
        )
        gain = block.gain_of_own_sample(row, statistics.count, np.arange(4))
        np.testing.assert_allclose(gain, (np.array(before) - np.array(after)) / 2, rtol=1e-6, atol=1e-7)
        block.prototypes.move(row, row % 4)


@pytest.mark.parametrize(
    ("growth", "due"),
    [
        (0.0, [1, 2, 3, 4, 5]),
        (0.1, [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 49, 54, 60, 66]),
        (0.5, [1, 2, 4, 8, 12, 18, 27]),
        (1.0, [1, 2, 4, 8, 16]),
    ],
)
def test_refreshes_are_due_by_the_count_alone(growth: float, due: list[int]) -> None:
    statistics, lagging = GlobalStatistics(2, total_residual), LaggingPrecision(2, SHRINKAGE, growth)
    happened = []
    for i in range(1, due[-1] + 1):
        statistics.learn(np.array([0.6, 0.8]), np.zeros(2), 0)
        if i == lagging.next_refresh:
            lagging.refresh(statistics, SHRINKAGE)
            happened.append(i)
    assert happened == due


def test_a_long_stream_of_wide_vectors_is_refreshed_more_rarely() -> None:
    lagging, due = LaggingPrecision(128, SHRINKAGE, 0.1), [238]
    while due[-1] < 1500:
        lagging.refreshed_at = due[-1]
        due.append(lagging.next_refresh)
    assert due == [238, 262, 343, 448, 576, 704, 832, 960, 1088, 1216, 1344, 1479, 1627]


@pytest.mark.parametrize(("growth", "count", "due"), [(0.07, 100, 107), (0.55, 180, 279), (0.14, 50, 57)])
def test_a_share_is_what_it_says_in_spite_of_rounding(growth: float, count: int, due: int) -> None:
    lagging = LaggingPrecision(2, SHRINKAGE, growth)
    lagging.refreshed_at = count
    assert lagging.next_refresh == due


def test_the_exact_precision_is_not_the_lagging_one() -> None:
    stream = random_stream(2, width=6, samples=50)
    statistics, lagging = GlobalStatistics(6, total_residual), LaggingPrecision(6, SHRINKAGE, 1.0)
    for x in stream.unit[:25]:
        statistics.learn(x, np.zeros(6), 0)
    lagging.refresh(statistics, SHRINKAGE)
    assert lagging.exact(statistics, SHRINKAGE) is lagging.current
    for x in stream.unit[25:]:
        statistics.learn(x, np.zeros(6), 0)
    before = lagging.current.apply(np.eye(6))
    exact = lagging.exact(statistics, SHRINKAGE).apply(np.eye(6))
    assert not np.allclose(exact, before)
    np.testing.assert_array_equal(lagging.current.apply(np.eye(6)), before)


@pytest.mark.parametrize("samples", [5, 30])
def test_a_rounded_precision_holds_what_single_precision_can_and_a_file_holds_the_same(samples: int) -> None:
    stream = random_stream(2, width=20, samples=samples)
    statistics = GlobalStatistics(20, total_residual)
    plain, rounded, again = (cls(20, SHRINKAGE, 0.1) for cls in (LaggingPrecision, RoundedPrecision, RoundedPrecision))
    for x in stream.unit:
        statistics.learn(x, np.zeros(20), 0)
    for lagging in (plain, rounded):
        lagging.refresh(statistics, SHRINKAGE)
    again.restore(rounded.state(), samples)
    exact = plain.current.apply(np.eye(20))
    np.testing.assert_allclose(rounded.current.apply(np.eye(20)), exact, atol=1e-6 * np.abs(exact).max())
    assert not np.array_equal(rounded.current.apply(np.eye(20)), exact)
    np.testing.assert_array_equal(rounded.current.apply(stream.unit), again.current.apply(stream.unit))
    np.testing.assert_array_equal(rounded.exact(statistics, SHRINKAGE).apply(np.eye(20)), exact)
    again.restore(plain.state(), samples)  # as files of format 3 have it
    np.testing.assert_array_equal(rounded.current.apply(stream.unit), again.current.apply(stream.unit))
