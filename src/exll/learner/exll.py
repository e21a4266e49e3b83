"""The learner: the paper's numbered steps, one sample after the other, at the speed of matrix products.

It knows unit vectors and labels, nothing of images. Inside, classes are numbered in the order of first sight.
"""

from collections.abc import Sequence

import numpy as np

from exll.learner.block import Block
from exll.learner.fusion import Voices
from exll.learner.guarded import Guarded
from exll.learner.inference import Inference
from exll.learner.lagging import LaggingPrecision
from exll.learner.megacloud import MegaCloud, MegaClouds
from exll.learner.preset import PRESETS
from exll.learner.prototypes import Members, Prototypes
from exll.learner.records import Record, encode, new_records
from exll.learner.statistics import GlobalStatistics
from exll.learner.threads import one_blas_thread
from exll.learner.ties import first_of_largest
from exll.types import Indices, Label, Matrix, RecordsKind, Tensors, Vector

BLOCK_ROWS = 64


class ExLL(Guarded[Inference]):
    r"""Prototypes and MegaClouds over one shared covariance.

    The precision $\Lambda$ has two uses. *Learning* (the nearest prototype, the fusion counts) uses one that may lag:
    it is refreshed when the stream has grown by ``refresh_growth`` since the last time, a function of the count alone;
    0 refreshes at every sample, the paper to the letter. *Asking* always uses the exact one, computed on demand and
    never fed back.
    """

    def __init__(self, width: int, preset: str, refresh_growth: float, records: RecordsKind) -> None:
        super().__init__()
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
        self._labels: list[Label] = []

    def learn(self, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None] | None = None) -> None:
        """Learn rows in order; X holds unit vectors. Others may ask between two blocks of rows."""
        start = 0
        with one_blas_thread():
            while start < len(X):
                with self._changing():
                    until_refresh = self._precision.next_refresh - self.sample_count
                    rows = slice(start, min(start + BLOCK_ROWS, start + until_refresh, len(X)))
                    self._learn_block(X[rows], labels[rows], [None] * len(X[rows]) if refs is None else refs[rows])
                start = rows.stop

    def _learn_block(self, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None]) -> None:
        number_of = {label: k for k, label in enumerate(self._labels)}
        block = self._block(X)
        for row, (x, label, ref) in enumerate(zip(X, labels, refs, strict=True)):
            k = number_of.setdefault(label, len(number_of))
            new_class = k == len(self._megaclouds)
            if len(self._megaclouds):
                # Eq. 18 to 22, before x is learned (docs/decisions.md, 9)
                self._fusion.learn(self._voices(block, row), k)
            self._statistics.learn(x, None if new_class else self._megaclouds.vectors[k])  # Eq. 2 to 4
            self._precision.learn(block.Z[row])
            if self.sample_count == self._precision.next_refresh:
                # Eq. 17; only ever at a block's last row, which goes on as a block of its own
                self._refresh_precision()
                prototype = self._place(self._block(x[None, :]), 0, x, label, k)
            else:
                prototype = self._place(block, row, x, label, k)
            self._records.add(prototype, self.sample_count - 1, ref, x, self._prototypes.vectors[prototype])

    def _block(self, X: Matrix) -> Block:
        return Block(X, self._precision.current, self._prototypes, self._megaclouds)

    def _place(self, block: Block, row: int, x: Vector, label: Label, k: int) -> int:
        """Eq. 5 to 14: the prototype that x joins or becomes."""
        if k == len(self._megaclouds):
            self._labels.append(label)
            return self._learn_new_class(block, row)
        return self._learn_known_class(block, row, x, k)

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
        self._prototypes.settle(nearest)
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
        return self._asked()

    def _make_answers(self) -> Inference:
        precision = self._precision.exact(self._statistics)
        return Inference.of(self._labels, self._prototypes, self._megaclouds, self._fusion, self._parts.head, precision)

    def rename_class(self, old: Label, new: Label) -> None:
        """Give a class another label; where that is a class already, the two become one under the lower number.
        Prototypes keep their ids."""
        with self._changing():
            if new not in self._labels:
                self._labels[self._labels.index(old)] = new
                return
            kept, absorbed = sorted((self._labels.index(old), self._labels.index(new)))
            self._megaclouds.merge(kept, absorbed, self._precision.current)
            class_of = self._prototypes.class_of
            class_of[class_of == absorbed] = kept
            class_of[class_of > absorbed] -= 1
            self._fusion.merge(kept, absorbed)
            self._labels[kept] = new
            del self._labels[absorbed]

    @property
    def labels(self) -> tuple[Label, ...]:
        """In the order of first sight."""
        with self.lock:
            return tuple(self._labels)

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
        with self.lock:
            self._check_whole()
            return self._prototypes.counts.copy()

    def megacloud(self, k: int) -> MegaCloud:
        with self.lock:
            self._check_whole()
            return self._megaclouds[k]

    def records(self, prototype: int) -> list[Record]:
        with self.lock:
            self._check_whole()
            return self._records.of(prototype)

    @property
    def nbytes(self) -> int:
        """Bytes of all that the model is; the answers cached for asking come on top and can be dropped at any time."""
        with self.lock:
            parts = (self._statistics, self._prototypes, self._megaclouds, self._fusion, self._records, self._precision)
            return sum(part.nbytes for part in parts) + sum(len(encode(str(label))) for label in self._labels)

    def state(self) -> Tensors:
        """Everything but the labels, as named arrays; :meth:`from_state` goes on from it as if nothing had happened.
        The arrays are the learner's own: hold the lock for as long as you read them."""
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
    def from_state(
        cls,
        labels: Sequence[Label],
        width: int,
        preset: str,
        refresh_growth: float,
        records: RecordsKind,
        state: Tensors,
    ) -> "ExLL":
        """Raises KeyError, ValueError or the like where the arrays do not make a whole model."""
        if state["statistics.total"].shape != (width,):
            raise ValueError("the total has another width")
        for name, array in state.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} holds numbers that are not finite")
        learner = cls(width, preset, refresh_growth, records)
        learner._labels = list(labels)
        learner._statistics = GlobalStatistics.from_state(width, learner._parts.residual, _part("statistics", state))
        learner._prototypes = Prototypes.from_state(width, _part("prototypes", state))
        learner._megaclouds = MegaClouds.from_state(width, _part("megaclouds", state), learner._prototypes.class_of)
        learner._fusion.restore(_part("fusion", state), learner.class_count, learner.sample_count)
        learner._precision.restore(width, learner.sample_count, _part("precision", state))
        learner._records = new_records(records, width, _part("records", state))
        learner._check_consistent()
        return learner

    def _check_consistent(self) -> None:
        supports = np.bincount(self._prototypes.class_of, weights=self._prototypes.counts, minlength=self.class_count)
        if not np.array_equal(supports, self._megaclouds.counts) or supports.sum() != self.sample_count:
            raise ValueError("supports do not sum to the class counts")
        if len(self._labels) != self.class_count or len(set(self._labels)) != self.class_count:
            raise ValueError("labels and classes differ in number")
        if not self._records.prototypes() <= set(range(self.prototype_count)):
            raise ValueError("a record belongs to no prototype")


def _prefixed(prefix: str, state: Tensors) -> Tensors:
    return {f"{prefix}.{name}": array for name, array in state.items()}


def _part(prefix: str, state: Tensors) -> Tensors:
    return {name.removeprefix(f"{prefix}."): array for name, array in state.items() if name.startswith(f"{prefix}.")}
