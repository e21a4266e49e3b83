"""Glocal pairwise fusion (Eq. 22 and 23): counts of the truth for every pair of global and local answers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import TOLERANCE, first_of_largest, first_of_largest_rows, least_of_largest, slack
from exll.types import Indices, Matrix, PairWeights, Tensors, Vector

Pair: TypeAlias = tuple[int, int]  # the answers of global and local inference
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class SampleScores:
    """The scores of global and local inference for one sample while learning."""

    class_scores: Vector  # (classes,) of the MegaClouds
    prototype_scores: Vector  # (prototypes,)
    class_of: Indices  # (prototypes,)

    @cached_property
    def pair(self) -> Pair:
        return first_of_largest(self.class_scores), self.local_label

    @property
    def local_label(self) -> int:
        """The class of the best prototype; of equally good ones, the class seen first (docs/decisions.md, 8 and 13)."""
        best = np.flatnonzero(self.prototype_scores >= least_of_largest(self.prototype_scores))
        return int(self.class_of[best[0]] if len(best) == 1 else self.class_of[best].min())

    @property
    def local_scores(self) -> Vector:
        """(classes,) the best prototype of each."""
        best = np.full(len(self.class_scores), -np.inf)
        np.maximum.at(best, self.class_of, self.prototype_scores)
        return best

    @property
    def confidence(self) -> float:
        """The mean of the posteriors of the two answers (Eq. 19 and 21)."""
        both = self.class_scores, self.local_scores
        return sum(1.0 / float(np.exp(scores - scores.max()).sum()) for scores in both) / 2


class PairwiseFusion:
    r"""The counts $\Phi(k, \hat l, \tilde l)$, kept sparse: {(global, local): {truth: count}}.

    A pair that the stream never showed has no counts (0/0 in Eq. 23): then the agreed label, or that of the inference
    with the higher confidence (docs/decisions.md, 10 and 15). Confidence is compared as log odds, since both posteriors
    are often 1.0 to the last bit.

    With the weights "confidence" a sample adds its confidence instead of 1 (docs/decisions.md, 16); the bare counts are
    kept beside, for explanations.
    """

    def __init__(self, weights: PairWeights = "one") -> None:
        self.counts: dict[Pair, dict[int, int]] = {}
        self.weights: dict[Pair, dict[int, float]] | None = {} if weights == "confidence" else None
        self._favourites: dict[Pair, int] = {}  # the truth of each with the most counts, or the most weight

    def learn(self, scores: SampleScores, truth: int) -> None:
        """Eq. 22."""
        pair = scores.pair
        counts = self.counts.get(pair, {})
        # The inner dicts are replaced, never changed: a frozen copy shares them.
        self.counts[pair] = counts = {**counts, truth: counts.get(truth, 0) + 1}
        if self.weights is None:
            self._favourites[pair] = _most_frequent(counts)
            return
        weights = self.weights.get(pair, {})
        self.weights[pair] = weights = {**weights, truth: weights.get(truth, 0.0) + scores.confidence}
        self._favourites[pair] = _most_frequent(weights)

    def answer(self, scores: SampleScores) -> int:
        """Eq. 23 for a sample while learning."""
        one, other = scores.pair
        favourite = self._favourites.get(scores.pair)
        if favourite is not None:
            return favourite
        if one == other:
            return one
        global_odds, local_odds = _log_odds(scores.class_scores, one), _log_odds(scores.local_scores, other)
        return one if _global_wins(global_odds, one, local_odds, other) else other

    def labels(self, global_scores: Matrix, local_scores: Matrix) -> Indices:
        """Eq. 23, the label."""
        return self._decide(global_scores, local_scores)[0]

    def posteriors(self, global_scores: Matrix, local_scores: Matrix) -> tuple[Indices, Matrix]:
        """Eq. 23, label and probabilities."""
        labels, pairs, sources = self._decide(global_scores, local_scores)
        global_posteriors, local_posteriors = softmax_rows(global_scores)[0], softmax_rows(local_scores)[0]
        posteriors: Matrix = np.where(
            (sources == _BOTH)[:, None],
            (global_posteriors + local_posteriors) / 2,
            np.where((sources == _GLOBAL)[:, None], global_posteriors, local_posteriors),
        )
        seen = np.flatnonzero(sources == _STREAM)
        posteriors[seen] = self._shares([pairs[row] for row in seen], posteriors.shape[1])
        return labels, posteriors

    def _shares(self, pairs: list[Pair], classes: int) -> Matrix:
        """How often, or with what weight, each class was the truth of each pair, as a share; (pairs, classes)."""
        table = self.counts if self.weights is None else self.weights
        found = [table[pair] for pair in pairs]
        rows = np.repeat(np.arange(len(pairs)), [len(truths) for truths in found])
        shares = np.zeros((len(pairs), classes))
        shares[rows, [k for truths in found for k in truths]] = [n for truths in found for n in truths.values()]
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _decide(self, global_scores: Matrix, local_scores: Matrix) -> tuple[Indices, list[Pair], Indices]:
        """Labels, the pair behind each, and where its posteriors come from."""
        global_labels, local_labels = first_of_largest_rows(global_scores), first_of_largest_rows(local_scores)
        pairs = list(zip(global_labels.tolist(), local_labels.tolist(), strict=True))
        labels = np.array([self._favourites.get(pair, _UNDECIDED) for pair in pairs], np.int64)
        unseen = labels == _UNDECIDED
        sources = np.where(unseen, _BOTH, _STREAM)
        agreed = unseen & (global_labels == local_labels)
        labels[agreed] = global_labels[agreed]
        open_rows = np.flatnonzero(labels == _UNDECIDED)
        if len(open_rows):
            one, other = global_labels[open_rows], local_labels[open_rows]
            global_odds = _log_odds_of_rows(global_scores[open_rows], one)
            local_odds = _log_odds_of_rows(local_scores[open_rows], other)
            wins = _global_wins(global_odds, one, local_odds, other)
            sources[open_rows] = np.where(wins, _GLOBAL, _LOCAL)
            labels[open_rows] = np.where(wins, one, other)
        return labels, pairs, sources

    def counts_of_pair(self, global_label: int, local_label: int) -> dict[int, int]:
        """How often each class was the truth when these were the answers; empty where that never came up."""
        return dict(self.counts.get((global_label, local_label), {}))

    def frozen(self) -> "PairwiseFusion":
        """A cheap copy that later learning does not change."""
        copy = PairwiseFusion()
        copy.counts, copy._favourites = dict(self.counts), dict(self._favourites)
        copy.weights = None if self.weights is None else dict(self.weights)
        return copy

    def share(self, global_label: int, local_label: int, truth: int) -> float | None:
        """Of the weight of a pair that came up; None where it has counts alone."""
        if self.weights is None:
            return None
        weights = self.weights[global_label, local_label]
        return weights[truth] / sum(weights.values())

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes: every mention of the absorbed one becomes the kept one; later classes move up."""

        def renamed(k: int) -> int:
            k = kept if k == absorbed else k
            return k - 1 if k > absorbed else k

        def followed(table: dict[Pair, dict[int, Number]]) -> dict[Pair, dict[int, Number]]:
            merged: dict[Pair, dict[int, Number]] = {}
            for (global_label, local_label), truths in table.items():
                target = merged.setdefault((renamed(global_label), renamed(local_label)), {})
                for k, number in truths.items():
                    target[renamed(k)] = target.get(renamed(k), 0) + number
            return merged

        self.counts = followed(self.counts)
        self.weights = None if self.weights is None else followed(self.weights)
        self._find_favourites()

    def remove_class(self, k: int) -> None:
        """Pairs with a class that is gone go with it; the later ones move up by one place."""

        def without(table: dict[Pair, dict[int, Number]]) -> dict[Pair, dict[int, Number]]:
            left: dict[Pair, dict[int, Number]] = {}
            for (one, other), truths in table.items():
                kept = {truth - (truth > k): number for truth, number in truths.items() if truth != k}
                if k not in (one, other) and kept:
                    left[one - (one > k), other - (other > k)] = kept
            return left

        self.counts = without(self.counts)
        self.weights = None if self.weights is None else without(self.weights)
        self._find_favourites()

    def absorb(self, other: "PairwiseFusion", numbers: Indices) -> None:
        """The counts of another learner, whose classes have these numbers here, are added to these."""

        def add(table: dict[Pair, dict[int, Number]], theirs: dict[Pair, dict[int, Number]]) -> None:
            for (one, two), truths in theirs.items():
                pair = int(numbers[one]), int(numbers[two])
                together = dict(table.get(pair, {}))  # replaced, never changed: a frozen copy shares them
                for truth, number in truths.items():
                    k = int(numbers[truth])
                    together[k] = together.get(k, 0) + number
                table[pair] = together

        add(self.counts, other.counts)
        if self.weights is not None and other.weights is not None:
            add(self.weights, other.weights)
        self._find_favourites()

    @property
    def nbytes(self) -> int:
        columns = 4 if self.weights is None else 5
        return columns * 8 * sum(len(counts) for counts in self.counts.values())

    def state(self) -> Tensors:
        """Rows of global label, local label, truth and count; with weights also the weight, and all as floats, which an
        exll that knows no weights refuses."""
        rows = [(*pair, k, count) for pair, counts in self.counts.items() for k, count in counts.items()]
        if self.weights is None:
            return {"counts": np.array(rows, np.int64).reshape(-1, 4)}
        weighted = [(*row, self.weights[row[0], row[1]][row[2]]) for row in rows]
        return {"counts": np.array(weighted, np.float64).reshape(-1, 5)}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        """At most ``samples`` were counted: not the first of a model, nor that of one that was merged into it."""
        table = state["counts"]
        if table.dtype.kind != ("i" if self.weights is None else "f"):
            raise ValueError("the fusion counts are not whole numbers, or have no weights")
        if self.weights is not None:
            table, weights = table[:, :4].astype(np.int64), table[:, 4].tolist()
            if not np.array_equal(table, state["counts"][:, :4]):
                raise ValueError("the fusion counts are not whole numbers")
        counts: dict[Pair, dict[int, int]] = {}
        for row, (global_label, local_label, k, count) in enumerate(table.tolist()):
            if not all(0 <= label < classes for label in (global_label, local_label, k)) or count < 1:
                raise ValueError("a fusion count names a class that does not exist, or is not positive")
            counts.setdefault((global_label, local_label), {})[k] = count
            if self.weights is not None:
                if not 0.0 < weights[row] <= count * (1 + TOLERANCE):
                    raise ValueError("a weight of the fusion table is not between 0 and its count")
                self.weights.setdefault((global_label, local_label), {})[k] = weights[row]
        if not 0 <= table[:, 3].sum() <= samples:
            raise ValueError("the fusion counts are more than the samples")
        self.counts = counts
        self._find_favourites()

    def _find_favourites(self) -> None:
        table = self.counts if self.weights is None else self.weights
        self._favourites = {pair: _most_frequent(truths) for pair, truths in table.items()}


