"""What a learner remembers of the samples themselves: names, and vectors where asked for. Never images.

Four kinds, one interface: ``"none"``; ``"refs"``, the prototype and the ref of every sample; ``"vectors"``, its vector
too (:mod:`exll.linalg.fixed_point`); an integer N, the N samples nearest each centre, with vectors, which bounds what a
prototype can hold. A sample's position is its own for ever, also when others were forgotten.
"""

import copy
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from exll.linalg.fixed_point import decoded_roughly, encoded
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import SAME
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Indices, RecordsKind, Tensors, Vector

MOST_RETIRED = 1024
GONE = -1  # in place of the prototype of a sample that was forgotten
NO_GROUP = 0  # named groups have numbers below zero

Codes = NDArray[np.int32]


class Sample(NamedTuple):
    """One sample that is being learned."""

    x: Vector
    codes: Codes
    scale: float
    position: int  # in the stream, from 0
    ref: str | None
    group: int | None  # the number of a group that the caller named


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered sample: its place in the stream (from 0), its ref if it had one, its unit vector if kept."""

    position: int
    ref: str | None
    group: int | None = None
    codes: Codes | None = None
    scale: float = 1.0

    @property
    def name(self) -> str:
        return self.ref if self.ref is not None else f"sample {self.position + 1}"

    @property
    def vector(self) -> Vector | None:
        return None if self.codes is None else self.codes.astype(np.float64) * self.scale


class AllVectors(NamedTuple):
    """Of all samples, in the order of the stream."""

    positions: Indices
    prototypes: Indices
    groups: Indices  # NO_GROUP where none was named
    codes: Codes
    scales: Vector


class Records(Protocol):
    def add(self, prototype: int, sample: Sample, centre: Vector) -> None: ...

    def of(self, prototype: int) -> list[Record]:
        """The records of a prototype, oldest first."""
        ...

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        """Those closest to x by cosine, which is given too; without vectors the oldest, and None."""
        ...

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        """The prototype and the record of each of these samples that is remembered."""
        ...

    def positions_of(self, refs: Collection[str] = (), groups: Collection[int] = ()) -> list[int]:
        """Of the samples with one of these refs, or learned with one of these groups."""
        ...

    def holds(self, x: Vector) -> bool:
        """Whether every vector is kept, and x is one of them."""
        ...

    def forget(self, position: int) -> None:
        """If it is remembered at all."""
        ...

    def assign(self, position: int, prototype: int) -> None:
        """A sample, if it is remembered, is now one of another prototype."""
        ...

    def renumber(self, positions: Indices) -> None:
        """Give the samples, in their order, other positions."""
        ...

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        """One prototype became part of another, whose centre is given."""
        ...

    def absorb(self, other: Any, ids: int, positions: int) -> None:
        """Take over the records of another learner, whose prototypes and positions are counted on from these."""
        ...

    def rename(self, new_ref: Callable[[str], str]) -> None:
        """Give every ref another one."""
        ...

    def prototypes(self) -> set[int]:
        """The ids that any record names."""
        ...

    @property
    def inexact(self) -> int:
        """Samples before this position were kept in half precision only, by an older exll."""
        ...

    def all_vectors(self) -> "AllVectors | None":
        """None where not every vector is kept."""
        ...

    def shared(self) -> "Records":
        """The records of now, which those to come do not change; vectors are not copied."""
        ...

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def state(self) -> Tensors: ...

    def restore(self, state: Tensors) -> None: ...


class NoRecords:
    inexact = 0

    def add(self, prototype: int, sample: Sample, centre: Vector) -> None:
        pass

    def of(self, prototype: int) -> list[Record]:
        return []

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        return []

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        return []

    def positions_of(self, refs: Collection[str] = (), groups: Collection[int] = ()) -> list[int]:
        return []

    def forget(self, position: int) -> None:
        pass

    def assign(self, position: int, prototype: int) -> None:
        pass

    def renumber(self, positions: Indices) -> None:
        pass

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        pass

    def absorb(self, other: Any, ids: int, positions: int) -> None:
        pass

    def rename(self, new_ref: Callable[[str], str]) -> None:
        pass

    def prototypes(self) -> set[int]:
        return set()

    def holds(self, x: Vector) -> bool:
        return False

    def all_vectors(self) -> None:
        return None

    def shared(self) -> "NoRecords":
        return self

    def __len__(self) -> int:
        return 0

    @property
    def nbytes(self) -> int:
        return 0

    def state(self) -> Tensors:
        return {}

    def restore(self, state: Tensors) -> None:
        pass


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
        cosines = _cosines(self._codes.filled[rows], self._scales.filled[rows], x)
        return [(self._record(rows[i]), float(cosines[i])) for i in _largest(cosines, most)]

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


class NearestRecords:
    """The samples nearest each centre. A centre moves, so nearness is measured anew among those kept at every
    arrival."""

    def __init__(self, width: int, most: int) -> None:
        self._width = width
        self._most = most
        self._kept: dict[int, list[Record]] = {}
        self.inexact = 0

    def add(self, prototype: int, sample: Sample, centre: Vector) -> None:
        kept = self._kept.setdefault(prototype, [])
        kept.append(Record(sample.position, sample.ref or None, sample.group, sample.codes, sample.scale))
        self._drop_furthest(kept, centre)

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        wanted = set(positions)
        return [(id, record) for id, kept in self._kept.items() for record in kept if record.position in wanted]

    def positions_of(self, refs: Collection[str] = (), groups: Collection[int] = ()) -> list[int]:
        every = (record for kept in self._kept.values() for record in kept)
        return sorted(record.position for record in every if record.ref in refs or record.group in groups)

    def forget(self, position: int) -> None:
        for prototype, kept in list(self._kept.items()):
            kept[:] = [record for record in kept if record.position != position]
            if not kept:
                del self._kept[prototype]

    def assign(self, position: int, prototype: int) -> None:
        """Never needed: without all vectors, prototypes are not formed anew."""

    def renumber(self, positions: Indices) -> None:
        """Never needed: without all vectors, nothing is learned again."""

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        together = [*self._kept.get(kept, []), *self._kept.pop(retired, [])]
        together.sort(key=lambda record: record.position)
        while len(together) > self._most:
            self._drop_furthest(together, centre)
        if together:
            self._kept[kept] = together

    def absorb(self, other: "NearestRecords", ids: int, positions: int) -> None:
        self.inexact = max(self.inexact, other.inexact + positions if other.inexact else 0)
        for prototype, kept in other._kept.items():
            self._kept[prototype + ids] = [replace(record, position=record.position + positions) for record in kept]

    def _drop_furthest(self, kept: list[Record], centre: Vector) -> None:
        if len(kept) > self._most:
            vectors = decoded_roughly(*_codes_of(kept, self._width))
            distances = np.linalg.norm(vectors - centre.astype(np.float32), axis=1)
            del kept[int(distances.argmax())]

    def of(self, prototype: int) -> list[Record]:
        return list(self._kept.get(prototype, []))

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        kept = self._kept.get(prototype, [])
        cosines = _cosines(*_codes_of(kept, self._width), x)
        return [(kept[i], float(cosines[i])) for i in _largest(cosines, most)]

    def rename(self, new_ref: Callable[[str], str]) -> None:
        for kept in self._kept.values():
            kept[:] = [replace(record, ref=new_ref(record.ref)) if record.ref else record for record in kept]

    def prototypes(self) -> set[int]:
        return set(self._kept)

    def holds(self, x: Vector) -> bool:
        return False

    def all_vectors(self) -> None:
        return None

    def shared(self) -> "NearestRecords":
        shared = copy.copy(self)
        shared._kept = {prototype: kept.copy() for prototype, kept in self._kept.items()}
        return shared

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._kept.values())

    @property
    def nbytes(self) -> int:
        refs = sum(len(encode(record.ref or "")) for kept in self._kept.values() for record in kept)
        return refs + (5 * 8 + 4 * self._width) * len(self)

    def state(self) -> Tensors:
        flat = [(prototype, record) for prototype in sorted(self._kept) for record in self._kept[prototype]]
        records = [record for _, record in flat]
        return {
            "prototypes": np.array([prototype for prototype, _ in flat], np.int64),
            "positions": np.array([record.position for record in records], np.int64),
            "groups": np.array([record.group or NO_GROUP for record in records], np.int64),
            "inexact": np.array(self.inexact, np.int64),
            **strings_to_tensors("refs", [record.ref or "" for record in records]),
            **vectors_to_tensors(*_codes_of(records, self._width)),
        }

    def restore(self, state: Tensors) -> None:
        positions: Indices = state["positions"]
        refs = strings_from_tensors("refs", state)
        codes, scales = vectors_from_tensors(state, self._width)
        groups = state.get("groups", np.full(len(refs), NO_GROUP)).tolist()
        if {len(codes), len(scales), len(positions), len(groups), len(state["prototypes"])} != {len(refs)}:
            raise ValueError("the columns of the records differ in length")
        self.inexact = int(state.get("inexact", np.array(int(positions.max(initial=-1)) + 1)))
        for i, prototype in enumerate(state["prototypes"].tolist()):
            record = Record(int(positions[i]), refs[i] or None, groups[i] or None, codes[i].copy(), float(scales[i]))
            self._kept.setdefault(prototype, []).append(record)
        if any(len(kept) > self._most for kept in self._kept.values()):
            raise ValueError("a prototype has more records than are kept")


def new_records(kind: RecordsKind, width: int) -> Records:
    if kind == "none":
        return NoRecords()
    if isinstance(kind, str):
        return AllRecords(width, with_vectors=kind == "vectors")
    return NearestRecords(width, kind)


def nearest_first(records: list[Record], centre: Vector) -> list[Record]:
    """By Euclidean distance from the centre; by age where there are no vectors."""
    oldest = sorted(records, key=lambda record: record.position)
    if any(record.codes is None for record in oldest):
        return oldest
    order = _largest(_cosines(*_codes_of(oldest, len(centre)), centre), len(oldest))
    return [oldest[i] for i in order]


def vectors_to_tensors(codes: Codes, scales: Vector) -> Tensors:
    return {
        "codes": codes.view(np.uint32),
        "scales": scales,
    }  # whole numbers with a sign are widened when they are read


def vectors_from_tensors(state: Tensors, width: int) -> tuple[Codes, Vector]:
    if "vectors" in state:  # half precision, in files up to format 7
        return encoded(state["vectors"].reshape(-1, width).astype(np.float64))
    codes, scales = state["codes"], np.array(state["scales"], np.float64)
    if codes.dtype != np.uint32 or codes.ndim != 2 or codes.shape[1] != width or not (scales > 0.0).all():
        raise ValueError("the vectors of the records have another width, or no scale")
    return np.array(codes).view(np.int32), scales


def _codes_of(records: list[Record], width: int) -> tuple[Codes, Vector]:
    codes = np.array([record.codes for record in records], np.int32).reshape(-1, width)
    return codes, np.array([record.scale for record in records])


def _cosines(codes: Codes, scales: Vector, x: Vector) -> NDArray[np.float32]:
    """With unit vectors, in single precision."""
    cosines: NDArray[np.float32] = decoded_roughly(codes, scales) @ x.astype(np.float32)
    return cosines


def _largest(values: NDArray[np.float32], most: int) -> Indices:
    """Where the largest values stand, largest first, the earlier of equal ones first."""
    order: Indices = np.argsort(-values, kind="stable")[:most]
    return order
