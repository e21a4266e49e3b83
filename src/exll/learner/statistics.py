"""What all classes share: the mean and the scatter of the stream (Eq. 2 to 4).

The scatter is a sum of outer products of residual rows. Which residual a sample leaves is the preset's choice
(:class:`Residual`); how rows are kept and folded is the same for all (:class:`Scatter`).
"""

import math
from typing import Any, Protocol

import numpy as np
from scipy.linalg import lapack

from exll.linalg.growing_array import GrowingArray
from exll.linalg.lapack import add_outer_products, add_outer_products_packed
from exll.types import Matrix, Tensors, Vector

FOLD_ROWS = 64
ROUNDING = {8: 4e-16, 4: 4e-9}  # of sums, by the bytes of a number, with room
KEPT_ROUNDING = 1e-9  # of unit vectors in the records (exll.linalg.fixed_point), with room
TRACE_TOLERANCE = {8: 1e-6, 4: 1e-3}  # by the bytes of a number


class Residual(Protocol):
    """The row that one sample adds to the scatter.

    ``statistics`` already hold ``x``; mean and count are those of its class before it, (zeros, 0) where it is new.
    """

    def __call__(self, x: Vector, statistics: "GlobalStatistics", class_mean: Vector, class_count: int) -> Vector: ...


def total_residual(x: Vector, statistics: "GlobalStatistics", class_mean: Vector, class_count: int) -> Vector:
    r"""Eq. 4, to the letter: $v_i = x_i - \hat\mu_i$, and $v_1 = x_1$ (docs/decisions.md, 1)."""
    return x.copy() if statistics.count == 1 else x - statistics.mean


def within_residual(x: Vector, statistics: "GlobalStatistics", class_mean: Vector, class_count: int) -> Vector:
    r"""$\sqrt{n/(n+1)}\,(x - \mu_k)$ with the class before x: summed up, exactly the scatter within the classes."""
    return math.sqrt(class_count / (class_count + 1)) * (x - class_mean)


