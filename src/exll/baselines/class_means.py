"""The mean and the count of every class."""

import numpy as np

from exll.learner.growing import GrowingArray
from exll.types import Indices, Matrix, Tensors, Vector


class ClassMeans:
    def __init__(self, width: int) -> None:
        self._width = width
        self._vectors = GrowingArray((width,), np.float64)
        self._counts = GrowingArray((), np.int64)

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def vectors(self) -> Matrix:
        return self._vectors.filled

    @property
    def counts(self) -> Indices:
        return self._counts.filled

    def learn(self, x: Vector, k: int) -> Vector:
        """Let x join its class; returns how far it lay from the mean before, nothing for the first of a class."""
        if k == len(self):
            self._vectors.append(x)
            self._counts.append(1)
            return np.zeros(self._width)
        mean = self.vectors[k]
        self.counts[k] += 1
        step: Vector = x - mean
        mean += step / self.counts[k]
        return step

    def state(self) -> Tensors:
        return {"means": self.vectors, "counts": self.counts}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._vectors = GrowingArray((self._width,), np.float64, state["means"])
        self._counts = GrowingArray((), np.int64, state["counts"])
        check_counts(self.counts, samples)
        if not len(self._vectors) == len(self) == classes:
            raise ValueError("means, counts and classes differ in number")


def check_counts(counts: Indices, samples: int) -> None:
    if (counts < 1).any() or counts.sum() != samples:
        raise ValueError("counts do not sum to the samples")
