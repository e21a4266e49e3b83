"""The reservoir: a fair sample of the stream. The model is judged by leaving each of its samples out."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.clips import CurrentClip
from exll.learner.glocal.group_means import GroupMeans, Key
from exll.linalg.growing_array import GrowingArray
from exll.linalg.half_precision import halved, widened
from exll.types import Indices, Matrix, Tensors, Vector

MOST = 1024
SEEN_TWICE = 0.5  # the share of the classes that must have more than one group, or nothing is judged by groups
STRETCH = 1 << 16  # samples of the stream to look through at a time
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Groups:
    """Samples of the reservoir that came together, in one clip or in a group that the caller named, and photos."""

    of: Indices  # (R,) the number of each sample's group, -1 where it has none, or none that says something
    photos: NDArray[np.bool_]  # (R,) the samples that came alone
    counts: Vector  # (G,) samples of the stream
    centres: Matrix  # (G, d)
    seen_once: float  # the share of the classes that came in one group only
    informative: bool  # whether enough classes have more; if not, all samples are here as photos

    def among(self, some: slice) -> "Groups":
        """The groups of some of the samples."""
        of = self.of[some]
        kept, numbers = np.unique(of[of >= 0], return_inverse=True)
        renumbered = of.copy()
        renumbered[of >= 0] = numbers
        counts, centres = self.counts[kept], self.centres[kept]
        return replace(self, of=renumbered, photos=self.photos[some], counts=counts, centres=centres)


class _ByClass(NamedTuple):
    """Of every class, (C,): what the samples here tell of the groups that it came in."""

    seen: NDArray[np.bool_]  # whether it has samples here
    mostly: NDArray[np.bool_]  # whether more than half of them came in groups
    groups: Indices


class Reservoir:
    """At most 1,024 samples, every sample of the stream as likely to be among them as any other.

    Which ones is a function of their positions in the stream alone (reservoir sampling with a fixed sequence of
    numbers), so the same stream always has the same reservoir. Each sample knows the group that it was learned in: one
    that the caller named, or its clip (:mod:`exll.learner.glocal.clips`).

    The vectors start in single precision. In a young stream of many columns a sample may be nearly all that varies in
    its own direction, and what is left without it is a small difference. Later half precision is enough
    (:meth:`round_vectors`), as in :mod:`exll.learner.records`. Where the records hold the vector of every sample, none
    is kept here.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._clip = CurrentClip(width)
        self._group_means = GroupMeans(width)
        self._positions = GrowingArray((), np.int64)
        self._vectors: GrowingArray | None = GrowingArray((width,), np.float32)
        self._classes = GrowingArray((), np.int64)
        self._prototypes = GrowingArray((), np.int64)
        # The position in the stream of the first sample of the clip; below zero, the number of a named group.
        self._group_ids = GrowingArray((), np.int64)

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

    def learn(self, position: int, x: Vector, k: int, prototype: int, group: int | None, variance: float) -> None:
        """``group`` is the number of a group that the caller named (:func:`group_number`), ``variance`` as for
        :meth:`CurrentClip.goes_on`."""
        if group is not None:
            self._end_clip()
            self._group_means.forget_unneeded(MOST, self._keys)  # not those of this sample, which is not here yet
            self._group_means.learn((k, group), x)
        else:
            if not self._clip.goes_on(x, k, variance):
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
            (self._group_ids, self._clip.start if group is None else group),
        ]
        if self._vectors is not None:
            row.append((self._vectors, halved(x) if self.rounded else x))
        for column, value in row:
            if position < MOST:
                column.append(value)
            else:
                column.filled[place] = value

    def _end_clip(self) -> None:
        """Keep what its samples here must know of it later, if it was a clip."""
        clip = self._clip
        if clip.is_clip and (self._group_ids.filled == clip.start).any():
            self._group_means.put((clip.class_number, clip.start), clip.length, clip.mean)
            self._group_means.forget_unneeded(MOST, self._keys)
        clip.end()

    def _keys(self) -> set[Key]:
        """Of the samples here."""
        return set(zip(self.classes.tolist(), self._group_ids.filled.tolist(), strict=True))

    def _group(self, key: Key) -> tuple[int, NDArray[np.floating]] | None:
        """Count and mean of a group, or of the current clip, if it is one so far; None for a photo."""
        if key == (self._clip.class_number, self._clip.start) and self._clip.is_clip:
            return self._clip.length, self._clip.mean
        return self._group_means.of(key) if key in self._group_means else None

    def groups(self, classes: int) -> Groups:
        """``classes`` is how many there are."""
        together, by_class = self._came_together(), self._groups_of_classes(classes)
        seen_twice = by_class.seen & (~by_class.mostly | (by_class.groups > 1))
        seen_once = float(1.0 - seen_twice.sum() / max(int(by_class.seen.sum()), 1))
        nobody, none = np.full(len(self), -1), np.empty((0, self._width))
        if seen_once > 1.0 - SEEN_TWICE:
            return Groups(nobody, np.ones(len(self), bool), np.empty(0), none, seen_once, informative=False)
        chosen = together & seen_twice[self.classes]
        pairs, numbers = np.unique(
            np.stack([self.classes[chosen], self._group_ids.filled[chosen]]), axis=1, return_inverse=True
        )
        of = nobody.copy()
        of[chosen] = numbers.ravel()
        known = [group for pair in pairs.T.tolist() if (group := self._group(tuple(pair))) is not None]
        counts = np.array([count for count, _ in known], np.float64)
        centres = np.array([mean for _, mean in known], np.float64).reshape(-1, self._width)
        # In a class that came mostly in clips, the samples between clips are taken for a part of them: a fast movement.
        photos = seen_twice[self.classes] & ~together & ~by_class.mostly[self.classes]
        return Groups(of, photos, counts, centres, seen_once, informative=True)

    def classes_from_one_group(self) -> set[int]:
        """The classes whose samples, nearly all of them, came in one clip or one named group."""
        by_class = self._groups_of_classes(int(self.classes.max(initial=-1)) + 1)
        return set(np.flatnonzero(by_class.mostly & (by_class.groups == 1)).tolist())

    def group_counts(self, class_counts: Indices) -> Indices:
        """In how many groups the samples of every class came: clips, named groups, and photos, each of which is one.
        A group counts for those like it that have no sample here: for as many as it was unlikely to have one."""
        together = self._came_together()
        shares = np.bincount(self.classes, minlength=len(class_counts)) / class_counts
        groups = np.bincount(self.classes[~together], minlength=len(class_counts)) / np.maximum(shares, 1e-12)
        for key in self._keys():
            if (group := self._group(key)) is not None:
                size, k = group[0], key[0]
                groups[k] += 1.0 / (1.0 - (1.0 - min(shares[k], 1.0 - 1e-12)) ** size)
        return np.rint(groups).astype(np.int64)

    def _came_together(self) -> NDArray[np.bool_]:
        """Which samples came with others, and not as photos."""
        keys = zip(self.classes.tolist(), self._group_ids.filled.tolist(), strict=True)
        return np.array([self._group(key) is not None for key in keys], bool)

    def _groups_of_classes(self, classes: int) -> "_ByClass":
        together = self._came_together()
        samples = np.bincount(self.classes, minlength=classes)
        samples_in_groups = np.bincount(self.classes[together], minlength=classes)
        pairs = np.unique(np.stack([self.classes[together], self._group_ids.filled[together]]), axis=1)
        groups = np.bincount(pairs[0], minlength=classes)
        return _ByClass(samples > 0, 2 * samples_in_groups > samples, groups)

    def merge_prototypes(self, kept: int, retired: int) -> None:
        self.prototypes[self.prototypes == retired] = kept

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        self.classes[self.classes == absorbed] = kept
        self.classes[self.classes > absorbed] -= 1
        self._clip.merge(kept, absorbed)
        self._group_means.merge(kept, absorbed)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values()) + self._positions.nbytes

    def state(self) -> Tensors:
        return {
            **({} if self._vectors is None else {"vectors": self._vectors.filled}),
            "classes": self.classes,
            "prototypes": self.prototypes,
            "group_ids": self._group_ids.filled,
            **self._group_means.state(),
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
            self._restore_groups(state, samples, len(set(class_of.values())))
        else:  # files of format 2 and 1 knew nothing of clips
            self._group_ids = GrowingArray((), np.int64, self.positions)

    def _restore_groups(self, state: Tensors, samples: int, classes: int) -> None:
        self._clip.restore(state, samples, classes)
        ids = state["group_ids" if "group_ids" in state else "clip_starts"]
        if len(ids) != len(self):
            raise ValueError("the columns of the reservoir differ in length")
        self._group_ids = GrowingArray((), np.int64, ids)
        if "group_keys" in state:
            self._group_means.restore(state, samples, classes)
            return
        # Up to format 5 clips that had ended were kept by their starts, with the lengths at the samples.
        means = dict(zip(state["ended_clip_starts"].tolist(), state["ended_clip_means"], strict=True))
        rows = zip(self.classes.tolist(), ids.tolist(), state["clip_lengths"].tolist(), strict=True)
        for k, start, length in rows:
            if start in means and start != self._clip.start:
                if not 1 <= length <= samples:
                    raise ValueError("the length of a clip is impossible")
                self._group_means.put((k, start), length, means[start])


def group_number(name: Hashable) -> int:
    """A number below zero for a named group, the same for the same name."""
    digest = blake2b(repr(name).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return -1 - (int.from_bytes(digest, "little") >> 1)


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
