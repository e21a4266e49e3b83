"""Counts and means of groups of samples that came together, as far as samples of the reservoir belong to them."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.types import Tensors, Vector

Key: TypeAlias = tuple[int, int]  # a class, and the number of a group

MOST_UNNEEDED = 256  # groups that are kept without looking whether any sample of the reservoir still belongs to them


class GroupMeans:
    """In single precision; half of it would never be enough."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._counts: dict[Key, int] = {}
        self._means: dict[Key, NDArray[np.float32]] = {}

    def learn(self, key: Key, x: Vector) -> None:
        """One more sample of a group."""
        count = self._counts.get(key, 0) + 1
        mean = self._means.get(key, np.zeros(self._width, np.float32))
        self.put(key, count, mean + (x - mean) / count)

    def put(self, key: Key, count: int, mean: Vector) -> None:
        """All samples of a group."""
        self._counts[key], self._means[key] = count, np.asarray(mean, np.float32)

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

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        old_counts, old_means = self._counts, self._means
        self._counts, self._means = {}, {}
        for (k, number), count in old_counts.items():
            key = (kept if k == absorbed else k - (k > absorbed), number)
            before, mean = self._counts.get(key, 0), self._means.get(key, np.zeros(self._width, np.float32))
            total = before + count
            self.put(key, total, (before * mean + count * old_means[k, number]) / total)

    def state(self) -> Tensors:
        return {
            "group_keys": np.array(list(self._counts), np.int64).reshape(-1, 2),
            "group_counts": np.array(list(self._counts.values()), np.int64),
            "group_means": np.array(list(self._means.values()), np.float32).reshape(-1, self._width),
        }

    def restore(self, state: Tensors, samples: int, classes: int) -> None:
        keys, counts = state["group_keys"].reshape(-1, 2), state["group_counts"]
        means = np.array(state["group_means"], np.float32)
        if len(keys) != len(counts) or means.shape != (len(keys), self._width):
            raise ValueError("the groups of the reservoir differ in number or width")
        if not ((counts >= 1) & (counts <= samples) & (keys[:, 0] >= 0) & (keys[:, 0] < classes)).all():
            raise ValueError("a group of the reservoir is impossible")
        for (k, number), count, mean in zip(keys.tolist(), counts.tolist(), means, strict=True):
            self.put((k, number), count, mean)
