"""The paper's learner with a lagging precision that holds the newest sample, written the slow way."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracle.paper import EPSILON, OraclePaper, Vector


@dataclass
class OracleLagging(OraclePaper):
    """Refreshed when the stream has grown by ``growth`` and has doubled or grown by four; every inverse is computed
    from a whole matrix."""

    growth: float = 1.0
    refreshed_at: int = 0
    stale: NDArray[np.float64] | None = None  # the shrunk covariance at the last refresh

    def precision_for_counting(self, x: Vector) -> NDArray[np.float64]:
        assert self.stale is not None
        return np.asarray(np.linalg.inv(self.stale))

    def precision_for_placing(self, x: Vector) -> NDArray[np.float64]:
        count = len(self.stream)
        growth = math.ceil(self.refreshed_at * self.growth - 1e-9)
        if count == self.refreshed_at + max(1, min(4, self.refreshed_at), growth):
            self.refreshed_at = count
            self.stale = (1 - EPSILON) * self.covariance() + EPSILON * np.eye(len(x))
            return np.asarray(np.linalg.inv(self.stale))
        assert self.stale is not None
        v = x - np.mean(self.stream, axis=0)
        return np.asarray(np.linalg.inv(self.stale + (1 - EPSILON) / count * np.outer(v, v)))
