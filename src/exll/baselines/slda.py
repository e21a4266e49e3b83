"""SLDA: streaming linear discriminant analysis."""

from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_means import ClassMeansRule
from exll.baselines.rule import LearningRule, NearnessScores
from exll.errors import InputError
from exll.learner.precision import Shrinkage, precision_of
from exll.learner.statistics import GlobalStatistics, Residual, within_residual
from exll.parameters import one_of
from exll.types import Tensors, Vector


class SLDA(Baseline):
    r"""Streaming LDA: class means over one shared covariance.

    $$\Sigma_{t+1} = \frac{t\,\Sigma_t + \Delta}{t+1}, \quad \Delta = \frac{t}{t+1}(x-\mu_y)(x-\mu_y)^T, \qquad
    s_k = x^T\Lambda\mu_k - \tfrac12\mu_k^T\Lambda\mu_k, \quad \Lambda = [(1-\epsilon)\Sigma + \epsilon I]^{-1}$$

    $\mu_y$ is the class's mean before the sample, and 0 for the first of a class, so $\Sigma$ is not quite the
    within-class covariance: each class enters with one uncentred vector, and a little depends on the order. That is the
    rule as published. ``variant="centred"`` is what it stands for: with the class's own count n,
    $\Delta = \frac{n}{n+1}(x-\mu_y)(x-\mu_y)^T$ sums up to exactly the covariance within classes, in any order. It is
    the better one where classes have few samples. There are no priors. $\Lambda$ is exact for all that was learned
    whenever it is asked for, by Cholesky.

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([10 * rng.normal(size=40), y + 0.1 * rng.normal(size=40)])
    >>> SLDA().fit(X, y).predict([[9.0, 0.0], [-9.0, 1.0]])
    array([0, 1])
    """

    name = "slda"
    _allowed: ClassVar = {"variant": one_of("published", "centred")}

    def __init__(
        self,
        variant: Literal["published", "centred"] = "published",
        shrinkage: float = 1e-4,
        normalise: bool = False,
    ) -> None:
        self.variant = variant
        self.shrinkage = shrinkage
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return SLDARule(width, float(self.shrinkage), VARIANTS[self.variant])


def published_residual(x: Vector, statistics: GlobalStatistics, class_mean: Vector, class_count: int) -> Vector:
    r"""$\sqrt{t/(t+1)}\,(x-\mu_y)$, whose outer product is $\Delta$; the statistics count x already."""
    return sqrt((statistics.count - 1) / statistics.count) * (x - class_mean)


VARIANTS: dict[str, Residual] = {"published": published_residual, "centred": within_residual}


class SLDARule(ClassMeansRule):
    def __init__(self, width: int, shrinkage: float, residual: Residual) -> None:
        super().__init__(width)
        self._shrinkage = shrinkage
        self._statistics = GlobalStatistics(width, residual)

    def learn(self, x: Vector, k: int) -> None:
        known = k < len(self._means)
        mean = self._means.vectors[k] if known else np.zeros(self._width)
        self._statistics.learn(x, mean, int(self._means.counts[k]) if known else 0)
        super().learn(x, k)

    def scores(self) -> NearnessScores:
        try:
            shrinkage = Shrinkage.towards_identity(self._shrinkage)
            precision = precision_of(self._statistics, shrinkage)
        except ArithmeticError as error:
            raise InputError(
                f"the vectors that SLDA learned are too large for a shrinkage of {self._shrinkage:g}, which is lost in "
                "rounding beside their covariance; take normalise=True, or scale them down."
            ) from error
        return NearnessScores.under(precision, self._means.vectors)

    @property
    def n_parameters(self) -> int:
        return super().n_parameters + self._width**2

    @property
    def nbytes(self) -> int:
        return self._statistics.nbytes + self._means.vectors.nbytes + self._means.counts.nbytes

    def state(self) -> Tensors:
        shared = {f"statistics.{name}": array for name, array in self._statistics.state().items()}
        return {**super().state(), **shared}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        super().restore(state, classes, samples)
        shared = {name.removeprefix("statistics."): array for name, array in state.items()}
        self._statistics.restore(shared)
        if self._statistics.count != samples:
            raise ValueError("the covariance is not of all samples")