class Scatter:
    r"""$\sum_i v_i v_i^T$, exact, at the price of one rank-64 update per 64 samples.

    While there are few rows they are kept as they are: the precision then has a cheaper low-rank form
    (:mod:`exll.learner.precision`) and a young model is small. At half as many rows as columns both forms cost the same
    per product, and the rows are folded into a matrix. When rows are folded depends on their count alone, so the bits
    of the matrix do not depend on how the stream was cut into calls.
    """

    def __init__(self, width: int, dtype: type[np.floating] = np.float64) -> None:
        self.width = width
        self.dtype = np.dtype(dtype)
        self.most_rows = max(1, width // 2)
        self.rows = GrowingArray((width,), self.dtype)
        self.triangle: Vector | None = None  # lower, in rectangular full packed form: what LAPACK updates in place
        self.trace = 0.0
        self.count = 0  # of rows that it sums up
        self.rounding = 0.0  # how far the sum may be from one that never held what was taken out of it
        self._pending = np.empty((0, width), self.dtype)
        self._pending_count = 0

    @property
    def pending(self) -> Matrix:
        return self._pending[: self._pending_count]

    def add(self, row: Vector) -> None:
        self.count += 1
        self.trace += float(row @ row)
        if self.triangle is None:
            self.rows.append(row)
            if len(self.rows) == self.most_rows:
                self._fold_rows()
            return
        self._pending[self._pending_count] = row
        self._pending_count += 1
        if self._pending_count == FOLD_ROWS:
            self.fold()

    def subtract(self, rows: Matrix) -> None:
        """Take rows out of the sum that are part of it, if not one of its rows."""
        if not len(rows):
            return
        if self.triangle is None:
            self._fold_rows()
        assert self.triangle is not None
        if self._pending_count:
            self.fold()  # or a pending row would still tell what it was
        squares = np.vecdot(rows, rows)
        lost = float(squares.sum())
        self.count -= len(rows)
        self.rounding += ROUNDING[self.dtype.itemsize] * (self.trace + lost) + KEPT_ROUNDING * float(
            np.sqrt(squares).sum()
        )
        self.trace = max(self.trace - lost, 0.0)
        add_outer_products_packed(self.triangle, np.ascontiguousarray(rows, self.dtype), subtract=True)

    def absorb(self, other: "Scatter") -> None:
        """Add the sum of another."""
        if other.triangle is None:
            for row in other.rows.filled:
                self.add(row)
            return
        if self.triangle is None:
            self._fold_rows()
        assert self.triangle is not None
        self.triangle += other.triangle
        self.count += other.count - len(other.pending)
        self.trace += other.trace - float(np.vdot(other.pending, other.pending))
        self.rounding += other.rounding
        for row in other.pending:
            self.add(row)

    def _fold_rows(self) -> None:
        self.triangle = np.zeros(self.width * (self.width + 1) // 2, self.dtype)
        if len(self.rows):
            add_outer_products_packed(self.triangle, self.rows.filled)
        self.rows = GrowingArray((self.width,), self.dtype)
        self._pending = np.empty((FOLD_ROWS, self.width), self.dtype)

    def fold(self) -> None:
        """Move the pending rows into the matrix. Only learning does this; asking uses a copy."""
        assert self.triangle is not None
        add_outer_products_packed(self.triangle, self.pending)
        self._pending_count = 0

    def folded(self) -> Matrix:
        """All but the pending rows, as a lower triangle in Fortran order that shares nothing with this."""
        if self.triangle is None:
            summed = np.zeros((self.width, self.width), self.dtype, order="F")
            add_outer_products(summed, self.rows.filled)
            return summed
        matrix, info = _lapack("tfttr", self.dtype)(self.width, self.triangle, uplo="L")
        assert info == 0
        return np.asarray(matrix)

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self._pending.nbytes + (0 if self.triangle is None else self.triangle.nbytes)

    def state(self) -> Tensors:
        kept = (
            {"rows": self.rows.filled}
            if self.triangle is None
            else {"triangle": pack_triangle(self.folded()), "pending": self.pending}
        )
        numbers = {"trace": np.array(self.trace), "rounding": np.array(self.rounding)}
        return {"rows_added": np.array(self.count, np.int64), **numbers, **kept}

    def restore(self, state: Tensors) -> None:
        self.count = int(state["rows_added"])
        self.trace, self.rounding = float(state["trace"]), float(state.get("rounding", 0.0))
        if "rows" in state:
            self.rows = GrowingArray((self.width,), self.dtype, state["rows"])
            whole = len(self.rows) == self.count < self.most_rows
        else:
            triangle = unpack_triangle(state["triangle"], self.width, self.dtype)
            self.triangle, _ = _lapack("trttf", self.dtype)(triangle, uplo="L")
            self._pending = np.empty((FOLD_ROWS, self.width), self.dtype)
            self._pending_count = len(state["pending"])
            whole = self._pending_count < FOLD_ROWS
            self._pending[: self._pending_count] = state["pending"]
            found = float(np.trace(triangle, dtype=np.float64)) + float(np.vdot(self.pending, self.pending))
            tolerance = TRACE_TOLERANCE[self.dtype.itemsize] * max(found, self.trace) + self.width * self.rounding
            whole = whole and abs(found - self.trace) <= tolerance
        if not whole or min(self.trace, self.rounding) < 0:
            raise ValueError("the scatter does not hold all its rows")


class GlobalStatistics:
    r"""Mean and covariance shared by all classes (Eq. 2 and 4).

    $$\hat\xi_i = \tfrac{i-1}{i}\hat\xi_{i-1} + \tfrac1i (x_i-\hat\mu_i)(x_i-\hat\mu_i)^T, \quad \hat\xi_1 = x_1 x_1^T$$

    This is the paper's recursion and not ``np.cov``: the first vector enters uncentred, and residuals are taken
    against the mean *after* the update. Both differences fade as the stream grows (docs/decisions.md, 1). Kept as
    sums, so that nothing is divided and multiplied again at every sample. Eq. 3, the mean square norm, is 1 for unit
    vectors and cancels wherever the paper uses it (docs/decisions.md, 4).
    """

    def __init__(self, width: int, residual: Residual) -> None:
        self.count = 0
        self.learned = 0  # with those that were forgotten since
        self.total = np.zeros(width)
        self.scatter = Scatter(width)
        self._residual = residual

    @property
    def mean(self) -> Vector:
        mean: Vector = self.total / (self.count or 1)
        return mean

    def learn(self, x: Vector, class_mean: Vector, class_count: int) -> None:
        self.count += 1
        self.learned += 1
        self.total += x
        self.scatter.add(self._residual(x, self, class_mean, class_count))

    def forget(self, x: Vector) -> None:
        """Its residual has to be taken out of the scatter, too."""
        self.count -= 1
        self.total -= x

    def absorb(self, other: "GlobalStatistics") -> None:
        """The samples of another; what lies between its means and these has to be added to the scatter, too."""
        self.count += other.count
        self.learned += other.learned
        self.total += other.total
        self.scatter.absorb(other.scatter)

    @property
    def nbytes(self) -> int:
        return self.total.nbytes + self.scatter.nbytes

    def state(self) -> Tensors:
        counts = {"count": np.array(self.count, np.int64), "learned": np.array(self.learned, np.int64)}
        return {**counts, "total": self.total, **self.scatter.state()}

    def restore(self, state: Tensors) -> None:
        self.count = int(state["count"])
        self.learned = int(state.get("learned", self.count))
        if state["total"].shape != self.total.shape:
            raise ValueError("the total has another width")
        self.total = np.array(state["total"], np.float64)
        self.scatter.restore(state)
        if not 1 <= self.count <= self.learned:
            raise ValueError("the statistics are of no sample, or of more than were learned")


def pack_triangle(matrix: Matrix) -> Vector:
    """The lower triangle as one vector: half the bytes in a file."""
    packed, info = _lapack("trttp", matrix.dtype)(matrix, uplo="L")
    assert info == 0
    return np.asarray(packed)


def unpack_triangle(packed: Vector, width: int, dtype: Any = np.float64) -> Matrix:
    if packed.shape != (width * (width + 1) // 2,):
        raise ValueError("a packed triangle has another width")
    matrix, info = _lapack("tpttr", dtype)(width, np.asarray(packed, dtype), uplo="L")
    assert info == 0
    return np.asfortranarray(matrix)


def _lapack(name: str, dtype: Any) -> Any:
    """LAPACK's function for numbers of that type."""
    return lapack.get_lapack_funcs(name, dtype=dtype)
