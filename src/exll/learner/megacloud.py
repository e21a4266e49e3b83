"""MegaClouds: one per class, its mean, its count, and the edges between its prototypes (Eq. 5, 7 and 8)."""

from dataclasses import dataclass

import numpy as np

from exll.learner.growing import GrowingArray
from exll.learner.precision import Precision, lengths_of
from exll.learner.running_means import RunningMeans
from exll.types import Indices, Tensors, Vector

Edges = dict[tuple[int, int], int]


@dataclass(frozen=True)
class MegaCloud:
    """One class as a reader sees it; a copy, so it stays as it was when asked for."""

    mean: Vector
    count: int
    prototypes: Indices
    edges: Edges


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
        """Ids of the class's prototypes, oldest first."""
        return self._members[index].filled

    def open(self) -> None:
        """The rest of Eq. 5 for a class whose mean was just added."""
        self._members.append(GrowingArray((), np.int64))
        self._edges.append({})

    def adopt(self, index: int, prototype: int) -> None:
        self._members[index].append(prototype)

    def connect(self, index: int, one: int, other: int) -> None:
        """E of Eq. 13 and 14: one more sample between two prototypes."""
        pair = (min(one, other), max(one, other))
        edges = self._edges[index]
        edges[pair] = edges.get(pair, 0) + 1

    def merge(self, kept: int, absorbed: int, precision: Precision) -> None:
        """Make two classes one; the later classes move up by one place."""
        share = self.counts[absorbed] / (self.counts[kept] + self.counts[absorbed])
        self.vectors[kept] += share * (self.vectors[absorbed] - self.vectors[kept])
        self.counts[kept] += self.counts[absorbed]
        self.lengths[kept] = lengths_of(self.vectors[kept][None, :], precision)[0]
        together = np.sort(np.concatenate([self.members(kept), self.members(absorbed)]))
        self._members[kept] = GrowingArray((), np.int64, together)
        self._edges[kept].update(self._edges[absorbed])
        for array in (self._vectors, self._counts, self._lengths):
            array.remove(absorbed)
        del self._members[absorbed], self._edges[absorbed]

    def __getitem__(self, index: int) -> MegaCloud:
        return MegaCloud(
            mean=self.vectors[index].copy(),
            count=int(self.counts[index]),
            prototypes=self.members(index).copy(),
            edges=dict(self._edges[index]),
        )

    @property
    def nbytes(self) -> int:
        members = sum(array.nbytes for array in self._members)
        edges = 3 * 8 * sum(len(edges) for edges in self._edges)
        return super().nbytes + members + edges

    def state(self) -> Tensors:
        edges = [(*pair, count) for edges in self._edges for pair, count in edges.items()]
        return {**super().state(), "edges": np.array(edges, np.int64).reshape(-1, 3)}

    @classmethod
    def from_state(cls, width: int, state: Tensors, class_of: Indices) -> "MegaClouds":
        megaclouds = cls(width)
        megaclouds._restore(state)
        for _ in range(len(megaclouds)):
            megaclouds.open()
        for prototype, index in enumerate(class_of.tolist()):
            if not 0 <= index < len(megaclouds):
                raise ValueError("a prototype belongs to no class")
            megaclouds.adopt(index, prototype)
        for one, other, count in state["edges"].tolist():
            if not 0 <= one < other < len(class_of) or class_of[one] != class_of[other] or count < 1:
                raise ValueError("an edge joins no two prototypes of one class")
            megaclouds._edges[class_of[one]][one, other] = count
        return megaclouds
