"""Records of the samples nearest each centre, with vectors."""

import copy
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import numpy as np

from exll.learner.records.record import NO_GROUP, Record, Sample
from exll.learner.records.vectors import Codes, cosines_with, largest_first, vectors_from_tensors, vectors_to_tensors
from exll.linalg.fixed_point import decoded_roughly
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Indices, Tensors, Vector


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
            vectors = decoded_roughly(*codes_of(kept, self._width))
            distances = np.linalg.norm(vectors - centre.astype(np.float32), axis=1)
            del kept[int(distances.argmax())]

    def of(self, prototype: int) -> list[Record]:
        return list(self._kept.get(prototype, []))

    def closest(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        kept = self._kept.get(prototype, [])
        cosines = cosines_with(*codes_of(kept, self._width), x)
        return [(kept[i], float(cosines[i])) for i in largest_first(cosines, most)]

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
            **vectors_to_tensors(*codes_of(records, self._width)),
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


def nearest_first(records: list[Record], centre: Vector) -> list[Record]:
    """By Euclidean distance from the centre; by age where there are no vectors."""
    oldest = sorted(records, key=lambda record: record.position)
    if any(record.codes is None for record in oldest):
        return oldest
    order = largest_first(cosines_with(*codes_of(oldest, len(centre)), centre), len(oldest))
    return [oldest[i] for i in order]


def codes_of(records: list[Record], width: int) -> tuple[Codes, Vector]:
    codes = np.array([record.codes for record in records], np.int32).reshape(-1, width)
    return codes, np.array([record.scale for record in records])
