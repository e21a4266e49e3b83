"""Witnesses: a fair sample of the stream, kept to judge the model by leaving each of them out."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.clips import SHORTEST_FILM, Takes
from exll.linalg.growing_array import GrowingArray
from exll.linalg.half_precision import halved, widened
from exll.types import Indices, Matrix, Tensors, Vector

MOST = 1024
FILMS = 256  # to remember without asking whether any witness is still of them
TOLD_OF = 0.5  # the share of the classes that must have been seen more than once, or nothing is called unknown
LONGEST_NUMBER = 1.001  # in a unit vector, with room for rounding
STRETCH = 1 << 16  # samples of the stream to look through at a time
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Films:
    """Takes that are long enough to be films, as far as witnesses are of them."""

    of: Indices  # (R,) the number of each witness's film, -1 for one of none
    telling: NDArray[np.bool_]  # (R,) whether its class holds anything that did not come with it
    counts: Indices  # (G,) samples of the stream
    centres: Matrix  # (G, d)


class Witnesses:
    """At most 1,024 samples, every sample of the stream as likely to be among them as any other.

    Which ones is a function of their places in the stream alone (reservoir sampling with a fixed sequence of numbers),
    so the same stream always has the same witnesses. Each knows the take that it was learned in
    (:mod:`exll.learner.glocal.clips`).

    Their vectors start in single precision. In a young stream of many columns a sample may be nearly all that varies in
    its own direction, and what is left without it is a small difference. Later half precision is enough
    (:meth:`round_vectors`), as in :mod:`exll.learner.records`, and where those hold the vector of every sample none is
    kept here.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._takes = Takes(width)
        self._positions = GrowingArray((), np.int64)
        self._vectors: GrowingArray | None = GrowingArray((width,), np.float32)
        self._classes = GrowingArray((), np.int64)
        self._prototypes = GrowingArray((), np.int64)
        self._starts = GrowingArray((), np.int64)  # where in the stream their takes begin
        self._lengths = GrowingArray((), np.int64)
        # The means of long takes that ended, by where they begin. Half precision would never be enough for them.
        self._film_means: dict[int, NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def positions(self) -> Indices:
        """Their places in the stream, from 0."""
        return self._positions.filled

    def vectors(self, recorded: NDArray[np.float16] | None, some: slice = slice(None)) -> NDArray[np.float32]:
        """Of some or all of them; ``recorded`` are those of all samples, where the records hold them."""
        if self._vectors is not None:
            vectors = self._vectors.filled[some]
        else:
            assert recorded is not None
            vectors = recorded[self.positions[some]]
        return widened(vectors) if vectors.dtype == np.float16 else vectors

    @property
    def rounded(self) -> bool:
        return self._vectors is None or self._vectors.filled.dtype == np.float16

    def round_vectors(self, recorded: NDArray[np.float16] | None) -> None:
        """To half precision, once and for all; ``recorded`` as for :meth:`vectors`."""
        if self._vectors is not None:
            halves = halved(self._vectors.filled)
            self._vectors = GrowingArray((self._width,), np.float16, halves) if recorded is None else None

    @property
    def classes(self) -> Indices:
        return self._classes.filled

    @property
    def prototypes(self) -> Indices:
        """The ids of the prototypes that they joined."""
        return self._prototypes.filled

    def learn(self, position: int, x: Vector, k: int, prototype: int, longest_step: float) -> None:
        if not self._takes.goes_on(x, k, longest_step):
            self._end_take()
            self._takes.begin(position, k)
        self._takes.add(x)
        place = position if position < MOST else _scrambled(position) % (position + 1)
        if place >= MOST:
            return
        row: list[tuple[GrowingArray, Any]] = [
            (self._positions, position),
            (self._classes, k),
            (self._prototypes, prototype),
            (self._starts, self._takes.start),
            (self._lengths, 1),
        ]
        if self._vectors is not None:
            row.append((self._vectors, halved(x) if self.rounded else x))
        for column, value in row:
            if position < MOST:
                column.append(value)
            else:
                column.filled[place] = value

    def _end_take(self) -> None:
        """What witnesses of it must know of it later."""
        start, length = self._takes.start, self._takes.length
        if length <= 1:
            return
        own = self._starts.filled == start
        self._lengths.filled[own] = length
        if length >= SHORTEST_FILM and own.any():
            self._film_means[start] = self._takes.mean.astype(np.float32)
            if len(self._film_means) > FILMS:
                witnessed = set(self._starts.filled.tolist())
                self._film_means = {start: mean for start, mean in self._film_means.items() if start in witnessed}

    def films(self) -> Films:
        """What of the stream was filmed in one go."""
        lengths = self._current_lengths()
        filmed = lengths >= SHORTEST_FILM
        starts, first, numbers = np.unique(self._starts.filled[filmed], return_index=True, return_inverse=True)
        of = np.full(len(self), -1)
        of[filmed] = numbers
        means = {**self._film_means, self._takes.start: self._takes.mean}
        centres = np.array([means[start] for start in starts.tolist()], np.float64).reshape(-1, self._width)
        return Films(of, self._telling(filmed), lengths[filmed][first], centres)

    def filmed_once(self) -> set[int]:
        """The classes of which all, but for what lies between, came in one go."""
        _, mostly_filmed, films = self._films_of_classes(self._current_lengths() >= SHORTEST_FILM)
        return set(np.flatnonzero(mostly_filmed & (films == 1)).tolist())

    def _telling(self, filmed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of a class that was mostly filmed, what lies between films is taken for a part of them: a fast movement,
        not a photo."""
        seen, mostly_filmed, films = self._films_of_classes(filmed)
        told_of = seen & (~mostly_filmed | (films > 1))
        if told_of.sum() < TOLD_OF * seen.sum():
            return np.zeros(len(self), bool)
        telling: NDArray[np.bool_] = told_of[self.classes] & (filmed | ~mostly_filmed[self.classes])
        return telling

    def _films_of_classes(self, filmed: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Indices]:
        """Which classes witnesses know, which of them were mostly filmed, and how often each was."""
        classes = int(self.classes.max(initial=-1)) + 1
        witnesses = np.bincount(self.classes, minlength=classes)
        in_films = np.bincount(self.classes[filmed], minlength=classes)
        _, first = np.unique(self._starts.filled[filmed], return_index=True)
        films = np.bincount(self.classes[filmed][first], minlength=classes)
        return witnesses > 0, 2 * in_films > witnesses, films

    def _current_lengths(self) -> Indices:
        """Of the takes that the witnesses were learned in; the last take goes on."""
        return np.where(self._starts.filled == self._takes.start, self._takes.length, self._lengths.filled)

    def follow_merge_of_prototypes(self, kept: int, retired: int) -> None:
        self.prototypes[self.prototypes == retired] = kept

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        self.classes[self.classes == absorbed] = kept
        self.classes[self.classes > absorbed] -= 1
        self._takes.merge(kept, absorbed)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values()) + self._positions.nbytes

    def state(self) -> Tensors:
        return {
            **({} if self._vectors is None else {"vectors": self._vectors.filled}),
            "classes": self.classes,
            "prototypes": self.prototypes,
            "take_starts": self._starts.filled,
            "take_lengths": self._current_lengths(),
            "film_starts": np.array(list(self._film_means), np.int64),
            "film_means": np.array(list(self._film_means.values()), np.float32).reshape(-1, self._width),
            **self._takes.state(),
        }

    def restore(self, state: Tensors, width: int, samples: int, class_of: dict[int, int]) -> None:
        """``class_of`` gives the class of every prototype by its id. Vectors, where there are any, are then in single
        precision again."""
        self._positions = GrowingArray((), np.int64, _positions_after(samples))
        self._vectors = self._restored_vectors(state.get("vectors"))
        self._classes = GrowingArray((), np.int64, state["classes"])
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        if {len(self._prototypes), len(self._positions)} != {len(self)}:
            raise ValueError("witnesses differ in number")
        if [class_of.get(prototype) for prototype in self.prototypes.tolist()] != self.classes.tolist():
            raise ValueError("a witness belongs to no prototype of its class")
        self._restore_takes(state, width, samples, len(set(class_of.values())))

    def _restored_vectors(self, vectors: NDArray[Any] | None) -> GrowingArray | None:
        if vectors is None:
            return None
        if len(vectors) != len(self._positions):
            raise ValueError("witnesses differ in number")
        return GrowingArray((self._width,), np.float32, _checked(vectors))

    def _restore_takes(self, state: Tensors, width: int, samples: int, classes: int) -> None:
        if "take" not in state:  # of a file of format 2 or 1, which knew nothing of them
            self._takes, self._film_means = Takes(width), {}
            self._starts = GrowingArray((), np.int64, np.arange(-len(self), 0))
            self._lengths = GrowingArray((), np.int64, np.ones(len(self)))
            return
        self._takes.restore(state, width, samples, classes)
        self._starts = GrowingArray((), np.int64, state["take_starts"])
        self._lengths = GrowingArray((), np.int64, state["take_lengths"])
        means = GrowingArray((width,), np.float32, _checked(state["film_means"])).filled
        self._film_means = dict(zip(state["film_starts"].tolist(), means, strict=True))
        starts, lengths = self._starts.filled, self._lengths.filled
        if {len(starts), len(lengths)} != {len(self)} or not ((lengths >= 1) & (lengths <= samples)).all():
            raise ValueError("the takes of witnesses are none")
        ended = starts[(lengths >= SHORTEST_FILM) & (starts != self._takes.start)]
        if not self._film_means.keys() >= set(ended.tolist()):
            raise ValueError("a witness is of a film that is none")


def _checked(vectors: NDArray[Any]) -> NDArray[Any]:
    if np.abs(vectors).max(initial=0.0) > LONGEST_NUMBER:
        raise ValueError("a vector of a witness is no unit vector")
    return vectors


def _positions_after(samples: int) -> Indices:
    """The places in the stream of those kept of so many."""
    positions = np.arange(min(samples, MOST))
    for start in range(MOST, samples, STRETCH):
        later = np.arange(start, min(start + STRETCH, samples), dtype=np.uint64)
        places = _scrambled(later) % (later + 1)
        kept = places < MOST
        positions[places[kept]] = later[kept]  # of several that took one place, the last is there
    return positions


Number = TypeVar("Number", int, NDArray[Any])


def _scrambled(number: Number) -> Number:
    """64 bits that look random, always the same for the same number (the finaliser of SplitMix64)."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31
