r"""What the preset ``glocal`` answers: scores that are linear in x, and a confidence that falls with novelty."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from exll.learner.glocal.background import Background, relative_distance
from exll.learner.glocal.calibration import Calibrated
from exll.learner.glocal.judgement import Judgement
from exll.learner.glocal.lift import LiftedClasses
from exll.learner.head import SHORTEST, Head, whitened_cosine
from exll.learner.inference import Combination, Inference, Judged, Limits, Measured, Parts
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Matrix, Vector

LIMITS_KEPT = 16
NEGLIGIBLE = 1e-3  # a share of local inference that is as good as none


@dataclass(frozen=True)
class GlocalInference(Inference):
    """Fused scores are those of the classes plus a share of those of their best prototypes."""

    says_unknown: ClassVar[bool] = True
    judgement: Judgement
    calibrated: Calibrated | None
    local_share: float  # of the scores of prototypes, for inputs that are not unusual
    lifted: LiftedClasses | None  # where they count

    def fused_labels(self, X: Matrix, dots: Matrix) -> Indices:
        global_scores, local_scores = self.global_and_local(dots)
        labels = first_of_largest_rows(global_scores)
        # Where both have the same answer, their sum has it too, whatever the share; so only others are measured.
        differ = labels != first_of_largest_rows(local_scores)
        measured = np.flatnonzero(differ if self.lifted is None else np.ones_like(differ))
        if len(measured):
            labels[measured] = first_of_largest_rows(self.parts(X[measured], dots[measured]).fused)
        return labels

    def parts(self, X: Matrix, dots: Matrix) -> Parts:
        return self._parts(X, dots)[0]

    @property
    def combination(self) -> Combination:
        lift = " So does the lift, a second global score, which may replace much of the first."
        return Combination(
            rule=f"Local and global inference give every class a score.{'' if self.lifted is None else lift} "
            "The scores are added. How much each counts was learned from the examples.",
            decider="what local inference adds" if self.lifted is None else "the rest of the sum",
            counted="among the examples that the model left out to judge itself",
        )

    def reason(self, k: int, global_k: int, local_k: int, local_counts: bool, lift_counts: bool = False) -> str:
        if lift_counts:
            how = self._reason_with_lift(k, global_k, local_k, local_counts)
        elif self.local_share < NEGLIGIBLE and k == global_k:
            how = "The classes as a whole decided, each by all its examples together; single groups have no weight."
        elif not local_counts and k == global_k:
            how = "The less usual an input is, the less a single group counts: here only the classes as a whole do."
        elif global_k == local_k:
            how = "The answer is the sum of their scores."
        else:
            how = f'"{self.labels[k]}" has the largest sum of their scores.'
        modest = "Most classes came in one clip or place only, so the confidence is kept low."
        sentences = f"{self.said(global_k, local_k)}.", how, self.happened(k, global_k, local_k)
        return " ".join(filter(None, (*sentences, modest if self.judgement.seen_once > 0.5 else "")))

    def _reason_with_lift(self, k: int, global_k: int, local_k: int, local_counts: bool) -> str:
        only = "" if local_counts else "Single groups add nothing here. "
        if k not in (global_k, local_k):
            return (
                f'{only}But with the lift added, a second score of the classes, "{self.labels[k]}" has the largest sum.'
            )
        summed = "their scores" if local_counts else "the scores of the classes"
        summed += " and of the lift, a second score of the classes"
        if global_k == local_k:
            return f"{only}The answer is the sum of {summed}."
        return f'{only}"{self.labels[k]}" has the largest sum of {summed}.'

    def counts_of_pair(self, global_k: int, local_k: int) -> dict[int, int]:
        return self.judgement.disputes_of(global_k, local_k)

    def similarities(self, X: Matrix, dots: Matrix) -> Matrix:
        cosines: Matrix = self._towards(dots)[:, : len(self.prototype_ids)] / self._norms(X)[:, None]
        return cosines.clip(-1.0, 1.0)

    def judged(self, X: Matrix, dots: Matrix, inference: InferenceName) -> Judged:
        if inference == "fused":
            parts, measured = self._parts(X, dots)
            scores = parts.fused
        else:
            global_scores, local_scores = self.global_and_local(dots)
            measured = self._measured(X, dots, global_scores)
            scores = global_scores if inference == "global" else local_scores
        labels = first_of_largest_rows(scores)
        posteriors, _ = softmax_rows(self.confidence.inverse_temperature(measured.novelty)[:, None] * scores)
        raise_winner(posteriors, labels)
        return Judged(labels, posteriors, measured if inference == "fused" else None)

    def fused_scores(self, X: Matrix) -> tuple[Matrix, Measured]:
        """What probabilities are made of, and how usual the rows are."""
        parts, measured = self._parts(X, self.dots(X))
        return parts.fused, measured

    def linear_score(self, x: Vector, k: int) -> tuple[Vector, float]:
        _, measured = self._parts(x[None, :], self.dots(x[None, :]))
        share = float(self.judgement.local_shares(measured.novelty)[0])
        class_share = 1.0 + self.judgement.class_change * share
        weights, offset = self._linear_global_score(k)
        weights, offset = class_share * weights, class_share * offset
        if self.lifted is not None and share > 0.0:
            lifted_weights, lifted_offset = self.lifted.linear_score(x, k, self._lifted_head)
            weights, offset = weights + share * lifted_weights, offset + share * lifted_offset
        return weights, offset

    @property
    def confidence(self) -> Judgement | Calibrated:
        return self.calibrated or self.judgement

    @cached_property
    def background(self) -> Background:
        """All classes as one."""
        classes = slice(len(self.prototype_ids), None)
        return Background(self.means[classes] @ self.products[classes].T, self.class_counts)

    def limits(self, false_alarms: float) -> Limits:
        """Kept, since finding them takes as long as a tenth of an answer."""
        if false_alarms not in self._limits:
            if len(self._limits) >= LIMITS_KEPT:
                self._limits.clear()
            self._limits[false_alarms] = self.confidence.limits(false_alarms)
        return self._limits[false_alarms]

    @cached_property
    def _limits(self) -> dict[float, Limits]:
        return {}

    @cached_property
    def _directions(self) -> Matrix:
        """(C, d) the means of the classes, of length 1."""
        means = self.means[len(self.prototype_ids) :] + self.origin
        directions: Matrix = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), SHORTEST)
        return directions

    @cached_property
    def _lifted_head(self) -> Head:
        assert self.lifted is not None
        cosine, distance = self.judgement.lifted_weight, self.judgement.lifted_nearness_weight
        return whitened_cosine(self.lifted.squared_norms, cosine, distance)

    def _parts(self, X: Matrix, dots: Matrix) -> tuple[Parts, Measured]:
        global_scores, local_scores = self.global_and_local(dots)
        measured = self._measured(X, dots, global_scores)
        shares = self.judgement.local_shares(measured.novelty)
        lifted_scores = np.zeros_like(global_scores)
        usual = np.flatnonzero(shares)
        if self.lifted is not None and len(usual):
            of_usual = self._lifted_head.scores(self.lifted.dots(X[usual]), self.lifted.squared_norms)
            lifted_scores[usual] = shares[usual, None] * of_usual
        class_shares = 1.0 + self.judgement.class_change * shares
        local_part: Matrix = (self.local_share * shares)[:, None] * local_scores
        return Parts(class_shares, global_scores, local_part, lifted_scores), measured

    def _measured(self, X: Matrix, dots: Matrix, global_scores: Matrix) -> Measured:
        """By the class that global inference answers."""
        norms, labels = self._norms(X), first_of_largest_rows(global_scores)
        rows, classes = np.arange(len(labels)), len(self.prototype_ids) + labels
        own = dots[rows, classes]
        own_norms = self.squared_norms[classes]
        similarity = np.where(own_norms > SHORTEST, own / np.sqrt(np.maximum(own_norms, SHORTEST)), 0.0) / norms
        shared = self.background.shared(dots[:, len(self.prototype_ids) :])
        distance = relative_distance(shared, own - 0.5 * own_norms, norms)
        plain_cosine = np.vecdot(X, self._directions[labels])
        return Measured(self.judgement.novelty(similarity, distance, plain_cosine), similarity)

    def _norms(self, X: Matrix) -> Vector:
        norms: Vector = np.sqrt(np.maximum(self.precision.squared_norms(X - self.origin), SHORTEST))
        return norms

    def _towards(self, dots: Matrix) -> Matrix:
        """(p - o)' Lambda (x - o) / |p - o|: the cosines with all means, times the norm of x. A mean at the origin has
        no direction, and counts as zero."""
        norms = np.sqrt(np.maximum(self.squared_norms, SHORTEST))
        return np.where(self.squared_norms > SHORTEST, dots / norms, 0.0)
