"""Vectors as whole numbers of 32 bits and one scale for each: as many bytes as single precision, and a hundred times as
exact for unit vectors, whose numbers are all of one size. So what was added to a sum can be taken out of it again."""

import numpy as np
from numpy.typing import NDArray

from exll.types import Matrix, Vector

LARGEST = 2**31 - 1


def encoded(X: Matrix) -> tuple[NDArray[np.int32], Vector]:
    """Codes and scales of some rows.

    >>> codes, scales = encoded(np.array([[0.6, -0.8]]))
    >>> decoded(codes, scales)
    array([[ 0.6, -0.8]])
    """
    largest = np.abs(X).max(axis=1, initial=0.0)
    scales: Vector = np.where(largest > 0.0, largest, 1.0) / LARGEST
    return np.rint(X / scales[:, None]).astype(np.int32), scales


def decoded(codes: NDArray[np.int32], scales: Vector) -> Matrix:
    rows: Matrix = codes * scales[:, None]
    return rows


def decoded_roughly(codes: NDArray[np.int32], scales: Vector) -> NDArray[np.float32]:
    """In single precision, and quicker."""
    rows = codes.astype(np.float32)
    rows *= scales[:, None].astype(np.float32)
    return rows
