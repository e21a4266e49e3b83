"""The reservoir: a fair sample of the stream. The model is judged by leaving each of its samples out."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.clips import SHORTEST_CLIP, CurrentClip
from exll.linalg.growing_array import GrowingArray
from exll.linalg.half_precision import halved, widened
from exll.types import Indices, Matrix, Tensors, Vector

MOST = 1024
MOST_CLIPS = 256  # whose means are kept without looking whether any sample here still belongs to them
SEEN_TWICE = 0.5  # the share of the classes that must have more than one clip, or nothing is called unknown
STRETCH = 1 << 16  # samples of the stream to look through at a time
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Clips:
    """The clips that samples of the reservoir belong to, as far as they are long enough."""

    of: Indices  # (R,) the number of each sample's clip, -1 for a photo
    informative: NDArray[np.bool_]  # (R,) whether the class holds anything that did not come with the sample
    counts: Indices  # (G,) samples of the stream
    centres: Matrix  # (G, d)

    def among(self, some: slice) -> "Clips":
        """The clips of some of the samples."""
        of = self.of[some]
        kept, numbers = np.unique(of[of >= 0], return_inverse=True)
        renumbered = of.copy()
        renumbered[of >= 0] = numbers
        return Clips(renumbered, self.informative[some], self.counts[kept], self.centres[kept])


class Reservoir:
    """At most 1,024 samples, every sample of the stream as likely to be among them as any other.

    Which ones is a function of their positions in the stream alone (reservoir sampling with a fixed sequence of
    numbers), so the same stream always has the same reservoir. Each sample knows the clip that it was learned in
    (:mod:`exll.learner.glocal.clips`).

    The vectors start in single precision. In a young stream of many columns a sample may be nearly all that varies in
    its own direction, and what is left without it is a small difference. Later half precision is enough
    (:meth:`round_vectors`), as in :mod:`exll.learner.records`. Where the records hold the vector of every sample, none
    is kept here.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._clip = CurrentClip(width)
        self._positions = GrowingArray((), np.int64)
        self._vectors: GrowingArray | None = GrowingArray((width,), np.float32)
        self._classes = GrowingArray((), np.int64)
        self._prototypes = GrowingArray((), np.int64)
        self._clip_starts = GrowingArray((), np.int64)  # the position in the stream of the first sample of the clip
        self._clip_lengths = GrowingArray((), np.int64)
        # The means of long clips that ended, by their starts. Half precision would never be enough for them.
        self._clip_means: dict[int, NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def positions(self) -> Indices:
        """Of the samples in the stream, from 0."""
        return self._positions.filled

    def vectors(self, recorded: NDArray[np.float16] | None, some: slice = slice(None)) -> NDArray[np.float32]:
        """Of some or all samples; ``recorded`` are those of the whole stream, where the records hold them."""
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
        """The ids of the prototypes that the samples joined."""
        return self._prototypes.filled

    def learn(self, position: int, x: Vector, k: int, prototype: int, longest_step: float) -> None:
        if not self._clip.goes_on(x, k, longest_step):
            self._end_clip()
            self._clip.begin(position, k)
        self._clip.learn(x)
        place = position if position < MOST else _scrambled(position) % (position + 1)
        if place >= MOST:
            return
        row: list[tuple[GrowingArray, Any]] = [
            (self._positions, position),
            (self._classes, k),
            (self._prototypes, prototype),
            (self._clip_starts, self._clip.start),
            (self._clip_lengths, 1),
        ]
        if self._vectors is not None:
            row.append((self._vectors, halved(x) if self.rounded else x))
        for column, value in row:
            if position < MOST:
                column.append(value)
            else:
                column.filled[place] = value

    def _end_clip(self) -> None:
        """Keep what its samples here must know of it later."""
        start, length = self._clip.start, self._clip.length
        if length <= 1:
            return
        own = self._clip_starts.filled == start
        self._clip_lengths.filled[own] = length
        if length >= SHORTEST_CLIP and own.any():
            self._clip_means[start] = self._clip.mean.astype(np.float32)
            if len(self._clip_means) > MOST_CLIPS:
                needed = set(self._clip_starts.filled.tolist())
                self._clip_means = {start: mean for start, mean in self._clip_means.items() if start in needed}

    def clips(self) -> Clips:
        lengths = self._current_lengths()
        in_clip = lengths >= SHORTEST_CLIP
        starts, first, numbers = np.unique(self._clip_starts.filled[in_clip], return_index=True, return_inverse=True)
        of = np.full(len(self), -1)
        of[in_clip] = numbers
        means = {**self._clip_means, self._clip.start: self._clip.mean}
        centres = np.array([means[start] for start in starts.tolist()], np.float64).reshape(-1, self._width)
        return Clips(of, self._informative(in_clip), lengths[in_clip][first], centres)

    def classes_from_one_clip(self) -> set[int]:
        """The classes whose samples, nearly all of them, came in one clip."""
        _, mostly_clips, clips = self._clips_of_classes(self._current_lengths() >= SHORTEST_CLIP)
        return set(np.flatnonzero(mostly_clips & (clips == 1)).tolist())

    def _informative(self, in_clip: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """In a class that came mostly in clips, the samples between clips are taken for a part of them: a fast
        movement, not a photo."""
        seen, mostly_clips, clips = self._clips_of_classes(in_clip)
        seen_twice = seen & (~mostly_clips | (clips > 1))
        if seen_twice.sum() < SEEN_TWICE * seen.sum():
            return np.zeros(len(self), bool)
        informative: NDArray[np.bool_] = seen_twice[self.classes] & (in_clip | ~mostly_clips[self.classes])
        return informative

    def _clips_of_classes(self, in_clip: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Indices]:
        """Which classes have samples here, which of them came mostly in clips, and in how many clips each came."""
        classes = int(self.classes.max(initial=-1)) + 1
        samples = np.bincount(self.classes, minlength=classes)
        samples_in_clips = np.bincount(self.classes[in_clip], minlength=classes)
        _, first = np.unique(self._clip_starts.filled[in_clip], return_index=True)
        clips = np.bincount(self.classes[in_clip][first], minlength=classes)
        return samples > 0, 2 * samples_in_clips > samples, clips

    def _current_lengths(self) -> Indices:
        """Of the clips that the samples were learned in; the last clip goes on."""
        return np.where(self._clip_starts.filled == self._clip.start, self._clip.length, self._clip_lengths.filled)

    def merge_prototypes(self, kept: int, retired: int) -> None:
        self.prototypes[self.prototypes == retired] = kept

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        self.classes[self.classes == absorbed] = kept
        self.classes[self.classes > absorbed] -= 1
        self._clip.merge(kept, absorbed)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values()) + self._positions.nbytes

    def state(self) -> Tensors:
        return {
            **({} if self._vectors is None else {"vectors": self._vectors.filled}),
            "classes": self.classes,
            "prototypes": self.prototypes,
            "clip_starts": self._clip_starts.filled,
            "clip_lengths": self._current_lengths(),
            "ended_clip_starts": np.array(list(self._clip_means), np.int64),
            "ended_clip_means": np.array(list(self._clip_means.values()), np.float32).reshape(-1, self._width),
            **self._clip.state(),
        }

    def restore(self, state: Tensors, samples: int, class_of: dict[int, int]) -> None:
        """``class_of`` gives the class of every prototype by its id. Vectors, where there are any, are then in single
        precision again."""
        self._positions = GrowingArray((), np.int64, _positions_after(samples))
        self._classes = GrowingArray((), np.int64, state["classes"])
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        self._vectors = None
        if "vectors" in state:
            self._vectors = GrowingArray((self._width,), np.float32, state["vectors"])
        columns = [self._positions, self._prototypes, self._vectors]
        if {len(column) for column in columns if column is not None} != {len(self)}:
            raise ValueError("the columns of the reservoir differ in length")
        if [class_of.get(prototype) for prototype in self.prototypes.tolist()] != self.classes.tolist():
            raise ValueError("a sample of the reservoir belongs to no prototype of its class")
        if "clip" in state:
            self._restore_clips(state, samples, len(set(class_of.values())))
        else:  # files of format 2 and 1 knew nothing of clips
            self._clip_starts = GrowingArray((), np.int64, np.arange(-len(self), 0))
            self._clip_lengths = GrowingArray((), np.int64, np.ones(len(self)))

    def _restore_clips(self, state: Tensors, samples: int, classes: int) -> None:
        self._clip.restore(state, samples, classes)
        self._clip_starts = GrowingArray((), np.int64, state["clip_starts"])
        self._clip_lengths = GrowingArray((), np.int64, state["clip_lengths"])
        means = GrowingArray((self._width,), np.float32, state["ended_clip_means"]).filled
        self._clip_means = dict(zip(state["ended_clip_starts"].tolist(), means, strict=True))
        starts, lengths = self._clip_starts.filled, self._clip_lengths.filled
        if {len(starts), len(lengths)} != {len(self)}:
            raise ValueError("the columns of the reservoir differ in length")
        if not ((lengths >= 1) & (lengths <= samples)).all():
            raise ValueError("the length of a clip is impossible")
        ended = starts[(lengths >= SHORTEST_CLIP) & (starts != self._clip.start)]
        if not self._clip_means.keys() >= set(ended.tolist()):
            raise ValueError("the mean of a clip is missing")


def _positions_after(samples: int) -> Indices:
    """The positions of the samples that are kept of so many."""
    positions = np.arange(min(samples, MOST))
    for start in range(MOST, samples, STRETCH):
        later = np.arange(start, min(start + STRETCH, samples), dtype=np.uint64)
        places = _scrambled(later) % (later + 1)
        kept = places < MOST
        positions[places[kept]] = later[kept]  # of several that took one place, the last stays
    return positions


Number = TypeVar("Number", int, NDArray[Any])


def _scrambled(number: Number) -> Number:
    """64 bits that look random, always the same for the same number (the finaliser of SplitMix64)."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31
