"""Vectors at the public edge: checked once, then brought to length 1 (Eq. 1)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from exll.errors import InputError, InputTypeError
from exll.types import Matrix

# Squaring stays exact between these; outside them a row is scaled by its largest entry first.
SMALLEST_SAFE, LARGEST_SAFE = 1e-280, 1e280
CHUNK_ROWS = 1024


def check_vectors(X: Any, width: int | None, owner: str) -> NDArray[np.floating]:
    """X as a 2-D array of finite numbers with no zero row, or one clear sentence (docs/decisions.md, 12)."""
    try:
        checked: NDArray[np.floating] = check_array(
            X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=owner, input_name="X"
        )
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(_one_line(str(error))) from error
    if width is not None and checked.shape[1] != width:
        raise InputError(
            f"X has {checked.shape[1]} features, but {owner} is expecting {width} features as input, "
            "as in the first example. Was the backbone changed?"
        )
    for start, rows in _chunks(checked):
        squares = _squares(rows)
        for row in np.flatnonzero(~((squares > SMALLEST_SAFE) & (squares < LARGEST_SAFE))):
            _check_unusual_row(rows[row], start + int(row))
    return checked


def normalise(X: NDArray[np.floating]) -> Matrix:
    """Eq. 1, in float64: every row divided by its length. Expects checked rows; gives a new array.

    >>> normalise(np.array([[3.0, 4.0], [0.0, 1e300]]))
    array([[0.6, 0.8], [0. , 1. ]])
    """
    unit = np.array(X, np.float64, order="C")
    squares = _squares(unit)
    unusual = ~((squares > SMALLEST_SAFE) & (squares < LARGEST_SAFE))
    if unusual.any():
        unit[unusual] /= np.abs(unit[unusual]).max(axis=1, keepdims=True)
        squares = _squares(unit)
    unit /= np.sqrt(squares)[:, None]
    return unit


def unit_chunks(X: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
    """X normalised some rows at a time, so that a large input is never held twice."""
    for start, rows in _chunks(X):
        yield slice(start, start + len(rows)), normalise(rows)


def _chunks(X: NDArray[np.floating]) -> Iterator[tuple[int, NDArray[np.floating]]]:
    for start in range(0, len(X), CHUNK_ROWS):
        yield start, X[start : start + CHUNK_ROWS]


def _squares(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    wide = rows.astype(np.float64, copy=False)
    with np.errstate(over="ignore", under="ignore"):
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide)
    return squares


def _check_unusual_row(row: NDArray[np.floating], number: int) -> None:
    if np.isnan(row).any():
        raise InputError(f"X must hold finite numbers; row {number} holds NaN. Leave such rows out.")
    if np.isinf(row).any():
        raise InputError(f"X must hold finite numbers; row {number} holds inf. Leave such rows out.")
    if not row.any():
        raise InputError(f"X must hold vectors with a direction; row {number} is all zeros. Leave such rows out.")


def _one_line(message: str) -> str:
    return " ".join(message.split())
