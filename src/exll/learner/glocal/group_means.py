"""Counts and means of groups of samples that came together, as far as samples of the reservoir belong to them."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.linalg.ties import SAME
from exll.types import Indices, Tensors, Vector

Key: TypeAlias = tuple[int, int]  # a class, and the number of a group

MOST_UNNEEDED = 256  # groups that are kept without looking whether any sample of the reservoir still belongs to them


class GroupMeans:
    """In single precision; half of it would never be enough."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._counts: dict[Key, int] = {}
        self._means: dict[Key, NDArray[np.float32]] = {}
        self._spans: dict[Key, int] = {}  # of clips, in positions, also of samples that were forgotten

    def learn(self, key: Key, x: Vector) -> None:
        """One more sample of a group."""
        count = self._counts.get(key, 0) + 1
        mean = self._means.get(key, np.zeros(self._width, np.float32))
        self.put(key, count, mean + (x - mean) / count)

    def put(self, key: Key, count: int, mean: Vector, span: int = 0) -> None:
        """All samples of a group."""
        self._counts[key], self._means[key] = count, np.asarray(mean, np.float32)
        self._spans[key] = max(span, count, self._spans.get(key, 0))

    def __contains__(self, key: Key) -> bool:
        return key in self._counts

    def of(self, key: Key) -> tuple[int, NDArray[np.float32]]:
        return self._counts[key], self._means[key]

    def forget_unneeded(self, most: int, needed: Callable[[], set[Key]]) -> None:
        """Keep only the needed ones, where there are more than so many others."""
        if len(self._counts) > most + MOST_UNNEEDED:
            keys = needed()
            self._counts = {key: count for key, count in self._counts.items() if key in keys}
            self._means = {key: self._means[key] for key in self._counts}
            self._spans = {key: self._spans[key] for key in self._counts}

    def forget(self, key: Key, x: Vector) -> None:
        """One sample of a group is forgotten."""
        count, mean = self.of(key)
        if count == 1:
            del self._counts[key], self._means[key], self._spans[key]
        else:
            self.put(key, count - 1, mean + (mean - x) / (count - 1))

    def clip_of(self, position: int, k: int) -> Key | None:
        """The clip that the sample of class k at that position came in, if it is here."""
        for number, start in self._counts:
            if number == k and 0 <= start <= position < start + self._spans[number, start]:
                return number, start
        return None

    def group_of_one(self, x: Vector, k: int) -> Key | None:
        """The group of which x is the only sample."""
        for key, count in self._counts.items():
            if count == 1 and key[0] == k and float(np.square(self._means[key] - x).sum()) < SAME:
                return key
        return None

    def remove_class(self, k: int) -> None:
        """The later classes move up by one place."""
        kept = {(j - (j > k), number): (j, number) for j, number in self._counts if j != k}
        self._means = {key: self._means[old] for key, old in kept.items()}
        self._counts = {key: self._counts[old] for key, old in kept.items()}
        self._spans = {key: self._spans[old] for key, old in kept.items()}

    def absorb(self, other: "GroupMeans", numbers: Indices, positions: int) -> None:
        """Those of another learner, whose classes have these numbers here; clips begin so many positions later."""
        for (k, number), count in other._counts.items():
            key = int(numbers[k]), number + positions if number >= 0 else number
            before, mean = self._counts.get(key, 0), self._means.get(key, np.zeros(self._width, np.float32))
            total = before + count
            self.put(key, total, (before * mean + count * other._means[k, number]) / total, other._spans[k, number])

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        old_counts, old_means, old_spans = self._counts, self._means, self._spans
        self._counts, self._means, self._spans = {}, {}, {}
        for (k, number), count in old_counts.items():
            key = (kept if k == absorbed else k - (k > absorbed), number)
            before, mean = self._counts.get(key, 0), self._means.get(key, np.zeros(self._width, np.float32))
            total = before + count
            self.put(key, total, (before * mean + count * old_means[k, number]) / total, old_spans[k, number])

    def state(self) -> Tensors:
        return {
            "group_keys": np.array(list(self._counts), np.int64).reshape(-1, 2),
            "group_counts": np.array(list(self._counts.values()), np.int64),
            "group_spans": np.array(list(self._spans.values()), np.int64),
            "group_means": np.array(list(self._means.values()), np.float32).reshape(-1, self._width),
        }

    def restore(self, state: Tensors, samples: int, classes: int) -> None:
        keys, counts = state["group_keys"].reshape(-1, 2), state["group_counts"]
        means = np.array(state["group_means"], np.float32)
        spans = state.get("group_spans", counts)
        if not len(keys) == len(counts) == len(spans) or means.shape != (len(keys), self._width):
            raise ValueError("the groups of the reservoir differ in number or width")
        if not (
            (counts >= 1) & (counts <= spans) & (spans <= samples) & (keys[:, 0] >= 0) & (keys[:, 0] < classes)
        ).all():
            raise ValueError("a group of the reservoir is impossible")
        for (k, number), count, mean, span in zip(keys.tolist(), counts.tolist(), means, spans.tolist(), strict=True):
            self.put((k, number), count, mean, span)
