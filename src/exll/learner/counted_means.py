"""Means with their counts: class means, prototype centres, centroids."""

import numpy as np

from exll.linalg.growing_array import GrowingArray
from exll.types import Indices, Matrix, Vector


class CountedMeans:
    """Means of what joined them."""

    def __init__(self, width: int, vectors: Matrix | None = None, counts: Indices | None = None) -> None:
        self._vectors = GrowingArray((width,), np.float64, vectors)
        self._counts = GrowingArray((), np.int64, counts)

    def __len__(self) -> int:
        return len(self._counts.filled)

    @property
    def vectors(self) -> Matrix:
        return self._vectors.filled

    @property
    def counts(self) -> Indices:
        return self._counts.filled

    def add(self, x: Vector) -> None:
        self._vectors.append(x)
        self._counts.append(1)

    def join(self, index: int, x: Vector) -> Vector:
        """Let x join a mean; returns how far it lay from it before."""
        mean, counts = self.vectors[index], self.counts
        counts[index] += 1
        step: Vector = x - mean
        mean += step / counts[index]
        return step
