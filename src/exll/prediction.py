"""``Prediction``: one answer, with its probability, the second choice, and how unusual the input is."""

from dataclasses import dataclass

from exll.explain.notebook import one_line, table
from exll.explain.wording import confidence, in_brackets
from exll.types import Label, Level


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for an input. ``runner_up`` is None while only one class is known.

    ``level`` is "usual"; "unusual" where the input is unlike what was learned; or "unknown" where it resembles nothing
    that was learned, or an example of nothing more than every prototype (``learn_unknown``). Without such examples
    it follows from ``novelty``, which is None where the preset does not measure it (as paper) or for local and global
    inference; the level is then "usual".

    >>> print(Prediction("kiwi", 0.926, "apple"))
    kiwi (92.6%, else apple)
    >>> print(Prediction("kiwi", 1.0, None))
    kiwi (the only class it knows)
    >>> print(Prediction("kiwi", 0.412, "apple", "unusual", 3.1))
    maybe kiwi (41.2%, else apple): it is unlike what was learned
    """

    label: Label
    probability: float
    runner_up: Label | None
    level: Level = "usual"
    novelty: float | None = None

    @property
    def known(self) -> bool:
        return self.level != "unknown"

    def __str__(self) -> str:
        if self.level == "unknown":
            return one_line(f"unknown (nearest is {self.label})")
        answer = f"{self.label} {in_brackets(self.probability, self.runner_up)}"
        return one_line(answer if self.level == "usual" else f"maybe {answer}: it is unlike what was learned")

    def _repr_html_(self) -> str:
        return table(
            ("label", "probability", "runner-up", "level"),
            [
                (
                    self.label,
                    None if self.runner_up is None else confidence(self.probability),
                    self.runner_up,
                    self.level,
                )
            ],
        )
