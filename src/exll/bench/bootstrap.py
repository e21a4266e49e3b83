"""How certain a difference between two learners is: the paired bootstrap.

Test rows are drawn again and again, with replacement, the same ones for both learners; the tasks stay as they are.
Where rows come in groups (the frames of one video), whole groups are drawn, since frames of one video are not
independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exll.types import Matrix

DRAWS, LEVEL = 2000, 0.95
CELLS_AT_ONCE = 4_000_000  # 32 MB of counts


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TestSet:
    """What is drawn together: one row per unit (a test row or a group of them), one column per task that asks it.

    ``sums`` are of the differences of a unit, over its rows and over orders; ``counts`` says of how many.
    """

    sums: Matrix  # (units, tasks)
    counts: Matrix  # (units, tasks)

    @classmethod
    def of_units(cls, sums: Matrix, counts: Matrix, units: NDArray[np.integer]) -> "TestSet":
        """From one row per test row, and the number of the unit that each belongs to."""
        _, unit_of = np.unique(units, return_inverse=True)
        summed = [np.zeros((int(unit_of.max()) + 1, sums.shape[1])) for _ in range(2)]
        for target, values in zip(summed, (sums, counts), strict=True):
            np.add.at(target, unit_of, values)
        return cls(*summed)

    def drawn(self, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """For every draw the mean difference of each task, summed over the tasks, (draws,).

        Units that look alike are drawn as one with their number: what is counted is the same, and there are few.
        """
        alike, numbers = np.unique(np.hstack([self.sums, self.counts]), axis=0, return_counts=True)
        sums, counts = np.hsplit(alike, 2)
        total = int(numbers.sum())
        step = max(1, CELLS_AT_ONCE // len(alike))
        blocks = []
        for start in range(0, draws, step):
            times = rng.multinomial(total, numbers / total, size=min(step, draws - start)).astype(np.float64)
            blocks.append(((times @ sums) / (times @ counts)).sum(axis=1))
        return np.concatenate(blocks)


def paired_interval(sets: Sequence[TestSet], draws: int = DRAWS, seed: int = 0, level: float = LEVEL) -> Interval:
    """The mean difference over all tasks of all sets, and the percentiles of what it is when the rows are drawn anew.

    >>> alone = TestSet(np.ones((50, 1)), np.ones((50, 1)))  # one learner right and the other wrong on every row
    >>> paired_interval([alone])
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    rng = np.random.default_rng(seed)
    tasks = sum(one.sums.shape[1] for one in sets)
    mean = sum(float((one.sums.sum(axis=0) / one.counts.sum(axis=0)).sum()) for one in sets) / tasks
    drawn = np.sum([one.drawn(draws, rng) for one in sets], axis=0) / tasks
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high))
