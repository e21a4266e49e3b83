"""MegaClouds: one per class, its mean, its count, and the edges between its prototypes (Eq. 5, 7 and 8)."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from exll.learner.prototypes import Prototypes
from exll.learner.running_means import RunningMeans
from exll.linalg.growing_array import GrowingArray
from exll.types import Indices, Tensors, Vector

Edges = dict[tuple[int, int], int]


@dataclass(frozen=True)
class MegaCloud:
    """One class as a reader sees it; a copy, so it stays as it was when asked for."""

    mean: Vector
    count: int
    prototypes: Indices  # ids, oldest first
    edges: Edges  # between ids, the smaller first


class MegaClouds(RunningMeans):
    """The table of classes in the order of first sight.

    Edges are kept once per pair of prototype ids, smaller id first: symmetric by construction and sparse. Eq. 8, the
    class's mean square norm, is 1 for unit vectors (docs/decisions.md, 4).
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._members: list[GrowingArray] = []
        self._edges: list[Edges] = []

    def members(self, index: int) -> Indices:
        """Rows of the class's prototypes."""
        return self._members[index].filled

    def edges(self, index: int) -> Edges:
        return dict(self._edges[index])

    def open(self) -> None:
        """The rest of Eq. 5 for a class whose mean was just added."""
        self._members.append(GrowingArray((), np.int64))
        self._edges.append({})

    def adopt(self, index: int, row: int) -> None:
        self._members[index].append(row)

    def forget_rows(self, rows: list[int]) -> None:
        """Follow the removal of rows of prototypes."""
        gone = np.sort(rows)
        for index, members in enumerate(self._members):
            kept = members.filled[~np.isin(members.filled, gone)]
            self._members[index] = GrowingArray((), np.int64, kept - np.searchsorted(gone, kept))

    def connect(self, index: int, one: int, other: int) -> None:
        """E of Eq. 13 and 14: one more sample between two prototypes."""
        pair = (min(one, other), max(one, other))
        edges = self._edges[index]
        edges[pair] = edges.get(pair, 0) + 1

    def merge_prototypes(self, index: int, kept: int, retired: int) -> None:
        """Give the edges of a prototype to the prototype that it was merged into."""
        followed: Edges = {}
        for (one, other), count in self._edges[index].items():
            one, other = (kept if j == retired else j for j in (one, other))
            if one != other:
                pair = (min(one, other), max(one, other))
                followed[pair] = followed.get(pair, 0) + count
        self._edges[index] = followed

    def merge(self, kept: int, absorbed: int) -> None:
        """Make two classes one; the later classes move up by one place. The new mean has to be measured afterwards."""
        share = self.counts[absorbed] / (self.counts[kept] + self.counts[absorbed])
        self.vectors[kept] += share * (self.vectors[absorbed] - self.vectors[kept])
        self.counts[kept] += self.counts[absorbed]
        together = np.sort(np.concatenate([self.members(kept), self.members(absorbed)]))
        self._members[kept] = GrowingArray((), np.int64, together)
        self._edges[kept].update(self._edges[absorbed])
        for column in self._columns:
            column.remove(absorbed)
        del self._members[absorbed], self._edges[absorbed]

    def forget_prototype(self, index: int, prototype: int) -> None:
        """Remove the edges of a prototype that was removed."""
        self._edges[index] = {pair: count for pair, count in self._edges[index].items() if prototype not in pair}

    def forget_edges(self, index: int) -> None:
        self._edges[index] = {}

    def remove_class(self, index: int) -> None:
        """A class without prototypes is gone; the later ones move up by one place."""
        for column in self._columns:
            column.remove(index)
        del self._members[index], self._edges[index]

    def absorb(self, other: "MegaClouds", numbers: Indices, rows: int, ids: int) -> None:
        """The classes of another learner, which have these numbers here: new ones come next. The rows and ids of its
        prototypes are counted on from these. All have to be measured afterwards."""
        for index, k in enumerate(numbers.tolist()):
            mean, count = other.vectors[index], int(other.counts[index])
            if k == len(self):
                self.add(mean)
                self.counts[k] = count
                self.open()
            else:
                self.unite_with(k, mean, count)
            for row in other.members(index):
                self.adopt(k, int(row) + rows)
            for (one, two), times in other.edges(index).items():
                self._edges[k][one + ids, two + ids] = times

    def __deepcopy__(self, memo: dict[int, Any]) -> "MegaClouds":
        """Pairs and counts never change themselves, so the edges of a class are copied in one go."""
        copied = object.__new__(MegaClouds)
        memo |= {id(edges): edges.copy() for edges in self._edges}
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    @property
    def nbytes(self) -> int:
        members = sum(array.nbytes for array in self._members)
        edges = 3 * 8 * sum(len(edges) for edges in self._edges)
        return super().nbytes + members + edges

    def state(self) -> Tensors:
        edges = [(*pair, count) for edges in self._edges for pair, count in edges.items()]
        return {**super().state(), "edges": np.array(edges, np.int64).reshape(-1, 3)}

    def restore(self, state: Tensors, prototypes: Prototypes) -> None:
        self._restore_means(state)
        for _ in range(len(self)):
            self.open()
        class_of = dict(zip(prototypes.ids.tolist(), prototypes.class_of.tolist(), strict=True))
        for row, index in enumerate(prototypes.class_of.tolist()):
            if not 0 <= index < len(self):
                raise ValueError("a prototype belongs to no class")
            self.adopt(index, row)
        for one, other, count in state["edges"].tolist():
            index = class_of.get(one, -1)
            if one >= other or index < 0 or class_of.get(other) != index or count < 1:
                raise ValueError("an edge joins no two prototypes of one class")
            self._edges[index][one, other] = count
