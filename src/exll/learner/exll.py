"""The learner: the paper's numbered steps, one sample after the other, at the speed of matrix products.

It knows unit vectors and class numbers, nothing of labels or images. Classes are numbered in the order of first sight.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from exll.errors import LearningInterruptedError
from exll.learner.block import Block
from exll.learner.fusion import Voices
from exll.learner.inference import Inference
from exll.learner.interrupts import interrupt_deferred
from exll.learner.lagging import LaggingPrecision
from exll.learner.megacloud import MegaCloud, MegaClouds
from exll.learner.preset import PRESETS
from exll.learner.prototypes import Members, Prototypes
from exll.learner.records import Record, new_records
from exll.learner.statistics import GlobalStatistics
from exll.learner.ties import first_of_largest
from exll.types import Indices, Matrix, RecordsKind, Tensors, Vector

BLOCK_ROWS = 64


class ExLL:
    r"""Prototypes and MegaClouds over one shared covariance.

    The precision $\Lambda$ has two uses. *Learning* (the nearest prototype, the fusion counts) uses one that may lag:
    it is refreshed when the stream has grown by ``refresh_growth`` since the last time, a function of the count alone;
    0 refreshes at every sample, the paper to the letter. *Asking* always uses the exact one, computed on demand and
    never fed back.
    """

    def __init__(self, width: int, preset: str, refresh_growth: float, records: RecordsKind) -> None:
        self.width = width
        self.preset = preset
        self.refresh_growth = refresh_growth
        self.records_kind = records
        self._parts = PRESETS[preset]
        self._statistics = GlobalStatistics(width, self._parts.residual)
        self._prototypes = Prototypes(width)
        self._megaclouds = MegaClouds(width)
        self._fusion = self._parts.new_fusion()
        self._records = new_records(records, width)
        self._precision = LaggingPrecision(width, self._parts.shrinkage, refresh_growth)
        self._inference: Inference | None = None
        self.lock = threading.RLock()
        self._broken = False

    def learn(self, X: Matrix, classes: Sequence[int], refs: Sequence[str | None] | None = None) -> None:
        """Learn rows in order. X holds unit vectors; a class never seen is numbered ``class_count``, ``class_count +
        1``, ..."""
        start = 0
        while start < len(X):
            with self.lock, interrupt_deferred():
                self._check_whole()
                until_refresh = self._precision.next_refresh - self.sample_count
                stop = min(start + BLOCK_ROWS, start + until_refresh, len(X))
                some_refs = [None] * (stop - start) if refs is None else refs[start:stop]
                self._inference = None
                self._broken = True
                self._learn_block(X[start:stop], classes[start:stop], some_refs)
                self._broken = False
            start = stop

    def _learn_block(self, X: Matrix, classes: Sequence[int], refs: Sequence[str | None]) -> None:
        block = Block(X, self._precision.current, self._prototypes, self._megaclouds)
        for i, (x, k, ref) in enumerate(zip(X, classes, refs, strict=True)):
            row = i
            new_class = k == len(self._megaclouds)
            if len(self._megaclouds):
                self._fusion.learn(
                    self._voices(block, row), k
                )  # Eq. 18 to 22, before x is learned (docs/decisions.md, 9)
            self._statistics.learn(x, None if new_class else self._megaclouds.vectors[k])  # Eq. 2 to 4
            self._precision.learn(block.Z[row])
            if self.sample_count == self._precision.next_refresh:  # only ever at a block's last row
                self._refresh_precision()  # Eq. 17
                block, row = Block(X[i : i + 1], self._precision.current, self._prototypes, self._megaclouds), 0
            if new_class:
                prototype = self._learn_new_class(block, row)
            else:
                prototype = self._learn_known_class(block, row, x, k)
            self._records.add(prototype, self.sample_count - 1, ref, x, self._prototypes.vectors[prototype])

    def _voices(self, block: Block, row: int) -> Voices:
        """Eq. 18 to 21 with the state before this sample."""
        scores = self._parts.head.scores
        return Voices(
            class_scores=scores(block.megaclouds.of_row(row), self._megaclouds.lengths),
            prototype_scores=scores(block.prototypes.of_row(row), self._prototypes.lengths),
            class_of=self._prototypes.class_of,
        )

    def _learn_new_class(self, block: Block, row: int) -> int:
        """Eq. 5 and 6."""
        k = block.megaclouds.add(row)
        self._megaclouds.open()
        return self._open_cloud(block, row, k)

    def _learn_known_class(self, block: Block, row: int, x: Vector, k: int) -> int:
        """Eq. 7 to 14."""
        block.megaclouds.move(row, k)
        members = self._prototypes.members(self._megaclouds.members(k))
        nearest, second_nearest = self._two_nearest(block, row, x, members)
        if self._parts.cloud_rule(x, self._megaclouds.vectors[k], members):
            prototype = self._open_cloud(block, row, k)
            self._megaclouds.connect(k, prototype, nearest)
            return prototype
        block.prototypes.move(row, nearest)
        self._prototypes.widen(nearest)
        if second_nearest is not None:  # a lone prototype has no edge (docs/decisions.md, 7)
            self._megaclouds.connect(k, nearest, second_nearest)
        return nearest

    def _open_cloud(self, block: Block, row: int, k: int) -> int:
        """Eq. 6 and 13; g_k grows once (docs/decisions.md, 5)."""
        prototype = block.prototypes.add(row)
        self._prototypes.open(k)
        self._megaclouds.adopt(k, prototype)
        return prototype

    def _two_nearest(self, block: Block, row: int, x: Vector, members: Members) -> tuple[int, int | None]:
        r"""Eq. 10 and 11 with $\Lambda$ for the division (docs/decisions.md, 2), as half the distance."""
        ids = members.ids
        if len(ids) == 1:
            return int(ids[0]), None
        closeness = block.prototypes.of_row(row)[ids] - 0.5 * self._prototypes.lengths[ids]
        if self._precision.refreshed_at != self.sample_count:
            closeness += self._precision.gain_of_own_sample(x, block.Z[row], self._statistics, members.centres)
        first = first_of_largest(closeness)
        closeness[first] = -np.inf
        return int(ids[first]), int(ids[first_of_largest(closeness)])

    def _refresh_precision(self) -> None:
        self._precision.refresh(self._statistics)
        self._prototypes.remeasure(self._precision.current)
        self._megaclouds.remeasure(self._precision.current)

    def inference(self) -> Inference:
        """What the learner answers now; kept until the next sample."""
        with self.lock:
            self._check_whole()
            if self._inference is None:
                precision = self._precision.exact(self._statistics)
                self._inference = Inference.of(
                    self._prototypes, self._megaclouds, self._fusion, self._parts.head, precision
                )
            return self._inference

    def merge_classes(self, kept: int, absorbed: int) -> None:
        """Make two classes one under the lower number; later classes move up by one. Prototypes keep their ids."""
        kept, absorbed = min(kept, absorbed), max(kept, absorbed)
        with self.lock, interrupt_deferred():
            self._check_whole()
            self._inference = None
            self._megaclouds.merge(kept, absorbed, self._precision.current)
            class_of = self._prototypes.class_of
            class_of[class_of == absorbed] = kept
            class_of[class_of > absorbed] -= 1
            self._fusion.merge(kept, absorbed)

    def _check_whole(self) -> None:
        if self._broken:
            raise LearningInterruptedError(
                "learning broke off inside a sample, so this model can no longer be trusted; load the last saved one."
            )

    @property
    def sample_count(self) -> int:
        return self._statistics.count

    @property
    def class_count(self) -> int:
        return len(self._megaclouds)

    @property
    def prototype_count(self) -> int:
        return len(self._prototypes)

    @property
    def supports(self) -> Indices:
        return self._prototypes.counts.copy()

    @property
    def class_of(self) -> Indices:
        return self._prototypes.class_of.copy()

    def megacloud(self, k: int) -> MegaCloud:
        return self._megaclouds[k]

    def records(self, prototype: int) -> list[Record]:
        return self._records.of(prototype)

    @property
    def nbytes(self) -> int:
        """Bytes of all that the model is; the answers cached for asking come on top and can be dropped at any time."""
        parts = (self._statistics, self._prototypes, self._megaclouds, self._fusion, self._records, self._precision)
        return sum(part.nbytes for part in parts)

    def state(self) -> Tensors:
        """Everything, as named arrays; :meth:`from_state` goes on from it as if nothing had happened."""
        with self.lock:
            self._check_whole()
            return {
                **_prefixed("statistics", self._statistics.state()),
                **_prefixed("prototypes", self._prototypes.state()),
                **_prefixed("megaclouds", self._megaclouds.state()),
                **_prefixed("fusion", self._fusion.state()),
                **_prefixed("precision", self._precision.state()),
                **_prefixed("records", self._records.state()),
            }

    @classmethod
    def from_state(cls, width: int, preset: str, refresh_growth: float, records: RecordsKind, state: Tensors) -> "ExLL":
        """Raises KeyError or ValueError where the arrays do not make a whole model."""
        learner = cls(width, preset, refresh_growth, records)
        parts = learner._parts
        learner._statistics = GlobalStatistics.from_state(width, parts.residual, _part("statistics", state))
        learner._prototypes = Prototypes.from_state(width, _part("prototypes", state))
        learner._megaclouds = MegaClouds.from_state(width, _part("megaclouds", state), learner._prototypes.class_of)
        learner._fusion.restore(_part("fusion", state), learner.class_count)
        learner._precision.restore(width, _part("precision", state))
        learner._records = new_records(records, width, _part("records", state))
        supports = np.bincount(
            learner._prototypes.class_of, weights=learner._prototypes.counts, minlength=learner.class_count
        )
        if not np.array_equal(supports, learner._megaclouds.counts) or supports.sum() != learner.sample_count:
            raise ValueError("supports do not sum to the class counts")
        return learner

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("lock", "_inference")}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes, lock=threading.RLock(), _inference=None)


def _prefixed(prefix: str, state: Tensors) -> Tensors:
    return {f"{prefix}.{name}": array for name, array in state.items()}


def _part(prefix: str, state: Tensors) -> Tensors:
    return {name.removeprefix(f"{prefix}."): array for name, array in state.items() if name.startswith(f"{prefix}.")}
