r"""Shrinkage precision (Eq. 17), by Cholesky and never by a pseudo-inverse.

$$\Lambda = [a\,\hat\xi + b I]^{-1}, \qquad \text{in the paper } a = 1-\epsilon,\; b = \epsilon$$

Two forms of the same matrix. With few rows $V$ in the scatter, the Woodbury identity gives
$\Lambda = \tfrac1b (I - G^T G)$ with $G = L^{-1} V$ and $L L^T = V V^T + \tfrac{nb}{a} I$: small, and quick to make.
Later the Cholesky factor $L$ of its inverse: it costs a third of the matrix itself, and $L^{-1} x$, half of
$\Lambda x$; plain dot products of such rows are those under $\Lambda$. None is ever changed after it was made, so
readers may hold one while learning goes on.
"""

import contextlib
from typing import NamedTuple, Protocol

import numpy as np

from exll.errors import SingularError
from exll.learner.statistics import GlobalStatistics, Scatter, pack_triangle, unpack_triangle
from exll.linalg.lapack import add_outer_products, cholesky, invert_factored, solve_factor, solve_rows
from exll.types import Matrix, Tensors, Vector

VARIES = 0.01  # the least variance, of vectors of length 1, for single precision


class Precision(Protocol):
    """A symmetric positive definite matrix that can be multiplied with."""

    def apply(self, X: Matrix) -> Matrix:
        """The rows of X times the matrix."""
        ...

    def squared_norms(self, X: Matrix) -> Vector:
        r"""$x^T \Lambda x$ of every row."""
        ...

    def sides(self, X: Matrix) -> tuple[Matrix, Matrix]:
        """Two new matrices with a row for every row of X. The plain dot product of a row of the one with a row of the
        other is that of the rows of X under the precision."""
        ...


class KeptPrecision(Precision, Protocol):
    """One that learning keeps, and a file with it."""

    def rounded(self) -> "KeptPrecision":
        """One of numbers that single precision holds; it multiplies in double precision all the same."""
        ...

    @property
    def nbytes(self) -> int: ...

    def state(self) -> Tensors: ...


class Shrinkage(NamedTuple):
    """How far the covariance is drawn towards the identity: ``scale`` times the one plus ``ridge`` times the other."""

    scale: float
    ridge: float

    @classmethod
    def towards_identity(cls, epsilon: float) -> "Shrinkage":
        return cls(1.0 - epsilon, epsilon)


class LowRankPrecision:
    """The form for few rows; with none it is the identity over the ridge, which is where a stream starts."""

    def __init__(self, basis: Matrix, ridge: float) -> None:
        self._basis = basis  # G, (rows, d)
        self._ridge = ridge

    def apply(self, X: Matrix) -> Matrix:
        applied = (X @ self._basis.T) @ self._basis
        np.subtract(X, applied, out=applied)
        applied /= self._ridge
        return applied

    def sides(self, X: Matrix) -> tuple[Matrix, Matrix]:
        return self.apply(X), X.copy()

    def squared_norms(self, X: Matrix) -> Vector:
        along = X @ self._basis.T
        squared_norms: Vector = np.vecdot(X, X)
        squared_norms -= np.vecdot(along, along)
        squared_norms /= self._ridge
        return squared_norms

    def rounded(self) -> "LowRankPrecision":
        return LowRankPrecision(_rounded(self._basis), self._ridge)

    @property
    def nbytes(self) -> int:
        return self._basis.nbytes

    def state(self) -> Tensors:
        return {"basis": self._basis, "ridge": np.array(self._ridge)}


class FactoredPrecision:
    """The form for many rows in the scatter."""

    def __init__(self, factor: Matrix) -> None:
        self._factor = factor  # L with L L' the inverse, Fortran order

    def apply(self, X: Matrix) -> Matrix:
        rows = self.whitened(X)
        solve_rows(self._factor, rows, transposed=True)
        return rows

    def squared_norms(self, X: Matrix) -> Vector:
        rows = self.whitened(X)
        squared_norms: Vector = np.vecdot(rows, rows)
        return squared_norms

    def whitened(self, X: Matrix) -> Matrix:
        """Rows whose plain dot products are those of the rows of X under the precision."""
        rows = np.array(X, self._factor.dtype, order="C")
        solve_rows(self._factor, rows)
        return rows

    def sides(self, X: Matrix) -> tuple[Matrix, Matrix]:
        rows = self.whitened(X)
        return rows, rows

    def rounded(self) -> "FactoredPrecision":
        return FactoredPrecision(_rounded(self._factor))

    @property
    def nbytes(self) -> int:
        return self._factor.nbytes

    def state(self) -> Tensors:
        return {"factor": pack_triangle(self._factor)}


