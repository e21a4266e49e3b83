"""Asking: local, global and fused inference, exact for all that was learned (Eq. 17 to 23).

An :class:`Inference` is a snapshot of a learner: it shares nothing that learning changes, so any number of
threads may ask it while learning goes on.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from exll.errors import InputError
from exll.learner.head import Head
from exll.learner.megacloud import MegaClouds
from exll.learner.precision import Precision
from exll.learner.prototypes import Prototypes
from exll.linalg.ties import first_of_largest_rows
from exll.types import Indices, InferenceName, Label, Level, Matrix, Vector

HeadOf: TypeAlias = Callable[[Vector], Head]


class Measured(NamedTuple):
    """How usual some rows are."""

    novelty: Vector  # how little each is like what was learned
    similarity: Vector  # of each with the class that it is most like, a cosine


class Limits(NamedTuple):
    """Up to where rows are usual."""

    novelty: float  # with more than this a row is unusual
    similarity: float  # with less than this it is unknown


class Judged(NamedTuple):
    """Answers for some rows."""

    labels: Indices
    posteriors: Matrix  # (rows, classes), largest at the label alone
    measured: Measured | None  # None where the preset or the inference does not measure it


class Parts(NamedTuple):
    """What fused scores are the sum of, (rows, classes) each."""

    class_shares: Vector  # (rows,) how much of the global score counts
    global_scores: Matrix
    local: Matrix  # what the best prototypes add
    lifted: Matrix  # what the classes in the space of a lift add

    @classmethod
    def sum_of(cls, global_scores: Matrix, local: Matrix) -> "Parts":
        """Without a lift."""
        return cls(np.ones(len(local)), global_scores, local, np.zeros_like(local))

    @property
    def fused(self) -> Matrix:
        fused: Matrix = self.class_shares[:, None] * self.global_scores
        fused += self.local
        fused += self.lifted
        return fused


class Combination(NamedTuple):
    """How a preset combines local and global inference, in words for a page; the defaults fit every preset."""

    rule: str = "The answer is made of what both say."
    decider: str = "both together"  # what decided where the global score alone would have chosen another class
    counted: str = "while learning"  # where the cases of ``counts_of_pair`` come from


@dataclass(frozen=True)
class Inference(ABC):
    """The scores of every prototype and every class, and all that an explanation asks of a preset.

    Prototypes stand class by class, so that a class's local score, the maximum over its prototypes (docs/decisions.md,
    8), is one pass over neighbours. Rows of prototypes come first, those of classes after them, in one matrix: fused
    inference is one product.
    """

    says_unknown: ClassVar[bool] = False  # where True, ``judged`` measures novelty and there are limits for it

    preset: str
    labels: tuple[Label, ...]  # in the order of first sight
    prototype_ids: Indices  # (prototypes,) whose row each of the first is
    first_prototype: Indices  # (classes,) where each class starts among them
    origin: Vector  # (d,) from where vectors and means are seen
    means: Matrix  # (prototypes + classes, d) centres, then class means, from the origin
    products: Matrix  # (prototypes + classes, d) the precision times them
    squared_norms: Vector  # (m - o)' Lambda (m - o) of each
    head: Head  # slopes and pulls of all rows
    prototype_head: HeadOf
    class_head: HeadOf
    supports: Indices  # (prototypes,)
    class_counts: Indices  # (classes,)
    precision: Precision

    @classmethod
    def of(
        cls,
        preset: str,
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
        squared_norms = np.vecdot(means, products)
        parts = [head(some) for head, some in zip(heads, np.split(squared_norms, [len(order)]), strict=True)]
        head = Head(*(np.concatenate(numbers) for numbers in zip(*parts, strict=True)))
        return cls(
            preset=preset,
            labels=tuple(labels),
            prototype_ids=prototypes.ids[order],
            first_prototype=np.searchsorted(prototypes.class_of[order], np.arange(len(megaclouds))),
            origin=origin,
            means=means,
            products=products,
            squared_norms=squared_norms,
            head=head,
            prototype_head=heads[0],
            class_head=heads[1],
            supports=prototypes.counts[order],
            class_counts=megaclouds.counts.copy(),
            precision=precision,
            **own,
        )

    @abstractmethod
    def fused_labels(self, X: Matrix, dots: Matrix) -> Indices:
        """The answers of fused inference, with the :meth:`dots` of X."""

    @abstractmethod
    def judged(self, X: Matrix, dots: Matrix, inference: InferenceName) -> Judged:
        """The answer for every row, with the :meth:`dots` of X."""

    @abstractmethod
    def reason(self, k: int, global_k: int, local_k: int, local_counts: bool, lift_counts: bool = False) -> str:
        """Why the fused answer is class k, in one sentence, where global inference answers ``global_k`` and local
        inference ``local_k``. ``local_counts`` is False where the local scores add next to nothing, ``lift_counts``
        where those of a lift do."""

    @property
    def combination(self) -> Combination:
        """How local and global inference are combined, in words."""
        return Combination()

    def said(self, global_k: int, local_k: int) -> str:
        """What local and global inference answer: how such a sentence begins."""
        group, classes = "The nearest single group", "the classes as a whole"
        if global_k == local_k:
            return f'{group} and {classes} both give "{self.labels[global_k]}"'
        return f'{group} is of "{self.labels[local_k]}"; {classes} give "{self.labels[global_k]}"'

    def happened(self, k: int, global_k: int, local_k: int) -> str:
        """A sentence on how often class k was the truth when the two disagreed like this; empty where they agree, and
        where it was not counted."""
        counts = self.counts_of_pair(global_k, local_k)
        if global_k == local_k or not counts:
            return ""
        label, right, times = f'"{self.labels[k]}"', counts.get(k, 0), sum(counts.values())
        if times == 1:
            truth = "was right" if right else "was not right"
            return f"The last time they disagreed like this {self.combination.counted}, {label} {truth}."
        times_right = "was never right" if not right else f"was right {'once' if right == 1 else f'{right:,} times'}"
        return f"The last {times:,} times they disagreed like this {self.combination.counted}, {label} {times_right}."

    def similarities(self, X: Matrix, dots: Matrix) -> Matrix | None:
        """The cosine of every row with every prototype, in [-1, 1], where local inference ranks prototypes by it; None
        where it ranks them by another number."""
        return None

    def parts(self, X: Matrix, dots: Matrix) -> Parts | None:
        """What the fused scores are the sum of; None where they are no sum."""
        return None

    def likely(self, posteriors: Matrix, dots: Matrix) -> Matrix:
        """What next-best labels of fused inference are taken from."""
        return posteriors

    def counts_of_pair(self, global_k: int, local_k: int) -> dict[int, int]:
        """How often each class was the truth when global and local inference gave these answers while learning,
        where that is counted."""
        return {}

    def limits(self, false_alarms: float) -> Limits:
        """``false_alarms`` is the share of known things that may be called unusual; far fewer are called unknown."""
        raise self._no_unknown()

    def levels(self, judged: Judged, false_alarms: float) -> list[Level]:
        """Of some rows; "usual" where it is not measured."""
        if judged.measured is None:
            return ["usual"] * len(judged.labels)
        limits = self.limits(false_alarms)
        return [
            "unknown" if similarity < limits.similarity else "unusual" if novelty > limits.novelty else "usual"
            for novelty, similarity in zip(*judged.measured, strict=True)
        ]

    def _no_unknown(self) -> InputError:
        return InputError(
            f'the preset "{self.preset}" always names a class it knows; teach a model with preset="glocal" to '
            'get the answer "unknown".'
        )

    @cached_property
    def comparisons(self) -> dict[Any, Any]:
        """With examples of nothing: the last that was made (:mod:`exll.learner.nothing`)."""
        return {}

    @cached_property
    def sorted_classes(self) -> Indices:
        """The numbers of the classes in the order of their labels."""
        return np.array(sorted(range(len(self.labels)), key=self.labels.__getitem__), np.int64)

    def winners(self, X: Matrix, inference: InferenceName) -> Indices:
        """The class of every row, by its number. Memory grows with the rows: ask some hundreds at a
        time."""
        if inference == "fused":
            return self.fused_labels(X, self.dots(X))
        return first_of_largest_rows(self.scores(X, inference))

    def posteriors(self, X: Matrix, inference: InferenceName) -> tuple[Indices, Matrix]:
        """Labels and the probabilities behind them, (rows, classes)."""
        judged = self.judged(X, self.dots(X), inference)
        return judged.labels, judged.posteriors

    def novelty(self, X: Matrix) -> Vector:
        """How little each row is like what was learned."""
        if not self.says_unknown:
            raise self._no_unknown()
        measured = self.judged(X, self.dots(X), "fused").measured
        assert measured is not None
        return measured.novelty

    def two_best(self, X: Matrix, inference: InferenceName) -> tuple[Judged, Indices]:
        """What is said of every row, and the next-best labels; a class that is alone is its own next-best."""
        dots = self.dots(X)
        judged = self.judged(X, dots, inference)
        likely = self.likely(judged.posteriors, dots) if inference == "fused" else judged.posteriors
        return judged, next_best(judged.labels, likely)

    def dots(self, X: Matrix) -> Matrix:
        r"""$(p-o)^T\Lambda(x-o)$ for every prototype, then every class; (rows, prototypes + classes)."""
        dots: Matrix = (X - self.origin) @ self.products.T
        return dots

    def row_scores(self, dots: Matrix) -> Matrix:
        """Eq. 18 and 20 before the softmax: every prototype, then every class."""
        return self.head.scores(dots, self.squared_norms)

    def global_and_local(self, dots: Matrix) -> tuple[Matrix, Matrix]:
        """The scores of global and of local inference, (rows, classes) each (Eq. 18 to 21 before the softmax)."""
        local, scores = len(self.prototype_ids), self.row_scores(dots)
        return scores[:, local:], self._best_of_class(scores[:, :local])

    def scores(self, X: Matrix, inference: Literal["global", "local"]) -> Matrix:
        """Of one of the two, (rows, classes)."""
        local = len(self.prototype_ids)
        rows = slice(local, None) if inference == "global" else slice(local)
        head, dots = Head(self.head.slopes[rows], self.head.pulls[rows]), (X - self.origin) @ self.products[rows].T
        scores = head.scores(dots, self.squared_norms[rows])
        return scores if inference == "global" else self._best_of_class(scores)

    def linear_score(self, x: Vector, k: int) -> tuple[Vector, float]:
        """The score of class k at x, but for what its best prototype adds, as weights for x and an offset."""
        return self._linear_global_score(k)

    def _linear_global_score(self, k: int) -> tuple[Vector, float]:
        at = self.row_of_class(k)
        weights = self.head.slopes[at] * self.products[at]
        return weights, float(-(weights @ self.origin) - self.head.pulls[at] * self.squared_norms[at])

    def contributions(self, x: Vector, k: int) -> Vector:
        r"""What each prototype of class k, in the order of its rows, adds to the class's global score; they sum to it.

        The class's mean is $\mu_k = \sum_j (S_j/i_k)\,p_j$, and the score is linear in one of the two means it holds.
        For Eq. 20

        $$\mu_k^T\Lambda x - \tfrac12\mu_k^T\Lambda\mu_k = \sum_j \tfrac{S_j}{i_k}\,(x - \tfrac12\mu_k)^T\Lambda\,p_j$$

        and so for every head, seen from its origin, with its slope for x and its pull for the mean.
        """
        rows, at = self.rows_of_class(k), self.row_of_class(k)
        direction = self.head.slopes[at] * (x - self.origin) - self.head.pulls[at] * self.means[at]
        values: Vector = self.supports[rows] / self.class_counts[k] * (self.products[rows] @ direction)
        return values

    def score_without(self, x: Vector, row: int) -> float | None:
        """The global score of a prototype's class recomputed from its other prototypes; None where it has no other."""
        k = self.class_of_row(row)
        rest = int(self.class_counts[k] - self.supports[row])
        if not rest:
            return None
        total = self.class_counts[k] * self.means[self.row_of_class(k)] - self.supports[row] * self.means[row]
        mean = total / rest
        product = self.precision.apply(mean[None, :])[0]
        squared_norm = np.array([product @ mean])
        return float(self.class_head(squared_norm).scores(np.array([product @ (x - self.origin)]), squared_norm)[0])

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
