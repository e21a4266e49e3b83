"""CBCL: centroid-based concept learning."""

from dataclasses import dataclass

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_means import check_counts
from exll.baselines.rule import LearningRule, NearnessScores
from exll.learner.counted_means import CountedMeans
from exll.linalg.ties import first_of_largest
from exll.types import Indices, Matrix, Tensors, Vector


class CBCL(Baseline):
    r"""Every class is a set of centroids. A sample joins the nearest one of its class within ``distance``, and moves it
    to the mean of what joined; else it becomes a new one. Score $-\min_c |x - c|^2$ over the centroids of a class.

    The distance is for vectors as they come; unit vectors never lie further apart than 2. The model depends on the
    order of the stream, but nothing is forgotten.

    >>> X = [[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [5.0, 0.0]]
    >>> model = CBCL(distance=2.0).fit(X, ["edge", "edge", "edge", "middle"])
    >>> model.predict([[1.0, 1.0], [4.0, 0.0], [8.0, 0.0]])
    array(['edge', 'middle', 'edge'], dtype='<U6')
    """

    name = "cbcl"

    def __init__(self, distance: float = 17.0, normalise: bool = False) -> None:
        self.distance = distance
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return CBCLRule(width, float(self.distance))


class CBCLRule(LearningRule):
    def __init__(self, width: int, distance: float) -> None:
        self._width = width
        self._distance = distance
        self._classes: list[CountedMeans] = []

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._classes):
            self._classes.append(CountedMeans(self._width))
        centroids = self._classes[k]
        if len(centroids):
            steps = x - centroids.vectors
            squares = np.vecdot(steps, steps)
            nearest = first_of_largest(-squares)
            if squares[nearest] <= self._distance**2:
                centroids.join(nearest, x)
                return
        centroids.add(x)

    def scores(self) -> "NearestCentroid":
        sizes = [len(centroids) for centroids in self._classes]
        vectors = np.concatenate([centroids.vectors for centroids in self._classes])
        return NearestCentroid(NearnessScores.of(vectors), np.cumsum([0, *sizes[:-1]]))

    @property
    def n_parameters(self) -> int:
        return sum(centroids.vectors.size for centroids in self._classes)

    def state(self) -> Tensors:
        return {
            "centroids": np.concatenate([centroids.vectors for centroids in self._classes]),
            "counts": np.concatenate([centroids.counts for centroids in self._classes]),
            "sizes": np.array([len(centroids) for centroids in self._classes], np.int64),
        }

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        vectors, counts, sizes = state["centroids"], state["counts"], state["sizes"]
        check_counts(counts, samples)
        if len(sizes) != classes or (sizes < 1).any() or not sizes.sum() == len(counts) == len(vectors):
            raise ValueError("centroids, counts and classes differ in number")
        stops = np.cumsum(sizes)
        self._classes = [
            CountedMeans(self._width, vectors[start:stop], counts[start:stop])
            for start, stop in zip(stops - sizes, stops, strict=True)
        ]


@dataclass(frozen=True)
class NearestCentroid:
    nearness: NearnessScores  # class by class
    first: Indices  # (classes,) where each class starts

    def __call__(self, X: Matrix) -> Matrix:
        best: Matrix = np.maximum.reduceat(self.nearness(X), self.first, axis=1)
        return best
