r"""The preset ``glocal``: local and global scores are added, with weights that the stream itself determines.

Where it differs from the paper:

- the covariance is that *within* the classes, and vectors are seen from the mean of all (:mod:`exll.learner.head`);
- how far it is shrunk is chosen from the stream, relative to its mean eigenvalue;
- prototypes are few, balanced clusters (:mod:`exll.learner.glocal.ward`), at most ``max_prototypes`` per class;
- random features of a vector, the lift, tell apart what no plane can, once the stream is long
  (:mod:`exll.learner.glocal.lift`);
- the weights of the parts of a score, the confidence of the answer and what is unusual are learned by leaving out
  samples of a reservoir, each with all that came with it: its clip (:mod:`~exll.learner.glocal.clips`) or a group that
  the caller named (:mod:`~exll.learner.glocal.leaving_out`, :mod:`~exll.learner.glocal.judgement`). This *review* has a
  coarse schedule of its own, a function of the count alone: at 6 samples, then whenever the stream has grown by a
  fifth since (by 35 % up to 16 and from 500 on, by 70 % from 2,000 on).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from exll.errors import InputError
from exll.learner.block import Block, MovingProducts
from exll.learner.counted_means import CountedMeans
from exll.learner.exll import ExLL, Learned, Parameters, Placed, part_of
from exll.learner.expected import Expected
from exll.learner.glocal.calibration import LEAST, Calibrated, CalibrationInputs
from exll.learner.glocal.inference import GlocalInference
from exll.learner.glocal.judgement import RIDGES, Judgement
from exll.learner.glocal.lift import Lift
from exll.learner.glocal.reservoir import MOST, Reservoir, in_turns
from exll.learner.glocal.review import FIRST_REVIEW, Reviewed, Schedule
from exll.learner.glocal.ward import room_for, ward_groups, ward_step
from exll.learner.head import Head, whitened_cosine
from exll.learner.lagging import LaggingPrecision, RoundedPrecision
from exll.learner.megacloud import MegaClouds
from exll.learner.part import Part
from exll.learner.precision import KeptPrecision, Shrinkage, precision_of, quick_precision_of
from exll.learner.prototypes import Members
from exll.learner.records import AllVectors, Sample
from exll.learner.statistics import Scatter, within_residual
from exll.linalg.fixed_point import decoded_roughly
from exll.linalg.threads import one_blas_thread
from exll.linalg.ties import SAME, first_of_largest
from exll.types import Indices, Label, Matrix, Tensors, Vector

LEAST_RIDGE = 1e-14  # of unit vectors' covariance, where nothing varies within the classes yet
LOCAL_ALONE = 0.1
LARGEST_ROUNDING, LARGEST_LIFTED_ROUNDING = 1e-7, 1e-4  # of the scatter, by what was taken out of it
# Merged models keep more prototypes than they should have until the last of them was merged, so that the order matters
# little: twice as many, and up to so many in all.
MOST_UNTIL_RENEWAL = 20_000


class GlocalBlock(Block):
    """Rows with their products with every class; prototypes are placed without the precision."""

    def __init__(self, X: Matrix, precision: KeptPrecision, origin: Vector, megaclouds: MegaClouds) -> None:
        super().__init__(X, precision, origin)
        self.megaclouds = MovingProducts(self, megaclouds, precision)


class GlocalLearner(ExLL):
    """Whitened cosines of classes and prototypes, with weights learned from the stream."""

    description = (
        "The default: it learns from the examples how to weigh local and global inference, and was more accurate "
        "in our tests."
    )
    residual = staticmethod(within_residual)
    editable = True
    renewed = frozenset({"precision", "judgement", "schedule"})

    def __init__(self, width: int, parameters: Parameters) -> None:
        super().__init__(width, parameters)
        self._judgement = Judgement()
        self._reservoir = Reservoir(width)
        self._schedule = Schedule(FIRST_REVIEW, np.zeros(width))
        self._calibration = CalibrationInputs(width)
        self._lift = Lift(width)
        self._lost: dict[Label, int] = {}  # samples that classes have lost since the last renewal

    def classes_from_one_group(self) -> set[int]:
        with self.lock:
            self._check_whole()
            return self._reservoir.classes_from_one_group()

    def _parts(self) -> dict[str, Part]:
        return {
            **super()._parts(),
            "reservoir": self._reservoir,
            "judgement": self._judgement,
            "schedule": self._schedule,
            "calibration": self._calibration,
            "lift": self._lift,
        }

    def _shared(self) -> dict[int, Any]:
        return {**super()._shared(), id(self._lift): self._lift}

    @property
    def _origin(self) -> Vector:
        return self._schedule.origin

    def _new_precision(self) -> LaggingPrecision:
        return RoundedPrecision(self.width, Shrinkage(1.0, LEAST_RIDGE), self.parameters.refresh_growth)

    def _shrunk_by(self, ridge: float) -> Shrinkage:
        """Towards the identity times this share of the mean eigenvalue."""
        count, scatter = max(self.sample_count, 1), self._statistics.scatter
        mean_eigenvalue = scatter.trace / (count * self.width)
        return Shrinkage(1.0, max(ridge * mean_eigenvalue, LEAST_RIDGE, scatter.rounding / count))

    def _mean_of_all(self) -> Vector:
        """The mean of all samples; while there is one class, zero, since its mean would be the origin itself."""
        return self._statistics.mean if self.class_count > 1 else np.zeros(self.width)

    def _block(self, X: Matrix) -> GlocalBlock:
        return GlocalBlock(X, self._precision.current, self._origin, self._megaclouds)

    def _answer(self, block: Block, row: int, k: int) -> int:
        """By the classes alone, with the precision and origin that learning has at hand."""
        assert isinstance(block, GlocalBlock)
        squared_norms = self._megaclouds.squared_norms
        return first_of_largest(self._class_head(squared_norms).scores(block.megaclouds.of_row(row), squared_norms))

    def _class_head(self, squared_norms: Vector) -> Head:
        return whitened_cosine(squared_norms, self._judgement.class_weight, self._judgement.nearness_weight)

    def _refresh(self) -> None:
        self._megaclouds.unmeasure()
        self._precision.refresh(self._statistics, self._shrunk_by(self._judgement.ridge))
        self._schedule.origin = self._mean_of_all()

    def _place(self, block: Block, row: int, k: int) -> Placed:
        assert isinstance(block, GlocalBlock)
        x = block.X[row]
        if k < len(self._megaclouds):
            block.megaclouds.move(row, k)
            placed = self._place_in_class(x, k)
        else:
            block.megaclouds.add(row)
            self._megaclouds.open()
            placed = self._open_cloud(x, k)
        return placed

    def _after_sample(self, sample: Sample, k: int, placed: Placed) -> None:
        self._reservoir.learn(sample, k, placed.id, self._variance(k))
        if self._lift.begun:
            self._lift.learn(sample.x, k)
        elif self.sample_count == MOST:
            self._begin_lift()
        if self.gathers:
            return
        if self.class_count > 1 and not self._judgement.reviewed:  # it may have been one class for long
            self._schedule.review_within(FIRST_REVIEW, self.sample_count)
        if self.sample_count >= self._schedule.next_review:
            self._review()

    def _begin_lift(self) -> None:
        """With all samples, where their vectors are known: in the records, or in the reservoir as long as that holds
        them all. Class by class, since the lift takes classes in the order of their numbers."""
        known, reservoir = self._records.all_vectors(), self._reservoir
        if known is not None:
            class_of = self._class_of()
            classes = np.array([class_of[prototype] for prototype in known.prototypes.tolist()], np.int64)
            self._lift.begin(self._statistics.mean)
            for some in in_turns(np.argsort(classes, kind="stable")):
                self._lift.learn_all(decoded_roughly(known.codes[some], known.scales[some]), classes[some])
        elif len(reservoir) == self.sample_count:
            order = np.lexsort((reservoir.positions, reservoir.classes))
            self._lift.begin(self._statistics.mean)
            self._lift.learn_all(reservoir.vectors[order], reservoir.classes[order])

    def _class_of(self) -> dict[int, int]:
        """The class of every prototype by its id."""
        return dict(zip(self._prototypes.ids.tolist(), self._prototypes.class_of.tolist(), strict=True))

    @property
    def _variance_within(self) -> float:
        """Of the samples around the means of their classes."""
        return self._statistics.scatter.trace / max(self.sample_count - self.class_count, 1)

    def _variance(self, k: int) -> float:
        """Within all classes, or within class k if that is larger; of unit vectors it is 1 less the squared norm of
        their mean."""
        count, mean = int(self._megaclouds.counts[k]), self._megaclouds.vectors[k]
        return max(self._variance_within, (1.0 - float(mean @ mean)) * count / max(count - 1, 1))

    def _place_in_class(self, x: Vector, k: int) -> Placed:
        members = self._prototypes.members(self._megaclouds.members(k))
        room = room_for(int(self._megaclouds.counts[k]), self.parameters.max_prototypes)
        step = ward_step(x, members, self._prototypes.counts[members.rows], room)
        by_nearness = np.argsort(members.euclidean_squares - 2.0 * (members.centres @ x), kind="stable")
        if step.joins is not None:
            row, own = int(members.rows[step.joins]), int(members.ids[step.joins])
            self._prototypes.join(row, x)
            self._prototypes.settle(row)
            for other in members.ids[by_nearness[:2]].tolist():
                if other != own:
                    self._megaclouds.connect(k, own, other)
                    break
            return Placed(row, own, False)
        nearest = int(members.ids[by_nearness[0]])
        if step.merges is None:
            placed = self._open_cloud(x, k)
        else:
            freed = self._unite(k, members, *step.merges)
            kept_id, retired = (int(members.ids[place]) for place in step.merges)
            placed = Placed(freed, self._prototypes.restart(freed, x), True)
            nearest = kept_id if nearest == retired else nearest
        self._megaclouds.connect(k, placed.id, nearest)
        return placed

    def _unite(self, k: int, members: Members, stays: int, goes: int) -> int:
        """Make two prototypes of a class one, with all that belongs to them; returns the row that this frees."""
        kept, freed = int(members.rows[stays]), int(members.rows[goes])
        kept_id, retired = int(members.ids[stays]), int(members.ids[goes])
        self._prototypes.unite(kept, freed)
        self._records.merge_prototypes(kept_id, retired, self._prototypes.vectors[kept])
        self._megaclouds.merge_prototypes(k, kept_id, retired)
        self._reservoir.merge_prototypes(kept_id, retired)
        return freed

    def _open_cloud(self, x: Vector, k: int) -> Placed:
        row = self.prototype_count
        self._prototypes.add(x)  # not measured: the precision places no prototype here
        self._megaclouds.adopt(k, row)
        return Placed(row, self._prototypes.open(k), True)

    def _review(self) -> None:
        self._schedule.reviewed_at(self.sample_count)
        self._judgement = self._reviewed().judgement(self._judgement.ridge) or self._judgement

    def _reviewed(self) -> Reviewed:
        return Reviewed(
            self.sample_count,
            self._mean_of_all(),
            self._prototypes,
            self._megaclouds,
            self._reservoir,
            lambda ridge: quick_precision_of(self._statistics, self._shrunk_by(ridge)),
            lambda: self._lift.classes() if self._lift.begun else None,
        )

    def _make_answers(self) -> GlocalInference:
        judgement, origin = self._judgement, self._mean_of_all()
        precision = precision_of(self._statistics, self._shrunk_by(judgement.ridge))
        if not judgement.reviewed:
            judgement = judgement.in_units_of(precision.squared_norms(self._megaclouds.vectors - origin))
        # Where nearness has all the weight, local inference must still have an answer of its own.
        cosine = judgement.class_weight + judgement.prototype_weight or LOCAL_ALONE
        answers = GlocalInference.of(
            self.parameters.preset,
            self._labels,
            self._prototypes,
            self._megaclouds,
            precision,
            origin,
            heads=(
                partial(whitened_cosine, cosine=cosine),
                partial(whitened_cosine, cosine=judgement.class_weight, distance=judgement.nearness_weight),
            ),
            judgement=judgement,
            calibrated=None,
            local_share=judgement.prototype_weight / cosine,
            lifted=self._lift.classes() if judgement.lifts else None,
        )
        _ = answers.background  # made now, so that nobody who asks waits for it
        inputs = self._calibration
        if len(inputs) < LEAST:
            return answers
        scores, measured = answers.fused_scores(inputs.vectors.astype(np.float64))
        answers = replace(answers, calibrated=Calibrated.by(scores, measured, inputs.classes, judgement))
        _ = answers.background
        return answers

    def expected(self) -> Expected | None:
        with self.lock:
            self._check_whole()
            if not self._judgement.reviewed or self.class_count < 2:
                return None
            answers = self.inference()
            assert isinstance(answers, GlocalInference)
            with one_blas_thread():
                return self._reviewed().expected(self._judgement, answers.confidence, answers.precision, answers.lifted)

    def calibrate(self, X: Matrix, labels: Sequence[Label]) -> None:
        with self.lock:  # the numbers of the classes are those of one moment
            number_of = {label: k for k, label in enumerate(self._labels)}
            unknown = sorted(map(repr, set(labels) - set(number_of)))
            if unknown:
                raise InputError(
                    f"a model can be calibrated only with classes that it knows; got {', '.join(unknown)}."
                )
            with self._changing():
                self._calibration.add(X, np.array([number_of[label] for label in labels], np.int64))

    def forget_calibration(self) -> None:
        with self._changing():
            self._calibration.clear()

    @property
    def calibration_count(self) -> int:
        return len(self._calibration)

    def _before_merge(self, kept: int, absorbed: int) -> None:
        one, other = (int(self._megaclouds.counts[k]) for k in (kept, absorbed))
        apart = self._megaclouds.vectors[kept] - self._megaclouds.vectors[absorbed]
        # What lay between the two classes now lies within one.
        self._statistics.scatter.add(np.sqrt(one * other / (one + other)) * apart)

    def _after_merge(self, k: int) -> None:
        """At most ``max_prototypes`` again; and the weights are learned anew: they were those of other classes."""
        if self.parameters.max_prototypes is not None:
            self._remove_rows(self._united_until(k, self.parameters.max_prototypes))
        self._judge_anew(self._judgement.ridge, self._judgement.reviewed)

    def _united_until(self, k: int, most: int) -> list[int]:
        """Let a class have at most so many prototypes; returns the rows that this frees."""
        members = self._prototypes.members(self._megaclouds.members(k))
        if len(members.ids) <= most:
            return []
        supports = self._prototypes.counts[members.rows]
        groups = ward_groups(members.centres, supports, most, balanced=True)
        largest_first = np.lexsort((members.ids, -supports))
        stays: dict[int, int] = {}
        freed = []
        for place in largest_first.tolist():
            first = stays.setdefault(int(groups[place]), place)
            if first != place:
                freed.append(self._unite(k, members, first, place))
        return freed

    def _remove_rows(self, rows: list[int]) -> None:
        if rows:
            self._prototypes.remove_rows(rows)
            self._megaclouds.forget_rows(rows)

    def gather(self) -> bool:
        self.gathers = True
        return True

    def _gather(self, x: Vector, k: int) -> Placed:
        if k < len(self._megaclouds):
            self._megaclouds.join(k, x)
            return self._place_in_class(x, k)
        self._megaclouds.add(x)
        self._megaclouds.open()
        return self._open_cloud(x, k)

    def _forget(self, samples: Sequence[Learned]) -> None:
        """Sums lose what each sample added to them. A class goes with its last sample, and then the numbers of the
        later ones change: so those of the highest number come first."""
        residuals = []
        for k in sorted({sample.k for sample in samples}, reverse=True):
            own = [sample for sample in samples if sample.k == k]
            last = own.pop() if len(own) == self._megaclouds.counts[k] else None
            residuals += [self._leave(sample) for sample in own]
            if self._lift.begun and own:
                self._lift.forget(np.array([sample.x for sample in own]), k)
            if last is not None:
                self._leave_last(last)
            else:
                self._lost[self._labels[k]] = self._lost.get(self._labels[k], 0) + len(own)
        self._statistics.scatter.subtract(np.array(residuals).reshape(-1, self.width))

    def _leave(self, sample: Learned) -> Vector:
        """One of several samples of a class; returns what it added to the scatter."""
        x, k = sample.x, sample.k
        count, mean = int(self._megaclouds.counts[k]), self._megaclouds.vectors[k]
        residual: Vector = np.sqrt(count / (count - 1)) * (x - mean)
        self._statistics.forget(x)
        self._megaclouds.leave(k, x)
        self._history.forget(k, count - 1)
        self._leave_prototype(sample)
        return residual

    def _leave_last(self, sample: Learned) -> None:
        """The only sample of a class."""
        self._statistics.forget(sample.x)
        self._leave_prototype(sample)
        self._lost.pop(self._labels[sample.k], None)
        self._remove_class(sample.k)

    def _leave_prototype(self, sample: Learned) -> None:
        x, k, rows = sample.x, sample.k, self._megaclouds.members(sample.k)
        prototype = self._reservoir.prototype_of(x, k) if sample.prototype is None else sample.prototype
        if sample.position is not None:
            prototype = next(
                (now for now, _ in self._records.at([sample.position])), prototype
            )  # it may be part of another
        named = rows[self._prototypes.ids[rows] == prototype]
        row = int(named[0]) if len(named) else self._prototype_of(x, k)
        if sample.position is not None:
            self._records.forget(sample.position)
        self._reservoir.forget(x, k, sample.position, sample.group)
        if self._prototypes.counts[row] > 1:
            self._prototypes.leave(row, x)
        else:
            self._megaclouds.forget_prototype(k, int(self._prototypes.ids[row]))
            self._remove_rows([row])

    def _prototype_of(self, x: Vector, k: int) -> int:
        """The row of a prototype of class k that x may have joined, where nobody knows: the nearest that has more
        samples than are known, and whose others could be unit vectors. If there is none, the class gets one prototype
        that holds all."""
        rows = self._megaclouds.members(k)
        centres, counts, ids = (
            column[rows] for column in (self._prototypes.vectors, self._prototypes.counts, self._prototypes.ids)
        )
        apart = np.square(centres - x).sum(axis=1)
        others = centres + (centres - x) / np.maximum(counts - 1, 1)[:, None]
        known = [max(int((self._reservoir.prototypes == j).sum()), len(self._records.of(j))) for j in ids.tolist()]
        possible = np.where(counts > 1, np.linalg.norm(others, axis=1) <= 1.0 + SAME, apart < SAME) & (counts > known)
        if not possible.any():
            self._remove_rows(self._united_until(k, 1))
            return int(self._megaclouds.members(k)[0])
        return int(rows[np.where(possible, apart, np.inf).argmin()])

    def _form_prototypes(self, k: int, known: AllVectors) -> None:
        """Form the prototypes of a class anew, of the samples that it has now: as they would be had it never had
        others."""
        rows, counts = self._megaclouds.members(k), self._megaclouds.counts
        samples = np.flatnonzero(np.isin(known.prototypes, self._prototypes.ids[rows]))
        self._megaclouds.forget_edges(k)
        self._remove_rows(rows.tolist())
        for count, (position, codes, scale) in enumerate(
            zip(known.positions[samples].tolist(), known.codes[samples], known.scales[samples], strict=True), 1
        ):
            counts[k] = count
            placed = self._place_in_class(codes * scale, k) if count > 1 else self._open_cloud(codes * scale, k)
            self._records.assign(position, placed.id)
            self._reservoir.assign(position, placed.id)
        if self._lost[self._labels[k]] > len(samples):  # what is left of a sum that was far larger is not exact
            rows = self._megaclouds.members(k)
            self._megaclouds.vectors[k] = self._prototypes.counts[rows] @ self._prototypes.vectors[rows] / len(samples)

    def _sum_scatter(self, known: AllVectors) -> None:
        """Sum up the scatter anew. Where most of it was taken out again, what is left is not exact."""
        class_of, means, scatter = self._class_of(), CountedMeans(self.width), Scatter(self.width)
        place_of: dict[int, int] = {}  # in the means, in the order of the samples
        for prototype, codes, scale in zip(known.prototypes.tolist(), known.codes, known.scales, strict=True):
            x, k = codes * scale, class_of[prototype]
            if k not in place_of:
                place_of[k] = len(means)
                means.add(x)
                scatter.add(np.zeros(self.width))
            else:
                place = place_of[k]
                step = means.join(place, x)
                count = int(means.counts[place])
                scatter.add(np.sqrt((count - 1) / count) * step)
        self._statistics.scatter = scatter

    def _absorb(self, other: "GlocalLearner", numbers: Indices) -> None:
        for learner in (self, other):
            if learner._lost:
                learner._renew()
        ids, positions = self._prototypes.next_id, self._statistics.learned
        for index, k in enumerate(numbers.tolist()):
            if k < len(self._megaclouds):  # what lay between the means of the two is now within one class
                one, two = int(self._megaclouds.counts[k]), int(other._megaclouds.counts[index])
                apart = other._megaclouds.vectors[index] - self._megaclouds.vectors[k]
                self._statistics.scatter.add(np.sqrt(one * two / (one + two)) * apart)
        self._absorb_lift(other, numbers)
        self._absorb_shared(other, numbers)
        self._reservoir.absorb(other._reservoir, numbers, ids, positions)
        self._calibration.absorb(other._calibration, numbers)
        rooms = (room_for(count, self.parameters.max_prototypes) for count in self._megaclouds.counts.tolist())
        self._make_room(max(2, MOST_UNTIL_RENEWAL // sum(rooms)))

    def _absorb_lift(self, other: "GlocalLearner", numbers: Indices) -> None:
        """Where the two have no lift of one centre, it begins anew when the model is renewed, if it can."""
        if not self.sample_count:
            self._lift = other._lift
            return
        if self.sample_count + other.sample_count >= MOST:
            for learner in (self, other):
                if not learner._lift.begun:
                    learner._begin_lift()
        if not self._lift.absorb(other._lift, numbers):
            self._lift = Lift(self.width)

    def _make_room(self, times: int) -> None:
        """At most so many times as many prototypes as a class should have."""
        counts, most = self._megaclouds.counts.tolist(), self.parameters.max_prototypes
        freed = [self._united_until(k, times * room_for(count, most)) for k, count in enumerate(counts)]
        self._remove_rows([row for rows in freed for row in rows])

    def _renew(self) -> None:
        """Make anew what learning uses, and judge the model as it is now."""
        if not self._outdated:
            return
        self._make_room(1)
        if (known := self._records.all_vectors()) is not None:
            for label in sorted(self._lost, key=self._labels.index):
                self._form_prototypes(self._labels.index(label), known)
        if (known := self._records.all_vectors()) is not None:
            self._reservoir.refill(known, self._class_of())
            scatter = self._statistics.scatter
            young = scatter.triangle is not None and self.sample_count < scatter.most_rows  # fewer numbers as rows
            if young or scatter.rounding > LARGEST_ROUNDING * scatter.trace:
                self._sum_scatter(known)
        self._lost = {}
        lifted = self._lift.scatter
        if self.sample_count < MOST or lifted.rounding > LARGEST_LIFTED_ROUNDING * lifted.trace:
            self._lift = Lift(self.width)
        if not self._lift.begun and self.sample_count >= MOST:
            self._begin_lift()
        if self.sample_count < FIRST_REVIEW:
            self._judgement, self._schedule.next_review = Judgement(), FIRST_REVIEW
        else:
            ridge = self._judgement.ridge
            self._judgement = self._reviewed().judgement(ridge, walk=True) or Judgement(ridge=ridge)
            self._schedule.reviewed_at(self.sample_count)
        self._refresh()
        self._outdated = False

    @property
    def _until_pause(self) -> int:
        return min(super()._until_pause, self._schedule.next_review - self.sample_count)

    def state(self) -> Tensors:
        """Vectors of the reservoir are written only where the records do not hold them, as exactly."""
        if self._lost:  # which is in no file
            self.renew()
        state = super().state()
        if self._records.all_vectors() is not None and not self._records.inexact:
            del state["reservoir.vectors"]
        return state

    def _was_reviewed(self, judgement: Tensors) -> bool:
        """By what files up to format 5 say of it: before format 3 only that there were novelties."""
        return bool(judgement["reviewed"]) if "reviewed" in judgement else len(judgement["novelties"]) > 0

    def _judge_anew(self, ridge: float, reviewed: bool) -> None:
        if ridge not in RIDGES:
            raise ValueError(f"the ridge {ridge} is not one of those that can be chosen")
        due = self._schedule.next_review
        self._judgement = Judgement(ridge=ridge)
        if reviewed:
            self._review()
        self._schedule.next_review = due  # a function of the count alone

    def _restore_own(self, state: Tensors) -> None:
        reservoir, learned = part_of("reservoir", state), self._statistics.learned
        self._reservoir.restore(reservoir, self._records, self.sample_count, learned, self._class_of())
        self._calibration.restore(part_of("calibration", state), self.class_count)
        self._lift.restore(part_of("lift", state), self._megaclouds.counts)
        if self._outdated:
            return
        self._schedule.restore(part_of("schedule", state), self.sample_count)
        judgement = part_of("judgement", state)
        if "disputes" in judgement:
            self._judgement = Judgement.from_state(judgement, self.class_count)
        else:  # files up to format 5 judged by other rules
            self._judge_anew(float(judgement["ridge"]), reviewed=self._was_reviewed(judgement))
        if self._judgement.lifts and not self._lift.begun:
            raise ValueError("the lift counts, and there is none")
