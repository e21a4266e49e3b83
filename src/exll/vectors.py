"""Vectors at the public edge: checked there, once, then brought to length 1 (Eq. 1)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.errors import InputError, InputTypeError
from exll.types import Matrix, Vector

# Squaring stays exact between these; outside them a row is scaled by its largest entry first.
SMALLEST_SAFE, LARGEST_SAFE = 1e-280, 1e280
# Raw vectors are squared and divided by small variances; up to here nothing of that overflows.
LARGEST_RAW = 1e100
CHUNK_ROWS = 512


def as_vectors(X: Any, width: int | None, owner: str) -> NDArray[np.floating]:
    """X as a 2-D array of floats with this width, or one clear sentence. Rows are not looked at yet."""
    vectors = X if _is_plain(X) else _as_array(X, owner)
    if width is not None and vectors.shape[1] != width:
        raise InputError(
            f"X has {vectors.shape[1]} features, but {owner} is expecting {width} features as input, "
            "as in the first example. Was the backbone changed?"
        )
    return vectors


def check_rows(X: NDArray[np.floating]) -> None:
    """Every row is finite and not zero, or one clear sentence (docs/decisions.md, 12)."""
    for start in range(0, len(X), CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        _check_unusual(rows, _unusual(_squares(rows)), start)


def check_raw_rows(X: NDArray[np.floating]) -> None:
    """Every row is finite and of a size that can be squared, or one clear sentence. Zeros are numbers like any other
    where nothing is divided by a length."""
    for start in range(0, len(X), CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        unusual = np.flatnonzero(~(np.abs(rows).max(axis=1).astype(np.float64) <= LARGEST_RAW))
        _check_unusual(rows, unusual, start)
        if len(unusual):
            raise InputError(
                f"X must hold numbers of at most {LARGEST_RAW:g} in size; row {start + unusual[0]} holds a larger one."
            )


def unit_chunks(X: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
    """Checked rows normalised some at a time, so that a large input is never held twice."""
    for start in range(0, len(X), CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        yield slice(start, start + len(rows)), normalise(rows)


def raw_chunks(X: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
    """Checked rows as they are, in float64, some at a time."""
    for start in range(0, len(X), CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        yield slice(start, start + len(rows)), np.array(rows, np.float64, order="C")


def normalise(X: NDArray[np.floating]) -> Matrix:
    """Eq. 1, in float64: every row, checked before, divided by its length; gives a new array.

    >>> normalise(np.array([[3.0, 4.0], [0.0, 1e300]]))
    array([[0.6, 0.8], [0. , 1. ]])
    """
    unit = np.array(X, np.float64, order="C")
    squares = _squares(unit)
    unusual = _unusual(squares)
    if len(unusual):
        unit[unusual] /= np.abs(unit[unusual]).max(axis=1, keepdims=True)
        squares = _squares(unit)
    unit /= np.sqrt(squares)[:, None]
    return unit


def has_direction(x: NDArray[np.floating]) -> bool:
    """Whether one vector is finite and not zero.

    >>> has_direction(np.array([0.0, 1.0])), has_direction(np.array([0.0, 0.0]))
    (True, False)
    """
    return bool(np.isfinite(x).all() and x.any())


def _is_plain(X: Any) -> bool:
    """Whether X is what a tight loop passes, and needs none of scikit-learn's looking around (half a millisecond)."""
    return type(X) is np.ndarray and X.dtype in (np.float64, np.float32) and X.ndim == 2 and X.size > 0


def _as_array(X: Any, owner: str) -> NDArray[np.floating]:
    from sklearn.utils import check_array

    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused by its row
            array: NDArray[np.floating] = check_array(
                X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=owner, input_name="X"
            )
    except TypeError as error:
        raise InputTypeError(_one_line(str(error))) from error
    except (ValueError, OverflowError) as error:
        raise InputError(_one_line(str(error))) from error
    return array


def _squares(rows: NDArray[np.floating]) -> Vector:
    wide = rows.astype(np.float64, copy=False)
    with np.errstate(over="ignore", under="ignore"):
        squares: Vector = np.vecdot(wide, wide)
    return squares


def _unusual(squares: Vector) -> NDArray[np.intp]:
    """Rows whose square is not a number that the root can be trusted with."""
    return np.flatnonzero(~((squares > SMALLEST_SAFE) & (squares < LARGEST_SAFE)))


def _check_unusual(rows: NDArray[np.floating], unusual: NDArray[np.intp], first_row: int) -> None:
    for i in unusual:
        row, number = rows[i], first_row + int(i)
        if np.isnan(row).any():
            raise InputError(f"X must hold finite numbers; row {number} holds NaN. Leave such rows out.")
        if np.isinf(row).any():
            raise InputError(f"X must hold finite numbers; row {number} holds inf. Leave such rows out.")
        if not row.any():
            raise InputError(f"X must hold vectors with a direction; row {number} is all zeros. Leave such rows out.")


def _one_line(message: str) -> str:
    return " ".join(message.split())
