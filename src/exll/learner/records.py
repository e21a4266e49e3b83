"""What a learner remembers of the samples themselves: names, and vectors where asked for. Never images.

Four kinds, one interface: ``"none"``; ``"refs"``, the prototype and the ref of every sample; ``"vectors"``, a float16
vector too; an integer N, the N samples nearest each centre, with vectors, which bounds what a prototype can hold.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exll.linalg.growing_array import GrowingArray
from exll.linalg.half_precision import halved, widened
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Indices, RecordsKind, Tensors, Vector

MOST_RETIRED = 1024


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered sample: its place in the stream (from 0), its ref if it had one, its unit vector if kept."""

    position: int
    ref: str | None
    vector: NDArray[np.float16] | None

    @property
    def name(self) -> str:
        return self.ref if self.ref is not None else f"sample {self.position + 1}"


class Records(Protocol):
    def add(self, prototype: int, position: int, ref: str | None, x: Vector, centre: Vector) -> None: ...

    def of(self, prototype: int) -> list[Record]:
        """The records of a prototype, oldest first."""
        ...

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        """Those closest to x by cosine, which is given too; without vectors the oldest, and None."""
        ...

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        """The prototype and the record of each of these samples that is remembered."""
        ...

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        """One prototype became part of another, whose centre is given."""
        ...

    def rename(self, new_ref: Callable[[str], str]) -> None:
        """Give every ref another one."""
        ...

    def prototypes(self) -> set[int]:
        """The ids that any record names."""
        ...

    @property
    def vectors(self) -> NDArray[np.float16] | None:
        """Of all samples in the order of the stream; None where not every one is kept."""
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
    def add(self, prototype: int, position: int, ref: str | None, x: Vector, centre: Vector) -> None:
        pass

    def of(self, prototype: int) -> list[Record]:
        return []

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        return []

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        return []

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        pass

    def rename(self, new_ref: Callable[[str], str]) -> None:
        pass

    def prototypes(self) -> set[int]:
        return set()

    @property
    def vectors(self) -> None:
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
    """Every sample in the order of the stream, so a sample's place here is its position; an empty ref stands for none.

    A sample keeps the id of the prototype it joined; which ids were merged into which is kept beside, and written into
    the samples only now and then: a pass over all of them at every merge would make long streams slow.
    """

    def __init__(self, width: int, with_vectors: bool) -> None:
        self._width = width
        self._prototypes = GrowingArray((), np.int64)
        self._refs: list[str] = []
        self._ref_bytes = 0
        self._vectors = GrowingArray((width,), np.float16) if with_vectors else None
        self._retired: dict[int, list[int]] = {}  # the ids that each prototype took over

    def add(self, prototype: int, position: int, ref: str | None, x: Vector, centre: Vector) -> None:
        self._prototypes.append(prototype)
        self._refs.append(ref or "")
        if ref:
            self._ref_bytes += len(encode(ref))
        if self._vectors is not None:
            self._vectors.append(halved(x))

    def of(self, prototype: int) -> list[Record]:
        return [self._record(i) for i in self._places(prototype)]

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        places = self._places(prototype)
        if self._vectors is None:
            return [(self._record(i), None) for i in places[:most]]
        cosines = _cosines(self._vectors.filled[places], x)
        return [(self._record(places[i]), float(cosines[i])) for i in _largest(cosines, most)]

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        now = {old: kept for kept, ids in self._retired.items() for old in ids}
        joined = self._prototypes.filled
        return [(now.get(int(joined[i]), int(joined[i])), self._record(i)) for i in positions]

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        self._retired.setdefault(kept, []).extend([retired, *self._retired.pop(retired, [])])
        if sum(len(ids) for ids in self._retired.values()) >= MOST_RETIRED:
            self._settle()

    def _settle(self) -> None:
        for kept, ids in self._retired.items():
            self._prototypes.filled[np.isin(self._prototypes.filled, ids)] = kept
        self._retired = {}

    def _places(self, prototype: int) -> Indices:
        retired = self._retired.get(prototype)
        if retired is None:
            return np.flatnonzero(self._prototypes.filled == prototype)
        return np.flatnonzero(np.isin(self._prototypes.filled, [prototype, *retired]))

    def _record(self, i: int) -> Record:
        vector = None if self._vectors is None else self._vectors.filled[i].copy()
        return Record(int(i), self._refs[i] or None, vector)

    def rename(self, new_ref: Callable[[str], str]) -> None:
        self._refs = [new_ref(ref) if ref else ref for ref in self._refs]
        self._ref_bytes = sum(len(encode(ref)) for ref in self._refs)

    def prototypes(self) -> set[int]:
        self._settle()
        return set(self._prototypes.filled.tolist())

    @property
    def vectors(self) -> NDArray[np.float16] | None:
        return None if self._vectors is None else self._vectors.filled

    def shared(self) -> "AllRecords":
        shared = copy.copy(self)
        shared._prototypes = copy.deepcopy(self._prototypes)
        shared._retired = {kept: ids.copy() for kept, ids in self._retired.items()}
        shared._refs = self._refs.copy()
        shared._vectors = None if self._vectors is None else self._vectors.shared()
        return shared

    def __len__(self) -> int:
        return len(self._refs)

    @property
    def nbytes(self) -> int:
        vectors = 0 if self._vectors is None else self._vectors.nbytes
        return self._prototypes.nbytes + self._ref_bytes + 8 * (len(self) + 1) + vectors

    def state(self) -> Tensors:
        self._settle()
        vectors = {} if self._vectors is None else {"vectors": self._vectors.filled}
        return {
            "prototypes": self._prototypes.filled,
            **strings_to_tensors("refs", self._refs),
            **vectors,
        }

    def restore(self, state: Tensors) -> None:
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        self._refs = strings_from_tensors("refs", state)
        self._ref_bytes = len(state["refs.utf8"])
        sizes = {len(self._prototypes), len(self._refs)}
        if self._vectors is not None:
            self._vectors = GrowingArray((self._width,), np.float16, state["vectors"])
            sizes.add(len(self._vectors))
        if len(sizes) != 1:
            raise ValueError("the columns of the records differ in length")


