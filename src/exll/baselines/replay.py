"""Replay: fine-tuning that also learns from examples it has kept."""

import numpy as np

from exll.baselines.gradient import GradientBaseline
from exll.baselines.linear_layer import LinearLayer
from exll.baselines.rule import LearningRule, LinearScores
from exll.linalg.growing_array import GrowingArray
from exll.types import Indices, Matrix, Tensors, Vector

REHEARSED = 50


class Replay(GradientBaseline):
    """Each step is on the new sample and 50 distinct ones drawn from a buffer (all of it while it holds fewer); then
    the sample is kept.

    The buffer holds ``per_class`` examples times the classes seen so far, or ``capacity`` where that is given. When it
    is full, a random example of the largest class in it is removed. ``random_state`` seeds all draws: with
    the same one the same stream gives the same model.

    >>> X = [[5.0, 0.0], [0.0, 5.0]] * 50
    >>> Replay(per_class=2).fit(X, ["right", "up"] * 50).predict([[3.0, 1.0], [1.0, 3.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "replay"

    def __init__(
        self,
        per_class: int = 20,
        capacity: int | None = None,
        learning_rate: float = 0.001,
        random_state: int | None = 0,
        normalise: bool = False,
    ) -> None:
        self.per_class = per_class
        self.capacity = capacity
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return ReplayRule(width, self._new_layer(width), self.per_class, self.capacity)


class ReplayRule(LearningRule):
    def __init__(self, width: int, layer: LinearLayer, per_class: int, capacity: int | None) -> None:
        self._layer = layer
        self._per_class = per_class
        self._capacity = capacity
        self._buffer = Buffer(width)

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._layer):
            self._layer.add_class()
        X, classes = self._buffer.drawn(self._layer.generator)
        self._layer.step(np.vstack([x, X]), np.append(k, classes))
        self._buffer.keep(x, k, self.capacity, self._layer.generator)

    @property
    def capacity(self) -> int:
        return self._per_class * len(self._layer) if self._capacity is None else self._capacity

    def scores(self) -> LinearScores:
        return self._layer.scores()

    @property
    def n_parameters(self) -> int:
        return self._layer.n_parameters + self._buffer.vectors.size

    def state(self) -> Tensors:
        return {**self._layer.state(), **self._buffer.state()}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._layer.restore(state, classes)
        self._buffer.restore(state, classes)
        # Room that came with a new class stays empty until there are new examples.
        least = self._per_class if self._capacity is None else self._capacity
        if not min(samples, least) <= len(self._buffer) <= min(samples, self.capacity):
            raise ValueError("the buffer holds another number of examples than it should")


class Buffer:
    """Examples in an order without meaning: a new example takes the place of the one that is removed."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._vectors = GrowingArray((width,), np.float64)
        self._classes = GrowingArray((), np.int64)

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def vectors(self) -> Matrix:
        return self._vectors.filled

    @property
    def classes(self) -> Indices:
        return self._classes.filled

    def drawn(self, generator: np.random.Generator) -> tuple[Matrix, Indices]:
        if len(self) <= REHEARSED:
            return self.vectors, self._classes.filled
        places = generator.choice(len(self), REHEARSED, replace=False)
        return self.vectors[places], self._classes.filled[places]

    def keep(self, x: Vector, k: int, capacity: int, generator: np.random.Generator) -> None:
        if len(self) < capacity:
            self._vectors.append(x)
            self._classes.append(k)
            return
        largest = np.bincount(self._classes.filled).argmax()
        places = np.flatnonzero(self._classes.filled == largest)
        place = places[generator.integers(len(places))]
        self.vectors[place] = x
        self._classes.filled[place] = k

    def state(self) -> Tensors:
        return {"kept": self.vectors, "kept_classes": self._classes.filled}

    def restore(self, state: Tensors, classes: int) -> None:
        self._vectors = GrowingArray((self._width,), np.float64, state["kept"])
        self._classes = GrowingArray((), np.int64, state["kept_classes"])
        if len(self._vectors) != len(self) or not set(self._classes.filled.tolist()) <= set(range(classes)):
            raise ValueError("an example in the buffer is of no class")
