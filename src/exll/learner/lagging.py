r"""The precision that learning uses, renewed now and then.

To renew $\Lambda$ at every sample costs a Cholesky factor each. Renewing it when the stream has grown by some share
costs little, and measured alone that staleness does no harm (docs/decisions.md, E2).
"""

import math

import numpy as np

from exll.learner.precision import (
    KeptPrecision,
    Precision,
    Shrinkage,
    precision_from_state,
    precision_of,
    quick_precision_of,
    starting_precision,
    with_factor,
)
from exll.learner.statistics import GlobalStatistics
from exll.types import Tensors

LEAST_GROWTH = 4
LONG, LONG_GROWTH = 2, 3  # from twice as many samples as columns on, the covariance changes slowly
WIDE = 128  # columns: with fewer, a refresh costs less than a sample
ROUNDING = 1e-9  # 100 times 0.07 is a little more than 7


class LaggingPrecision:
    """Renewed when the count has grown by ``refresh_growth`` since the last time, a function of the count alone. Of a
    young stream every sample is such a share: there it has to double, or to grow by four. In a long stream of wide
    vectors it also waits for as many new samples as there are columns, but for no more than three times the share: so
    all refreshes together cost less than the products."""

    def __init__(self, width: int, shrinkage: Shrinkage, refresh_growth: float) -> None:
        self._width = width
        self.current: KeptPrecision = starting_precision(width, shrinkage)
        self.refreshed_at = 0
        self._refresh_growth = refresh_growth

    @property
    def next_refresh(self) -> int:
        """The count at which it is due again."""
        growth = math.ceil(self.refreshed_at * self._refresh_growth - ROUNDING)
        if self._width >= WIDE and self.refreshed_at >= LONG * self._width:
            growth = max(growth, min(LONG_GROWTH * growth, self._width))
        least = min(self.refreshed_at, LEAST_GROWTH) if self._refresh_growth else 1
        return self.refreshed_at + max(1, least, growth)

    def refresh(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> None:
        self.current = self._renewed(statistics, shrinkage)
        self.refreshed_at = statistics.count

    def _renewed(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
        return precision_of(statistics, shrinkage)

    def exact(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> Precision:
        """Eq. 17 for this very moment, for those who ask; learning never sees it."""
        return self.current if self.refreshed_at == statistics.count else precision_of(statistics, shrinkage)

    @property
    def nbytes(self) -> int:
        return self.current.nbytes

    def state(self) -> Tensors:
        return {"refreshed_at": np.array(self.refreshed_at, np.int64), **self.current.state()}

    def restore(self, state: Tensors, count: int) -> None:
        self.refreshed_at = int(state["refreshed_at"])
        if not 0 < self.refreshed_at <= count < self.next_refresh:
            raise ValueError("the precision was refreshed at an impossible moment")
        self.current = precision_from_state(self._width, self._readable(state))

    def _readable(self, state: Tensors) -> Tensors:
        return with_factor(self._width, state)


class RoundedPrecision(LaggingPrecision):
    """One that is rounded to single precision whenever it is renewed, so that a file holds half of it: for a preset
    that places nothing by it. It multiplies in double precision, or blocks would not equal single steps."""

    def _renewed(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
        return quick_precision_of(statistics, shrinkage).rounded()

    def exact(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> Precision:
        return precision_of(statistics, shrinkage)

    def state(self) -> Tensors:
        return _single(super().state())

    def _readable(self, state: Tensors) -> Tensors:
        return _single(super()._readable(state))  # files of format 3 and before hold double precision


def _single(state: Tensors) -> Tensors:
    """Matrices in single precision; numbers alone stay as they are."""
    with np.errstate(over="raise"):
        return {name: array.astype(np.float32) if array.ndim else array for name, array in state.items()}
