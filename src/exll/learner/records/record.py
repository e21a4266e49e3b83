"""One remembered sample, and what every kind of records can do."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from exll.learner.records.vectors import Codes
from exll.types import Indices, Tensors, Vector

NO_GROUP = 0  # named groups have numbers below zero


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
