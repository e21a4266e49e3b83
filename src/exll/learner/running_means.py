"""Vectors that are means of what joined them, prototype centres and class means, and cheap to score."""

import numpy as np

from exll.learner.counted_means import CountedMeans
from exll.learner.precision import Precision
from exll.linalg.growing_array import GrowingArray
from exll.types import Tensors, Vector


class RunningMeans(CountedMeans):
    r"""Means with their counts and their lengths $p^T \Lambda p$ under the precision that learning uses.

    A length is one scalar; when a mean moves towards x it follows from $p^T z$ and $x^T z$ with $z = \Lambda x$, so
    nothing of size d x d is touched until the precision itself is refreshed.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.width = width
        self._lengths = GrowingArray((), np.float64)

    @property
    def lengths(self) -> Vector:
        return self._lengths.filled

    def start(self, x: Vector, x_length: float) -> int:
        """A new mean at x, whose length is given; returns its index."""
        self.add(x)
        self._lengths.append(x_length)
        return len(self) - 1

    def move(self, index: int, x: Vector, x_length: float, dot: float) -> float:
        r"""Let x join a mean $p$, given $x^T \Lambda x$ and $p^T \Lambda x$; returns the share of x in the new mean."""
        self.join(index, x)
        share = 1.0 / int(self.counts[index])
        rest, length = 1.0 - share, float(self.lengths[index])
        self.lengths[index] = rest * rest * length + 2 * share * rest * dot + share * share * x_length
        return share

    def remeasure(self, precision: Precision, origin: Vector | None = None) -> None:
        """Lengths under another precision, seen from another origin."""
        self.lengths[:] = precision.lengths(self.vectors if origin is None else self.vectors - origin)

    @property
    def _columns(self) -> tuple[GrowingArray, ...]:
        """All that is kept per mean."""
        return self._vectors, self._counts, self._lengths

    def reserve(self, extra: int) -> None:
        if self._vectors.room < extra:  # columns grow together
            for column in self._columns:
                column.reserve(extra)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    def state(self) -> Tensors:
        return {"vectors": self.vectors, "counts": self.counts, "lengths": self.lengths}

    def _restore(self, state: Tensors) -> None:
        self._vectors = GrowingArray((self.width,), np.float64, state["vectors"])
        self._counts = GrowingArray((), np.int64, state["counts"])
        self._lengths = GrowingArray((), np.float64, state["lengths"])
        if not len(self._vectors) == len(self._counts) == len(self._lengths):
            raise ValueError("means, counts and lengths differ in number")
