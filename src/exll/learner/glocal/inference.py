r"""What the preset ``glocal`` answers: scores that are linear in x, and a sureness that knows what is familiar."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from exll.learner.glocal.background import Background, relative_distance
from exll.learner.glocal.judgement import Judgement
from exll.learner.head import SHORTEST
from exll.learner.inference import Combination, Inference, Judged
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Matrix, Vector


@dataclass(frozen=True)
class GlocalInference(Inference):
    """Fused scores are those of the classes plus a share of those of their best prototypes."""

    says_unknown: ClassVar[bool] = True
    combination: ClassVar[Combination] = Combination(
        rule="Both give every class a score, and the two are added; "
        "how much each counts was learned from the examples.",
        decider="what local inference adds",
        unheard="So far they gave local inference next to no weight.",
    )

    judgement: Judgement
    local_share: float

    def fused_labels(self, global_scores: Matrix, local_scores: Matrix) -> Indices:
        return first_of_largest_rows(global_scores + self.local_part(local_scores))

    def local_part(self, local_scores: Matrix) -> Matrix:
        return self.local_share * local_scores

    def reason(self, k: int, global_k: int, local_k: int) -> str:
        said = self.said(global_k, local_k)
        if global_k == local_k:
            return f"{said}; the answer is the sum of their scores."
        return f'{said}; in the sum of their scores "{self.labels[k]}" comes out first.'

    def judged(self, X: Matrix, row_scores: Matrix, inference: InferenceName) -> Judged:
        scores = self._scores_of(row_scores, inference)
        labels = first_of_largest_rows(scores)
        seen = X - self.origin
        dots = seen @ self.products[len(self.prototype_ids) :].T  # with the class means
        reach = np.sqrt(np.maximum(self.precision.lengths(seen), SHORTEST))
        familiarity = self._familiarity(dots, row_scores, labels, reach)
        posteriors, _ = softmax_rows(self.judgement.sureness(familiarity)[:, None] * scores)
        raise_winner(posteriors, labels)
        if inference != "fused":
            return Judged(labels, posteriors, None)
        distance = self._distance(dots, labels, reach)
        return Judged(labels, posteriors, self.judgement.novelty(familiarity, distance))

    @cached_property
    def background(self) -> Background:
        """All classes as one."""
        classes = slice(len(self.prototype_ids), None)
        return Background(self.means[classes] @ self.products[classes].T, self.class_counts)

    def novelty_threshold(self, false_alarms: float) -> float:
        """Kept, since finding it takes as long as a tenth of an answer."""
        if false_alarms not in self._thresholds:
            self._thresholds[false_alarms] = self.judgement.threshold(false_alarms)
        return self._thresholds[false_alarms]

    @cached_property
    def _thresholds(self) -> dict[float, float]:
        return {}

    def _scores_of(self, row_scores: Matrix, inference: InferenceName) -> Matrix:
        global_scores, local_scores = self.voices(row_scores)
        if inference == "fused":
            return global_scores + self.local_part(local_scores)
        return global_scores if inference == "global" else local_scores

    def _familiarity(self, dots: Matrix, row_scores: Matrix, labels: Indices, reach: Vector) -> Vector:
        """Of every row with the class that it is taken for, and with that class's best prototype."""
        rows, lengths = np.arange(len(labels)), self._class_lengths[labels]
        towards_class = np.where(lengths > SHORTEST, dots[rows, labels], 0.0) / np.sqrt(np.maximum(lengths, SHORTEST))
        best = np.empty(len(labels), np.int64)
        for row, k in enumerate(labels.tolist()):
            own = self.rows_of_class(k)
            best[row] = own.start + int(row_scores[row, own].argmax())
        return self.judgement.familiarity(towards_class, self._towards(row_scores[rows, best], best), reach)

    def _distance(self, dots: Matrix, labels: Indices, reach: Vector) -> Vector:
        """Of every row from the class that it is taken for, relative to all that was learned."""
        discriminant = dots[np.arange(len(labels)), labels] - 0.5 * self._class_lengths[labels]
        return relative_distance(self.background.shared(dots), discriminant, reach)

    @property
    def _class_lengths(self) -> Vector:
        return self.lengths[len(self.prototype_ids) :]

    def _towards(self, scores: Vector, at: Indices) -> Vector:
        """The scores of some prototypes turned back into (p - o)' Lambda (x - o) / |p - o|."""
        slopes, pulls, lengths = self.head.slopes[at], self.head.pulls[at], self.lengths[at]
        pointing = (lengths > SHORTEST) & (slopes > 0)
        dots = np.divide(scores + pulls * lengths, slopes, out=np.zeros(len(at)), where=pointing)
        towards: Vector = dots / np.sqrt(np.maximum(lengths, SHORTEST))
        return towards
