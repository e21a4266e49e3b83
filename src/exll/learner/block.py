r"""Learning in blocks, with the same result as one sample at a time.

For a block of rows every product with the means, $p_j^T \Lambda x_i$, is made at once against the state at the block's
start. While the rows are then learned in order, means move and appear; a mean that moved towards x_r has products that
follow from the old ones and from $x_r^T \Lambda x_i$, which the block holds too. So each step patches one short column
instead of multiplying again, and the decisions are those of one sample at a time.
"""

import numpy as np

from exll.learner.precision import KeptPrecision
from exll.learner.running_means import RunningMeans
from exll.types import Matrix, Vector

FEW_ROWS = 3  # so many are multiplied faster one by one


class Block:
    """Some rows of the stream, multiplied once with the precision. Rows and means are seen from ``origin``; none is
    zero. ``more`` are further vectors that products are wanted of."""

    def __init__(
        self, X: Matrix, precision: KeptPrecision, origin: Vector | None = None, more: Matrix | None = None
    ) -> None:
        self.X = X
        self.origin = origin
        seen = X if origin is None else X - origin
        self.left, self.right = precision.sides(seen if more is None else np.concatenate([seen, more]))
        self.cross = self.left @ self.right.T


class MovingProducts:
    """Products of a block's rows with one table of means, kept true while the table changes."""

    def __init__(self, block: Block, means: RunningMeans, precision: KeptPrecision) -> None:
        self._X, self._right, self._cross = block.X, block.right, block.cross
        self._means = means
        if means.sides is None:
            means.remeasure(precision, block.origin)
        assert means.sides is not None
        rows, known = len(block.left), len(means)
        self._products = np.empty((rows, known + len(block.X)))  # each row may add one mean
        if rows > FEW_ROWS:
            np.matmul(block.left, means.sides.T, out=self._products[:, :known])
        else:
            for row, products in zip(block.left, self._products, strict=True):
                np.matmul(means.sides, row, out=products[:known])
        means.reserve(len(block.X))

    def of_row(self, row: int) -> Vector:
        return self._products[row, : len(self._means)]

    def add(self, row: int) -> int:
        """Start a new mean at this row."""
        cross = self._cross[row]
        index = self._means.start(self._X[row], self._right[row], float(cross[row]))
        self._products[row:, index] = cross[row:]
        return index

    def move(self, row: int, index: int) -> None:
        """Let this row join a mean."""
        cross, dot = self._cross[row], float(self._products[row, index])
        share = self._means.move(index, self._X[row], self._right[row], float(cross[row]), dot)
        self._products[row:, index] = (1.0 - share) * self._products[row:, index] + share * cross[row:]
