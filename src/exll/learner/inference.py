"""Asking: local, global and fused inference, exact for all that was learned (Eq. 17 to 23).

An :class:`Inference` is a frozen picture of a learner: it shares nothing that learning changes, so any number of
threads may ask it while learning goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import softmax

from exll.errors import InputError
from exll.learner.fusion import Fusion
from exll.learner.head import Head
from exll.learner.megacloud import MegaClouds
from exll.learner.precision import Precision
from exll.learner.prototypes import Prototypes
from exll.learner.ties import first_of_largest_rows, raise_winner
from exll.types import Indices, InferenceName, Label, Matrix, Vector


@dataclass(frozen=True)
class Inference:
    """Weights and biases of every prototype and every class, and the fusion between them.

    Prototypes stand class by class, so that a class's local score, the maximum over its prototypes (docs/decisions.md,
    8), is one pass over neighbours. Local rows come first, global rows after them, in one matrix: fused inference is
    one product.
    """

    labels: tuple[Label, ...]  # in the order of first sight
    weights: Matrix  # (prototypes + classes, d)
    biases: Vector
    prototype_ids: Indices  # (prototypes,) whose row each of the first is
    first_prototype: Indices  # (classes,) where each class starts among them
    fusion: Fusion
    # What explanations need beside the scores, in the same order of rows.
    means: Matrix  # (prototypes + classes, d) centres, then class means
    products: Matrix  # (prototypes + classes, d) the precision times them
    supports: Indices  # (prototypes,)
    class_counts: Indices  # (classes,)
    precision: Precision

    @classmethod
    def of(
        cls,
        labels: Sequence[Label],
        prototypes: Prototypes,
        megaclouds: MegaClouds,
        fusion: Fusion,
        head: Head,
        precision: Precision,
    ) -> "Inference":
        order = np.argsort(prototypes.class_of, kind="stable")
        means = np.concatenate([prototypes.vectors[order], megaclouds.vectors])
        products = precision.apply(means)
        weights, biases = head.linear(products, np.einsum("ij,ij->i", means, products))
        return cls(
            labels=tuple(labels),
            weights=weights,
            biases=biases,
            prototype_ids=order,
            first_prototype=np.searchsorted(prototypes.class_of[order], np.arange(len(megaclouds))),
            fusion=fusion.frozen(),
            means=means,
            products=products,
            supports=prototypes.counts[order],
            class_counts=megaclouds.counts.copy(),
            precision=precision,
        )

    @cached_property
    def sorted_classes(self) -> Indices:
        """The numbers of the classes in the order of their labels."""
        return np.array(sorted(range(len(self.labels)), key=self.labels.__getitem__), np.int64)

    def winners(self, X: Matrix, inference: InferenceName) -> Indices:
        """The class of every row, by its number. Memory grows with the rows: ask some hundreds at a
        time."""
        if inference == "fused":
            return self.fusion.labels(*self._both_scores(X))
        return first_of_largest_rows(self.scores(X, inference))

    def posteriors(self, X: Matrix, inference: InferenceName) -> tuple[Indices, Matrix]:
        """Labels and the probabilities behind them, (rows, classes); a row is largest at its label alone."""
        if inference == "fused":
            labels, posteriors = self.fusion.posteriors(*self._both_scores(X))
        else:
            scores = self.scores(X, inference)
            labels, posteriors = first_of_largest_rows(scores), softmax(scores, axis=1)
        raise_winner(posteriors, labels)
        return labels, posteriors

    def runners_up(self, X: Matrix, labels: Indices, posteriors: Matrix, inference: InferenceName) -> Indices:
        """The next-best label of every row. Where the fusion table knows one class only, it is the next-best by the
        sum of the two posteriors (docs/decisions.md, 11). Needs two classes."""
        rows = np.arange(len(X))
        others = posteriors.copy()
        others[rows, labels] = -1.0
        undecided = others.max(axis=1) <= 0.0
        if inference == "fused" and undecided.any():
            both = self._both_scores(X[undecided])
            others[undecided] = softmax(both[0], axis=1) + softmax(both[1], axis=1)
            others[rows, labels] = -1.0
        return first_of_largest_rows(others)

    def prototype_scores(self, x: Vector) -> Vector:
        """Eq. 18 of one vector for every prototype, in the order of rows."""
        local = len(self.prototype_ids)
        scores: Vector = self.weights[:local] @ x + self.biases[:local]
        return scores

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

    def class_mean(self, k: int) -> Vector:
        mean: Vector = self.means[len(self.prototype_ids) + k]
        return mean

    def scores(self, X: Matrix, inference: InferenceName) -> Matrix:
        """Eq. 18 and 19 (local) or 20 and 21 (global) before the softmax, (rows, classes)."""
        local = len(self.prototype_ids)
        if inference == "global":
            global_scores: Matrix = X @ self.weights[local:].T + self.biases[local:]
            return global_scores
        return self._best_of_class(X @ self.weights[:local].T + self.biases[:local])

    def _both_scores(self, X: Matrix) -> tuple[Matrix, Matrix]:
        scores = X @ self.weights.T
        scores += self.biases
        local = len(self.prototype_ids)
        return scores[:, local:], self._best_of_class(scores[:, :local])

    def _best_of_class(self, prototype_scores: Matrix) -> Matrix:
        best: Matrix = np.maximum.reduceat(prototype_scores, self.first_prototype, axis=1)
        return best
