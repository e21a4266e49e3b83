"""Glocal pairwise fusion (Eq. 22 and 23): what the truth was when local and global inference said this and that."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exll.learner.softmax import softmax_rows
from exll.learner.ties import TOLERANCE, first_of_largest, first_of_largest_rows, slack
from exll.types import Indices, Matrix, Tensors, Vector


@dataclass(frozen=True, slots=True)
class Voices:
    """What both inferences say about one sample while learning."""

    class_scores: Vector  # (classes,) of the MegaClouds
    prototype_scores: Vector  # (prototypes,)
    class_of: Indices  # (prototypes,)

    @property
    def global_label(self) -> int:
        return first_of_largest(self.class_scores)

    @property
    def local_label(self) -> int:
        """The class of the best prototype; of equally good ones, the class seen first (docs/decisions.md, 8 and 13)."""
        top = self.prototype_scores.max()
        return int(self.class_of[self.prototype_scores >= top - slack(top)].min())

    @property
    def local_scores(self) -> Vector:
        """(classes,) the best prototype of each."""
        best = np.full(len(self.class_scores), -np.inf)
        np.maximum.at(best, self.class_of, self.prototype_scores)
        return best


class PairwiseFusion:
    r"""The counts $\Phi(k, \hat l, \tilde l)$, kept sparse: {(global, local): {truth: count}}.

    A pair that the stream never showed has no counts (0/0 in Eq. 23): then the agreed label, or the voice that is
    surer of itself (docs/decisions.md, 10 and 15). Sureness is compared as log odds, since both posteriors are often
    1.0 to the last bit.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int], dict[int, int]] = {}

    def learn(self, voices: Voices, truth: int) -> int:
        """Eq. 22, and Eq. 23 as it was before."""
        pair = one, other = voices.global_label, voices.local_label
        counts = self.counts.get(pair, {})
        # The inner dict is replaced, never changed: a frozen copy shares it.
        self.counts[pair] = {**counts, truth: counts.get(truth, 0) + 1}
        if counts:
            return _most_frequent(counts)
        if one == other:
            return one
        global_wins = _surer(
            voices.class_scores[None, :], np.array([one]), voices.local_scores[None, :], np.array([other])
        )
        return one if global_wins[0] else other

    def labels(self, global_scores: Matrix, local_scores: Matrix) -> Indices:
        """Eq. 23, the label."""
        return self._decide(global_scores, local_scores)[0]

    def posteriors(self, global_scores: Matrix, local_scores: Matrix) -> tuple[Indices, Matrix]:
        """Eq. 23, label and probabilities."""
        labels, seen, speakers = self._decide(global_scores, local_scores)
        global_posteriors, local_posteriors = softmax_rows(global_scores)[0], softmax_rows(local_scores)[0]
        posteriors: Matrix = np.where(
            (speakers == _BOTH)[:, None],
            (global_posteriors + local_posteriors) / 2,
            np.where((speakers == _GLOBAL)[:, None], global_posteriors, local_posteriors),
        )
        for rows, counts in seen:
            row = np.zeros(posteriors.shape[1])
            row[list(counts)] = list(counts.values())
            posteriors[rows] = row / row.sum()
        return labels, posteriors

    def _decide(
        self, global_scores: Matrix, local_scores: Matrix
    ) -> tuple[Indices, list[tuple[Indices, dict[int, int]]], Indices]:
        """Labels; the rows of each pair that was seen, with its counts; who speaks in the other rows."""
        global_labels, local_labels = first_of_largest_rows(global_scores), first_of_largest_rows(local_scores)
        labels = np.where(global_labels == local_labels, global_labels, _UNDECIDED)
        speakers = np.full(len(labels), _BOTH)
        seen = []
        for rows in _rows_of_each_pair(global_labels, local_labels):
            counts = self.counts.get((int(global_labels[rows[0]]), int(local_labels[rows[0]])))
            if counts is not None:
                labels[rows] = _most_frequent(counts)
                seen.append((rows, counts))
        open_rows = np.flatnonzero(labels == _UNDECIDED)
        if len(open_rows):
            one, other = global_labels[open_rows], local_labels[open_rows]
            global_wins = _surer(global_scores[open_rows], one, local_scores[open_rows], other)
            speakers[open_rows] = np.where(global_wins, _GLOBAL, _LOCAL)
            labels[open_rows] = np.where(global_wins, one, other)
        return labels, seen, speakers

    def evidence(self, global_label: int, local_label: int) -> dict[int, int]:
        """How often each class was the truth when the voices said this; empty where that never came up."""
        return dict(self.counts.get((global_label, local_label), {}))

    def frozen(self) -> "PairwiseFusion":
        """A cheap copy that later learning leaves alone."""
        copy = PairwiseFusion()
        copy.counts = dict(self.counts)
        return copy

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes: every mention of the absorbed one becomes the kept one; later classes move up."""

        def renamed(k: int) -> int:
            k = kept if k == absorbed else k
            return k - 1 if k > absorbed else k

        merged: dict[tuple[int, int], dict[int, int]] = {}
        for (global_label, local_label), counts in self.counts.items():
            target = merged.setdefault((renamed(global_label), renamed(local_label)), {})
            for k, count in counts.items():
                target[renamed(k)] = target.get(renamed(k), 0) + count
        self.counts = merged

    @property
    def nbytes(self) -> int:
        return 4 * 8 * sum(len(counts) for counts in self.counts.values())

    def state(self) -> Tensors:
        rows = [(*pair, k, count) for pair, counts in self.counts.items() for k, count in counts.items()]
        return {"counts": np.array(rows, np.int64).reshape(-1, 4)}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self.counts = {}
        for global_label, local_label, k, count in state["counts"].tolist():
            if not all(0 <= label < classes for label in (global_label, local_label, k)) or count < 1:
                raise ValueError("a fusion count names no class")
            self.counts.setdefault((global_label, local_label), {})[k] = count
        if state["counts"][:, 3].sum() != max(0, samples - 1):
            raise ValueError("the fusion counts do not sum to the samples")


_UNDECIDED = -1
_BOTH, _GLOBAL, _LOCAL = 0, 1, 2


def _most_frequent(counts: dict[int, int]) -> int:
    return min(counts, key=lambda k: (-counts[k], k))


def _surer(
    global_scores: Matrix, global_labels: Indices, local_scores: Matrix, local_labels: Indices
) -> NDArray[np.bool_]:
    """Per row, whether global inference gives its own label the larger posterior; where equal, whether its class was
    seen first."""
    global_odds, local_odds = _log_odds(global_scores, global_labels), _log_odds(local_scores, local_labels)
    equal = np.abs(global_odds - local_odds) <= TOLERANCE * np.maximum(1.0, np.abs(local_odds))
    wins: NDArray[np.bool_] = np.where(equal, global_labels < local_labels, global_odds > local_odds)
    return wins


def _log_odds(scores: Matrix, labels: Indices) -> Vector:
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, labels] = -np.inf
    odds: Vector = scores[rows, labels] - softmax_rows(others)[1]
    return odds


def _rows_of_each_pair(global_labels: Indices, local_labels: Indices) -> list[Indices]:
    pairs = global_labels * (int(local_labels.max(initial=0)) + 1) + local_labels
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order])) + 1
    return [rows for rows in np.split(order, starts) if len(rows)]
