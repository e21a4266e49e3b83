"""RDA: a quadratic discriminant whose covariances are drawn towards a shared one."""

from typing import ClassVar

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_scatters import ClassScattersRule, QuadraticScores, factored
from exll.baselines.least_squares import diagonal
from exll.baselines.rule import LearningRule
from exll.parameters import Allowed, is_number

SHARE = Allowed(lambda: "a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)


class StreamingRDA(Baseline):
    r"""Regularised discriminant analysis: a mean and a covariance per class, and what the covariances share.

    $$\Sigma_k' = (1-\epsilon)[(1-a)\,\Sigma_k + a\,\Sigma] + \epsilon\,\tau I, \quad \tau = \mathrm{tr}\,\Sigma / d,
    \qquad s_k = -\tfrac12 (x-\mu_k)^T \Sigma_k'^{-1} (x-\mu_k) - \tfrac12 \ln|\Sigma_k'|$$

    ``share`` is a, ``shrinkage`` is $\epsilon$; $\Sigma$ is the covariance within all classes. With a share of 1 it is
    a linear discriminant, with 0 a quadratic one. There are no priors, and the order of the stream does not matter.

    >>> model = StreamingRDA(share=0.1).fit([[-0.1], [0.1], [-5.0], [5.0]], ["narrow", "narrow", "broad", "broad"])
    >>> model.predict([[0.05], [4.0]])
    array(['narrow', 'broad'], dtype='<U6')
    """

    name = "rda"
    _allowed: ClassVar = {"share": SHARE}

    def __init__(self, share: float = 0.8, shrinkage: float = 0.5, normalise: bool = False) -> None:
        self.share = share
        self.shrinkage = shrinkage
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return RDARule(width, float(self.share), float(self.shrinkage))


class RDARule(ClassScattersRule):
    def __init__(self, width: int, share: float, shrinkage: float) -> None:
        super().__init__(width)
        self._share = share
        self._shrinkage = shrinkage

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # of a forged file; the factors are looked at
    def scores(self) -> QuadraticScores:
        counts = self._means.counts
        shared = np.zeros((self._width, self._width), order="F")
        for k, count in enumerate(counts.tolist()):
            shared += self.covariance(k) * (count / counts.sum())
        spread = float(diagonal(shared).mean()) or 1.0  # the identity, where no class has two different samples
        factors, biases = [], np.empty(len(counts))
        for k in range(len(counts)):
            factor = self.covariance(k)
            factor *= (1.0 - self._shrinkage) * (1.0 - self._share)
            factor += shared * ((1.0 - self._shrinkage) * self._share)
            diagonal(factor)[:] += self._shrinkage * spread
            factors.append(factored(factor, "a larger shrinkage"))
            biases[k] = -np.log(diagonal(factor)).sum()
        return QuadraticScores(self._means.vectors.copy(), factors, biases)
