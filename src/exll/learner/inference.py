"""Asking: local, global and fused inference, exact for all that was learned (Eq. 17 to 23).

An :class:`Inference` is a frozen picture of a learner: it shares nothing that learning changes, so any number of
threads may ask it while learning goes on.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from exll.errors import InputError
from exll.learner.head import Head
from exll.learner.megacloud import MegaClouds
from exll.learner.precision import Precision
from exll.learner.prototypes import Prototypes
from exll.learner.ties import first_of_largest_rows
from exll.types import Indices, InferenceName, Label, Matrix, Vector

HeadOf: TypeAlias = Callable[[Vector], Head]

NO_UNKNOWN = 'the preset "paper" always names a class it knows; teach a model with preset="glocal" to hear "unknown".'


class Judged(NamedTuple):
    """Answers for some rows."""

    labels: Indices
    posteriors: Matrix  # (rows, classes), largest at the label alone
    novelty: Vector | None  # None where the preset or the inference does not measure it

    @property
    def measured_novelty(self) -> Vector:
        if self.novelty is None:
            raise InputError(NO_UNKNOWN)
        return self.novelty


@dataclass(frozen=True)
class Inference(ABC):
    """Weights and biases of every prototype and every class.

    Prototypes stand class by class, so that a class's local score, the maximum over its prototypes (docs/decisions.md,
    8), is one pass over neighbours. Local rows come first, global rows after them, in one matrix: fused inference is
    one product.
    """

    labels: tuple[Label, ...]  # in the order of first sight
    weights: Matrix  # (prototypes + classes, d)
    biases: Vector
    prototype_ids: Indices  # (prototypes,) whose row each of the first is
    first_prototype: Indices  # (classes,) where each class starts among them
    # What explanations need beside the scores, in the same order of rows.
    origin: Vector  # (d,) from where vectors and means are seen
    means: Matrix  # (prototypes + classes, d) centres, then class means, from the origin
    products: Matrix  # (prototypes + classes, d) the precision times them
    lengths: Vector  # their squared lengths under the precision
    head: Head  # slopes and pulls of all rows
    class_head: HeadOf
    supports: Indices  # (prototypes,)
    class_counts: Indices  # (classes,)
    precision: Precision

    @classmethod
    def of(
        cls,
        labels: Sequence[Label],
        prototypes: Prototypes,
        megaclouds: MegaClouds,
        precision: Precision,
        origin: Vector,
        heads: tuple[HeadOf, HeadOf],
        **own: Any,
    ) -> Self:
        """``heads`` are those of prototypes and classes; ``own`` is what the preset's inference adds."""
        order = np.argsort(prototypes.class_of, kind="stable")
        means = np.concatenate([prototypes.vectors[order], megaclouds.vectors])
        means -= origin
        products = precision.apply(means)
        lengths = np.vecdot(means, products)
        parts = [head(some) for head, some in zip(heads, np.split(lengths, [len(order)]), strict=True)]
        head = Head(*(np.concatenate(numbers) for numbers in zip(*parts, strict=True)))
        weights = products if (head.slopes == 1.0).all() else head.slopes[:, None] * products
        return cls(
            labels=tuple(labels),
            weights=weights,
            biases=-(weights @ origin) - head.pulls * lengths,
            prototype_ids=prototypes.ids[order],
            first_prototype=np.searchsorted(prototypes.class_of[order], np.arange(len(megaclouds))),
            origin=origin,
            means=means,
            products=products,
            lengths=lengths,
            head=head,
            class_head=heads[1],
            supports=prototypes.counts[order],
            class_counts=megaclouds.counts.copy(),
            precision=precision,
            **own,
        )

    @abstractmethod
    def fused_labels(self, global_scores: Matrix, local_scores: Matrix) -> Indices:
        """What the two voices say together."""

    @abstractmethod
    def judged(self, X: Matrix, row_scores: Matrix, inference: InferenceName) -> Judged:
        """What is said of every row, from the scores of all prototypes and classes."""

    @abstractmethod
    def novelty_threshold(self, false_alarms: float) -> float:
        """The novelty that this share of the stream's own examples exceeds."""

    def likely(self, posteriors: Matrix, row_scores: Matrix) -> Matrix:
        """What next-best labels of fused inference are taken from."""
        return posteriors

    def counts_of_pair(self, global_k: int, local_k: int) -> dict[int, int]:
        """How often each class was the truth when the voices said this while learning, where that is counted."""
        return {}

    @cached_property
    def sorted_classes(self) -> Indices:
        """The numbers of the classes in the order of their labels."""
        return np.array(sorted(range(len(self.labels)), key=self.labels.__getitem__), np.int64)

    def winners(self, X: Matrix, inference: InferenceName) -> Indices:
        """The class of every row, by its number. Memory grows with the rows: ask some hundreds at a
        time."""
        if inference == "fused":
            return self.fused_labels(*self.voices(self.row_scores(X)))
        return first_of_largest_rows(self.scores(X, inference))

    def posteriors(self, X: Matrix, inference: InferenceName) -> tuple[Indices, Matrix]:
        """Labels and the probabilities behind them, (rows, classes)."""
        judged = self.judged(X, self.row_scores(X), inference)
        return judged.labels, judged.posteriors

    def novelty(self, X: Matrix) -> Vector:
        """How little each row is like what was learned."""
        return self.judged(X, self.row_scores(X), "fused").measured_novelty

    def two_best(self, X: Matrix, inference: InferenceName) -> tuple[Judged, Indices]:
        """What is said of every row, and the next-best labels; a class that is alone is its own next-best."""
        row_scores = self.row_scores(X)
        judged = self.judged(X, row_scores, inference)
        likely = self.likely(judged.posteriors, row_scores) if inference == "fused" else judged.posteriors
        return judged, next_best(judged.labels, likely)

    def row_scores(self, X: Matrix) -> Matrix:
        """Eq. 18 and 20 before the softmax: every prototype, then every class, (rows, prototypes + classes)."""
        scores = X @ self.weights.T
        scores += self.biases
        return scores

    def voices(self, row_scores: Matrix) -> tuple[Matrix, Matrix]:
        """The scores of global and of local inference, (rows, classes) each."""
        local = len(self.prototype_ids)
        return row_scores[:, local:], self._best_of_class(row_scores[:, :local])

    def scores(self, X: Matrix, inference: InferenceName) -> Matrix:
        """Eq. 18 and 19 (local) or 20 and 21 (global) before the softmax, (rows, classes)."""
        local = len(self.prototype_ids)
        if inference == "global":
            global_scores: Matrix = X @ self.weights[local:].T + self.biases[local:]
            return global_scores
        return self._best_of_class(X @ self.weights[:local].T + self.biases[:local])

    def rows_of_class(self, k: int) -> slice:
        stops = [*self.first_prototype.tolist()[1:], len(self.prototype_ids)]
        return slice(int(self.first_prototype[k]), stops[k])

    def row_of_prototype(self, prototype: int) -> int:
        rows = np.flatnonzero(self.prototype_ids == prototype)
        if not len(rows):
            raise InputError(f"there is no prototype {prototype}.")
        return int(rows[0])

    def class_of_row(self, row: int) -> int:
        return int(np.searchsorted(self.first_prototype, row, side="right")) - 1

    def row_of_class(self, k: int) -> int:
        return len(self.prototype_ids) + k

    def _best_of_class(self, prototype_scores: Matrix) -> Matrix:
        best: Matrix = np.maximum.reduceat(prototype_scores, self.first_prototype, axis=1)
        return best


def next_best(labels: Indices, likely: Matrix) -> Indices:
    if likely.shape[1] == 1:
        return labels
    others = likely.copy()
    others[np.arange(len(labels)), labels] = -1.0
    return first_of_largest_rows(others)
