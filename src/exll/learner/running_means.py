"""Vectors that are means of what joined them, prototype centres and class means, and cheap to score."""

import numpy as np

from exll.learner.counted_means import CountedMeans
from exll.learner.precision import KeptPrecision
from exll.linalg.growing_array import GrowingArray
from exll.types import Matrix, Tensors, Vector


class RunningMeans(CountedMeans):
    r"""Means with their counts, and for those that are measured their sides and their squared norms $p^T \Lambda p$
    under the precision that learning uses.

    The side of a mean is what rows are multiplied with (:meth:`Precision.sides`). When a mean moves towards x, its side
    moves in the same way, and its squared norm follows from $p^T \Lambda x$ and $x^T \Lambda x$, so nothing of size
    d x d is touched until the precision itself is refreshed. Both follow from the means and the precision: a file holds
    neither.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.width = width
        self._sides: GrowingArray | None = None
        self._squared_norms = GrowingArray((), np.float64)

    @property
    def squared_norms(self) -> Vector:
        return self._squared_norms.filled

    @property
    def sides(self) -> Matrix | None:
        """None before they are measured for the first time."""
        return None if self._sides is None else self._sides.filled

    def start(self, x: Vector, side: Vector, x_squared_norm: float) -> int:
        """A new mean at x among those that are measured; returns its index."""
        assert self._sides is not None
        self.add(x)
        self._sides.append(side)
        self._squared_norms.append(x_squared_norm)
        return len(self) - 1

    def move(self, index: int, x: Vector, side: Vector, x_squared_norm: float, dot: float) -> float:
        r"""Let x join a mean $p$, given $x^T \Lambda x$ and $p^T \Lambda x$; returns the share of x in the new mean."""
        assert self._sides is not None
        self.join(index, x)
        share = 1.0 / int(self.counts[index])
        rest, before = 1.0 - share, float(self.squared_norms[index])
        own = self._sides.filled[index]
        own *= rest
        own += share * side
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

    def measure(self, index: int, precision: KeptPrecision, origin: Vector) -> None:
        """One mean that was set by hand."""
        if self._sides is not None:
            left, right = precision.sides((self.vectors[index] - origin)[None, :])
            self._sides.filled[index] = right[0]
            self.squared_norms[index] = left[0] @ right[0]

    def unmeasure(self) -> None:
        """Free the memory of what the next block measures anew."""
        self._sides = None

    def remeasure(self, precision: KeptPrecision, origin: Vector | None = None) -> None:
        """All means under another precision, seen from another origin."""
        left, right = precision.sides(self.vectors if origin is None else self.vectors - origin)
        self._sides, self._squared_norms = GrowingArray.holding(right), GrowingArray.holding(np.vecdot(left, right))

    @property
    def _columns(self) -> tuple[GrowingArray, ...]:
        """All that is kept per mean."""
        measured = () if self._sides is None else (self._sides, self._squared_norms)
        return self._vectors, self._counts, *measured

    def reserve(self, extra: int) -> None:
        if self._vectors.room < extra or (self._sides is not None and self._sides.room < extra):
            for column in self._columns:
                column.reserve(extra)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns if column not in (self._sides, self._squared_norms))

    def state(self) -> Tensors:
        return {"vectors": self.vectors, "counts": self.counts}

    def _restore_means(self, state: Tensors) -> None:
        self._vectors = GrowingArray((self.width,), np.float64, state["vectors"])
        self._counts = GrowingArray((), np.int64, state["counts"])
        if len(self._vectors) != len(self._counts):
            raise ValueError("the columns of the means differ in length")
