"""Perceptron, streaming and for several classes."""

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.rule import LearningRule, LinearScores
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import first_of_largest
from exll.types import Tensors, Vector


class Perceptron(Baseline):
    """Score $x^T w_k$. The first sample of a class becomes its weights; afterwards, when the answer is wrong, the
    sample is added to the weights of its class and taken from those of the answer.

    What it knows depends on the order of the stream: shown one class after the other, it forgets.

    >>> Perceptron().fit([[1.0, 0.0], [0.0, 1.0]], ["right", "up"]).predict([[0.9, 0.4]])
    array(['right'], dtype='<U5')
    """

    name = "perceptron"

    def __init__(self, normalise: bool = False) -> None:
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return PerceptronRule(width)


class PerceptronRule(LearningRule):
    def __init__(self, width: int) -> None:
        self._width = width
        self._weights = GrowingArray((width,), np.float64)

    def learn(self, x: Vector, k: int) -> None:
        weights = self._weights.filled
        if k == len(weights):
            self._weights.append(x)
            return
        answer = first_of_largest(weights @ x)
        if answer != k:
            weights[k] += x
            weights[answer] -= x

    def scores(self) -> LinearScores:
        return LinearScores(self._weights.filled.copy(), np.zeros(len(self._weights)))

    @property
    def n_parameters(self) -> int:
        return self._weights.filled.size

    def state(self) -> Tensors:
        return {"weights": self._weights.filled}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._weights = GrowingArray((self._width,), np.float64, state["weights"])
        if len(self._weights) != classes:
            raise ValueError("weights and classes differ in number")
