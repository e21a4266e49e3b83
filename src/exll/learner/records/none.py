"""No records."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from exll.learner.records.record import Record, Sample
from exll.types import Indices, Tensors, Vector


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
