"""The reservoir: a fair sample of the stream. The model is judged by leaving each of its samples out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.clips import CurrentClip
from exll.learner.glocal.group_means import GroupMeans, Key
from exll.learner.records import NO_GROUP, AllVectors, Records, Sample
from exll.linalg.fixed_point import decoded_roughly, encoded
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import SAME
from exll.types import Indices, Matrix, Tensors, Vector

MOST = 1024
SEEN_TWICE = 0.5  # the share of the classes that must have more than one group, or nothing is judged by groups
STRETCH = 1 << 16  # samples of the stream to look through at a time
_MASK = (1 << 64) - 1
NO_LIMIT = _MASK
TOGETHER = 4096  # rows that are decoded at a time


@dataclass(frozen=True)
class Groups:
    """Samples of the reservoir that came together, in one clip or in a group that the caller named, and photos."""

    of: Indices  # (R,) the number of each sample's group, -1 where it has none, or none that says something
    photos: NDArray[np.bool_]  # (R,) the samples that came alone
    counts: Vector  # (G,) samples of the stream
    centres: Matrix  # (G, d)
    seen_once: float  # the share of the classes that came in one group only
    informative: bool  # whether enough classes have more; if not, all samples are here as photos

    def among(self, some: Indices) -> "Groups":
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

    Every sample has a key, a number that looks random and follows from its vector; those with the smallest keys are
    kept. So they are the same in whatever order the samples come, whichever of two merged models learned them, and
    whether or not others were learned and forgotten since. Of equal vectors each has another key, no smaller than those
    before it, so that a vector that comes again and again does not fill the reservoir.

    Each sample knows the group that it was learned in: one that the caller named, or its clip
    (:mod:`exll.learner.glocal.clips`).
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._clip = CurrentClip(width)
        self._group_means = GroupMeans(width)
        self._limit = NO_LIMIT  # every sample of the stream with a smaller key is here
        self._keys = GrowingArray((), np.uint64)
        self._contents = GrowingArray((), np.uint64)
        self._positions = GrowingArray((), np.int64)
        self._vectors = GrowingArray((width,), np.float32)
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

    @property
    def vectors(self) -> NDArray[np.float32]:
        return self._vectors.filled

    @property
    def classes(self) -> Indices:
        return self._classes.filled

    @property
    def prototypes(self) -> Indices:
        """The ids of the prototypes that the samples joined."""
        return self._prototypes.filled

    def some(self, most: int) -> Indices:
        """Where at most so many samples stand, each as likely as any other to be among them."""
        order: Indices = np.argsort(self._keys.filled)[:most]
        return order

    def learn(self, sample: Sample, k: int, prototype: int, variance: float) -> None:
        """``variance`` as for :meth:`CurrentClip.goes_on`."""
        x, position, group = sample.x, sample.position, sample.group
        if group is not None:
            self._end_clip()
            self._group_means.forget_unneeded(MOST, self._group_keys)  # not those of this sample, which is not here yet
            self._group_means.learn((k, group), x)
        else:
            if not self._clip.goes_on(x, k, variance):
                self._end_clip()
                self._clip.begin(position, k)
            self._clip.learn(x)
        (content,) = contents_of(sample.codes[None])
        came_with = self._clip.start if group is None else group
        vector = partial(_decoded, sample.codes, sample.scale)
        self._add(content, vector, k, prototype, position, came_with)

    def _add(self, content: np.uint64, vector: Callable[[], NDArray[np.float32]], *others: int) -> None:
        """A sample of the stream, which stays if its key is among the smallest: few are, in a long stream."""
        equal = self._keys.filled[self._contents.filled == content]
        key = max(_scrambled(int(content) + len(equal)), int(equal.max(initial=0)))
        if key >= self._limit:
            return
        row: tuple[Any, ...] = (key, content, vector(), *others)
        if len(self) < MOST:
            for column, value in zip(self._columns, row, strict=True):
                column.append(value)
            return
        largest = int(self._keys.filled.argmax())
        self._limit = max(key, int(self._keys.filled[largest]))
        if key < self._limit:
            for column, value in zip(self._columns, row, strict=True):
                column.filled[largest] = value

    @property
    def _columns(self) -> tuple[GrowingArray, ...]:
        """In the order of the arguments of :meth:`_add`."""
        return (
            self._keys,
            self._contents,
            self._vectors,
            self._classes,
            self._prototypes,
            self._positions,
            self._group_ids,
        )

    def forget(self, x: Vector, k: int, position: int | None, group: int | None) -> None:
        """Where the records do not tell the position, the sample is known by its vector."""
        if position is None:
            rows = self._rows_of(x, k)[:1]
        else:
            rows = np.flatnonzero(self.positions == position)
        for row in rows.tolist():
            position, content = int(self.positions[row]), self._contents.filled[row]
            if group is None and self._group_ids.filled[row] < 0:
                group = int(self._group_ids.filled[row])
            for column in self._columns:
                column.remove_unordered(row)
            largest = 0
            for copies, equal in enumerate(np.flatnonzero(self._contents.filled == content).tolist()):
                largest = max(largest, _scrambled(int(content) + copies))
                self._keys.filled[equal] = min(largest, self._limit)
        if group is None and self._clip.holds(x, k, position):
            is_last = self._clip.is_last(x)
            self._clip.forget(x)
            if is_last:
                self._end_clip()
            return
        key: Key | None = None if group is None else (k, group)
        if group is None and position is not None:
            key = self._group_means.clip_of(position, k)
        if key is None or key not in self._group_means:
            key = self._group_means.group_of_one(x, k)
        if key is not None:
            self._group_means.forget(key, x)

    def refill(self, known: AllVectors, class_of: dict[int, int]) -> None:
        """Where samples were forgotten, take those with the next smallest keys. ``class_of`` as for
        :meth:`restore`."""
        if len(self) == len(known.positions):
            self._limit = NO_LIMIT
        if len(self) == min(MOST, len(known.positions)):
            return
        others = np.flatnonzero(~np.isin(known.positions, self.positions))
        contents = np.concatenate([contents_of(known.codes[some]) for some in in_turns(others)])
        self._limit = NO_LIMIT
        for i in np.argsort(_scrambled(contents), kind="stable").tolist():
            row = others[i]
            position, prototype, group = (int(column[row]) for column in known[:3])
            k = class_of[prototype]
            if group == NO_GROUP:
                clip = self._group_means.clip_of(position, k)
                group = position if clip is None else clip[1]
            vector = partial(_decoded, known.codes[row], float(known.scales[row]))
            self._add(contents[i], vector, k, prototype, position, group)
            if self._limit != NO_LIMIT:
                return

    def absorb(self, other: "Reservoir", numbers: Indices, ids: int, positions: int) -> None:
        """That of another learner, whose classes have these numbers here, and whose prototypes and positions are
        counted on from these."""
        for reservoir in (self, other):
            reservoir._end_clip()
        self._group_means.absorb(other._group_means, numbers, positions)
        self._limit = min(self._limit, other._limit)
        for row in np.flatnonzero(self._keys.filled >= self._limit)[::-1].tolist():
            for column in self._columns:
                column.remove_unordered(row)
        for row in other.some(MOST).tolist():
            group = int(other._group_ids.filled[row])
            self._add(
                other._contents.filled[row],
                partial(other.vectors.__getitem__, row),
                int(numbers[other.classes[row]]),
                int(other.prototypes[row]) + ids,
                int(other.positions[row]) + positions,
                group + positions if group >= 0 else group,
            )

    def remove_class(self, k: int) -> None:
        """A class without samples is gone: the later ones move up by one place."""
        self.classes[self.classes > k] -= 1
        self._clip.remove_class(k)
        self._group_means.remove_class(k)

    def _end_clip(self) -> None:
        """Keep what its samples here must know of it later, if it was a clip."""
        clip = self._clip
        if clip.is_clip and (self._group_ids.filled == clip.start).any():
            self._group_means.put((clip.class_number, clip.start), clip.length, clip.mean, clip.span)
            self._group_means.forget_unneeded(MOST, self._group_keys)
        clip.end()

    def _group_keys(self) -> set[Key]:
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
        for key in self._group_keys():
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

    def prototype_of(self, x: Vector, k: int) -> int | None:
        """The id of the prototype that x, of class k, joined, if the sample is here."""
        found = self._rows_of(x, k)
        return int(self.prototypes[found[0]]) if len(found) else None

    def _rows_of(self, x: Vector, k: int) -> Indices:
        return np.flatnonzero((self.classes == k) & (np.square(self.vectors - x).sum(axis=1) < SAME))

    def assign(self, position: int, prototype: int) -> None:
        """A sample, if it is here, is now one of another prototype."""
        self.prototypes[self.positions == position] = prototype

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
        return sum(array.nbytes for array in self.state(with_vectors=True).values())

    def state(self, with_vectors: bool = True) -> Tensors:
        """Without the vectors, where the records hold them too."""
        return {
            **({"vectors": self.vectors} if with_vectors else {}),
            "keys": self._keys.filled,
            "contents": self._contents.filled,
            "limit": np.array([self._limit], np.uint64),
            "positions": self.positions,
            "classes": self.classes,
            "prototypes": self.prototypes,
            "group_ids": self._group_ids.filled,
            **self._group_means.state(),
            **self._clip.state(),
        }

    def restore(self, state: Tensors, records: Records, samples: int, learned: int, class_of: dict[int, int]) -> None:
        """Of so many samples, and so many with those that were forgotten. ``class_of`` gives the class of every
        prototype by its id."""
        positions = state["positions"] if "positions" in state else _positions_after(samples)
        self._positions = GrowingArray((), np.int64, positions)
        self._classes = GrowingArray((), np.int64, state["classes"])
        self._prototypes = GrowingArray((), np.int64, state["prototypes"])
        self._vectors = GrowingArray((self._width,), np.float32, _vectors(state, positions, records, self._width))
        if len(self) > MOST or {len(column) for column in (self._positions, self._prototypes, self._vectors)} != {
            len(self)
        }:
            raise ValueError("the columns of the reservoir differ in length")
        if [class_of.get(prototype) for prototype in self.prototypes.tolist()] != self.classes.tolist():
            raise ValueError("a sample of the reservoir belongs to no prototype of its class")
        places = set(positions.tolist())
        if len(places) != len(self) or not 0 <= min(places) <= max(places) < learned:
            raise ValueError("two samples of the reservoir have one position, or one has none in the stream")
        self._restore_keys(state, samples)
        if "clip" in state:
            self._restore_groups(state, learned, len(set(class_of.values())))
        else:  # files of format 2 and 1 knew nothing of clips
            self._group_ids = GrowingArray((), np.int64, self.positions)

    def _restore_keys(self, state: Tensors, samples: int) -> None:
        if "keys" in state:
            self._keys = GrowingArray((), np.uint64, state["keys"])
            self._contents = GrowingArray((), np.uint64, state["contents"])
            (limit,) = state["limit"].tolist()
            self._limit = int(limit)
            if {len(self._keys), len(self._contents)} != {len(self)} or (self._keys.filled > self._limit).any():
                raise ValueError("the keys of the reservoir do not fit its samples")
            return
        # Up to format 7 samples were drawn by their positions: as fair, and their keys may be anything below a limit.
        contents = contents_of(encoded(self.vectors.astype(np.float64))[0])
        share = min(1.0, MOST / samples)
        self._contents = GrowingArray((), np.uint64, contents)
        self._keys = GrowingArray((), np.uint64, (_scrambled(contents) * (0.999 * share)).astype(np.uint64))
        self._limit = NO_LIMIT if samples <= MOST else int(NO_LIMIT * share)

    def _restore_groups(self, state: Tensors, learned: int, classes: int) -> None:
        self._clip.restore(state, learned, classes)
        ids = state["group_ids" if "group_ids" in state else "clip_starts"]
        if len(ids) != len(self):
            raise ValueError("the columns of the reservoir differ in length")
        self._group_ids = GrowingArray((), np.int64, ids)
        if "group_keys" in state:
            self._group_means.restore(state, learned, classes)
            return
        # Up to format 5 clips that had ended were kept by their starts, with the lengths at the samples.
        means = dict(zip(state["ended_clip_starts"].tolist(), state["ended_clip_means"], strict=True))
        rows = zip(self.classes.tolist(), ids.tolist(), state["clip_lengths"].tolist(), strict=True)
        for k, start, length in rows:
            if start in means and start != self._clip.start:
                if not 1 <= length <= learned:
                    raise ValueError("the length of a clip is impossible")
                self._group_means.put((k, start), length, means[start])


def _positions_after(samples: int) -> Indices:
    """The positions of the samples that are kept of so many."""
    positions = np.arange(min(samples, MOST))
    for start in range(MOST, samples, STRETCH):
        later = np.arange(start, min(start + STRETCH, samples), dtype=np.uint64)
        places = _scrambled(later) % (later + 1)
        kept = places < MOST
        positions[places[kept]] = later[kept]  # of several that took one place, the last stays
    return positions


def _vectors(state: Tensors, positions: Indices, records: Records, width: int) -> NDArray[np.float32]:
    if "vectors" in state:
        return np.array(state["vectors"], np.float32)
    found = [record for _, record in records.at(positions.tolist()) if record.codes is not None]
    codes = np.array([record.codes for record in found], np.int32).reshape(-1, width)
    return decoded_roughly(codes, np.array([record.scale for record in found]))


def _decoded(codes: NDArray[np.int32], scale: float) -> NDArray[np.float32]:
    (vector,) = decoded_roughly(codes[None], np.array([scale]))
    return np.asarray(vector)


def in_turns(rows: Indices) -> Iterator[Indices]:
    """Some rows at a time."""
    return (rows[start : start + TOGETHER] for start in range(0, max(len(rows), 1), TOGETHER))


def contents_of(codes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A number for each row, the same for the same row: a sum of its numbers, each times a number that looks random."""
    contents: NDArray[np.uint64] = codes.view(np.uint32).astype(np.uint64) @ _factors(codes.shape[1])
    return contents


@lru_cache(maxsize=4)
def _factors(width: int) -> NDArray[np.uint64]:
    return _scrambled(np.arange(width, dtype=np.uint64)) | np.uint64(1)


Number = TypeVar("Number", int, NDArray[Any])


def _scrambled(number: Number) -> Number:
    """64 bits that look random, always the same for the same number (the finaliser of SplitMix64)."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31
