"""Made-up features that behave like a CNN's: clustered, with a decaying spectrum, of unit length after Eq. 1."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


class ClusteredStream:
    """Classes made of sub-clusters (instances) around class centres, plus noise; all with eigenvalues that fall like
    1/i^2.

    ``spread`` is the size of what varies within a class against the distance between classes.
    """

    def __init__(self, width: int, classes: int, seed: int = 0, instances: int = 6, spread: float = 4.0) -> None:
        self._rng = np.random.default_rng(seed)
        self._scale = 1.0 / (1.0 + np.arange(width))
        self._offset = self._draw(1)[0] * 2  # features of a ReLU network share a large common direction
        self._centres = self._draw(classes)
        self._instances = self._centres[:, None, :] + 0.7 * spread * self._draw(classes * instances).reshape(
            classes, instances, width
        )
        self._spread = spread

    def _draw(self, rows: int) -> NDArray[np.float64]:
        return self._rng.normal(size=(rows, len(self._scale))) * self._scale

    def take(self, rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        classes, instances, _ = self._instances.shape
        labels = self._rng.integers(0, classes, rows)
        chosen = self._instances[labels, self._rng.integers(0, instances, rows)]
        return (self._offset + chosen + self._spread * self._draw(rows)).astype(np.float32), labels

    def batches(self, rows: int, batch: int) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        for start in range(0, rows, batch):
            yield self.take(min(batch, rows - start))
