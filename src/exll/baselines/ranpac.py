"""RanPAC: least squares on random projections."""

from typing import ClassVar

from exll.baselines.base import Baseline
from exll.baselines.feature_maps import FEATURES, RandomReLU
from exll.baselines.least_squares import PENALTY, LeastSquaresRule, Penalty
from exll.baselines.rule import LearningRule


class RanPAC(Baseline):
    r"""Least squares (:class:`~exll.baselines.LeastSquares`) on $\max(0, xP)$, with P from N(0, 1).

    ``features`` is the number of columns of P, which ``random_state`` draws once. The published rule without its
    adapters for the network, which need gradients and a first task.

    >>> X = [[3.0, 0.1], [0.1, 2.0], [2.0, 0.3], [0.3, 3.0]]
    >>> RanPAC(features=20).fit(X, ["right", "up", "right", "up"]).predict([[1.0, 0.0], [0.0, 1.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "ranpac"
    _allowed: ClassVar = {"penalty": PENALTY, "features": FEATURES}

    def __init__(
        self,
        features: int = 5000,
        penalty: Penalty = "auto",
        random_state: int | None = 0,
        normalise: bool = False,
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.random_state = random_state
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return LeastSquaresRule(width, RandomReLU(width, int(self.features), self.random_state), self.penalty)
