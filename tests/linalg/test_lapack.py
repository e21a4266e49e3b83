"""In place, on the lower triangle, and while others go on."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg.lapack import dtfttr, dtrttf

from exll.linalg.lapack import (
    add_outer_products,
    add_outer_products_packed,
    cholesky,
    invert_factored,
    solve_factor,
    solve_rows,
)
from exll.types import Matrix


def covariance(size: int) -> Matrix:
    rows = np.random.default_rng(size).normal(size=(2 * size, size))
    return np.asfortranarray(rows.T @ rows / len(rows) + np.eye(size))


@pytest.mark.parametrize("size", [1, 2, 7, 200])
def test_a_matrix_is_factored_and_inverted(size: int) -> None:
    matrix = covariance(size)
    work = matrix.copy(order="F")
    work[np.triu_indices(size, 1)] = np.nan  # never read
    cholesky(work)
    np.testing.assert_allclose(np.tril(work), np.linalg.cholesky(matrix), rtol=1e-10, atol=1e-12)
    invert_factored(work)
    np.testing.assert_allclose(np.tril(work), np.tril(np.linalg.inv(matrix)), rtol=1e-8, atol=1e-10)
    assert np.isnan(work[np.triu_indices(size, 1)]).all()  # nor written


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (3, 8), (60, 200)])
def test_rows_are_divided_by_a_factor(rows: int, width: int) -> None:
    matrix, values = covariance(rows), np.random.default_rng(0).normal(size=(rows, width))
    expected = np.linalg.solve(np.linalg.cholesky(matrix), values)
    cholesky(matrix)
    solve_factor(matrix, values)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("rows", [0, 1, 7, 90])
def test_every_row_is_solved_for(rows: int) -> None:
    matrix, values = covariance(30), np.random.default_rng(0).normal(size=(rows, 30))
    factor = np.linalg.cholesky(matrix)
    half, whole = np.linalg.solve(factor, values.T).T, np.linalg.solve(matrix, values.T).T
    cholesky(matrix)
    solve_rows(matrix, values)
    np.testing.assert_allclose(values, half, rtol=1e-9, atol=1e-11)
    solve_rows(matrix, values, transposed=True)
    np.testing.assert_allclose(values, whole, rtol=1e-8, atol=1e-10)
    unfit: Any
    for unfit in (np.zeros((2, 29)), np.asfortranarray(np.zeros((2, 30))), np.zeros((2, 30), np.float32)):
        with pytest.raises(ValueError, match="LAPACK is given numbers of one type"):
            solve_rows(matrix, unfit)


@pytest.mark.parametrize("rows", [0, 1, 5, 64])
def test_outer_products_are_added(rows: int) -> None:
    matrix, values = covariance(30), np.random.default_rng(1).normal(size=(rows, 30))
    expected = np.tril(matrix + values.T @ values)
    upper = np.triu(matrix, 1)
    add_outer_products(matrix, values)
    np.testing.assert_allclose(np.tril(matrix), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.triu(matrix, 1), upper)


@pytest.mark.parametrize("width", [1, 2, 29, 30])
@pytest.mark.parametrize("rows", [0, 1, 64])
def test_outer_products_are_added_to_a_packed_triangle(rows: int, width: int) -> None:
    matrix, values = covariance(width), np.random.default_rng(1).normal(size=(rows, width))
    packed, _ = dtrttf(matrix, uplo="L")
    add_outer_products_packed(packed, values)
    found, _ = dtfttr(width, packed, uplo="L")
    np.testing.assert_allclose(np.tril(found), np.tril(matrix + values.T @ values), rtol=1e-12, atol=1e-12)


def test_what_is_no_packed_triangle_is_refused() -> None:
    unfit: Any
    for unfit in (np.zeros(5), np.zeros(12)[::2], np.zeros(6, np.float32)):
        with pytest.raises(ValueError, match="LAPACK is given numbers of one type"):
            add_outer_products_packed(unfit, np.ones((2, 3)))


def test_what_has_no_factor_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="cannot be inverted"):
        cholesky(np.asfortranarray(-np.eye(3)))


ROWS = np.ones((900, 900))
WORK: dict[str, Callable[[Matrix], None]] = {
    "cholesky": cholesky,
    "invert_factored": invert_factored,
    "solve_factor": lambda factor: solve_factor(factor, ROWS),
    "add_outer_products": lambda matrix: add_outer_products(matrix, ROWS),
    "add_outer_products_packed": lambda matrix: add_outer_products_packed(matrix.ravel("K")[: 450 * 901], ROWS),
}
TRIES = 10  # on a busy machine a thread that may go on does not always get a core at once


@pytest.mark.parametrize("name", WORK)
def test_others_go_on_meanwhile(name: str) -> None:
    """With a switch interval of minutes another thread gets its turn only where Python's lock is given up."""
    matrices = [np.asfortranarray(2.0 * np.eye(900)) for _ in range(TRIES)]
    gate, went_on, may_end = threading.Lock(), threading.Event(), threading.Event()
    gate.acquire()

    def other() -> None:
        with gate:
            went_on.set()
            may_end.wait(60)

    waiting = threading.Thread(target=other)
    waiting.start()
    time.sleep(0.05)  # it waits at the gate now
    interval = sys.getswitchinterval()
    sys.setswitchinterval(300)
    try:
        gate.release()
        assert not went_on.is_set()
        for matrix in matrices:
            WORK[name](matrix)
            if went_on.is_set():
                break
        assert went_on.is_set()
    finally:
        sys.setswitchinterval(interval)
        may_end.set()
        waiting.join()
