"""Gaussian naive Bayes, streaming."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_means import ClassMeansRule
from exll.baselines.rule import LearningRule, LinearScores, Scores
from exll.linalg.growing_array import GrowingArray
from exll.parameters import one_of
from exll.types import Matrix, Tensors, Vector


class NaiveBayes(Baseline):
    r"""A mean and a variance per class and feature, by Welford's update.

    With $v = (1-\epsilon)\,\mathrm{var}_k + \epsilon$ the score is the logarithm of the density,
    $-\tfrac12\sum_j (x_j-\mu_{kj})^2/v_j - \tfrac12\sum_j \ln v_j$, without priors. ``variant="hayes"`` is what was
    published under this name, $\sum_j x_j\mu_{kj}/v_j - \tfrac12\sum_j \mu_{kj}^2/v_j$: it leaves out
    $\tfrac12 \sum_j x_j^2/v_j$ and the logarithm, though both differ from class to class. The order of the stream does
    not matter.

    >>> model = NaiveBayes().fit([[-0.1], [0.1], [-5.0], [5.0]], ["narrow", "narrow", "broad", "broad"])
    >>> model.predict([[0.05], [2.0]])
    array(['narrow', 'broad'], dtype='<U6')
    """

    name = "naive-bayes"
    _allowed: ClassVar = {"variant": one_of("gaussian", "hayes")}

    def __init__(
        self,
        variant: Literal["gaussian", "hayes"] = "gaussian",
        shrinkage: float = 1e-4,
        normalise: bool = False,
    ) -> None:
        self.variant = variant
        self.shrinkage = shrinkage
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return NaiveBayesRule(width, float(self.shrinkage), self.variant == "gaussian")


@dataclass(frozen=True)
class GaussianScores:
    linear: LinearScores
    precisions: Matrix  # (classes, d)

    def __call__(self, X: Matrix) -> Matrix:
        scores = self.linear(X)
        scores -= 0.5 * (X * X) @ self.precisions.T
        return scores


class NaiveBayesRule(ClassMeansRule):
    def __init__(self, width: int, shrinkage: float, whole_density: bool) -> None:
        super().__init__(width)
        self._shrinkage = shrinkage
        self._whole_density = whole_density
        self._squares = GrowingArray((width,), np.float64)  # sums of squared distances from the class's mean

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._means):
            self._means.add(x)
            self._squares.append(0.0)
        else:
            step = self._means.join(k, x)
            self._squares.filled[k] += step * (x - self._means.vectors[k])

    def scores(self) -> Scores:
        means, variances = self._means.vectors, self._squares.filled / self._means.counts[:, None]
        precisions = 1.0 / ((1 - self._shrinkage) * variances + self._shrinkage)
        weights = precisions * means
        linear = LinearScores(weights, -0.5 * np.vecdot(weights, means))
        if not self._whole_density:
            return linear
        linear.biases[:] += 0.5 * np.log(precisions).sum(axis=1)
        return GaussianScores(linear, precisions)

    @property
    def n_parameters(self) -> int:
        return super().n_parameters + self._squares.filled.size

    def state(self) -> Tensors:
        return {**super().state(), "squares": self._squares.filled}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        super().restore(state, classes, samples)
        self._squares = GrowingArray((self._width,), np.float64, state["squares"])
        if len(self._squares) != classes or (self._squares.filled < 0).any():
            raise ValueError("a variance is negative, or there is not one row of variances per class")
