"""One linear layer, taught by stochastic gradient descent."""

import numpy as np

from exll.baselines.randomness import generator_from_array, generator_to_array, new_generator
from exll.baselines.rule import LinearScores
from exll.linalg.growing_array import GrowingArray
from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Tensors

SPREAD = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-5


class LinearLayer:
    """Logits $Wx + b$, cross entropy over the classes seen so far, SGD with momentum and weight decay.

    A new class gets a row drawn from N(0, 0.01), a bias of 0 and no momentum. The bias is the last column: it decays as
    the weights do.
    """

    def __init__(self, width: int, learning_rate: float, seed: int | None) -> None:
        self._width = width
        self._learning_rate = learning_rate
        self.generator = new_generator(seed)
        self._weights = GrowingArray((width + 1,), np.float64)
        self._velocity = GrowingArray((width + 1,), np.float64)

    def __len__(self) -> int:
        return len(self._weights)

    def add_class(self) -> None:
        self._weights.append(np.append(self.generator.normal(0.0, SPREAD, self._width), 0.0))
        self._velocity.append(0.0)

    def step(self, X: Matrix, classes: Indices) -> None:
        """One step against the mean loss of the rows."""
        weights, velocity, rows = self._weights.filled, self._velocity.filled, len(X)
        inputs = np.hstack([X, np.ones((rows, 1))])  # (rows, d + 1)
        errors, _ = softmax_rows(inputs @ weights.T)  # (rows, classes)
        errors[np.arange(rows), classes] -= 1.0
        errors /= rows
        velocity *= MOMENTUM
        velocity += errors.T @ inputs
        velocity += WEIGHT_DECAY * weights
        weights -= self._learning_rate * velocity

    def scores(self) -> LinearScores:
        weights = self._weights.filled.copy()
        return LinearScores(weights[:, :-1], weights[:, -1])

    @property
    def n_parameters(self) -> int:
        return self._weights.filled.size

    def state(self) -> Tensors:
        return {
            "weights": self._weights.filled,
            "velocity": self._velocity.filled,
            "generator": generator_to_array(self.generator),
        }

    def restore(self, state: Tensors, classes: int) -> None:
        self._weights = GrowingArray((self._width + 1,), np.float64, state["weights"])
        self._velocity = GrowingArray((self._width + 1,), np.float64, state["velocity"])
        self.generator = generator_from_array(state["generator"])
        if not len(self._weights) == len(self._velocity) == classes:
            raise ValueError("weights, velocities and classes differ in number")
