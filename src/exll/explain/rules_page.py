"""The rules of a model as a page of pictures: IF it looks like these OR like these THEN it is a mug.

Every class is there, with its largest rules first; where there are many classes, each is folded to one picture and
opened by a click. A rule shows some of its pictures and says how many more there are, and single examples are folded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exll.explain.page import render
from exll.explain.rules import Rule
from exll.explain.thumbnails import Thumbnail, Thumbnails
from exll.types import Label

CLASSES_OPEN = 12  # with more classes than this, all are folded
SIDE = 112
PICTURES = 6  # of one rule
RULES_OPEN = 5  # of one class; the others are folded
RULES_FOLDED, SINGLE_PICTURED = 20, 12


@dataclass(frozen=True)
class Row:
    """One rule with some of its pictures."""

    prototype: int
    support: int
    class_count: int
    share: float
    pictures: tuple[Thumbnail, ...]

    @property
    def left_out(self) -> int:
        return self.support - len(self.pictures)


@dataclass(frozen=True)
class ClassRules:
    """The rules of a class: the largest open, some smaller ones folded, and pictures of single examples."""

    label: Label
    examples: int
    groups: int
    open: tuple[Row, ...]
    folded: tuple[Row, ...]
    folded_count: int
    single: tuple[Thumbnail, ...]
    single_count: int

    @property
    def cover(self) -> Thumbnail | None:
        """One picture for the class: the first of its largest group."""
        pictures = (picture for row in self.open for picture in row.pictures)
        return next((picture for picture in (*pictures, *self.single) if picture.uri is not None), None)


def page(rules: Sequence[Rule], title: str, thumbnails: Thumbnails, step: Callable[[], None] = lambda: None) -> str:
    """The whole file as text, from the rules of the level "prototype"; ``step`` is called after each class."""
    by_class: dict[Label, list[Rule]] = {}
    for rule in sorted(rules, key=_place):  # keeps the largest share first
        by_class.setdefault(rule.label, []).append(rule)
    classes = []
    for own in by_class.values():
        classes.append(_class(own, thumbnails))
        step()
    return render(
        "rules.html",
        title=title,
        rules=len(rules),
        examples=sum(rule.support for rule in rules),
        classes=classes,
        opened=len(by_class) <= CLASSES_OPEN,
    )


def _place(rule: Rule) -> tuple[int, str]:
    """Numbers by size, words by letters."""
    return (0, rule.label.casefold()) if isinstance(rule.label, str) else (int(rule.label), "")


def _class(rules: list[Rule], thumbnails: Thumbnails) -> ClassRules:
    single = [rule for rule in rules if rule.support == 1 and rule.class_count > 1]
    common = [rule for rule in rules if rule not in single]
    folded = common[RULES_OPEN:]
    names = [name for rule in single for name in rule.conditions[0].names]
    return ClassRules(
        label=rules[0].label,
        examples=rules[0].class_count,
        groups=len(rules),
        open=tuple(_row(rule, thumbnails) for rule in common[:RULES_OPEN]),
        folded=tuple(_row(rule, thumbnails) for rule in folded[:RULES_FOLDED]),
        folded_count=len(folded),
        single=thumbnails.some(names, SINGLE_PICTURED),
        single_count=len(single),
    )


def _row(rule: Rule, thumbnails: Thumbnails) -> Row:
    (condition,) = rule.conditions
    pictures = thumbnails.some(condition.names, PICTURES)
    return Row(condition.prototype, rule.support, rule.class_count, rule.share, pictures)