_UNDECIDED = -1
_BOTH, _GLOBAL, _LOCAL, _STREAM = 0, 1, 2, 3


def _most_frequent(numbers: Mapping[int, float]) -> int:
    top = max(numbers.values())
    return min(k for k, number in numbers.items() if number >= top - slack(top))


def _global_wins(
    global_odds: Vector | float, global_labels: Indices | int, local_odds: Vector | float, local_labels: Indices | int
) -> NDArray[np.bool_]:
    """Whether global inference gives its own label the larger posterior; where equal, whether its class was seen
    first."""
    equal = np.abs(global_odds - local_odds) <= TOLERANCE * np.maximum(1.0, np.abs(local_odds))
    wins: NDArray[np.bool_] = np.where(equal, global_labels < local_labels, global_odds > local_odds)
    return wins


def _log_odds_of_rows(scores: Matrix, labels: Indices) -> Vector:
    """The logarithm of how much likelier each label is than all others together, by the softmax of the scores."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, labels] = -np.inf
    odds: Vector = scores[rows, labels] - softmax_rows(others)[1]
    return odds


def _log_odds(scores: Vector, label: int) -> float:
    """The same of one row, without what many rows take."""
    others = scores.copy()
    others[label] = -np.inf
    top = others[others.argmax()]
    return float(scores[label] - top) - math.log(np.exp(others - top).sum())
