"""The first page of ``exll demo``: what was taught, what it answered, right or wrong, and what to try next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exll.explain.page import render
from exll.explain.thumbnails import Thumbnail, Thumbnails
from exll.explain.wording import confidence
from exll.prediction import Prediction

LARGE_SIDE = 224


@dataclass(frozen=True)
class Answered:
    """An answer about a drawing, and the truth."""

    name: str
    truth: str
    answer: Prediction

    @property
    def outcome(self) -> str:
        if not self.answer.known:
            return "unknown"
        return "right" if self.answer.label == self.truth else "wrong"

    @property
    def said(self) -> str:
        if not self.answer.known:
            return "unknown"
        maybe = "maybe " if self.answer.level == "unusual" else ""
        return f"{maybe}{self.answer.label}, {confidence(self.answer.probability)}"


@dataclass(frozen=True)
class Shown:
    """An answer with its drawing."""

    one: Answered
    picture: Thumbnail


def best(answers: Sequence[Answered]) -> Answered | None:
    """The right answer about what is most like the drawings that were taught."""
    right = [one for one in answers if one.outcome == "right"]
    return min(right, key=_novelty, default=None)


def worst(answers: Sequence[Answered]) -> Answered | None:
    """The wrong answer of highest confidence."""
    wrong = [one for one in answers if one.outcome == "wrong"]
    return max(wrong, key=lambda one: one.answer.probability, default=None)


def most_novel(answers: Sequence[Answered]) -> Answered:
    return max(answers, key=lambda one: (one.outcome == "unknown", _novelty(one)))


def counts(answers: Sequence[Answered]) -> str:
    """How many answers were right, called unknown, and wrong, in words.

    >>> said = [Prediction("mug", 0.9, "key"), Prediction("key", 0.5, "mug"), Prediction("key", 0.3, "mug", "unknown")]
    >>> counts([Answered("1.jpg", "mug", answer) for answer in said])
    'Of 3 answers 1 is right, 1 is "unknown" and 1 is wrong.'
    >>> counts([Answered("1.jpg", "mug", said[0])] * 2)
    'All 2 answers are right.'
    """
    words = {"right": "right", "unknown": '"unknown"', "wrong": "wrong"}
    number = {outcome: sum(one.outcome == outcome for one in answers) for outcome in words}
    if number["right"] == len(answers):
        return f"All {len(answers)} answers are right."
    *most, last = (f"{n} {'is' if n == 1 else 'are'} {words[outcome]}" for outcome, n in number.items() if n)
    return f"Of {len(answers)} answers {', '.join(most)}{' and ' if most else ''}{last}."


def first_page(
    out: Path,
    taught: Sequence[str],
    asked: Sequence[Answered],
    new_before: Sequence[Answered],
    new_after: Sequence[Answered],
    asked_after: Sequence[Answered],
    explained: Mapping[str, Answered | None],
    commands: Sequence[tuple[str, str]],
    later: str,
) -> str:
    """``taught`` are names like "taught/mug/1.jpg"; ``explained`` are the answers that have a page."""
    small, large = Thumbnails([out]), Thumbnails([out], LARGE_SIDE)
    first_of_kind = {name.split("/")[1]: name for name in reversed(taught)}
    return render(
        "demo.html",
        taught=len(taught),
        kinds=[(kind, small.of(first_of_kind[kind])) for kind in sorted(first_of_kind)],
        asked=asked,
        asked_counts=counts(asked),
        right=sum(one.outcome == "right" for one in asked),
        mistakes=[Shown(one, small.of(one.name)) for one in asked if one.outcome != "right"],
        explained={page: one and Shown(one, large.of(one.name)) for page, one in explained.items()},
        later=later,
        before_counts=counts(new_before),
        after_counts=counts(new_after),
        others_counts=counts(asked_after),
        new=[(Shown(one, small.of(one.name)), now) for one, now in zip(new_before, new_after, strict=True)],
        commands=commands,
    )


def _novelty(one: Answered) -> float:
    return one.answer.novelty or 0.0
