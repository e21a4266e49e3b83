"""Equal within rounding: whoever was seen first wins (docs/decisions.md, 3 and 13).

Blocks and single steps add the same numbers in different orders. Comparing with a tolerance far above rounding and far
below any real difference is what lets them decide alike.
"""

import numpy as np

from exll.types import Indices, Matrix, Vector

TOLERANCE = 1e-9
SAME = 1e-10  # the squared distance of a unit vector from itself in single precision, with room


def slack(value: float) -> float:
    """How far another number may lie from ``value`` and still count as equal to it."""
    return TOLERANCE * max(1.0, abs(value))


def first_of_largest(values: Vector) -> int:
    """Index of the largest value; of equal ones, the first.

    >>> first_of_largest(np.array([0.1, 3.0, 3.0 + 1e-12]))
    1
    """
    return int((values >= least_of_largest(values)).argmax())


def least_of_largest(values: Vector) -> float:
    """What a value must reach to count as equal to the largest."""
    top = float(values[values.argmax()])  # much quicker than max() for the few values of a young model
    return top - slack(top)


def first_of_largest_rows(values: Matrix) -> Indices:
    """``first_of_largest`` of every row at once."""
    top = values.max(axis=1)
    floor = top - TOLERANCE * np.maximum(1.0, np.abs(top))
    first: Indices = (values >= floor[:, None]).argmax(axis=1)
    return first


def surpasses(a: float, b: float) -> bool:
    """Whether ``a`` is larger than ``b`` by more than rounding."""
    return a - b > slack(b)


def raise_winner(posteriors: Matrix, labels: Indices) -> None:
    """Where another class is as probable as the winner, or more by rounding, the two change places and the winner is
    lifted by one bit, so that arg-max and label agree and the sum stays."""
    rows = np.arange(len(posteriors))
    won = posteriors[rows, labels]
    posteriors[rows, labels] = -1.0
    others = posteriors.argmax(axis=1)
    best_other = posteriors[rows, others]
    raised = best_other >= won
    posteriors[rows[raised], others[raised]] = won[raised]
    posteriors[rows, labels] = np.where(raised, np.nextafter(best_other, 2.0), won)
