"""How large the numbers of a model can be. A file with larger ones was not written by a learner."""

import numpy as np

from exll.linalg.fixed_point import LARGEST as LARGEST_CODE
from exll.types import Tensors

UNIT = 1.001  # the largest entry of a mean of unit vectors, with room for rounding
LARGEST = 1e16  # of numbers without a bound of their own: norms under a precision of nearly equal vectors


def check_ranges(state: Tensors) -> None:
    """Every number is finite and no larger than it can be, or a ValueError that names the array."""
    samples = float(state["statistics.count"])
    scatter = 4.1 * samples**2  # residuals are no longer than 2, and merged classes add their distance
    lifted = 2 * UNIT * np.sqrt(state["statistics.total"].size)  # a direction is as long as it has numbers, squared
    largest = {
        "lift.centre": UNIT,
        "lift.means": lifted,
        "lift.waiting": UNIT,
        "lift.triangle": scatter * lifted**2,
        "lift.pending": np.sqrt(scatter) * lifted,
        "statistics.total": UNIT * samples,
        "statistics.trace": scatter,
        "statistics.triangle": scatter,
        "statistics.rows": np.sqrt(scatter),
        "statistics.pending": np.sqrt(scatter),
        "prototypes.vectors": UNIT,
        "prototypes.radii": 2.0,
        "prototypes.euclidean_squares": UNIT,
        "megaclouds.vectors": UNIT,
        "records.vectors": UNIT,
        "records.scales": UNIT / LARGEST_CODE,
        "reservoir.vectors": UNIT,
        "reservoir.ended_clip_means": UNIT,
        "reservoir.group_means": UNIT,
        "calibration.vectors": UNIT,
        "reservoir.clip_last": UNIT,
        "reservoir.clip_sum": UNIT * samples,
        "schedule.origin": UNIT,
    }
    for name, array in state.items():
        # a comparison with NaN is False, too
        if array.dtype.kind == "f" and not float(np.abs(array).max(initial=0.0)) <= largest.get(name, LARGEST):
            raise ValueError(f"{name} holds numbers that are not finite, or larger than they can be")
