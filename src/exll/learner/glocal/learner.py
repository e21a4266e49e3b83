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
  coarse schedule of its own, a function of the count alone: at 16 samples, then whenever the stream has grown by a
  fifth since, from 500 on by 35 % and from 2,000 on by 70 %.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from exll.errors import InputError
from exll.learner.block import Block, MovingProducts
from exll.learner.exll import ExLL, Parameters, Placed, part_of
from exll.learner.expected import Expected
from exll.learner.glocal.calibration import LEAST, Calibrated, CalibrationInputs
from exll.learner.glocal.inference import GlocalInference
from exll.learner.glocal.judgement import RIDGES, Judgement
from exll.learner.glocal.lift import Lift
from exll.learner.glocal.reservoir import MOST, Reservoir, group_number
from exll.learner.glocal.review import FIRST_REVIEW, Reviewed, Schedule
from exll.learner.glocal.ward import room_for, ward_step, ward_union
from exll.learner.head import Head, whitened_cosine
from exll.learner.lagging import LaggingPrecision, RoundedPrecision
from exll.learner.megacloud import MegaClouds
from exll.learner.part import Part
from exll.learner.precision import KeptPrecision, Shrinkage, precision_of, quick_precision_of
from exll.learner.prototypes import Members
from exll.learner.statistics import within_residual
from exll.linalg.threads import one_blas_thread
from exll.linalg.ties import first_of_largest
from exll.types import Group, Label, Matrix, Tensors, Vector

LEAST_RIDGE = 1e-14  # of unit vectors' covariance, where nothing varies within the classes yet
ROUNDING_VARIANCE = 1e-4  # unit vectors that vary less than this are never kept in half precision
LOCAL_ALONE = 0.1


class GlocalBlock(Block):
    """Rows with their products with every class; prototypes are placed without the precision."""

    def __init__(self, X: Matrix, precision: KeptPrecision, origin: Vector, megaclouds: MegaClouds) -> None:
        super().__init__(X, precision, origin)
        self.megaclouds = MovingProducts(self, megaclouds, precision)


class GlocalLearner(ExLL):
    """Whitened cosines of classes and prototypes, with weights learned from the stream."""

    residual = staticmethod(within_residual)

    def __init__(self, width: int, parameters: Parameters) -> None:
        super().__init__(width, parameters)
        self._judgement = Judgement()
        self._reservoir = Reservoir(width)
        self._schedule = Schedule(FIRST_REVIEW, np.zeros(width))
        self._calibration = CalibrationInputs(width)
        self._lift = Lift(width)

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
        mean_eigenvalue = self._statistics.scatter.trace / (max(self.sample_count, 1) * self.width)
        return Shrinkage(1.0, max(ridge * mean_eigenvalue, LEAST_RIDGE))

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

    def _after_sample(self, x: Vector, k: int, placed: Placed, group: Group) -> None:
        number = None if group is None else group_number(group)
        self._reservoir.learn(self.sample_count - 1, x, k, placed.id, number, self._variance(k))
        self._round_reservoir()
        if self._lift.begun:
            self._lift.learn(x, k)
        elif self.sample_count == MOST:  # which holds all of them
            self._lift.begin(self._reservoir.vectors(self._records.vectors), self._reservoir.classes)
        if self.class_count > 1 and not self._judgement.reviewed:  # it may have been one class for long
            self._schedule.review_within(FIRST_REVIEW, self.sample_count)
        if self.sample_count >= self._schedule.next_review:
            self._review()

    def _round_reservoir(self) -> None:
        """Once the stream is no longer young: as soon as the scatter is a matrix."""
        old_enough = self._statistics.scatter.triangle is not None and self._variance_within >= ROUNDING_VARIANCE
        if old_enough and not self._reservoir.rounded:
            self._reservoir.round_vectors(self._records.vectors)

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
            self._records.vectors,
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
        self._round_reservoir()
        most = self.parameters.max_prototypes
        while most is not None and len(self._megaclouds.members(k)) > most:
            members = self._prototypes.members(self._megaclouds.members(k))
            freed = self._unite(k, members, *ward_union(members, self._prototypes.counts[members.rows]))
            self._prototypes.remove(freed)
            self._megaclouds.forget_row(freed)
        self._judge_anew(self._judgement.ridge, self._judgement.reviewed)

    @property
    def _until_pause(self) -> int:
        return min(super()._until_pause, self._schedule.next_review - self.sample_count)

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
        self._schedule.restore(part_of("schedule", state), self.sample_count)
        table = self._prototypes
        class_of = dict(zip(table.ids.tolist(), table.class_of.tolist(), strict=True))
        self._reservoir.restore(part_of("reservoir", state), self.sample_count, class_of)
        if self._reservoir.rounded and (self._records.vectors is None or self._statistics.scatter.triangle is None):
            raise ValueError("the reservoir has no vectors")
        self._calibration.restore(part_of("calibration", state), self.class_count)
        self._lift.restore(part_of("lift", state), self._megaclouds.counts)
        judgement = part_of("judgement", state)
        if "disputes" in judgement:
            self._judgement = Judgement.from_state(judgement, self.class_count)
        else:  # files up to format 5 judged by other rules
            self._judge_anew(float(judgement["ridge"]), reviewed=self._was_reviewed(judgement))
        if self._judgement.lifts and not self._lift.begun:
            raise ValueError("the lift counts, and there is none")
        vectors = state.get("reservoir.vectors")
        if vectors is not None and vectors.dtype == np.float16 and self._statistics.scatter.triangle is not None:
            self._reservoir.round_vectors(self._records.vectors)  # as they were, however little they vary now
        self._round_reservoir()
