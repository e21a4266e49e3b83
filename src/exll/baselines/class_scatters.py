"""The mean and the scatter of every class, and the rules that make a quadratic score of them."""

from dataclasses import dataclass

import numpy as np

from exll.baselines.class_means import ClassMeansRule
from exll.baselines.least_squares import diagonal
from exll.errors import InputError
from exll.learner.statistics import Scatter
from exll.linalg.lapack import add_outer_products, cholesky, solve_rows
from exll.types import Matrix, Tensors, Vector
from exll.vectors import LARGEST_RAW

LARGEST_STEP = 2.0 * LARGEST_RAW
FARTHEST = -1e300  # the score where a distance is too large to be squared


class ClassScattersRule(ClassMeansRule):
    """A rule that keeps the mean and the exact scatter of every class: at most d (d + 1) / 2 numbers of each, and fewer
    while a class has few samples."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._scatters: list[Scatter] = []

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._means):
            self._scatters.append(Scatter(self._width))
            row = np.zeros(self._width)
        else:
            count = int(self._means.counts[k])
            row = np.sqrt(count / (count + 1)) * (x - self._means.vectors[k])
        self._scatters[k].add(row)
        super().learn(x, k)

    def covariance(self, k: int) -> Matrix:
        """Of one class, divided by its count: a new lower triangle, in Fortran order."""
        scatter = self._scatters[k]
        matrix = np.zeros((self._width, self._width), order="F") if scatter.triangle is None else scatter.folded()
        rows = scatter.rows.filled if scatter.triangle is None else scatter.pending
        if len(rows):
            add_outer_products(matrix, np.ascontiguousarray(rows))
        matrix /= scatter.count
        return matrix

    @property
    def n_parameters(self) -> int:
        return super().n_parameters + len(self._scatters) * self._width**2

    @property
    def nbytes(self) -> int:
        return self._means.vectors.nbytes + self._means.counts.nbytes + sum(s.nbytes for s in self._scatters)

    def state(self) -> Tensors:
        scatters = {
            f"scatter{k}.{name}": array
            for k, scatter in enumerate(self._scatters)
            for name, array in scatter.state().items()
        }
        return {**super().state(), **scatters}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        super().restore(state, classes, samples)
        self._scatters = []
        for k, count in enumerate(self._means.counts.tolist()):
            prefix = f"scatter{k}."
            scatter = Scatter(self._width)
            scatter.restore(
                {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            )
            if scatter.count != count or not np.abs(scatter.rows.filled).max(initial=0.0) <= LARGEST_STEP:
                raise ValueError("the scatter of a class is not of all its samples")
            if not np.abs(scatter.pending).max(initial=0.0) <= LARGEST_STEP:
                raise ValueError("the scatter of a class holds larger steps than there can be")
            self._scatters.append(scatter)


@dataclass(frozen=True)
class QuadraticScores:
    r"""$b_k - \tfrac12 |L_k^{-1}(x - \mu_k)|^2$."""

    means: Matrix  # (classes, d)
    factors: list[Matrix]  # of the covariances, lower, in Fortran order
    biases: Vector

    def __call__(self, X: Matrix) -> Matrix:
        scores = np.empty((len(X), len(self.means)))
        with np.errstate(over="ignore", invalid="ignore"):
            for k, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
                steps = X - mean
                solve_rows(factor, steps)
                scores[:, k] = self.biases[k] - 0.5 * np.vecdot(steps, steps)
        return np.nan_to_num(scores, copy=False, nan=FARTHEST, neginf=FARTHEST)


def factored(covariance: Matrix, advice: str) -> Matrix:
    """Its lower factor, written over it."""
    try:
        cholesky(covariance)
        whole = bool(np.isfinite(diagonal(covariance)).all())
    except ArithmeticError:
        whole = False
    if not whole:
        raise InputError(f"the covariance of a class cannot be inverted; take {advice}, or normalise=True.")
    return covariance
