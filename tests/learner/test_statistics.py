import numpy as np
import pytest

from exll.learner.statistics import (
    FOLD_ROWS,
    GlobalStatistics,
    Scatter,
    pack_triangle,
    total_residual,
    unpack_triangle,
)
from support import random_stream, scatter_matrix

NO_CLASS = (np.zeros(1), 0)  # the total residual does not ask for it


@pytest.mark.parametrize("samples", [1, 2, 5, 6, 7, 40, 300])
def test_the_covariance_is_the_recursion_of_eq_4(samples: int) -> None:
    X = random_stream(4, width=12, samples=samples).unit
    statistics = GlobalStatistics(12, total_residual)
    mean, covariance = X[0], np.outer(X[0], X[0])
    statistics.learn(X[0], *NO_CLASS)
    for i, x in enumerate(X[1:], start=2):
        mean = (i - 1) / i * mean + x / i
        covariance = (i - 1) / i * covariance + np.outer(x - mean, x - mean) / i
        statistics.learn(x, *NO_CLASS)
    np.testing.assert_allclose(statistics.mean, mean, atol=1e-14)
    np.testing.assert_allclose(scatter_matrix(statistics.scatter) / samples, covariance, atol=1e-13)


def test_the_first_vector_enters_uncentred() -> None:
    statistics = GlobalStatistics(2, total_residual)
    x = np.array([0.6, 0.8])
    statistics.learn(x, *NO_CLASS)
    np.testing.assert_allclose(scatter_matrix(statistics.scatter), np.outer(x, x))


def test_learning_leaves_its_input_alone_and_keeps_no_hold_of_it() -> None:
    statistics = GlobalStatistics(4, total_residual)
    x = np.array([0.5, 0.5, 0.5, 0.5])
    statistics.learn(x, *NO_CLASS)
    before = scatter_matrix(statistics.scatter)
    x[:] = 9.0
    np.testing.assert_array_equal(scatter_matrix(statistics.scatter), before)


def test_rows_become_a_matrix_at_half_the_width_and_are_folded_by_the_block() -> None:
    scatter = Scatter(10)
    rng = np.random.default_rng(0)
    for i in range(1, 5 + FOLD_ROWS + 3):
        scatter.add(rng.normal(size=10))
        assert (scatter.triangle is None) == (i < 5)
        assert len(scatter.pending) == (0 if i < 5 else (i - 5) % FOLD_ROWS)


def test_a_triangle_survives_packing() -> None:
    full = np.random.default_rng(0).normal(size=(7, 7))
    full = full + full.T
    packed = pack_triangle(np.asfortranarray(full))
    assert packed.shape == (28,)
    np.testing.assert_array_equal(np.tril(unpack_triangle(packed, 7)), np.tril(full))
    with pytest.raises(ValueError, match="width"):
        unpack_triangle(packed, 8)
