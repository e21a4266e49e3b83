"""The nearest neighbours among a bounded number of kept samples."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.randomness import generator_from_array, generator_to_array, new_generator
from exll.baselines.replay import Buffer
from exll.baselines.rule import LearningRule
from exll.parameters import Allowed, is_whole_number, one_of
from exll.types import Indices, Matrix, Tensors, Vector

AT_LEAST_1 = Allowed(lambda: "an integer of at least 1", lambda value: is_whole_number(value) and value >= 1)
NEAREST = 1e-6  # of the length of a query: whatever lies nearer counts as so near
TIE = 1e-9
LEAST_SHARE = 1e-12


class KNN(Baseline):
    r"""The ``k`` nearest of at most ``capacity`` kept samples vote, each with 1 / its distance
    (``weights="distance"``) or with 1 (``weights="uniform"``); the score of a class is the logarithm of its share.

    All that are as near as the k-th vote, too. When there is no room, a random sample of the largest class is removed,
    as in :class:`~exll.baselines.Replay`; ``random_state`` seeds the choice. On unit vectors
    (``normalise=True``) the nearest are those with the largest cosine.

    >>> X = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [6.0, 0.0]]
    >>> KNN(k=2).fit(X, ["left", "left", "right", "right"]).predict([[2.0, 0.0], [4.0, 0.0]])
    array(['left', 'right'], dtype='<U5')
    """

    name = "knn"
    _allowed: ClassVar = {"k": AT_LEAST_1, "capacity": AT_LEAST_1, "weights": one_of("distance", "uniform")}

    def __init__(
        self,
        k: int = 5,
        capacity: int = 10_000,
        weights: Literal["distance", "uniform"] = "distance",
        random_state: int | None = 0,
        normalise: bool = False,
    ) -> None:
        self.k = k
        self.capacity = capacity
        self.weights = weights
        self.random_state = random_state
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        generator = new_generator(self.random_state)
        return KNNRule(width, int(self.k), int(self.capacity), self.weights == "distance", generator)


class KNNRule(LearningRule):
    def __init__(self, width: int, k: int, capacity: int, weighted: bool, generator: np.random.Generator) -> None:
        self._k = k
        self._capacity = capacity
        self._weighted = weighted
        self._generator = generator
        self._buffer = Buffer(width)
        self._class_count = 0

    def learn(self, x: Vector, k: int) -> None:
        self._class_count = max(self._class_count, k + 1)
        self._buffer.keep(x, k, self._capacity, self._generator)

    def scores(self) -> "VotesOfNearest":
        origin = self._buffer.vectors.mean(axis=0)
        kept = self._buffer.vectors - origin
        squares, classes = np.vecdot(kept, kept), self._buffer.classes.copy()
        return VotesOfNearest(origin, kept, squares, classes, self._class_count, self._k, self._weighted)

    @property
    def n_parameters(self) -> int:
        return self._buffer.vectors.size

    def state(self) -> Tensors:
        return {**self._buffer.state(), "generator": generator_to_array(self._generator)}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._buffer.restore(state, classes)
        self._generator = generator_from_array(state["generator"])
        self._class_count = classes
        if len(self._buffer) != min(samples, self._capacity):
            raise ValueError("the buffer holds another number of examples than it should")


@dataclass(frozen=True)
class VotesOfNearest:
    origin: Vector
    kept: Matrix  # (samples, d), seen from the origin
    squares: Vector
    classes: Indices
    class_count: int
    k: int
    weighted: bool

    def __call__(self, X: Matrix) -> Matrix:
        steps = X - self.origin
        lengths = np.vecdot(steps, steps)
        distances = steps @ self.kept.T  # squared, (rows, samples)
        distances *= -2.0
        distances += self.squares
        distances += lengths[:, None]
        floors = (NEAREST**2 * (lengths + self.squares.max()))[:, None]
        np.maximum(distances, np.maximum(floors, np.finfo(float).tiny), out=distances)
        k = min(self.k, len(self.kept))
        kth = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
        rows, places = np.nonzero(distances <= (1.0 + TIE) * kth)
        votes = np.sqrt(kth[rows, 0] / distances[rows, places]) if self.weighted else 1.0
        shares = np.zeros((len(X), self.class_count))
        np.add.at(shares, (rows, self.classes[places]), votes)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.log(np.maximum(shares, LEAST_SHARE))