def starting_precision(width: int, shrinkage: Shrinkage) -> KeptPrecision:
    return LowRankPrecision(np.empty((0, width)), shrinkage.ridge)


def precision_of(statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
    """Eq. 17 for all that was learned so far; leaves the statistics alone."""
    if statistics.scatter.triangle is None:
        return LowRankPrecision(_basis(statistics, shrinkage), shrinkage.ridge)
    return FactoredPrecision(_factor_of_inverse(statistics.scatter, statistics.count, shrinkage))


def quick_precision_of(statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
    """The same where no sample is placed by it: it is computed and multiplied in single precision where that is enough.
    There must be twice as many samples as columns, so that none is all that varies in its own direction, and they must
    vary."""
    scatter, count = statistics.scatter, statistics.count
    if scatter.triangle is not None and count >= 2 * scatter.width and scatter.trace >= VARIES * count:
        with contextlib.suppress(SingularError):
            return FactoredPrecision(_factor_of_inverse(scatter, count, shrinkage, dtype=np.float32))
    return precision_of(statistics, shrinkage)


def factored_precision(scatter: Scatter, count: int, shrinkage: Shrinkage, more: Matrix) -> FactoredPrecision:
    """The same of a scatter of so many samples that is a matrix already, and of some more rows."""
    return FactoredPrecision(_factor_of_inverse(scatter, count, shrinkage, more))


def _basis(statistics: GlobalStatistics, shrinkage: Shrinkage) -> Matrix:
    rows, count = statistics.scatter.rows.filled, statistics.count
    gram = (rows @ rows.T).T  # the same matrix, in Fortran order
    _diagonal(gram)[:] += count * shrinkage.ridge / shrinkage.scale
    basis = rows.copy()
    if count:
        cholesky(gram)
        solve_factor(gram, basis)
    return basis


def _factor_of_inverse(
    scatter: Scatter,
    count: int,
    shrinkage: Shrinkage,
    more: Matrix | None = None,
    dtype: type[np.floating] | None = None,
) -> Matrix:
    """In the type of the scatter, unless another is given."""
    triangle = scatter.folded().astype(dtype or scatter.dtype, copy=False)
    for rows in (scatter.pending, more):
        if rows is not None and len(rows):
            add_outer_products(triangle, rows.astype(triangle.dtype, copy=False))
    triangle *= shrinkage.scale / count
    _diagonal(triangle)[:] += shrinkage.ridge
    cholesky(triangle)  # shrinkage makes every matrix of ours positive definite
    return triangle


def _rounded(matrix: Matrix) -> Matrix:
    return matrix.astype(np.float32).astype(np.float64)


def precision_from_state(width: int, state: Tensors) -> KeptPrecision:
    if "factor" in state:
        factor = unpack_triangle(state["factor"], width)
        if not (_diagonal(factor) > 0).all():
            raise ValueError("the diagonal of the precision's factor is not positive")
        return FactoredPrecision(factor)
    basis = np.array(state["basis"], np.float64)
    if basis.ndim != 2 or basis.shape[1] != width:
        raise ValueError("the precision's basis has another width")
    if not state["ridge"] > 0:
        raise ValueError("the precision's ridge is not positive")
    return LowRankPrecision(basis, float(state["ridge"]))


def with_factor(width: int, state: Tensors) -> Tensors:
    """Files up to format 7 hold the precision itself instead of the factor of its inverse."""
    if "triangle" not in state:
        return state
    matrix = unpack_triangle(state["triangle"], width)
    cholesky(matrix)
    invert_factored(matrix)
    cholesky(matrix)
    return {**state, "factor": pack_triangle(matrix)}


def _diagonal(matrix: Matrix) -> Vector:
    """A view that can be written to, which ``np.diagonal`` is not."""
    return matrix.ravel(order="K")[:: len(matrix) + 1]
