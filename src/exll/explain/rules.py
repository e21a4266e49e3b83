"""IF-THEN rules read off the prototypes and MegaClouds (Eq. 15 and 16).

A rule is not a summary of the model but a part of it: "resembles" is the very comparison that inference makes.
"""

from dataclasses import dataclass
from typing import Any

from exll.errors import InputError
from exll.explain.notebook import table
from exll.learner.exll import ExLL
from exll.types import Label, RuleLevel

NAMES_SHOWN = 3


@dataclass(frozen=True)
class Condition:
    """Resemblance to one prototype: the samples it is made of, by name, as far as they were recorded."""

    prototype: int
    names: tuple[str, ...]
    support: int

    def __str__(self) -> str:
        shown = self.names[:NAMES_SHOWN]
        more = self.support - len(shown)
        if not shown:
            return f"prototype {self.prototype} ({_examples(self.support)})"
        return ", ".join(shown) + (f" and {more} more" if more else "")


@dataclass(frozen=True)
class Rule:
    """IF x resembles any of the conditions THEN it is the label; ``support`` of the class's ``class_count`` samples."""

    level: RuleLevel
    label: Label
    conditions: tuple[Condition, ...]
    support: int
    class_count: int

    @property
    def share(self) -> float:
        return self.support / self.class_count

    def __str__(self) -> str:
        then = f'THEN it is "{self.label}"'
        if self.level == "megacloud":
            clouds = len(self.conditions)
            inside = f"{_examples(self.support)} in {clouds} prototype{'s' if clouds > 1 else ''}"
            return f'IF it resembles the MegaCloud of "{self.label}" ({inside}) {then}'
        if self.level == "class":
            either = " OR ".join(f"({condition})" for condition in self.conditions)
            return f"IF it resembles {either} {then}"
        share = f"({self.support} of its {_examples(self.class_count)}, {self.share:.0%})"
        return f"IF it resembles {self.conditions[0]} {then} {share}"

    def _repr_html_(self) -> str:
        rows = [(f"{condition}", f"{condition.support:,}", self.label) for condition in self.conditions]
        return table(("IF it resembles", "examples", "THEN it is"), rows)

    def to_dict(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "label": self.label,
            "support": self.support,
            "share": self.share,
            "conditions": [
                {"prototype": c.prototype, "support": c.support, "names": list(c.names)} for c in self.conditions
            ],
            "sentence": str(self),
        }


def rules_of(learner: ExLL, level: RuleLevel) -> list[Rule]:
    """All rules of a level: classes in the order of first sight, within a class the largest share first."""
    if level not in ("prototype", "class", "megacloud"):
        raise InputError(f"The 'level' of rules must be 'prototype', 'class' or 'megacloud'. Got {level!r} instead.")
    with learner.lock:  # all rules of one moment
        return _rules(learner, level)


def _rules(learner: ExLL, level: RuleLevel) -> list[Rule]:
    supports = learner.supports
    rules = []
    for k, label in enumerate(learner.labels):
        megacloud = learner.megacloud(k)
        ids = sorted(megacloud.prototypes.tolist(), key=lambda j: (-supports[j], j))
        conditions = [Condition(j, tuple(record.name for record in learner.records(j)), int(supports[j])) for j in ids]
        if level == "prototype":
            rules += [Rule(level, label, (c,), c.support, megacloud.count) for c in conditions]
        else:
            rules.append(Rule(level, label, tuple(conditions), megacloud.count, megacloud.count))
    return rules


def _examples(count: int) -> str:
    return f"{count} example{'s' if count > 1 else ''}"
