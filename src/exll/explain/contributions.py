"""Contributions that are the arithmetic of the score, and what changes without a prototype. The arithmetic
is :meth:`Inference.contributions` and :meth:`Inference.score_without`."""

from dataclasses import dataclass

from exll.learner.inference import Inference
from exll.types import Label, Vector


@dataclass(frozen=True)
class Contribution:
    """What one prototype adds to the global score of its class."""

    prototype: int
    label: Label
    support: int
    value: float


@dataclass(frozen=True)
class Without:
    """A class recomputed from its other prototypes: the true change, which is not the prototype's contribution.

    Taking a prototype away moves the class's mean, so the other contributions change too. ``score_after`` is None where
    it was the class's only one.
    """

    prototype: int
    label: Label
    score_before: float
    score_after: float | None
    global_label_before: Label
    global_label_after: Label | None

    @property
    def change(self) -> float | None:
        return None if self.score_after is None else self.score_after - self.score_before


def contributions(inference: Inference, x: Vector, k: int) -> list[Contribution]:
    """The global score of class k at x, prototype by prototype, the largest first; they sum to the score."""
    rows = inference.rows_of_class(k)
    parts = [
        Contribution(int(inference.prototype_ids[row]), inference.labels[k], int(inference.supports[row]), float(value))
        for row, value in zip(range(rows.start, rows.stop), inference.contributions(x, k), strict=True)
    ]
    return sorted(parts, key=lambda part: (-part.value, part.prototype))


def without(inference: Inference, x: Vector, prototype: int) -> Without:
    """The answer of global inference if this prototype's examples had never been in its class."""
    row = inference.row_of_prototype(prototype)
    k = inference.class_of_row(row)
    scores = inference.scores(x[None, :], "global")[0]
    before = inference.labels[int(scores.argmax())]
    after = inference.score_without(x, row)
    changed = scores.copy()
    changed[k] = -float("inf") if after is None else after
    known = len(scores) > 1 or after is not None
    return Without(
        prototype=prototype,
        label=inference.labels[k],
        score_before=float(scores[k]),
        score_after=after,
        global_label_before=before,
        global_label_after=inference.labels[int(changed.argmax())] if known else None,
    )
