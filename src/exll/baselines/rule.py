"""What one baseline is: how it learns a vector, and the scores it then gives."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from exll.learner.precision import Precision
from exll.types import Matrix, Tensors, Vector


class Scores(Protocol):
    """A snapshot of a rule: it shares nothing that learning changes."""

    def __call__(self, X: Matrix) -> Matrix:
        """(rows, classes), the larger the likelier."""
        ...


@dataclass(frozen=True)
class LinearScores:
    weights: Matrix  # (classes, d)
    biases: Vector

    def __call__(self, X: Matrix) -> Matrix:
        scores: Matrix = X @ self.weights.T
        scores += self.biases
        return scores


@dataclass(frozen=True)
class NearnessScores:
    r"""$-|x - p|^2$ for some points p, plus what is the same for all of them: $|x - o|^2$ with their mean o. Seen
    from there, scores stay as small as the differences between them, wherever the points lie."""

    origin: Vector
    linear: LinearScores

    @classmethod
    def of(cls, points: Matrix) -> "NearnessScores":
        origin = points.mean(axis=0)
        steps = points - origin
        return cls(origin, LinearScores(2.0 * steps, -np.vecdot(steps, steps)))

    @classmethod
    def under(cls, precision: Precision, points: Matrix) -> "NearnessScores":
        r"""The same under a precision, and half of it: the linear discriminant $p^T\Lambda x - \tfrac12 p^T\Lambda p$,
        but for what all points share."""
        origin = points.mean(axis=0)
        steps = points - origin
        weights = precision.apply(steps)
        return cls(origin, LinearScores(weights, -0.5 * np.vecdot(weights, steps)))

    def __call__(self, X: Matrix) -> Matrix:
        return self.linear(X - self.origin)


class LearningRule(ABC):
    """Classes are numbers in the order of first sight; the state depends on the sequence of samples alone."""

    @abstractmethod
    def learn(self, x: Vector, k: int) -> None:
        """Learn one vector of class k, which is the next number where the class is new."""

    @abstractmethod
    def scores(self) -> Scores: ...

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many numbers the answers are made from, and the examples that are kept. Counters are not counted."""

    @abstractmethod
    def state(self) -> Tensors:
        """All of it, as named arrays; they are the rule's own."""

    @abstractmethod
    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        """Continue from a state. Raises KeyError or ValueError if it does not fit so many classes and samples."""

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values())
