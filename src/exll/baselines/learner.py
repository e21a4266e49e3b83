"""A rule with its labels: it learns rows in order and gives answers that later learning does not change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from exll.baselines.rule import LearningRule, Scores
from exll.concurrency.guarded import Guarded
from exll.linalg.softmax import softmax_rows
from exll.linalg.threads import one_blas_thread
from exll.linalg.ties import first_of_largest_rows, raise_winner
from exll.saving.strings import encode
from exll.types import Group, Indices, Label, Matrix, Tensors
from exll.vectors import LARGEST_RAW

MEANS = ("rule.means", "rule.centroids", "rule.kept", "rule.pending")  # of vectors, and vectors themselves
BLOCK_ROWS = 64


@dataclass(frozen=True)
class Answers:
    labels: tuple[Label, ...]  # in the order of first sight
    scores: Scores

    def winners(self, X: Matrix) -> Indices:
        """The class of every row, by its number; of equal ones, the first seen."""
        return first_of_largest_rows(self.scores(X))

    def posteriors(self, X: Matrix) -> Matrix:
        """The softmax of the scores, (rows, classes), classes in the order of their labels; a row is largest at its
        winner alone."""
        scores = self.scores(X)
        posteriors, _ = softmax_rows(scores)
        raise_winner(posteriors, first_of_largest_rows(scores))
        return posteriors[:, self._sorted_classes]

    def sorted_scores(self, X: Matrix) -> Matrix:
        """The scores, (rows, classes), classes in the order of their labels."""
        return np.asarray(self.scores(X)[:, self._sorted_classes])

    @cached_property
    def _sorted_classes(self) -> Indices:
        return np.array(sorted(range(len(self.labels)), key=self.labels.__getitem__), np.int64)


class RuleLearner(Guarded[Answers]):
    """Any number of threads may ask while one learns."""

    def __init__(self, width: int, rule: LearningRule, parameters: dict[str, Any]) -> None:
        super().__init__()
        self.width = width
        self.rule = rule
        self.parameters = parameters
        self.sample_count = 0
        self._number_of: dict[Label, int] = {}

    def learn(
        self,
        X: Matrix,
        labels: Sequence[Label],
        refs: Sequence[str | None] | None = None,
        groups: Sequence[Group] | None = None,
    ) -> None:
        """Learn rows in order; other threads may ask between two blocks. No baseline remembers refs or groups."""
        with one_blas_thread():
            for start in range(0, len(X), BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                with self._changing():
                    for x, label in zip(X[rows], labels[rows], strict=True):
                        self.rule.learn(x, self._number_of.setdefault(label, len(self._number_of)))
                        self.sample_count += 1

    def answers(self) -> Answers:
        return self._current_answers()

    def _make_answers(self) -> Answers:
        return Answers(self.labels, self.rule.scores())

    @property
    def labels(self) -> tuple[Label, ...]:
        with self.lock:
            return tuple(self._number_of)

    @property
    def n_parameters(self) -> int:
        with self.lock:
            return self.rule.n_parameters

    @property
    def nbytes(self) -> int:
        with self.lock:
            return self.rule.nbytes + sum(len(encode(str(label))) for label in self._number_of)

    def state(self) -> Tensors:
        """Everything but the labels. The arrays are the learner's own: hold the lock for as long as you read them."""
        with self.lock:
            self._check_whole()
            rule = {f"rule.{name}": array for name, array in self.rule.state().items()}
            return {"samples": np.array(self.sample_count, np.int64), **rule}

    def restore(self, labels: Sequence[Label], state: Tensors) -> None:
        """Raises KeyError, ValueError or the like where the arrays do not make a whole model."""
        for name, array in state.items():
            largest = LARGEST_RAW if name in MEANS else LARGEST_RAW**2
            if (
                array.dtype.kind == "f" and not float(np.abs(array).max(initial=0.0)) <= largest
            ):  # NaN compares as False
                raise ValueError(f"{name} holds numbers that are not finite, or larger than they can be")
        self._number_of = {label: k for k, label in enumerate(labels)}
        self.sample_count = int(state["samples"])
        if not len(labels) == len(self._number_of) <= self.sample_count:
            raise ValueError("a label stands twice, or there are more labels than samples")
        rule = {name.removeprefix("rule."): array for name, array in state.items() if name.startswith("rule.")}
        self.rule.restore(rule, len(labels), self.sample_count)
