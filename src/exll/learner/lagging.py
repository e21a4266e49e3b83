r"""The precision that learning uses: renewed now and then, and for the paper with the newest sample always in it.

To renew $\Lambda$ at every sample costs an inversion each. Renewing it when the stream has grown by some share costs
nearly nothing, and measured alone that staleness does no harm. What does harm (2 to 3 points of local inference on
grocery81) is that the sample being placed is then missing from the covariance it is measured with, while Eq. 4, 10 and
11 have it in. So it is put in by hand: one sample changes the covariance by rank one, and a distance under the changed
precision follows from two more dot products (docs/decisions.md, E2).
"""

import math

import numpy as np

from exll.learner.precision import (
    KeptPrecision,
    Precision,
    Shrinkage,
    precision_for,
    precision_from_state,
    precision_of,
    starting_precision,
)
from exll.learner.statistics import GlobalStatistics
from exll.types import Matrix, Tensors, Vector

LEAST_GROWTH = 4
ROUNDING = 1e-9  # 100 times 0.07 is a little more than 7


class LaggingPrecision:
    """Renewed when the count has grown by ``refresh_growth`` since the last time, a function of the count alone. Of a
    young stream every sample is such a share: there it has to double, or to grow by four."""

    def __init__(self, width: int, shrinkage: Shrinkage, refresh_growth: float) -> None:
        self._width = width
        self.current: KeptPrecision = starting_precision(width, shrinkage)
        self.refreshed_at = 0
        self._refresh_growth = refresh_growth

    @property
    def next_refresh(self) -> int:
        """The count at which it is due again."""
        growth = math.ceil(self.refreshed_at * self._refresh_growth - ROUNDING)
        least = min(self.refreshed_at, LEAST_GROWTH) if self._refresh_growth else 1
        return self.refreshed_at + max(1, least, growth)

    def refresh(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> None:
        self.current = self._renewed(statistics, shrinkage)
        self.refreshed_at = statistics.count

    def _renewed(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
        return precision_of(statistics, shrinkage)

    def exact(self, rows: int, statistics: GlobalStatistics, shrinkage: Shrinkage) -> Precision:
        """Eq. 17 for this very moment, for those who ask and so many means; learning never sees it."""
        if self.refreshed_at == statistics.count:
            return self.current
        return precision_for(rows, statistics, shrinkage)

    @property
    def nbytes(self) -> int:
        return self.current.nbytes

    def state(self) -> Tensors:
        return {"refreshed_at": np.array(self.refreshed_at, np.int64), **self.current.state()}

    def restore(self, state: Tensors, count: int) -> None:
        self.refreshed_at = int(state["refreshed_at"])
        if not 0 < self.refreshed_at <= count < self.next_refresh:
            raise ValueError("the precision was refreshed at an impossible moment")
        self.current = precision_from_state(self._width, state)


class RoundedPrecision(LaggingPrecision):
    """One that is rounded to single precision whenever it is renewed, so that a file holds half of it: for a preset
    that places nothing by it. It multiplies in double precision, or blocks would not equal single steps."""

    def _renewed(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> KeptPrecision:
        return precision_of(statistics, shrinkage, np.float32)

    def exact(self, rows: int, statistics: GlobalStatistics, shrinkage: Shrinkage) -> Precision:
        return precision_for(rows, statistics, shrinkage)

    def state(self) -> Tensors:
        return _single(super().state())

    def restore(self, state: Tensors, count: int) -> None:
        super().restore(_single(state), count)  # files of format 3 and before hold double precision


def _single(state: Tensors) -> Tensors:
    """Matrices in single precision; numbers alone stay as they are."""
    with np.errstate(over="raise"):
        return {name: array.astype(np.float32) if array.ndim else array for name, array in state.items()}


class OwnSamplePrecision(LaggingPrecision):
    """One that also knows what the sample being placed would change, for the paper's total covariance."""

    def __init__(self, width: int, shrinkage: Shrinkage, refresh_growth: float) -> None:
        super().__init__(width, shrinkage, refresh_growth)
        self._scale = shrinkage.scale
        self._total_product = np.zeros(width)  # Lambda times the sum of all samples

    def refresh(self, statistics: GlobalStatistics, shrinkage: Shrinkage) -> None:
        super().refresh(statistics, shrinkage)
        self._total_product = self.current.apply(statistics.total[None, :])[0]

    def learn(self, z: Vector) -> None:
        r"""One more sample, as $z = \Lambda x$."""
        self._total_product += z

    def gain_of_own_sample(self, x: Vector, z: Vector, statistics: GlobalStatistics, centres: Matrix) -> Vector:
        r"""By how much half the squared distance from x to each centre shrinks once x itself is in the covariance.

        With $v = x - \hat\mu_i$, $u = \Lambda v$ and $\kappa = i/(1-\epsilon)$, Sherman and Morrison give
        $\tfrac12 ((x-p)^T u)^2 / (\kappa + v^T u)$. $\Lambda\hat\mu_i$ is kept as a running sum, so u costs no product.
        """
        u = z - self._total_product / statistics.count
        own = float(x @ u)
        leverage = own - float(statistics.total @ u) / statistics.count
        step = own - centres @ u  # (g_k,)
        gain: Vector = 0.5 * step * step / (statistics.count / self._scale + leverage)
        return gain

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._total_product.nbytes

    def state(self) -> Tensors:
        return {**super().state(), "total_product": self._total_product}

    def restore(self, state: Tensors, count: int) -> None:
        super().restore(state, count)
        self._total_product = np.array(state["total_product"], np.float64)
        if self._total_product.shape != (self._width,):
            raise ValueError("the precision's product has another width")
