r"""Prototypes that are worth showing: few, of similar size, and each as compact as possible, made in one pass.

A new sample stands for itself at first. When a class then has more prototypes than it should, the two whose union
spreads least become one, by Ward's measure $\tfrac{S_a S_b}{S_a+S_b}|p_a-p_b|^2$: what joining them adds to the sum of
squares. Joining large clouds costs much, so sizes stay balanced. If the new sample is one of the two, it just joins the
other. The sum of all members is never touched, so a class's mean stays the support-weighted mean of its prototypes.
"""

from typing import NamedTuple

import numpy as np

from exll.learner.prototypes import Members
from exll.types import Indices, Matrix, Vector

GROWTH = 1.5
SMALLEST_HALF = 2.0


class Step(NamedTuple):
    """What a new sample does to its class: joins a prototype; or opens one, after two others became one, if given."""

    joins: int | None
    merges: tuple[int, int] | None  # the one that stays, the one that makes room


def room_for(samples: int, most: int | None) -> int:
    """How many prototypes a class of so many samples may have: 2 at 3, 5 at 30, 15 at a thousand."""
    room = max(1, round(GROWTH * float(np.cbrt(samples))))
    return room if most is None else min(room, most)


def ward_step(x: Vector, members: Members, supports: Indices, room: int) -> Step:
    """Decide for a unit vector in a class that has prototypes already; places are positions in ``members``."""
    count = len(members.ids)
    if count < room:
        return Step(None, None)
    points = np.concatenate([members.centres, x[None, :]])
    squares, sizes = np.ones(count + 1), np.ones(count + 1)
    squares[:-1], sizes[:-1] = members.euclidean_squares, supports
    a, b = _cheapest_pair(points, squares, sizes)
    if b == count:  # the sample itself
        return Step(a, None)
    return Step(None, _stays_first(a, b, members, supports))


def ward_groups(centres: Matrix, supports: Indices, most: int, balanced: bool = False) -> Indices:
    """At most so many groups of prototypes, by joining the cheapest two again and again: the number of each one's
    group, from 0. Where they are to be balanced, none outgrows half of all, as long as that can be."""
    centres, sizes = centres.copy(), supports.astype(np.float64)
    members = [[row] for row in range(len(sizes))]
    costs = _costs(centres, np.vecdot(centres, centres), sizes)
    np.fill_diagonal(costs, np.inf)
    largest = max(SMALLEST_HALF, sizes.sum() / 2)
    while len(members) > most:
        allowed = np.where(np.add.outer(sizes, sizes) <= largest, costs, np.inf) if balanced else costs
        cheapest = int(allowed.argmin())
        if not np.isfinite(allowed.flat[cheapest]):
            cheapest = int(costs.argmin())
        a, b = sorted(divmod(cheapest, len(members)))
        centres[a] = (sizes[a] * centres[a] + sizes[b] * centres[b]) / (sizes[a] + sizes[b])
        sizes[a] += sizes[b]
        members[a] += members.pop(b)
        centres, sizes = np.delete(centres, b, axis=0), np.delete(sizes, b)
        costs = np.delete(np.delete(costs, b, axis=0), b, axis=1)
        apart = np.square(centres - centres[a]).sum(axis=1)
        costs[a] = costs[:, a] = apart * sizes * sizes[a] / (sizes + sizes[a])
        costs[a, a] = np.inf
    groups = np.empty(len(supports), np.int64)
    for number, rows in enumerate(members):
        groups[rows] = number
    return groups


def _cheapest_pair(points: Matrix, euclidean_squares: Vector, sizes: Vector) -> tuple[int, int]:
    costs = _costs(points, euclidean_squares, sizes)
    costs.flat[:: len(sizes) + 1] = np.inf
    # No cloud may outgrow half its class, or one would end as the catch-all of which rules say nothing.
    fitting = np.where(sizes[:, None] + sizes <= max(SMALLEST_HALF, float(sizes.sum()) / 2), costs, np.inf)
    cheapest = int(fitting.argmin())
    if fitting.flat[cheapest] == np.inf:
        cheapest = int(costs.argmin())
    a, b = sorted(divmod(cheapest, len(sizes)))
    return a, b


def _costs(points: Matrix, euclidean_squares: Vector, sizes: Vector) -> Matrix:
    """What joining any two adds to the sum of squares."""
    products = points @ points.copy().T  # a product of few rows with a copy is three times as fast as with themselves
    distances = np.maximum(euclidean_squares[:, None] + euclidean_squares - 2.0 * products, 0.0)
    costs: Matrix = distances * (sizes[:, None] * sizes) / (sizes[:, None] + sizes)
    return costs


def _stays_first(a: int, b: int, members: Members, supports: Indices) -> tuple[int, int]:
    """The larger one, of equal ones the older."""
    older_first = (a, b) if members.ids[a] < members.ids[b] else (b, a)
    return older_first if supports[older_first[0]] >= supports[older_first[1]] else older_first[::-1]
