"""The metrics. Each is computed from answers and truths alone, so that it can be checked by hand."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.types import Matrix

Right: TypeAlias = NDArray[np.bool_]
PerClass: TypeAlias = dict[str, float]  # accuracy on each class seen so far, at one point of the stream


def top_1(right: Right) -> float:
    """The share of right answers; 0 where nothing was asked."""
    return float(right.mean()) if len(right) else 0.0


def top_n(scores: Matrix, classes: Sequence[str], truths: NDArray[np.str_], n: int = 5) -> float:
    """The share of questions whose class is among the ``n`` with the largest scores, (questions, classes).

    Of classes with equal scores the right one comes last, so that a learner that scores all alike gains nothing.

    >>> top_n(np.array([[0.5, 0.3, 0.2]]), ["mug", "pan", "cup"], np.array(["pan"]), n=2)
    1.0
    """
    column_of = {label: column for column, label in enumerate(classes)}
    columns = np.array([column_of.get(truth, -1) for truth in truths.tolist()])
    own = np.take_along_axis(scores, np.maximum(columns, 0)[:, None], axis=1)
    return top_1((columns >= 0) & ((scores >= own).sum(axis=1) <= n))


def of_seen(right: Right, truths: NDArray[np.str_], seen: set[str]) -> float:
    """Accuracy on the questions whose class has been learned."""
    return top_1(right[np.isin(truths, sorted(seen))])


def per_class(right: Right, truths: NDArray[np.str_], seen: set[str]) -> PerClass:
    """Accuracy on each class that was learned and is asked about."""
    return {label: top_1(right[truths == label]) for label in sorted(seen & set(truths.tolist()))}


def forgetting(points: Sequence[PerClass]) -> float | None:
    """How far the accuracy of each class fell from its best earlier value, averaged (Chaudhry et al.); may be negative.

    Classes that are new at the last point have nothing to forget and do not count; None where that leaves none.

    >>> forgetting([{"mug": 0.9}, {"mug": 0.5, "pan": 1.0}])
    0.4
    """
    if not points:
        return None
    last = points[-1]
    falls = [
        max(earlier[label] for earlier in points[:-1] if label in earlier) - last[label]
        for label in last
        if any(label in earlier for earlier in points[:-1])
    ]
    return float(np.mean(falls)) if falls else None


def backward_transfer(points: Sequence[PerClass]) -> float | None:
    """What learning the rest did to each class: its value at the end less that when it was first asked, averaged.

    >>> backward_transfer([{"mug": 0.5}, {"mug": 0.75, "pan": 1.0}])
    0.25
    """
    if not points:
        return None
    last = points[-1]
    first: PerClass = {}
    for point in points[:-1]:
        first = {**point, **first}
    gains = [last[label] - first[label] for label in last if label in first]
    return float(np.mean(gains)) if gains else None


def either_right(one: Right, other: Right) -> float:
    """How often at least one of two variants is right: what a rule that picks one of their labels could reach at most.

    It is not a bound for fusing: the paper's table of pairs may name a third class.
    """
    return top_1(one | other)


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of what is known."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def std_of(values: Sequence[float | None]) -> float | None:
    """The standard deviation over seeds (of a sample); None below two."""
    known = [value for value in values if value is not None]
    return float(np.std(known, ddof=1)) if len(known) > 1 else None
