"""The learner: a stream of samples, one step each, at the speed of matrix products.

It knows unit vectors and labels, nothing of images. Inside, classes are numbered in the order of first sight. Each
preset defines its own step: :mod:`exll.learner.paper.learner` follows the equations of the paper,
:mod:`exll.learner.glocal.learner` is ours.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from exll.concurrency.guarded import Guarded
from exll.errors import InputError
from exll.learner.block import Block
from exll.learner.expected import Expected
from exll.learner.groups import group_number
from exll.learner.history import UNTESTED, ClassHistory, History
from exll.learner.inference import Inference
from exll.learner.lagging import LaggingPrecision
from exll.learner.megacloud import MegaCloud, MegaClouds
from exll.learner.part import ClassPart, Part
from exll.learner.prototypes import Prototypes
from exll.learner.ranges import check_ranges
from exll.learner.records import Record, Sample, nearest_first, new_records
from exll.learner.statistics import GlobalStatistics, Residual
from exll.linalg.fixed_point import encoded
from exll.linalg.threads import one_blas_thread
from exll.saving.strings import encode
from exll.types import CountPairs, Group, Indices, Label, Matrix, PairWeights, RecordsKind, Tensors, Vector

BLOCK_ROWS = 128
YOUNG = 64  # samples: until then the precision is renewed too often, and too cheaply, to let others in each time


class Parameters(NamedTuple):
    """What a learner is made with, fixed at its first sample."""

    preset: str
    refresh_growth: float
    records: RecordsKind
    max_prototypes: int | None = None
    count_pairs: CountPairs | None = None
    pair_weights: PairWeights | None = None


class Placed(NamedTuple):
    """Where a sample went: the row and id of its prototype, and whether it opened that."""

    row: int
    id: int
    opened: bool


class Learned(NamedTuple):
    """A sample that was learned, as far as it is known."""

    x: Vector
    k: int
    prototype: int | None = None  # its id
    position: int | None = None
    group: int | None = None


class ExLL(Guarded[Inference], ABC):
    r"""Prototypes and MegaClouds over one shared covariance.

    The precision $\Lambda$ has two uses. *Learning* uses one that may lag: it is refreshed when the stream has grown by
    ``refresh_growth`` since the last time, a function of the count alone; 0 refreshes at every sample. *Asking* always
    uses the exact one, computed on demand and never fed back.
    """

    description: ClassVar[str] = ""  # one sentence for those who choose a preset
    residual: ClassVar[Residual]
    editable: ClassVar[bool] = False  # whether it defines _forget and _absorb
    # the parts that are made anew after an edit, and that a file lacks until then
    renewed: ClassVar[frozenset[str]] = frozenset({"precision"})
    # parameters that must stay None with this preset, each with its reason
    refuses: ClassVar[Mapping[str, str]] = {
        "count_pairs": "has no table of pairs",
        "pair_weights": "has no table of pairs",
    }

    def __init__(self, width: int, parameters: Parameters) -> None:
        super().__init__()
        self.width = width
        self.parameters = parameters
        self._statistics = GlobalStatistics(width, type(self).residual)
        self._prototypes = Prototypes(width)
        self._megaclouds = MegaClouds(width)
        self._records = new_records(parameters.records, width)
        self._history = History()
        self._precision = self._new_precision()
        self._labels: list[Label] = []
        self.gathers = False  # see gather

    @abstractmethod
    def _new_precision(self) -> LaggingPrecision: ...

    @abstractmethod
    def _block(self, X: Matrix) -> Block:
        """Rows made ready to be learned one after the other."""

    @abstractmethod
    def _answer(self, block: Block, row: int, k: int) -> int:
        """The answer for a row before it is learned; ``k`` is the truth. At least one class is known."""

    @abstractmethod
    def _place(self, block: Block, row: int, k: int) -> Placed:
        """Let a row join its class, which may be new, and one of its prototypes."""

    @abstractmethod
    def _refresh(self) -> None:
        """The precision is due."""

    @abstractmethod
    def _make_answers(self) -> Inference: ...

    def _before_merge(self, kept: int, absorbed: int) -> None:
        """Two classes are to become one; nothing has changed yet."""

    def _after_sample(self, sample: Sample, k: int, placed: Placed) -> None:
        """A sample was learned and recorded."""

    def _after_merge(self, k: int) -> None:
        """Class k is now what two were."""

    def _parts(self) -> dict[str, Part]:
        """All that the model is, but for labels and numbers; names are those in files. A preset adds its own."""
        return {
            "statistics": self._statistics,
            "prototypes": self._prototypes,
            "megaclouds": self._megaclouds,
            "precision": self._precision,
            "history": self._history,
            "records": self._records,
        }

    def _gather(self, x: Vector, k: int) -> Placed:
        """As ``_place``, while the learner only gathers samples."""
        raise NotImplementedError

    def _forget(self, samples: Sequence[Learned]) -> None:
        """Some of the samples, and not all of them, are to be as if they had never been learned."""
        raise NotImplementedError

    def _absorb(self, other: Any, numbers: Indices) -> None:
        """Learn all that another learner has learned, whose classes have these numbers here; it is used up."""
        raise NotImplementedError

    def _check_forgettable(self, samples: Sequence[Learned]) -> None:
        """An InputError where the preset cannot forget these."""

    def _restore_own(self, state: Tensors) -> None:
        """Restore what the preset adds; everything else is restored already."""

    @property
    def _origin(self) -> Vector:
        """From where learning sees the vectors."""
        return np.zeros(self.width)

    def learn(
        self,
        X: Matrix,
        labels: Sequence[Label],
        refs: Sequence[str | None] | None = None,
        groups: Sequence[Group] | None = None,
    ) -> None:
        """Learn rows in order; X holds unit vectors. Others may ask between two blocks of rows."""
        refs, groups = refs or [None] * len(X), groups or [None] * len(X)
        self._learn_all(X, labels, refs, [None if group is None else group_number(group) for group in groups])

    def _learn_all(
        self, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None], groups: Sequence[int | None]
    ) -> None:
        start = 0
        with one_blas_thread():
            while start < len(X):
                with self._changing():
                    if not self.gathers:
                        self._renew()
                    until_pause = BLOCK_ROWS if self.gathers else self._until_pause
                    rows = slice(start, min(start + BLOCK_ROWS, start + until_pause, len(X)))
                    learn_rows = self._gather_rows if self.gathers else self._learn_rows
                    learn_rows(X[rows], labels[rows], refs[rows], groups[rows])
                start = rows.stop

    def _gather_rows(
        self, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None], groups: Sequence[int | None]
    ) -> None:
        """Without products: only what another learner will need that takes it over (:meth:`absorb`)."""
        number_of = {label: k for k, label in enumerate(self._labels)}
        self._unmeasure()
        for x, label, ref, group, codes, scale in zip(X, labels, refs, groups, *encoded(X), strict=True):
            k = number_of.setdefault(label, len(number_of))
            if k < len(self._megaclouds):
                self._statistics.learn(x, self._megaclouds.vectors[k], int(self._megaclouds.counts[k]))
            else:
                self._statistics.learn(x, np.zeros(self.width), 0)
                self._labels.append(label)
            placed = self._gather(x, k)
            self._history.learn(k, UNTESTED, placed.opened)
            sample = Sample(x, codes, float(scale), self._statistics.learned - 1, ref, group)
            self._records.add(placed.id, sample, self._prototypes.vectors[placed.row])
            self._after_sample(sample, k, placed)

    def _learn_rows(
        self, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None], groups: Sequence[int | None]
    ) -> None:
        number_of = {label: k for k, label in enumerate(self._labels)}
        first, block = 0, self._block(X[: self._until_refresh])
        all_codes, scales = encoded(X)
        for i, (x, label, ref, group) in enumerate(zip(X, labels, refs, groups, strict=True)):
            k = number_of.setdefault(label, len(number_of))
            known = len(self._megaclouds)
            answer = self._answer(block, i - first, k) if known else UNTESTED
            if k < known:
                self._statistics.learn(x, self._megaclouds.vectors[k], int(self._megaclouds.counts[k]))
            else:
                self._statistics.learn(x, np.zeros(self.width), 0)
                self._labels.append(label)
            if self.sample_count == self._precision.next_refresh:
                # always at a block's last row, which goes on as the first of the next
                self._refresh()
                first, block = i, self._block(X[i : i + 1 + self._until_refresh])
            placed = self._place(block, i - first, k)
            self._history.learn(k, answer if k < known and known > 1 else UNTESTED, placed.opened)
            sample = Sample(x, all_codes[i], float(scales[i]), self._statistics.learned - 1, ref, group)
            self._records.add(placed.id, sample, self._prototypes.vectors[placed.row])
            self._after_sample(sample, k, placed)

    @property
    def _until_refresh(self) -> int:
        """How many more samples, the last of which renews the precision."""
        return self._precision.next_refresh - self.sample_count

    @property
    def _until_pause(self) -> int:
        """How many more samples may be learned before others are let in: the last may take long."""
        return max(self._until_refresh, YOUNG - self.sample_count)

    def gather(self) -> bool:
        """From now on only gather what another learner will need that absorbs this one, and judge nothing: that is
        quicker. False where the preset cannot."""
        return False

    def forget(self, samples: Sequence[Learned]) -> None:
        """Forget these samples, as if they had never been learned; at least one other must be left."""
        self.check_forgettable(samples)
        if len(samples) >= self.sample_count:
            raise InputError("a model cannot forget all that it has learned; start a new one instead.")
        with one_blas_thread(), self._changing():
            self._unmeasure()
            self._forget(samples)

    def check_forgettable(self, samples: Sequence[Learned]) -> None:
        """An InputError where these cannot be forgotten."""
        self._check_editable()
        self._check_forgettable(samples)

    def _unmeasure(self) -> None:
        """The means are about to change; what follows from them is computed again when it is needed."""
        self._outdated = True
        for means in (self._megaclouds, self._prototypes):
            means.unmeasure()

    def _check_editable(self) -> None:
        if not self.editable:
            raise InputError(f'models of the preset "{self.parameters.preset}" can neither forget nor be merged.')

    def absorb(self, other: "ExLL") -> None:
        """Learn all that another learner of the same parameters has learned. The other one is used up."""
        self._check_editable()
        with one_blas_thread(), other._changing(), self._changing():
            number_of = {label: k for k, label in enumerate(self._labels)}
            numbers = np.array([number_of.setdefault(label, len(number_of)) for label in other._labels], np.int64)
            self._absorb(other, numbers)
            self._labels = list(number_of)

    def _absorb_shared(self, other: "ExLL", numbers: Indices) -> None:
        """The parts that every preset has; the scatter between the means has to be added before."""
        for learner in (self, other):
            learner._unmeasure()
        ids, positions, rows = self._prototypes.next_id, self._statistics.learned, len(self._prototypes)
        self._statistics.absorb(other._statistics)
        self._megaclouds.absorb(other._megaclouds, numbers, rows, ids)
        self._prototypes.absorb(other._prototypes, numbers)
        self._records.absorb(other._records, ids, positions)
        self._history.absorb(other._history, numbers)

    def _remove_class(self, k: int) -> None:
        for part in self._parts().values():
            if isinstance(part, ClassPart):
                part.remove_class(k)
        del self._labels[k]

    def learn_again(self, samples: Sequence[Learned], label: Label, refs: Sequence[str | None]) -> None:
        """Learn samples once more, under another label."""
        X = np.array([sample.x for sample in samples])
        self._learn_all(X, [label] * len(samples), refs, [sample.group for sample in samples])

    def renew(self) -> None:
        """Do now the work that edits have postponed."""
        if self._outdated:
            with self._changing(), one_blas_thread():
                self._renew()

    def remembered(self, refs: Collection[str] = (), groups: Collection[Group] = ()) -> list[tuple[int, int, Record]]:
        """The records of samples with one of these refs, or of one of these groups, each with the number of its class
        and the id of its prototype."""
        numbers = [group_number(group) for group in groups if group is not None]
        with self.lock:
            self._check_whole()
            return self._with_classes(self._records.at(self._records.positions_of(refs, numbers)))

    def remembered_class(self, k: int) -> list[tuple[int, int, Record]]:
        """The same of all remembered samples of class k."""
        with self.lock:
            self._check_whole()
            members = self._prototypes.ids[self._megaclouds.members(k)].tolist()
            return [(k, prototype, record) for prototype in members for record in self._records.of(prototype)]

    def remembers(self, x: Vector) -> bool:
        """Whether this very vector was learned, as far as vectors are kept."""
        with self.lock:
            self._check_whole()
            return self._records.holds(x)

    def _with_classes(self, found: list[tuple[int, Record]]) -> list[tuple[int, int, Record]]:
        class_of = dict(zip(self._prototypes.ids.tolist(), self._prototypes.class_of.tolist(), strict=True))
        return [(class_of[prototype], prototype, record) for prototype, record in found]

    @property
    def inexact(self) -> int:
        """The vectors of samples before this position were kept in half precision only."""
        return self._records.inexact

    def inference(self) -> Inference:
        """What the learner answers now; kept until the next sample."""
        return self._current_answers()

    def _shared(self) -> dict[int, Any]:
        """Learning alone reads the scatter, its precision and the sides of means, and vectors of records stay as they
        are."""
        scatter, precision = self._statistics.scatter, self._precision
        sides = {id(table._sides): table._sides for table in (self._prototypes, self._megaclouds)}
        return {id(scatter): scatter, id(precision): precision, id(self._records): self._records.shared(), **sides}

    def rename_refs(self, new_ref: Callable[[str], str]) -> None:
        """Call the samples something else from now on."""
        with self._changing():
            self._records.rename(new_ref)

    def rename_class(self, old: Label, new: Label) -> None:
        """Give a class another label; where that is a class already, the two become one under the lower number.
        Prototypes keep their ids."""
        with self._changing():
            self._renew()
            if new not in self._labels:
                self._labels[self._labels.index(old)] = new
                return
            kept, absorbed = sorted((self._labels.index(old), self._labels.index(new)))
            self._before_merge(kept, absorbed)
            for part in self._parts().values():
                if isinstance(part, ClassPart):
                    part.merge(kept, absorbed)
            self._megaclouds.measure(kept, self._precision.current, self._origin)
            self._labels[kept] = new
            del self._labels[absorbed]
            self._after_merge(kept)

    @property
    def labels(self) -> tuple[Label, ...]:
        """In the order of first sight."""
        with self.lock:
            return tuple(self._labels)

    @property
    def sample_count(self) -> int:
        return self._statistics.count

    @property
    def learned_count(self) -> int:
        """Of all samples that were ever learned, also of those that were forgotten since."""
        return self._statistics.learned

    @property
    def class_count(self) -> int:
        return len(self._megaclouds)

    @property
    def prototype_count(self) -> int:
        return len(self._prototypes)

    @property
    def supports(self) -> dict[int, int]:
        """The support of every prototype, by its id."""
        with self.lock:
            self._check_whole()
            return dict(zip(self._prototypes.ids.tolist(), self._prototypes.counts.tolist(), strict=True))

    @property
    def centres(self) -> tuple[Matrix, Indices, Indices]:
        """A copy of all centres, with the ids of the prototypes and the numbers of their classes."""
        with self.lock:
            self._check_whole()
            table = self._prototypes
            return table.vectors.copy(), table.ids.copy(), table.class_of.copy()

    def megacloud(self, k: int) -> MegaCloud:
        with self.lock:
            self._check_whole()
            return MegaCloud(
                mean=self._megaclouds.vectors[k].copy(),
                count=int(self._megaclouds.counts[k]),
                prototypes=np.sort(self._prototypes.ids[self._megaclouds.members(k)]),
                edges=self._megaclouds.edges(k),
            )

    def classes_from_one_group(self) -> set[int]:
        """The classes whose samples came in one clip or one named group; empty where the preset does not look at
        groups."""
        return set()

    def calibrate(self, X: Matrix, labels: Sequence[Label]) -> None:
        """Set confidence and limits by labelled unit vectors, which are not learned."""
        raise self._no_calibration()

    def forget_calibration(self) -> None:
        raise self._no_calibration()

    @property
    def calibration_count(self) -> int:
        """By how many labelled inputs the model was calibrated."""
        return 0

    def _no_calibration(self) -> InputError:
        return InputError(
            f'the preset "{self.parameters.preset}" has no calibration; teach a model with preset="glocal" for that.'
        )

    def expected(self) -> Expected | None:
        """What the model expects of itself, by samples that it leaves out; None where it cannot, or not yet."""
        return None

    def history(self, k: int) -> ClassHistory:
        with self.lock:
            self._check_whole()
            return self._history.of(k)

    def records(self, prototype: int) -> list[Record]:
        with self.lock:
            self._check_whole()
            return self._records.of(prototype)

    def closest_records(self, prototype: int, x: Vector, most: int) -> list[tuple[Record, float | None]]:
        """Records of a prototype with their cosine to x, the closest first; where no vectors were kept, the oldest."""
        with self.lock:
            self._check_whole()
            return self._records.closest(prototype, x, most)

    def records_at(self, positions: Iterable[int]) -> list[Record]:
        """The records of these samples, as far as they are remembered."""
        with self.lock:
            self._check_whole()
            return [record for _, record in self._records.at(positions)]

    def nearest_of(self, positions: Iterable[int], most: int) -> set[int]:
        """Of these samples, for every prototype the few nearest its centre; where no vectors were kept, the oldest."""
        with self.lock:
            self._check_whole()
            together: dict[int, list[Record]] = {}
            for prototype, record in self._records.at(positions):
                together.setdefault(prototype, []).append(record)
            row_of = {prototype: row for row, prototype in enumerate(self._prototypes.ids.tolist())}
            nearest: set[int] = set()
            for prototype, own in together.items():
                if len(own) > most:
                    own = nearest_first(own, self._prototypes.vectors[row_of[prototype]])[:most]
                nearest.update(record.position for record in own)
            return nearest

    @property
    def nbytes(self) -> int:
        """Bytes of all that the model is; the answers cached for asking and the sides of means come on top and can be
        dropped at any time."""
        with self.lock:
            return sum(part.nbytes for part in self._parts().values()) + sum(
                len(encode(str(label))) for label in self._labels
            )

    def state(self) -> Tensors:
        """Everything but the labels, as named arrays; :meth:`restore` continues from it exactly.
        The arrays are the learner's own: hold the lock for as long as you read them."""
        with self.lock:
            self._check_complete()
            return {
                f"{prefix}.{name}": array
                for prefix, part in self._parts().items()
                if not (self._outdated and prefix in self.renewed)
                for name, array in part.state().items()
            }

    def restore(self, labels: Sequence[Label], state: Tensors) -> None:
        """Continue from a saved state; raises one of ``DAMAGED`` where the arrays do not make a whole model."""
        check_ranges(state)
        self._labels = list(labels)
        self._statistics.restore(part_of("statistics", state))
        self._prototypes.restore(part_of("prototypes", state))
        self._megaclouds.restore(part_of("megaclouds", state), self._prototypes)
        self._history.restore(part_of("history", state), self.class_count)
        self._outdated = "precision.refreshed_at" not in state
        if not self._outdated:
            self._precision.restore(part_of("precision", state), self.sample_count)
        self._records.restore(part_of("records", state))
        self._check_consistent()
        with one_blas_thread():
            self._restore_own(state)

    def _check_consistent(self) -> None:
        supports = np.bincount(self._prototypes.class_of, weights=self._prototypes.counts, minlength=self.class_count)
        if not np.array_equal(supports, self._megaclouds.counts) or supports.sum() != self.sample_count:
            raise ValueError("supports do not sum to the class counts")
        if len(self._labels) != self.class_count or len(set(self._labels)) != self.class_count:
            raise ValueError("labels and classes differ in number")
        if not self._records.prototypes() <= set(self._prototypes.ids.tolist()):
            raise ValueError("a record belongs to no prototype")
        if self.parameters.records in ("refs", "vectors") and len(self._records) != self.sample_count:
            raise ValueError("there is not one record per sample")


def part_of(prefix: str, state: Tensors) -> Tensors:
    return {name.removeprefix(f"{prefix}."): array for name, array in state.items() if name.startswith(f"{prefix}.")}
