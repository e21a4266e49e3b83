"""The vectors of records: whole numbers and a scale (:mod:`exll.linalg.fixed_point`), compared and stored."""

import numpy as np
from numpy.typing import NDArray

from exll.linalg.fixed_point import decoded_roughly, encoded
from exll.types import Indices, Tensors, Vector

Codes = NDArray[np.int32]


def vectors_to_tensors(codes: Codes, scales: Vector) -> Tensors:
    return {
        "codes": codes.view(np.uint32),
        "scales": scales,
    }  # whole numbers with a sign are widened when they are read


def vectors_from_tensors(state: Tensors, width: int) -> tuple[Codes, Vector]:
    if "vectors" in state:  # half precision, in files up to format 7
        return encoded(state["vectors"].reshape(-1, width).astype(np.float64))
    codes, scales = state["codes"], np.array(state["scales"], np.float64)
    if codes.dtype != np.uint32 or codes.ndim != 2 or codes.shape[1] != width or not (scales > 0.0).all():
        raise ValueError("the vectors of the records have another width, or no scale")
    return np.array(codes).view(np.int32), scales


def cosines_with(codes: Codes, scales: Vector, x: Vector) -> NDArray[np.float32]:
    """With unit vectors, in single precision."""
    cosines: NDArray[np.float32] = decoded_roughly(codes, scales) @ x.astype(np.float32)
    return cosines


def largest_first(values: NDArray[np.float32], most: int) -> Indices:
    """Where the largest values stand, largest first, the earlier of equal ones first."""
    order: Indices = np.argsort(-values, kind="stable")[:most]
    return order
