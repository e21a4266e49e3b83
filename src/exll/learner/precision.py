r"""Shrinkage precision (Eq. 17), by Cholesky and never by a pseudo-inverse.

$$\Lambda = [a\,\hat\xi + b I]^{-1}, \qquad \text{in the paper } a = 1-\epsilon,\; b = \epsilon$$

Three forms of the same matrix. With few rows $V$ in the scatter, the Woodbury identity gives
$\Lambda = \tfrac1b (I - G^T G)$ with $G = L^{-1} V$ and $L L^T = V V^T + \tfrac{nb}{a} I$: small, and quick to make.
Later the matrix itself; or, where little is to be multiplied with it, only the Cholesky factor of its inverse, which
costs a third. None is ever changed after it was made, so readers may hold one while learning goes on.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import blas

from exll.learner.statistics import GlobalStatistics, Scatter, pack_triangle, unpack_triangle
from exll.linalg.lapack import add_outer_products, cholesky, invert_factored, solve_factor, solve_rows
from exll.types import Matrix, Tensors, Vector

NORM_ROWS = 256
TILE = 128
FEW_ROWS = 0.5  # as a share of the width: solving for so many costs as much as inverting and multiplying


class Precision(Protocol):
    """A symmetric positive definite matrix that can be multiplied with."""

    def apply(self, X: Matrix) -> Matrix:
        """The rows of X times the matrix."""
        ...

    def squared_norms(self, X: Matrix) -> Vector:
        r"""$x^T \Lambda x$ of every row."""
        ...


class KeptPrecision(Precision, Protocol):
    """One that learning keeps, and a file with it."""

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

    def squared_norms(self, X: Matrix) -> Vector:
        along = X @ self._basis.T
        squared_norms: Vector = np.vecdot(X, X)
        squared_norms -= np.vecdot(along, along)
        squared_norms /= self._ridge
        return squared_norms

    @property
    def nbytes(self) -> int:
        return self._basis.nbytes

    def state(self) -> Tensors:
        return {"basis": self._basis, "ridge": np.array(self._ridge)}


class DensePrecision:
    """The form for many rows. One vector is multiplied by the symmetric product, which reads half the memory; many by
    the general one, which measures a quarter faster than the symmetric."""

    def __init__(self, lower_triangle: Matrix) -> None:
        self._matrix = _mirror(lower_triangle)  # (d, d), Fortran order

    def apply(self, X: Matrix) -> Matrix:
        if len(X) == 1:
            return np.asarray(blas.dsymv(1.0, self._matrix, X[0], lower=1))[None, :]
        applied: Matrix = X @ self._matrix
        return applied

    def squared_norms(self, X: Matrix) -> Vector:
        """Some rows at a time, so that memory stays flat."""
        squared_norms = np.empty(len(X))
        for start in range(0, len(X), NORM_ROWS):
            some = X[start : start + NORM_ROWS]
            np.vecdot(some, self.apply(some), out=squared_norms[start : start + NORM_ROWS])
        return squared_norms

    @property
    def nbytes(self) -> int:
        return self._matrix.nbytes

    def state(self) -> Tensors:
        return {"triangle": pack_triangle(self._matrix)}


class FactoredPrecision:
    """The form for many rows in the scatter and few to multiply."""

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


def starting_precision(width: int, shrinkage: Shrinkage) -> KeptPrecision:
    return LowRankPrecision(np.empty((0, width)), shrinkage.ridge)


def precision_of(
    statistics: GlobalStatistics, shrinkage: Shrinkage, rounded_to: type[np.floating] = np.float64
) -> KeptPrecision:
    """Eq. 17 for all that was learned so far; leaves the statistics alone. Its numbers may be rounded to those of a
    smaller type; it multiplies in double precision all the same."""
    if statistics.scatter.triangle is None:
        basis = _basis(statistics, shrinkage)
        return LowRankPrecision(_rounded(basis, rounded_to), shrinkage.ridge)
    inverse = _factor_of_inverse(statistics.scatter, statistics.count, shrinkage)
    invert_factored(inverse)
    return DensePrecision(_rounded(inverse, rounded_to))


def precision_for(rows: int, statistics: GlobalStatistics, shrinkage: Shrinkage) -> Precision:
    """The same, in the form that is the cheapest to make and to multiply about so many rows with."""
    if statistics.scatter.triangle is None or rows > statistics.scatter.width * FEW_ROWS:
        return precision_of(statistics, shrinkage)
    return FactoredPrecision(_factor_of_inverse(statistics.scatter, statistics.count, shrinkage))


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


def _factor_of_inverse(scatter: Scatter, count: int, shrinkage: Shrinkage, more: Matrix | None = None) -> Matrix:
    triangle = scatter.folded()
    for rows in (scatter.pending, more):
        if rows is not None and len(rows):
            add_outer_products(triangle, rows)
    triangle *= shrinkage.scale / count
    _diagonal(triangle)[:] += shrinkage.ridge
    cholesky(triangle)  # shrinkage makes every matrix of ours positive definite
    return triangle


def _rounded(matrix: Matrix, to: type[np.floating]) -> Matrix:
    if to is not np.float64:
        matrix[:] = matrix.astype(to)
    return matrix


def precision_from_state(width: int, state: Tensors) -> KeptPrecision:
    if "triangle" in state:
        return DensePrecision(unpack_triangle(state["triangle"], width))
    basis = np.array(state["basis"], np.float64)
    if basis.ndim != 2 or basis.shape[1] != width:
        raise ValueError("the precision's basis has another width")
    if not state["ridge"] > 0:
        raise ValueError("the precision's ridge is not positive")
    return LowRankPrecision(basis, float(state["ridge"]))


def _diagonal(matrix: Matrix) -> Vector:
    """A view that can be written to, which ``np.diagonal`` is not."""
    return matrix.ravel(order="K")[:: len(matrix) + 1]


def _mirror(matrix: Matrix) -> Matrix:
    """Copy the lower triangle onto the upper, in place and in tiles that fit the cache."""
    width = len(matrix)
    for start in range(0, width, TILE):
        tile = slice(start, min(start + TILE, width))
        corner = matrix[tile, tile]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        matrix[tile, tile.stop :] = matrix[tile.stop :, tile].T
    return matrix
