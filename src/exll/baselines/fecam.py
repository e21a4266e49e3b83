"""FeCAM: the Mahalanobis distance to class means, with a correlation matrix per class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_scatters import ClassScattersRule, QuadraticScores, factored
from exll.baselines.least_squares import diagonal
from exll.baselines.rule import LearningRule
from exll.parameters import Allowed, between, is_number
from exll.types import Matrix, Vector

RIDGE = 1e-6
AT_LEAST_0 = Allowed(lambda: "a number of at least 0", lambda value: is_number(value) and 0 <= value < np.inf)


class FeCAM(Baseline):
    r"""The Mahalanobis distance of unit vectors to the classes' means, under a correlation matrix per class.

    With the covariance $\Sigma_k$ of a class, the mean $V_1$ of its diagonal and $V_2$ of the rest,

    $$\Sigma_k' = \Sigma_k + \gamma_1 V_1 I + \gamma_2 V_2 (1 - I), \quad
    R_k = D^{-1/2}\,\Sigma_k'\,D^{-1/2}, \; D = \mathrm{diag}\,\Sigma_k', \qquad
    s_k = -\tfrac12 \left|\frac{x}{|x|} - \frac{\mu_k}{|\mu_k|}\right|^2_{R_k^{-1}}$$

    $R_k$ gets another $10^{-6} I$, since both shrinkages together may leave it singular; the published program takes a
    pseudo-inverse. A class of one sample has the identity. At most d squared numbers are held per class. The order of
    the stream does not matter.

    ``tukey`` is a power that every number is raised to first. 0.5 is published, for numbers that are not negative; of
    a negative one the size is raised and the sign stays, $\mathrm{sign}(x)|x|^{0.5}$. The default of 1 leaves vectors
    as they are, and with it ``gamma1`` and ``gamma2`` are what is best for vectors of both signs (docs/baselines.md).

    >>> X = [[1.0, 0.1], [0.1, 1.0], [1.0, 0.2], [0.2, 1.0]]
    >>> FeCAM().fit(X, ["right", "up", "right", "up"]).predict([[9.0, 1.0], [1.0, 9.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "fecam"
    _allowed: ClassVar = {"gamma1": between(0, np.inf), "gamma2": AT_LEAST_0, "tukey": between(0, 2)}

    def __init__(self, gamma1: float = 10.0, gamma2: float = 10.0, tukey: float = 1.0, normalise: bool = False) -> None:
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.tukey = tukey
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return FeCAMRule(width, float(self.gamma1), float(self.gamma2), float(self.tukey))


class FeCAMRule(ClassScattersRule):
    def __init__(self, width: int, gamma1: float, gamma2: float, power: float) -> None:
        super().__init__(width)
        self._gamma1, self._gamma2, self._power = gamma1, gamma2, power

    def learn(self, x: Vector, k: int) -> None:
        super().learn(raised(x, self._power), k)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # of a forged file; the factors are looked at
    def scores(self) -> "RaisedScores":
        factors = [self._factor(k) for k in range(len(self._means))]
        quadratic = QuadraticScores(of_length_1(self._means.vectors), factors, np.zeros(len(factors)))
        return RaisedScores(self._power, quadratic)

    def _factor(self, k: int) -> Matrix:
        """Of the correlation matrix of one class."""
        matrix, width = self.covariance(k), self._width
        variances = diagonal(matrix)
        mean = float(variances.mean())
        if mean == 0.0:
            return np.asfortranarray(np.eye(width))
        lower = np.tril(matrix, -1)
        rest = 2.0 * float(lower.sum()) / max(1, width * (width - 1))
        shift = self._gamma2 * rest
        variances += self._gamma1 * mean - shift
        matrix += shift
        deviations = np.sqrt(variances)
        matrix /= deviations
        matrix /= deviations[:, None]
        variances += RIDGE  # a view of the diagonal of what are correlations now
        return factored(matrix, "a larger gamma1")


@dataclass(frozen=True)
class RaisedScores:
    power: float
    quadratic: QuadraticScores

    def __call__(self, X: Matrix) -> Matrix:
        return self.quadratic(of_length_1(raised(X, self.power)))


def raised(x: Matrix, power: float) -> Matrix:
    return x if power == 1.0 else np.copysign(np.abs(x) ** power, x)


def of_length_1(X: Matrix) -> Matrix:
    """Every row divided by its length; zeros stay."""
    lengths = np.sqrt(np.vecdot(X, X))
    return np.asarray(X / np.where(lengths > 0.0, lengths, 1.0)[:, None])
