"""Which classes need more examples, judged from what was taught, without any test data.

The model leaves out samples, each with its group, and computes how probable the right answer is without them. A preset
that cannot do this, and a young model, only know how often the last examples were recognised before they were learned.
In a clip, every frame is recognised by the frame before, so this says nothing about new places.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias

from exll.explain.notebook import one_line, table
from exll.explain.wording import percent
from exll.learner.exll import ExLL
from exll.learner.expected import Expected
from exll.learner.history import UNTESTED
from exll.types import Label

Verdict: TypeAlias = Literal["too early to tell", "needs more", "show it again", "nearly there", "enough"]

VERDICTS: tuple[Verdict, ...] = ("too early to tell", "needs more", "show it again", "nearly there", "enough")
LEAST_EXAMPLES = 5  # before there are so many, nothing is said
FEW_EXAMPLES = 10  # with fewer it is never enough, however well they are told apart
NEARLY, ENOUGH = 0.7, 0.9
MUCH_BELOW = 0.1

MORE_EXAMPLES = "Teach it more examples."
OTHER_CLASS = "Teach another class, too: so far every answer is this one."
ANOTHER_PLACE = "Show it again in another place: all its examples came together."
OTHER_PLACES = "Teach it examples from other places."
OTHERS_AGAIN = "Show the other classes again in another place, too."
NOTHING = "That seems enough."


@dataclass(frozen=True)
class Progress:
    """How far one class has come.

    ``like_these`` and ``new_groups`` are the expected probability of the right answer: for inputs like the examples,
    and for inputs from elsewhere (another clip, place or look). ``new_groups`` is None where the class came in one
    group only. Where the model cannot leave out groups, ``groups`` and ``new_groups`` are None, and ``like_these`` is
    the share of its last examples, up to 32, that were recognised before they were learned.
    """

    label: Label
    examples: int
    groups: int | None  # clips, named groups and single photos
    like_these: float | None
    new_groups: float | None
    confused_with: Label | None  # what its examples were taken for most often
    verdict: Verdict
    advice: str  # what would help most

    @property
    def expectation(self) -> str:
        """The two shares in words."""
        if self.like_these is None:
            return "Too early to tell."
        share = percent(self.like_these)
        if self.groups is None:
            return f"{share} of its last examples were recognised before they were learned."
        elsewhere = "not known" if self.new_groups is None else percent(self.new_groups)
        return f"Expected right: {share} on examples like these, {elsewhere} in new places."

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sentence": str(self)}

    def _repr_html_(self) -> str:
        shares = [None if share is None else percent(share) for share in (self.like_these, self.new_groups)]
        header = ("class", "examples", "groups", "examples like these", "new places", "verdict", "what would help most")
        return table(header, [(self.label, f"{self.examples:,}", self.groups, *shares, self.verdict, self.advice)])

    def __str__(self) -> str:
        return one_line(f'"{self.label}": {self.expectation} {self.advice}')


def progress_of(learner: ExLL) -> list[Progress]:
    """Every class, the weakest first; those that it is too early to judge lead."""
    with learner.lock:
        expected, from_one_group = learner.expected(), learner.classes_from_one_group()
        classes = [_progress(learner, k, expected, k in from_one_group) for k in range(learner.class_count)]
    return sorted(classes, key=_strength)


def _strength(progress: Progress) -> tuple[int, float, int]:
    share = progress.like_these if progress.new_groups is None else progress.new_groups
    return VERDICTS.index(progress.verdict), share or 0.0, progress.examples


def _progress(learner: ExLL, k: int, expected: Expected | None, from_one_group: bool) -> Progress:
    examples = learner.megacloud(k).count
    groups, elsewhere = None, None
    if expected is None:
        like_these, confused = _by_history(learner, k)
    else:
        groups, confused = int(expected.groups[k]), int(expected.confused_with[k])
        like_these, elsewhere = (_known(shares[k], examples) for shares in (expected.like_these, expected.new_groups))
    other = None if confused < 0 else learner.labels[confused]
    verdict, advice = _verdict(examples, like_these if expected is None else elsewhere, from_one_group), OTHER_CLASS
    if learner.class_count == 1:
        verdict = "too early to tell"  # every answer is right where there is only one
    else:
        advice = _advice(verdict, examples, like_these, elsewhere, groups, other)
    return Progress(learner.labels[k], examples, groups, like_these, elsewhere, other, verdict, advice)


def _by_history(learner: ExLL, k: int) -> tuple[float | None, int]:
    """The share of its last examples that were recognised, and what the others were taken for; -1 for nothing."""
    answers = learner.history(k).answers
    tested = answers[answers != UNTESTED].tolist()
    if len(tested) < LEAST_EXAMPLES:
        return None, -1
    mistaken = Counter(answer for answer in tested if answer != k).most_common(1)
    return tested.count(k) / len(tested), mistaken[0][0] if mistaken else -1


def _known(share: float, examples: int) -> float | None:
    return float(share) if isfinite(share) and examples >= LEAST_EXAMPLES else None


def _verdict(examples: int, share: float | None, from_one_group: bool) -> Verdict:
    if examples < LEAST_EXAMPLES:
        return "too early to tell"
    if from_one_group:
        return "show it again"
    if share is None:
        return "too early to tell"
    if share < NEARLY:
        return "needs more"
    return "enough" if share >= ENOUGH and examples >= FEW_EXAMPLES else "nearly there"


def _advice(
    verdict: Verdict,
    examples: int,
    like_these: float | None,
    elsewhere: float | None,
    groups: int | None,
    confused_with: Label | None,
) -> str:
    if verdict == "show it again":
        return ANOTHER_PLACE
    if verdict == "enough":
        return NOTHING
    if examples < FEW_EXAMPLES or like_these is None:
        return MORE_EXAMPLES
    if groups is not None and elsewhere is None:  # too few classes came in several groups to say anything
        return OTHERS_AGAIN
    far_below = elsewhere is not None and elsewhere < like_these - MUCH_BELOW
    if far_below and (like_these >= ENOUGH or confused_with is None):
        return OTHER_PLACES
    return (
        MORE_EXAMPLES
        if confused_with is None
        else f'Teach it examples that show how it differs from "{confused_with}".'
    )
