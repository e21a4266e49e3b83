r"""What the preset ``glocal`` answers: scores that are linear in x, and a confidence that follows their similarity."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from exll.learner.glocal.background import Background, relative_distance
from exll.learner.glocal.judgement import UNKNOWN_AMONG_UNUSUAL, Judgement
from exll.learner.head import SHORTEST
from exll.learner.inference import Combination, Inference, Judged
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Level, Matrix, Vector

NEGLIGIBLE = 1e-3  # a share of local inference that is as good as none


@dataclass(frozen=True)
class GlocalInference(Inference):
    """Fused scores are those of the classes plus a share of those of their best prototypes."""

    says_unknown: ClassVar[bool] = True
    combination: ClassVar[Combination] = Combination(
        rule="Local and global inference give every class a score, and the two are added. "
        "How much each counts was learned from the examples.",
        decider="what local inference adds",
        counted="among the examples that the model left out to judge itself",
    )

    judgement: Judgement
    local_share: float

    def fused_labels(self, global_scores: Matrix, local_scores: Matrix) -> Indices:
        return first_of_largest_rows(global_scores + self.local_part(local_scores))

    def local_part(self, local_scores: Matrix) -> Matrix:
        return self.local_share * local_scores

    def reason(self, k: int, global_k: int, local_k: int) -> str:
        if self.local_share < NEGLIGIBLE and k == global_k:
            how = "So far only the classes as a whole count; single groups have no weight yet."
        elif global_k == local_k:
            how = "The answer is the sum of their scores."
        else:
            how = f'In the sum of their scores "{self.labels[k]}" comes first.'
        return f"{self.said(global_k, local_k)}. {how} {self.happened(k, global_k, local_k)}".rstrip()

    def similarities(self, X: Matrix, dots: Matrix) -> Matrix:
        cosines: Matrix = self._towards(dots)[:, : len(self.prototype_ids)] / self._norms(X)[:, None]
        return cosines.clip(-1.0, 1.0)

    def judged(self, X: Matrix, dots: Matrix, inference: InferenceName) -> Judged:
        scores = self._scores_of(dots, inference)
        labels = first_of_largest_rows(scores)
        norms = self._norms(X)
        similarity = self._similarity(dots, labels, norms)
        posteriors, _ = softmax_rows(self.judgement.inverse_temperature(similarity)[:, None] * scores)
        raise_winner(posteriors, labels)
        if inference != "fused":
            return Judged(labels, posteriors, None)
        return Judged(labels, posteriors, self.judgement.novelty(similarity, self._distance(dots, labels, norms)))

    @cached_property
    def background(self) -> Background:
        """All classes as one."""
        classes = slice(len(self.prototype_ids), None)
        return Background(self.means[classes] @ self.products[classes].T, self.class_counts)

    def novelty_threshold(self, false_alarms: float, level: Level = "unusual") -> float:
        """Kept, since finding it takes as long as a tenth of an answer."""
        share = false_alarms if level == "unusual" else UNKNOWN_AMONG_UNUSUAL * false_alarms
        if share not in self._thresholds:
            self._thresholds[share] = self.judgement.threshold(share)
        return self._thresholds[share]

    @cached_property
    def _thresholds(self) -> dict[float, float]:
        return {}

    def _scores_of(self, dots: Matrix, inference: InferenceName) -> Matrix:
        global_scores, local_scores = self.global_and_local(dots)
        if inference == "fused":
            return global_scores + self.local_part(local_scores)
        return global_scores if inference == "global" else local_scores

    def _norms(self, X: Matrix) -> Vector:
        norms: Vector = np.sqrt(np.maximum(self.precision.squared_norms(X - self.origin), SHORTEST))
        return norms

    def _similarity(self, dots: Matrix, labels: Indices, norms: Vector) -> Vector:
        """Of every row with the class of its answer, and with the best prototype of that class."""
        rows, towards = np.arange(len(labels)), self._towards(dots)
        best = np.empty(len(labels), np.int64)
        for row, k in enumerate(labels.tolist()):
            own = self.rows_of_class(k)
            best[row] = own.start + int(towards[row, own].argmax())
        classes = len(self.prototype_ids) + labels
        return self.judgement.similarity(towards[rows, classes], towards[rows, best], norms)

    def _distance(self, dots: Matrix, labels: Indices, norms: Vector) -> Vector:
        """Of every row from the class of its answer, relative to all that was learned."""
        rows, classes = np.arange(len(labels)), len(self.prototype_ids) + labels
        discriminant = dots[rows, classes] - 0.5 * self.squared_norms[classes]
        return relative_distance(self.background.shared(dots[:, len(self.prototype_ids) :]), discriminant, norms)

    def _towards(self, dots: Matrix) -> Matrix:
        """(p - o)' Lambda (x - o) / |p - o|: the cosines with all means, times the norm of x. A mean at the origin has
        no direction, and counts as zero."""
        norms = np.sqrt(np.maximum(self.squared_norms, SHORTEST))
        return np.where(self.squared_norms > SHORTEST, dots / norms, 0.0)