class NearestRecords:
    """The samples nearest each centre. A centre moves, so nearness is measured anew among those kept at every
    arrival."""

    def __init__(self, width: int, most: int) -> None:
        self._width = width
        self._most = most
        self._kept: dict[int, list[Record]] = {}

    def add(self, prototype: int, position: int, ref: str | None, x: Vector, centre: Vector) -> None:
        kept = self._kept.setdefault(prototype, [])
        kept.append(Record(position, ref or None, halved(x)))
        self._drop_furthest(kept, centre)

    def at(self, positions: Iterable[int]) -> list[tuple[int, Record]]:
        wanted = set(positions)
        return [(id, record) for id, kept in self._kept.items() for record in kept if record.position in wanted]

    def merge_prototypes(self, kept: int, retired: int, centre: Vector) -> None:
        together = [*self._kept.get(kept, []), *self._kept.pop(retired, [])]
        together.sort(key=lambda record: record.position)
        while len(together) > self._most:
            self._drop_furthest(together, centre)
        self._kept[kept] = together

    def _drop_furthest(self, kept: list[Record], centre: Vector) -> None:
        if len(kept) > self._most:
            vectors = np.array([record.vector for record in kept], np.float32)
            distances = np.linalg.norm(vectors - centre.astype(np.float32), axis=1)
            del kept[int(distances.argmax())]

    def of(self, prototype: int) -> list[Record]:
        return list(self._kept.get(prototype, []))

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        kept = self._kept.get(prototype, [])
        cosines = _cosines(np.array([record.vector for record in kept], np.float16).reshape(-1, self._width), x)
        return [(kept[i], float(cosines[i])) for i in _largest(cosines, most)]

    def rename(self, new_ref: Callable[[str], str]) -> None:
        for kept in self._kept.values():
            kept[:] = [replace(record, ref=new_ref(record.ref)) if record.ref else record for record in kept]

    def prototypes(self) -> set[int]:
        return set(self._kept)

    @property
    def vectors(self) -> None:
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
        return refs + (3 * 8 + 2 * self._width) * len(self)

    def state(self) -> Tensors:
        flat = [(prototype, record) for prototype in sorted(self._kept) for record in self._kept[prototype]]
        vectors = [record.vector for _, record in flat]
        return {
            "prototypes": np.array([prototype for prototype, _ in flat], np.int64),
            "positions": np.array([record.position for _, record in flat], np.int64),
            **strings_to_tensors("refs", [record.ref or "" for _, record in flat]),
            "vectors": np.array(vectors, np.float16).reshape(-1, self._width),
        }

    def restore(self, state: Tensors) -> None:
        positions: Indices = state["positions"]
        refs = strings_from_tensors("refs", state)
        vectors = state["vectors"]
        if vectors.shape != (len(refs), self._width) or not len(positions) == len(refs) == len(state["prototypes"]):
            raise ValueError("the columns of the records differ in length")
        for i, prototype in enumerate(state["prototypes"].tolist()):
            record = Record(int(positions[i]), refs[i] or None, vectors[i].astype(np.float16))
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
    if any(record.vector is None for record in oldest):
        return oldest
    order = _largest(_cosines(np.array([record.vector for record in oldest], np.float16), centre), len(oldest))
    return [oldest[i] for i in order]


def _cosines(vectors: NDArray[np.float16], x: Vector) -> NDArray[np.float32]:
    """With unit vectors; half precision holds three digits, so single is enough to multiply in."""
    cosines: NDArray[np.float32] = widened(vectors) @ x.astype(np.float32)
    return cosines


def _largest(values: NDArray[np.float32], most: int) -> Indices:
    """Where the largest values stand, largest first, the earlier of equal ones first."""
    order: Indices = np.argsort(-values, kind="stable")[:most]
    return order
