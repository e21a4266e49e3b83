"""Sums over mapped vectors: of their outer products, and of the vectors of every class.

Samples are mapped and added in blocks, which is many times faster than one by one. The first block is as large as a
mapped vector is long: while there are fewer samples than features, the samples themselves are the smaller model. Where
a block ends depends on the count of samples alone, so the bits do not depend on how the stream was cut into calls.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from exll.baselines.feature_maps import FeatureMap
from exll.baselines.rule import LearningRule, Scores
from exll.linalg.growing_array import GrowingArray
from exll.linalg.lapack import add_outer_products, add_outer_products_packed
from exll.types import Indices, Matrix, Tensors, Vector

BLOCK = 128
EVERY = 5  # of the samples of a class, one is held out
NAMES = ("", "held.")


class Totals(NamedTuple):
    gram: Matrix  # (D, D), the sum of outer products; lower triangle, Fortran order
    sums: Matrix  # (classes, D)
    counts: Indices  # (classes,)


class Moments:
    """What was added so far; the outer products as a lower triangle in rectangular full packed form."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.sums = GrowingArray((width,), np.float64)
        self.counts = GrowingArray((), np.int64)
        self.triangle: Vector | None = None

    def add(self, Z: Matrix, classes: Indices) -> None:
        if not len(Z):
            return
        if self.triangle is None:
            self.triangle = np.zeros(self.width * (self.width + 1) // 2)
        add_outer_products_packed(self.triangle, Z)
        for z, k in zip(Z, classes.tolist(), strict=True):
            while k >= len(self.counts):
                self.sums.append(0.0)
                self.counts.append(0)
            self.sums.filled[k] += z
            self.counts.filled[k] += 1

    def totals(self, Z: Matrix, classes: Indices, class_count: int) -> Totals:
        """The totals with these rows added; the moments do not change."""
        if self.triangle is None:
            gram = np.zeros((self.width, self.width), order="F")
        else:
            gram, info = lapack.dtfttr(self.width, self.triangle, uplo="L")
            assert info == 0
        sums, counts = np.zeros((class_count, self.width)), np.zeros(class_count, np.int64)
        sums[: len(self.sums)] = self.sums.filled
        counts[: len(self.counts)] = self.counts.filled
        if len(Z):
            add_outer_products(gram, Z)
            np.add.at(sums, classes, Z)
            np.add.at(counts, classes, 1)
        return Totals(gram, sums, counts)

    def state(self) -> Tensors:
        triangle = {} if self.triangle is None else {"triangle": self.triangle}
        return {"sums": self.sums.filled, "counts": self.counts.filled, **triangle}

    def restore(self, state: Tensors, prefix: str) -> None:
        self.sums = GrowingArray((self.width,), np.float64, state[f"{prefix}sums"])
        self.counts = GrowingArray((), np.int64, state[f"{prefix}counts"])
        if len(self.sums) != len(self.counts) or (self.counts.filled < 0).any():
            raise ValueError("sums and counts differ in number, or a count is negative")
        if self.counts.filled.sum():
            self.triangle = np.array(state[f"{prefix}triangle"], np.float64)
            if self.triangle.shape != (self.width * (self.width + 1) // 2,):
                raise ValueError("the sum of outer products has another width")


class MomentsRule(LearningRule):
    """A rule of the moments of mapped vectors; with ``hold_out``, every fifth sample of a class goes into moments of
    its own."""

    def __init__(self, width: int, feature_map: FeatureMap, hold_out: bool = False) -> None:
        self._width = width
        self._map = feature_map
        self._parts = [Moments(feature_map.width) for _ in range(1 + hold_out)]
        self._first_block = max(BLOCK, feature_map.width)
        self._class_count = 0
        self._pending = GrowingArray((width,), np.float64)  # not mapped yet
        self._pending_classes = GrowingArray((), np.int64)

    def learn(self, x: Vector, k: int) -> None:
        self._class_count = max(self._class_count, k + 1)
        self._pending.append(x)
        self._pending_classes.append(k)
        if len(self._pending) == (BLOCK if self._folded else self._first_block):
            for part, (Z, classes) in zip(self._parts, self._mapped(), strict=True):
                part.add(Z, classes)
            self._pending = GrowingArray((self._width,), np.float64)
            self._pending_classes = GrowingArray((), np.int64)

    @property
    def _folded(self) -> bool:
        """Whether more than the pending samples was added."""
        return self._parts[0].triangle is not None

    def _mapped(self) -> list[tuple[Matrix, Indices]]:
        """The pending samples of every part."""
        Z, classes = self._map(self._pending.filled), self._pending_classes.filled
        if len(self._parts) == 1:
            return [(Z, classes)]
        seen = self._counts()
        held = np.zeros(len(classes), bool)
        for i, k in enumerate(classes.tolist()):
            seen[k] += 1
            held[i] = seen[k] % EVERY == 0
        return [(Z[~held], classes[~held]), (Z[held], classes[held])]

    def _counts(self) -> Indices:
        """Of the classes, in all parts; without what is pending."""
        counts = np.zeros(self._class_count, np.int64)
        for part in self._parts:
            counts[: len(part.counts)] += part.counts.filled
        return counts

    def _totals(self) -> list[Totals]:
        return [
            part.totals(Z, classes, self._class_count)
            for part, (Z, classes) in zip(self._parts, self._mapped(), strict=True)
        ]

    @property
    def n_parameters(self) -> int:
        sums = len(self._parts) * self._map.width * (self._map.width + self._class_count)
        return self._map.n_parameters + sums

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._map.nbytes

    def state(self) -> Tensors:
        parts = {
            f"{prefix}{name}": array
            for prefix, part in zip(NAMES, self._parts, strict=False)
            for name, array in part.state().items()
        }
        pending = {"pending": self._pending.filled, "pending_classes": self._pending_classes.filled}
        return {**parts, **pending, **self._map.state()}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._class_count = classes
        self._map.restore(state)
        for prefix, part in zip(NAMES, self._parts, strict=False):
            part.restore(state, prefix)
            if len(part.counts) > classes:
                raise ValueError("there are sums of more classes than labels")
        self._pending = GrowingArray((self._width,), np.float64, state["pending"])
        self._pending_classes = GrowingArray((), np.int64, state["pending_classes"])
        pending, counts = self._pending_classes.filled, self._counts()
        blocks = samples - self._first_block
        expected = samples if blocks < 0 else blocks % BLOCK
        if not len(pending) == len(self._pending) == expected or counts.sum() + len(pending) != samples:
            raise ValueError("the sums do not hold all samples")
        if (
            not set(pending.tolist()) <= set(range(classes))
            or len({*pending.tolist(), *np.flatnonzero(counts)}) < classes
        ):
            raise ValueError("a sample is of no class, or a class has no sample")
        if len(self._parts) > 1:
            held = np.zeros(classes, np.int64)
            held[: len(self._parts[1].counts)] = self._parts[1].counts.filled
            if (held != counts // EVERY).any():
                raise ValueError("another number of samples was held out than it should be")


@dataclass(frozen=True)
class MappedScores:
    map: FeatureMap
    scores: Scores

    def __call__(self, X: Matrix) -> Matrix:
        return self.scores(self.map(X))
