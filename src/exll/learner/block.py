r"""Blocks that equal single steps.

For a block of rows every product with the means, $p_j^T \Lambda x_i$, is made at once against the state at the block's
start. While the rows are then learned in order, means move and appear; a mean that moved towards x_r has products that
follow from the old ones and from $x_r^T \Lambda x_i$, which the block holds too. So each step patches one short column
instead of multiplying again, and the decisions are those of one sample at a time.
"""

import numpy as np

from exll.learner.precision import Precision
from exll.learner.running_means import RunningMeans
from exll.types import Matrix, Vector


class Block:
    """Some rows of the stream, multiplied once with the precision. Rows and means are seen from ``origin``; none is
    zero."""

    def __init__(self, X: Matrix, precision: Precision, origin: Vector | None = None) -> None:
        self.X = X
        self.origin = origin
        seen = X if origin is None else X - origin
        self.Z = precision.apply(seen)  # (b, d)
        self.cross = seen @ self.Z.T  # (b, b)


class MovingProducts:
    """Products of a block's rows with one table of means, kept true while the table changes."""

    def __init__(self, block: Block, means: RunningMeans) -> None:
        rows, known = len(block.X), len(means)
        self._X = block.X
        self._cross = block.cross
        self._means = means
        self._products = np.empty((rows, known + rows))  # each row may add one mean
        np.matmul(block.Z, means.vectors.T, out=self._products[:, :known])
        if block.origin is not None:
            self._products[:, :known] -= (block.Z @ block.origin)[:, None]
        means.reserve(rows)

    def of_row(self, row: int) -> Vector:
        return self._products[row, : len(self._means)]

    def add(self, row: int) -> int:
        """Start a new mean at this row."""
        cross = self._cross[row]
        index = self._means.start(self._X[row], float(cross[row]))
        self._products[row:, index] = cross[row:]
        return index

    def move(self, row: int, index: int) -> None:
        """Let this row join a mean."""
        cross = self._cross[row]
        share = self._means.move(index, self._X[row], float(cross[row]), float(self._products[row, index]))
        column = self._products[row:, index]
        column *= 1.0 - share
        column += share * cross[row:]
