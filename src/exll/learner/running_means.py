"""Vectors that are means of what joined them, prototype centres and class means, and cheap to score."""

import numpy as np

from exll.learner.counted_means import CountedMeans
from exll.learner.precision import Precision
from exll.linalg.growing_array import GrowingArray
from exll.types import Tensors, Vector


class RunningMeans(CountedMeans):
    r"""Means with their counts and their squared norms $p^T \Lambda p$ under the precision that learning uses.

    A squared norm is one scalar. When a mean moves towards x, it follows from $p^T z$ and $x^T z$ with
    $z = \Lambda x$, so nothing of size d x d is touched until the precision itself is refreshed.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.width = width
        self._squared_norms = GrowingArray((), np.float64)

    @property
    def squared_norms(self) -> Vector:
        return self._squared_norms.filled

    def start(self, x: Vector, x_squared_norm: float) -> int:
        """A new mean at x; returns its index."""
        self.add(x)
        self._squared_norms.append(x_squared_norm)
        return len(self) - 1

    def move(self, index: int, x: Vector, x_squared_norm: float, dot: float) -> float:
        r"""Let x join a mean $p$, given $x^T \Lambda x$ and $p^T \Lambda x$; returns the share of x in the new mean."""
        self.join(index, x)
        share = 1.0 / int(self.counts[index])
        rest, before = 1.0 - share, float(self.squared_norms[index])
        self.squared_norms[index] = rest * rest * before + 2 * share * rest * dot + share * share * x_squared_norm
        return share

    def leave(self, index: int, x: Vector) -> None:
        """Take x, which joined a mean that others joined too, out of it again. To be measured afterwards."""
        self.counts[index] -= 1
        self.vectors[index] += (self.vectors[index] - x) / self.counts[index]

    def unite_with(self, index: int, mean: Vector, count: int) -> None:
        """So many more samples with that mean. To be measured afterwards."""
        self.counts[index] += count
        self.vectors[index] += (count / self.counts[index]) * (mean - self.vectors[index])

    def measure(self, index: int, precision: Precision, origin: Vector) -> None:
        """The squared norm of one mean that was set by hand."""
        self.squared_norms[index] = precision.squared_norms((self.vectors[index] - origin)[None, :])[0]

    def remeasure(self, precision: Precision, origin: Vector | None = None) -> None:
        """Squared norms under another precision, seen from another origin."""
        self.squared_norms[:] = precision.squared_norms(self.vectors if origin is None else self.vectors - origin)

    @property
    def _columns(self) -> tuple[GrowingArray, ...]:
        """All that is kept per mean."""
        return self._vectors, self._counts, self._squared_norms

    def reserve(self, extra: int) -> None:
        if self._vectors.room < extra:  # columns grow together
            for column in self._columns:
                column.reserve(extra)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    def state(self) -> Tensors:
        return {"vectors": self.vectors, "counts": self.counts, "squared_norms": self.squared_norms}

    def _restore_means(self, state: Tensors) -> None:
        self._vectors = GrowingArray((self.width,), np.float64, state["vectors"])
        self._counts = GrowingArray((), np.int64, state["counts"])
        self._squared_norms = GrowingArray((), np.float64, state["squared_norms"])
        if not len(self._vectors) == len(self._counts) == len(self._squared_norms):
            raise ValueError("the columns of the means differ in length")
