"""Which process of a test run begins with which tests."""

from collections.abc import Mapping
from itertools import groupby

import pytest


def dealt(items: list[pytest.Item], processes: int, long: Mapping[str, int]) -> list[pytest.Item]:
    """The same tests in the order in which ``--dist worksteal`` hands them out: an equal number to each process, in one
    piece. Modules with long tests come first in every piece, whole, so that what a module needs is made once; the quick
    ones come last, where processes that are done take over from others, and none waits long for the last test."""
    modules = [list(group) for _, group in groupby(items, lambda item: item.path)]
    weights = [sum(_weight(item, long) for item in module) for module in modules]
    order = sorted(range(len(modules)), key=lambda i: -weights[i])
    pieces: list[list[pytest.Item]] = [[] for _ in range(processes)]
    loads = [0] * processes
    for i in (i for i in order if weights[i]):
        least = loads.index(min(loads))
        pieces[least] += modules[i]
        loads[least] += weights[i]
    quick = [item for module, weight in zip(modules, weights, strict=True) if not weight for item in module]
    sizes = [(len(items) + place) // processes for place in range(processes)]
    for piece, size in zip(pieces, sizes, strict=True):
        missing = max(0, size - len(piece))
        piece += quick[:missing]
        del quick[:missing]
    return [item for piece in pieces for item in piece] + quick


def _weight(item: pytest.Item, long: Mapping[str, int]) -> int:
    return max((weight for mark, weight in long.items() if item.get_closest_marker(mark)), default=0)
