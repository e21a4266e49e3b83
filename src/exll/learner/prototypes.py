"""Prototypes: the data clouds of all classes in one table (Eq. 6, 9 to 14). A prototype's id never changes and is
never used again; its row may later belong to another prototype."""

import math
from typing import NamedTuple

import numpy as np

from exll.learner.running_means import RunningMeans
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import surpasses
from exll.types import Indices, Matrix, Tensors, Vector

# r* and r_0 of the paper are one value: the chord of 30 degrees (docs/decisions.md, 6).
START_RADIUS = math.sqrt(2 - 2 * math.cos(math.radians(30)))


class Members(NamedTuple):
    """The prototypes of one class as they are at this moment."""

    rows: Indices
    ids: Indices
    centres: Matrix  # (g_k, d), a copy
    euclidean_squares: Vector  # |p|^2, below 1, since a mean of unit vectors is shorter than they are


class Prototypes(RunningMeans):
    """Centres with support (their count), radius and class."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._ids = GrowingArray((), np.int64)
        self._class_of = GrowingArray((), np.int64)
        self._radii = GrowingArray((), np.float64)
        self._euclidean_squares = GrowingArray((), np.float64)
        self.next_id = 0

    @property
    def ids(self) -> Indices:
        return self._ids.filled

    @property
    def class_of(self) -> Indices:
        return self._class_of.filled

    @property
    def radii(self) -> Vector:
        return self._radii.filled

    @property
    def euclidean_squares(self) -> Vector:
        return self._euclidean_squares.filled

    def members(self, rows: Indices) -> Members:
        return Members(rows, self.ids[rows], self.vectors[rows], self.euclidean_squares[rows])

    def open(self, class_index: int) -> int:
        """The rest of Eq. 6 and 13 for a cloud whose centre was just added; returns its id."""
        self._ids.append(self.next_id)
        self._class_of.append(class_index)
        self._radii.append(START_RADIUS)
        self._euclidean_squares.append(1.0)
        self.next_id += 1
        return self.next_id - 1

    def unite(self, kept: int, freed: int) -> None:
        """Let one row hold both; the other is free for :meth:`restart` or :meth:`remove`."""
        together = self.counts[kept] + self.counts[freed]
        self.vectors[kept] += (self.counts[freed] / together) * (self.vectors[freed] - self.vectors[kept])
        self.counts[kept] = together
        self.radii[kept] = max(self.radii[kept], self.radii[freed])
        self.settle(kept)

    def restart(self, freed: int, x: Vector) -> int:
        """A new prototype of the same class at x, in a row that was freed; returns its id."""
        self.vectors[freed], self.counts[freed] = x, 1
        self.ids[freed], self.radii[freed], self.euclidean_squares[freed] = self.next_id, START_RADIUS, 1.0
        self.next_id += 1
        return self.next_id - 1

    def remove_rows(self, rows: list[int]) -> None:
        """Rows after them move up."""
        for column in self._columns:
            column.remove_rows(rows)

    def leave(self, index: int, x: Vector) -> None:
        super().leave(index, x)
        centre = self.vectors[index]
        self.euclidean_squares[index] = float(centre @ centre)

    def settle(self, index: int) -> None:
        r"""After a centre moved: its norm, and its radius by Eq. 14, $r \leftarrow \sqrt{(r^2 + 1 - |p|^2)/2}$."""
        centre = self.vectors[index]
        squared_norm = float(centre @ centre)
        self.euclidean_squares[index] = squared_norm
        self.radii[index] = math.sqrt((self.radii[index] ** 2 + max(0.0, 1.0 - squared_norm)) / 2)

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes: the later ones move up by one place."""
        self.class_of[self.class_of == absorbed] = kept
        self.class_of[self.class_of > absorbed] -= 1

    def remove_class(self, k: int) -> None:
        """A class without prototypes is gone: the later ones move up by one place."""
        self.class_of[self.class_of > k] -= 1

    def absorb(self, other: "Prototypes", numbers: Indices) -> None:
        """Those of another learner, whose classes have these numbers here, and whose ids are counted on from these."""
        for mine, theirs in zip(self._columns, other._columns, strict=True):
            mine.extend(theirs.filled)
        new = slice(len(self) - len(other), None)
        self.class_of[new] = numbers[other.class_of]
        self.ids[new] += self.next_id
        self.next_id += other.next_id

    @property
    def _columns(self) -> tuple[GrowingArray, ...]:
        return *super()._columns, self._ids, self._class_of, self._radii, self._euclidean_squares

    def state(self) -> Tensors:
        return {
            **super().state(),
            "ids": self.ids,
            "next_id": np.array(self.next_id, np.int64),
            "class_of": self.class_of,
            "radii": self.radii,
            "euclidean_squares": self.euclidean_squares,
        }

    def restore(self, state: Tensors) -> None:
        self._restore_means(state)
        self._class_of = GrowingArray((), np.int64, state["class_of"])
        self._radii = GrowingArray((), np.float64, state["radii"])
        self._euclidean_squares = GrowingArray((), np.float64, state["euclidean_squares"])
        self._ids = GrowingArray((), np.int64, state["ids"])
        self.next_id = int(state["next_id"])
        if {len(column) for column in (self.class_of, self.radii, self.euclidean_squares, self.ids)} != {len(self)}:
            raise ValueError("the columns of the prototypes differ in length")
        ids = set(self.ids.tolist())
        if len(ids) != len(self) or min(ids, default=0) < 0 or max(ids, default=-1) >= self.next_id:
            raise ValueError("the ids of the prototypes are not unique, or out of range")


def density_condition(x: Vector, class_mean: Vector, members: Members) -> bool:
    r"""Eq. 12: x is denser than every prototype of its class, or less dense than every one.

    The density of Eq. 9, $D(v) = 1/(1 + |v-\mu|^2 + \sigma - |\mu|^2)$, has $\sigma = 1$ for unit vectors and is then
    $1/(2 + |v|^2 - 2 v^T\mu)$: only the distance to the class mean matters. We compare the denominators, with a
    tolerance, because at the second sample of a class x and the first prototype are exactly equally far from their
    mean (docs/decisions.md, 3 and 4).
    """
    x_inverse = 3.0 - 2.0 * float(x @ class_mean)
    inverses = 2.0 + members.euclidean_squares - 2.0 * (members.centres @ class_mean)
    least, most = float(inverses[inverses.argmin()]), float(inverses[inverses.argmax()])
    return surpasses(least, x_inverse) or surpasses(x_inverse, most)
