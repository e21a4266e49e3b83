"""What the paper answers: Eq. 18 to 23."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exll.learner.inference import Combination, Inference, Judged
from exll.learner.paper.fusion import PairwiseFusion
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Matrix


@dataclass(frozen=True)
class PaperInference(Inference):
    """Posteriors are softmaxes of the scores (Eq. 19 and 21), fused by the table of pairs (Eq. 23)."""

    combination: ClassVar[Combination] = Combination(
        rule="While learning, the model counted which class was true whenever local and global inference gave these "
        "two answers.",
        decider="the count of what was true when local and global inference gave these answers",
    )

    fusion: PairwiseFusion

    def fused_labels(self, X: Matrix, dots: Matrix) -> Indices:
        return self.fusion.labels(*self.global_and_local(dots))

    def judged(self, X: Matrix, dots: Matrix, inference: InferenceName) -> Judged:
        global_scores, local_scores = self.global_and_local(dots)
        if inference == "fused":
            labels, posteriors = self.fusion.posteriors(global_scores, local_scores)
        else:
            scores = global_scores if inference == "global" else local_scores
            labels, posteriors = first_of_largest_rows(scores), softmax_rows(scores)[0]
        raise_winner(posteriors, labels)
        return Judged(labels, posteriors, None)

    def likely(self, posteriors: Matrix, dots: Matrix) -> Matrix:
        """Where the fusion table knows one class only, the next-best label is that by the sum of the two posteriors
        (docs/decisions.md, 11)."""
        unsure = np.count_nonzero(posteriors > 0.0, axis=1) == 1
        if not unsure.any():
            return posteriors
        likely = posteriors.copy()
        global_scores, local_scores = self.global_and_local(dots[unsure])
        likely[unsure] = softmax_rows(global_scores)[0] + softmax_rows(local_scores)[0]
        return likely

    def counts_of_pair(self, global_k: int, local_k: int) -> dict[int, int]:
        return self.fusion.counts_of_pair(global_k, local_k)

    def reason(self, k: int, global_k: int, local_k: int, local_counts: bool, lift_counts: bool = False) -> str:
        said, counts = self.said(global_k, local_k), self.counts_of_pair(global_k, local_k)
        share = self.fusion.share(global_k, local_k, k) if counts else None
        weighed = "" if share is None else f" Each time counts by its confidence, which makes it {share:.0%}."
        if counts and global_k != local_k:
            return f"{said}. {self.happened(k, global_k, local_k)}{weighed}"
        if counts:
            total = sum(counts.values())
            times = "once" if total == 1 else f"{total:,} times"
            truth = f'the truth was "{self.labels[k]}" in {counts[k]:,} of {total:,}'
            return f"{said}. This happened {times} while learning, and {truth}.{weighed}"
        if global_k == local_k:
            return f"{said}. This did not happen while learning, so the label that both give is the answer."
        higher = "global" if k == global_k else "local"
        return (
            f"{said}. This did not happen while learning; {higher} inference decides, because its confidence is higher."
        )
