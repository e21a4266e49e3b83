"""KLDA: a linear discriminant on random Fourier features."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.feature_maps import FEATURES, FeatureMap, FourierFeatures
from exll.baselines.least_squares import diagonal
from exll.baselines.moments import MappedScores, MomentsRule, Totals
from exll.baselines.rule import LearningRule, NearnessScores, Scores
from exll.errors import InputError
from exll.learner.precision import FactoredPrecision
from exll.linalg.lapack import add_outer_products, cholesky
from exll.parameters import between, one_of
from exll.types import Matrix, Tensors, Vector

Variant = Literal["lda", "cosine"]
NO_SPREAD = 1e-12  # a share of the mean square below which a spread is rounding


class KLDA(Baseline):
    r"""Class means and one covariance within classes, of $z = \sqrt{2/D}\cos(xW + b)$ with W from $N(0, 2\gamma)$.

    $$\Lambda = [(1-\epsilon)\Sigma + \epsilon\,\tau I]^{-1}, \quad \tau = \mathrm{tr}\,\Sigma / D, \qquad
    s_k = z^T\Lambda\mu_k - \tfrac12\mu_k^T\Lambda\mu_k$$

    $\Sigma$ is exactly the covariance within classes of one batch, in any order. ``variant="cosine"`` is the cosine,
    under $\Lambda$, of $z - \mu$ and $\mu_k - \mu$ with the mean $\mu$ of all. ``features`` is D, ``shrinkage`` is
    $\epsilon$. The default of ``gamma`` is for unit vectors: for others divide it by their mean squared length.

    >>> X = [[1.0, 0.1], [0.1, 1.0], [1.0, 0.2], [0.2, 1.0]]
    >>> KLDA(features=50, normalise=True).fit(X, ["right", "up", "right", "up"]).predict([[9.0, 1.0], [1.0, 9.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "klda"
    _allowed: ClassVar = {
        "variant": one_of("lda", "cosine"),
        "features": FEATURES,
        "gamma": between(0, np.inf),
    }

    def __init__(
        self,
        variant: Variant = "lda",
        features: int = 4000,
        gamma: float = 0.1,
        shrinkage: float = 0.2,
        random_state: int | None = 0,
        normalise: bool = False,
    ) -> None:
        self.variant = variant
        self.features = features
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.random_state = random_state
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        feature_map = FourierFeatures(width, int(self.features), float(self.gamma), self.random_state)
        return KLDARule(width, feature_map, float(self.shrinkage), self.variant)


class KLDARule(MomentsRule):
    def __init__(self, width: int, feature_map: FeatureMap, shrinkage: float, variant: Variant) -> None:
        super().__init__(width, feature_map)
        self._shrinkage = shrinkage
        self._variant = variant

    def scores(self) -> MappedScores:
        totals = self._totals()[0]
        counts = totals.counts[:, None]
        means, mean = totals.sums / counts, totals.sums.sum(axis=0) / counts.sum()
        precision = self._precision(totals)
        scores: Scores = (
            NearnessScores.under(precision, means)
            if self._variant == "lda"
            else CosineScores.under(precision, means, mean)
        )
        return MappedScores(self._map, scores)

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        super().restore(state, classes, samples)
        for name in ("sums", "triangle"):
            if name in state and np.abs(state[name]).max(initial=0.0) > 2 * samples:  # a feature is at most sqrt(2)
                raise ValueError(f"the {name} are larger than cosines can make them")

    def _precision(self, totals: Totals) -> FactoredPrecision:
        """Of the covariance within classes, which is written over the sum of outer products."""
        within, count = totals.gram, int(totals.counts.sum())
        square = float(diagonal(within).mean())
        between_classes = np.zeros_like(within)
        add_outer_products(between_classes, totals.sums / np.sqrt(totals.counts)[:, None])
        within -= between_classes
        spread = float(diagonal(within).mean())
        if spread <= NO_SPREAD * square:
            within[:] = 0.0
            spread = float(count)  # the identity, where no class has two different samples
        within *= (1.0 - self._shrinkage) / count
        diagonal(within)[:] += self._shrinkage * spread / count
        try:
            cholesky(within)
        except ArithmeticError as error:
            raise InputError(
                f"the covariance of KLDA cannot be inverted with a shrinkage of {self._shrinkage:g}; take a larger one."
            ) from error
        return FactoredPrecision(within)


@dataclass(frozen=True)
class CosineScores:
    precision: FactoredPrecision
    weights: Matrix  # (classes, D), of length 1 under the inverse of the precision
    mean: Vector

    @classmethod
    def under(cls, precision: FactoredPrecision, means: Matrix, mean: Vector) -> "CosineScores":
        steps = means - mean
        weights = precision.apply(steps)
        squares = np.vecdot(weights, steps)
        far = squares > NO_SPREAD**2 * precision.squared_norms(mean[None, :])  # else it is the mean of all
        weights[~far] = 0.0
        weights[far] /= np.sqrt(squares[far])[:, None]
        return cls(precision, weights, mean)

    def __call__(self, X: Matrix) -> Matrix:
        steps = X - self.mean
        squares = self.precision.squared_norms(steps)
        cosines: Matrix = steps @ self.weights.T
        cosines /= np.sqrt(np.maximum(squares, np.finfo(float).tiny))[:, None]
        return cosines
