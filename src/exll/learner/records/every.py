"""A record of every sample, with its vector or without."""

import copy
from collections.abc import Callable, Collection, Iterable

import numpy as np

from exll.learner.records.record import NO_GROUP, AllVectors, Record, Sample
from exll.learner.records.vectors import cosines_with, largest_first, vectors_from_tensors, vectors_to_tensors
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import SAME
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Indices, Tensors, Vector

MOST_RETIRED = 1024
GONE = -1  # in place of the prototype of a sample that was forgotten


class AllRecords:
    """Every sample in the order of the stream; an empty ref stands for none.

    A sample keeps the id of the prototype it joined; which ids were merged into which is kept beside, and written into
    the samples only now and then: a pass over all of them at every merge would make long streams slow. For the same
    reason the row of a forgotten sample is taken away only when half of all rows are such, or a file is written.
    """

    def __init__(self, width: int, with_vectors: bool) -> None:
        self._width = width
        self._positions = GrowingArray((), np.int64)
        self._prototypes = GrowingArray((), np.int64)
        self._groups = GrowingArray((), np.int64)
        self._refs: list[str] = []
        self._ref_bytes = 0
        self._forgotten = 0
        self.inexact = 0
        self._codes = GrowingArray((width,), np.int32) if with_vectors else None
        self._scales = GrowingArray((), np.float64)
        self._retired: dict[int, list[int]] = {}  # the ids that each prototype took over

    def add(self, prototype: int, sample: Sample, centre: Vector) -> None:
        self._positions.append(sample.position)
        self._prototypes.append(prototype)
        self._groups.append(NO_GROUP if sample.group is None else sample.group)
        self._refs.append(sample.ref or "")
        if sample.ref:
            self._ref_bytes += len(encode(sample.ref))
        if self._codes is not None:
            self._codes.append(sample.codes)
            self._scales.append(sample.scale)

    def of(self, prototype: int) -> list[Record]:
        return [self._record(i) for i in self._rows_of(prototype)]

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        rows = self._rows_of(prototype)
        if self._codes is None:
            return [(self._record(i), None) for i in rows[:most]]
        cosines = cosines_with(self._codes.filled[rows], self._scales.filled[rows], x)
        return [(self._record(rows[i]), float(cosines[i])) for i in largest_first(cosines, most)]

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        now = {old: kept for kept, ids in self._retired.items() for old in ids}
        joined = self._prototypes.filled
        rows = [row for position in positions if (row := self._row(position)) is not None]
        return [(now.get(int(joined[i]), int(joined[i])), self._record(i)) for i in rows]

    def positions_of(self, refs: Collection[str] = (), groups: Collection[int] = ()) -> list[int]:
        rows = {i for i, ref in enumerate(self._refs) if ref in refs} if refs else set()
        if groups:
            rows.update(np.flatnonzero(np.isin(self._groups.filled, list(groups))).tolist())
        return [int(self._positions.filled[i]) for i in sorted(rows) if self._prototypes.filled[i] != GONE]

    def holds(self, x: Vector) -> bool:
        if self._codes is None:
            return False
        largest = int(np.abs(x).argmax())
        found = np.abs(self._codes.filled[:, largest] * self._scales.filled - x[largest]) < SAME**0.5
        rows = np.flatnonzero(found & (self._prototypes.filled != GONE))
        vectors = self._codes.filled[rows] * self._scales.filled[rows, None]
        return bool((np.square(vectors - x).sum(axis=1) < SAME).any())

    def forget(self, position: int) -> None:
        row = self._row(position)
        if row is None:
            return
        self._prototypes.filled[row] = GONE  # a copy of its own in what was published; the rest is shared with that
        self._ref_bytes -= len(encode(self._refs[row]))
        self._refs[row] = ""
        self._forgotten += 1
        if 2 * self._forgotten > len(self._refs):
            self._compact()

    def assign(self, position: int, prototype: int) -> None:
        row = self._row(position)
        if row is not None:
            self._prototypes.filled[row] = prototype

    def renumber(self, positions: Indices) -> None:
        self._positions = GrowingArray((), np.int64, positions)

    def _compact(self) -> None:
        if not self._forgotten:
            return
        kept = np.flatnonzero(self._prototypes.filled != GONE)
        self._refs = [self._refs[i] for i in kept]
        for name, column in self._columns().items():
            setattr(self, name, GrowingArray(column.filled.shape[1:], column.filled.dtype, column.filled[kept]))
        self._forgotten = 0

    def _columns(self) -> dict[str, GrowingArray]:
        columns = {"_positions": self._positions, "_prototypes": self._prototypes, "_groups": self._groups}
        if self._codes is not None:
            columns |= {"_codes": self._codes, "_scales": self._scales}
        return columns

    def _row(self, position: int) -> int | None:
        """Where a sample stands here: positions only grow."""
        row = int(np.searchsorted(self._positions.filled, position))
        there = row < len(self._positions) and self._positions.filled[row] == position
        return row if there and self._prototypes.filled[row] != GONE else None

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        self._retired.setdefault(kept, []).extend([retired, *self._retired.pop(retired, [])])
        if sum(len(ids) for ids in self._retired.values()) >= MOST_RETIRED:
            self._settle()

    def _settle(self) -> None:
        for kept, ids in self._retired.items():
            self._prototypes.filled[np.isin(self._prototypes.filled, ids)] = kept
        self._retired = {}

    def absorb(self, other: "AllRecords", ids: int, positions: int) -> None:
        other._settle()
        other._compact()
        self.inexact = max(self.inexact, other.inexact + positions if other.inexact else 0)
        theirs = other._columns()
        for name, column in self._columns().items():
            shift = {"_positions": positions, "_prototypes": ids}.get(name)
            column.extend(theirs[name].filled if shift is None else theirs[name].filled + shift)
        self._refs += other._refs
        self._ref_bytes += other._ref_bytes

    def _rows_of(self, prototype: int) -> Indices:
        retired = self._retired.get(prototype)
        if retired is None:
            return np.flatnonzero(self._prototypes.filled == prototype)
        return np.flatnonzero(np.isin(self._prototypes.filled, [prototype, *retired]))

    def _record(self, i: int) -> Record:
        group = int(self._groups.filled[i])
        known = int(self._positions.filled[i]), self._refs[i] or None, None if group == NO_GROUP else group
        if self._codes is None:
            return Record(*known)
        return Record(*known, self._codes.filled[i].copy(), float(self._scales.filled[i]))

    def rename(self, new_ref: Callable[[str], str]) -> None:
        self._refs = [new_ref(ref) if ref else ref for ref in self._refs]
        self._ref_bytes = sum(len(encode(ref)) for ref in self._refs)

    def prototypes(self) -> set[int]:
        self._settle()
        return set(self._prototypes.filled.tolist()) - {GONE}

    def all_vectors(self) -> "AllVectors | None":
        if self._codes is None:
            return None
        self._settle()
        self._compact()
        return AllVectors(
            self._positions.filled,
            self._prototypes.filled,
            self._groups.filled,
            self._codes.filled,
            self._scales.filled,
        )

    def shared(self) -> "AllRecords":
        shared = copy.copy(self)
        shared._positions, shared._groups = self._positions.shared(), self._groups.shared()
        shared._prototypes = copy.deepcopy(self._prototypes)
        shared._retired = {kept: ids.copy() for kept, ids in self._retired.items()}
        shared._refs = self._refs.copy()
        shared._codes = None if self._codes is None else self._codes.shared()
        shared._scales = self._scales.shared()
        return shared

    def __len__(self) -> int:
        return len(self._refs) - self._forgotten

    @property
    def nbytes(self) -> int:
        return self._ref_bytes + 8 * (len(self) + 1) + sum(column.nbytes for column in self._columns().values())

    def state(self) -> Tensors:
        self._settle()
        self._compact()
        positions, groups = self._positions.filled, self._groups.filled
        state = {"prototypes": self._prototypes.filled, **strings_to_tensors("refs", self._refs)}
        if len(positions) and positions[-1] != len(positions) - 1:  # they only grow, so else they are 0, 1, 2, ...
            state["positions"] = positions
        if groups.any():
            state["groups"] = groups
        if self._codes is not None:
            state |= vectors_to_tensors(self._codes.filled, self._scales.filled)
            state["inexact"] = np.array(self.inexact, np.int64)
        return state

    def restore(self, state: Tensors) -> None:
        count = len(state["prototypes"])
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        self._positions = GrowingArray((), np.int64, state.get("positions", np.arange(count)))
        self._groups = GrowingArray((), np.int64, state.get("groups", np.full(count, NO_GROUP)))
        self._refs = strings_from_tensors("refs", state)
        self._ref_bytes = len(state["refs.utf8"])
        sizes = {count, len(self._refs), len(self._positions), len(self._groups)}
        if self._codes is not None:
            codes, scales = vectors_from_tensors(state, self._width)
            self._codes = GrowingArray((self._width,), np.int32, codes)
            self._scales = GrowingArray((), np.float64, scales)
            self.inexact = int(state.get("inexact", np.array(count)))  # of all samples, in files up to format 7
            sizes |= {len(codes), len(scales)}
        if len(sizes) != 1:
            raise ValueError("the columns of the records differ in length")
        positions = self._positions.filled
        if not ((positions >= 0).all() and (np.diff(positions) > 0).all() and (self._groups.filled <= NO_GROUP).all()):
            raise ValueError("the records are not in the order of the stream")
