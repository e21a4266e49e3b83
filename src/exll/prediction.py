"""``Prediction``: one answer, with its probability and the second-best label."""

from dataclasses import dataclass

from exll.explain.notebook import one_line, table
from exll.types import Label


@dataclass(frozen=True, slots=True)
class Prediction:
    """What an input is taken for. ``runner_up`` is None while one class is known; ``known`` is False where nothing that
    was learned is near (never with a preset that does not say "unknown", as paper, nor for local or global inference).

    >>> print(Prediction("kiwi", 0.926, "apple"))
    kiwi (92.6%, else apple)
    """

    label: Label
    probability: float
    runner_up: Label | None
    known: bool = True

    def __str__(self) -> str:
        if not self.known:
            return one_line(f"unknown (nearest is {self.label})")
        runner_up = "" if self.runner_up is None else f", else {self.runner_up}"
        return one_line(f"{self.label} ({self.probability:.1%}{runner_up})")

    def _repr_html_(self) -> str:
        known = "yes" if self.known else "no"
        return table(
            ("label", "probability", "runner-up", "known"),
            [(self.label, f"{self.probability:.1%}", self.runner_up, known)],
        )
