"""From a vector to a longer one, in which a linear rule can do more. What is drawn at random is never drawn again."""

import numpy as np
from numpy.typing import NDArray

from exll.baselines.randomness import generator_from_array, generator_to_array, new_generator
from exll.parameters import Allowed, is_whole_number
from exll.types import Matrix, Tensors

MOST_FEATURES = 20_000  # their sums of products are 1.6 GB
FEATURES = Allowed(
    lambda: f"an integer from 1 to {MOST_FEATURES}",
    lambda value: is_whole_number(value) and 1 <= value <= MOST_FEATURES,
)


class FeatureMap:
    """Vectors as they are."""

    n_parameters = 0

    def __init__(self, width: int) -> None:
        self.width = width  # of what comes out

    def __call__(self, X: Matrix) -> Matrix:
        return X

    @property
    def nbytes(self) -> int:
        return 8 * self.n_parameters

    def state(self) -> Tensors:
        return {}

    def restore(self, state: Tensors) -> None:
        return


class RandomMap(FeatureMap):
    """Of a matrix with entries from N(0, 1). The generator that drew it is saved, and not the matrix."""

    def __init__(self, inputs: int, width: int, seed: int | None) -> None:
        super().__init__(width)
        self._inputs = inputs
        self._draw(generator_to_array(new_generator(seed)))

    def _draw(self, start: NDArray[np.uint64]) -> np.random.Generator:
        generator = generator_from_array(start)
        self._start = start
        self._matrix = generator.normal(size=(self._inputs, self.width))
        return generator

    @property
    def n_parameters(self) -> int:  # type: ignore[override]
        return self._matrix.size

    def state(self) -> Tensors:
        return {"generator": self._start}

    def restore(self, state: Tensors) -> None:
        start = np.array(state["generator"])
        if not np.array_equal(start, self._start) or start.dtype != self._start.dtype:
            self._draw(start)


class RandomReLU(RandomMap):
    r"""$\max(0, xP)$ with P from N(0, 1)."""

    def __call__(self, X: Matrix) -> Matrix:
        mapped: Matrix = X @ self._matrix
        return np.maximum(mapped, 0.0, out=mapped)


class FourierFeatures(RandomMap):
    r"""$\sqrt{2/D}\cos(xW + b)$ with W from $N(0, 2\gamma)$ and b even in $[0, 2\pi)$: the product of two of them is
    about $\exp(-\gamma|x - y|^2)$."""

    def __init__(self, inputs: int, width: int, gamma: float, seed: int | None) -> None:
        self._gamma = gamma
        super().__init__(inputs, width, seed)

    def _draw(self, start: NDArray[np.uint64]) -> np.random.Generator:
        generator = super()._draw(start)
        self._matrix *= np.sqrt(2.0 * self._gamma)
        self._phases = generator.uniform(0.0, 2.0 * np.pi, self.width)
        return generator

    @property
    def n_parameters(self) -> int:  # type: ignore[override]
        return self._matrix.size + self._phases.size

    def __call__(self, X: Matrix) -> Matrix:
        mapped: Matrix = X @ self._matrix
        mapped += self._phases
        np.cos(mapped, out=mapped)
        mapped *= np.sqrt(2.0 / self.width)
        return mapped
