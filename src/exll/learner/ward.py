r"""Prototypes worth showing: few, balanced, and each as tight as it can be, in one pass.

A new sample stands for itself at first. When a class then has more prototypes than it should, the two whose union
spreads least become one, by Ward's measure $\tfrac{S_a S_b}{S_a+S_b}|p_a-p_b|^2$: what joining them adds to the sum of
squares. Large clouds are dear to join, so sizes stay balanced. Where the new sample is one of the two, it simply joins
the other. The sum of all members is never touched, so a class's mean stays the support-weighted mean of its prototypes.
"""

from typing import NamedTuple

import numpy as np

from exll.learner.prototypes import Members
from exll.types import Indices, Vector

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
    sizes = np.append(supports, 1).astype(np.float64)
    costs = _squared_distances(x, members) * np.outer(sizes, sizes) / np.add.outer(sizes, sizes)
    one, other = np.triu_indices(count + 1, 1)
    together = sizes[one] + sizes[other]
    # No cloud may outgrow half its class, or one would end as the catch-all of which rules say nothing.
    allowed = together <= max(SMALLEST_HALF, (supports.sum() + 1) / 2)
    pairs = costs[one, other]
    cheapest = int(np.where(allowed, pairs, np.inf).argmin()) if allowed.any() else int(pairs.argmin())
    a, b = int(one[cheapest]), int(other[cheapest])
    if b == count:  # the sample itself
        return Step(a, None)
    older_first = (a, b) if members.ids[a] < members.ids[b] else (b, a)
    return Step(None, older_first if supports[older_first[0]] >= supports[older_first[1]] else older_first[::-1])


def _squared_distances(x: Vector, members: Members) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    points = np.concatenate([members.centres, x[None, :]])
    norms = np.append(members.squared_norms, 1.0)
    return np.asarray(np.maximum(norms[:, None] + norms - 2.0 * (points @ points.T), 0.0))
