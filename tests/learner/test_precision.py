import numpy as np
import pytest

from exll.learner.precision import (
    FactoredPrecision,
    LowRankPrecision,
    Shrinkage,
    precision_from_state,
    precision_of,
    quick_precision_of,
    starting_precision,
    with_factor,
)
from exll.learner.statistics import GlobalStatistics, pack_triangle, total_residual
from exll.types import Matrix
from support import random_stream

EPSILON = 1e-4
SHRINKAGE = Shrinkage.towards_identity(EPSILON)


def statistics_of(X: Matrix) -> GlobalStatistics:
    statistics = GlobalStatistics(X.shape[1], total_residual)
    for x in X:
        statistics.learn(x, np.zeros(X.shape[1]), 0)
    return statistics


def inverse_of_eq_17(X: Matrix) -> Matrix:
    means = np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None]
    V = X - means
    V[0] = X[0]
    return np.asarray(np.linalg.inv((1 - EPSILON) * V.T @ V / len(X) + EPSILON * np.eye(X.shape[1])))


@pytest.mark.parametrize("samples", [1, 2, 9, 10, 19, 20, 21, 90, 300])
def test_both_forms_equal_the_inverse(samples: int) -> None:
    X = random_stream(7, width=20, samples=samples).unit
    precision = precision_of(statistics_of(X), SHRINKAGE)
    assert isinstance(precision, LowRankPrecision if samples < 10 else FactoredPrecision)
    queries = np.random.default_rng(0).normal(size=(5, 20))
    expected = queries @ inverse_of_eq_17(X)
    np.testing.assert_allclose(precision.apply(queries), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(precision.apply(queries[:1]), precision.apply(queries)[:1], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("samples", [9, 90])
def test_the_sides_of_rows_multiply_to_their_products_and_leave_the_rows_alone(samples: int) -> None:
    precision = precision_of(statistics_of(random_stream(7, width=20, samples=samples).unit), SHRINKAGE)
    X = np.random.default_rng(1).normal(size=(30, 20))
    given, matrix = X.copy(), precision.apply(np.eye(20))
    for some in (X, X[:1], X[::3], np.asfortranarray(X)):
        left, right = precision.sides(some)
        np.testing.assert_allclose(left @ right.T, some @ matrix @ some.T, rtol=1e-7, atol=1e-7 * np.abs(matrix).max())
        np.testing.assert_allclose(precision.squared_norms(some), np.vecdot(left, right), rtol=1e-9)
    np.testing.assert_array_equal(X, given)


@pytest.mark.parametrize(
    ("samples", "spread", "single"), [(9, 1.0, False), (30, 1.0, False), (60, 1.0, True), (300, 0.05, False)]
)
def test_single_precision_is_used_for_many_samples_that_vary(samples: int, spread: float, single: bool) -> None:
    X = random_stream(7, width=20, samples=samples).unit
    statistics, shrinkage = statistics_of(X[0] + spread * (X - X[0])), Shrinkage(1.0, 1e-3)
    exact, quick = (make(statistics, shrinkage).sides(X)[0] for make in (precision_of, quick_precision_of))
    assert quick.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(quick, exact, atol=1e-4 * np.abs(exact).max() if single else 0.0)
    rounded = quick_precision_of(statistics, shrinkage).rounded().sides(X)[0]
    assert rounded.dtype == np.float64
    np.testing.assert_allclose(rounded, exact, atol=1e-4 * np.abs(exact).max())


def test_making_a_precision_leaves_the_statistics_alone() -> None:
    statistics = statistics_of(random_stream(7, width=20, samples=100).unit)
    before = {name: array.copy() for name, array in statistics.state().items()}
    precision_of(statistics, SHRINKAGE)
    after = statistics.state()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)


def test_before_any_sample_the_precision_is_the_identity_over_the_shrinkage() -> None:
    X, shrinkage = np.eye(3), Shrinkage.towards_identity(0.01)
    np.testing.assert_allclose(starting_precision(3, shrinkage).apply(X), 100 * X)
    np.testing.assert_allclose(precision_of(GlobalStatistics(3, total_residual), shrinkage).apply(X), 100 * X)


@pytest.mark.parametrize("samples", [5, 100])
def test_lengths_are_quadratic_forms_also_beyond_one_chunk(samples: int) -> None:
    X = random_stream(7, width=20, samples=samples).unit
    precision = precision_of(statistics_of(X), SHRINKAGE)
    vectors = np.random.default_rng(1).normal(size=(700, 20))
    matrix = precision.apply(np.eye(20))
    np.testing.assert_allclose(precision.squared_norms(vectors), np.einsum("ij,jk,ik->i", vectors, matrix, vectors))


def test_a_file_of_before_that_holds_the_matrix_itself_gives_the_same_precision() -> None:
    precision = precision_of(statistics_of(random_stream(7, width=20, samples=60).unit), SHRINKAGE)
    matrix = precision.apply(np.eye(20))
    again = precision_from_state(20, with_factor(20, {"triangle": pack_triangle(np.asfortranarray(matrix))}))
    np.testing.assert_allclose(again.apply(np.eye(20)), matrix, rtol=1e-9, atol=1e-9 * np.abs(matrix).max())


@pytest.mark.parametrize("samples", [4, 60])
def test_a_saved_precision_is_the_same_to_the_bit(samples: int) -> None:
    precision = precision_of(statistics_of(random_stream(7, width=20, samples=samples).unit), SHRINKAGE)
    again = precision_from_state(20, precision.state())
    queries = np.random.default_rng(0).normal(size=(5, 20))
    np.testing.assert_array_equal(precision.apply(queries), again.apply(queries))
