"""Have I taught enough? Answered per class from the stream's own record, without any test data.

Every example was judged before it was learned. How often that judgement was right lately says how the next example
would fare; how often an example opened a new prototype says whether the class still shows new sides. In a clip
every frame is recognised by the one before, so for a class from one clip this says nothing about the next clip.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from exll.explain.notebook import table
from exll.explain.wording import counted
from exll.learner.exll import ExLL
from exll.learner.history import UNTESTED
from exll.types import Label

Verdict: TypeAlias = Literal["too early to tell", "needs more", "nearly there", "show it again", "enough"]

LEAST_TESTED = 5
NEARLY, ENOUGH = 0.7, 0.9

_ADVICE: dict[Verdict, str] = {
    "too early to tell": "Teach it a few more examples",
    "needs more": "It needs more examples",
    "nearly there": "It is nearly there",
    "show it again": "All examples come from one clip; show it again in another place",
    "enough": "That seems enough",
}


@dataclass(frozen=True)
class Progress:
    """How far one class has come; ``tested``, ``recognised`` and ``new_prototypes`` count its last 32 examples."""

    label: Label
    examples: int
    tested: int  # of the last ones: judged before they were learned
    recognised: int  # of those: taken for what they were
    new_prototypes: int  # opened by the last ones
    confused_with: Label | None  # what the others were taken for most often
    confusions: int  # how often
    verdict: Verdict

    @property
    def accuracy(self) -> float | None:
        """The share of recognised ones; None where nothing was tested."""
        return self.recognised / self.tested if self.tested else None

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "accuracy": self.accuracy, "sentence": str(self)}

    def _repr_html_(self) -> str:
        recognised = f"{self.recognised} of the last {self.tested}" if self.tested else ""
        confused = None if self.confused_with is None else f"{self.confused_with} ({self.confusions})"
        header = ("class", "examples", "recognised before they were learned", "taken for", "verdict")
        return table(header, [(self.label, f"{self.examples:,}", recognised, confused, self.verdict)])

    def __str__(self) -> str:
        if self.examples == 1:
            return f'"{self.label}": {_ADVICE[self.verdict]}; the first one cannot be tested before it is learned.'
        if not self.tested and self.verdict == "show it again":
            return f'"{self.label}": {_ADVICE[self.verdict]}.'
        if not self.tested:
            return (
                f'"{self.label}": Too early to tell: nothing else was known yet that its examples could have been '
                "taken for. Teach it a few more once there are other classes."
            )
        sides = f"{self.new_prototypes} of the latest still opened a new prototype" if self.new_prototypes else ""
        confused = f'{self.confusions} taken for "{self.confused_with}"' if self.confusions else ""
        more = "; ".join(part for part in (confused, sides) if part)
        return (
            f'"{self.label}": {_ADVICE[self.verdict]}. Of its last {counted(self.tested, "example")} {self.recognised} '
            f"{'was' if self.recognised == 1 else 'were'} recognised before they were learned"
            f"{'; ' + more if more else ''}."
        )


def progress_of(learner: ExLL) -> list[Progress]:
    """Every class, the weakest first; those that it is too early to judge lead."""
    with learner.lock:
        from_one_clip = learner.classes_from_one_group()
        classes = [_progress(learner, k, k in from_one_clip) for k in range(learner.class_count)]
    return sorted(classes, key=lambda p: (p.verdict != "too early to tell", p.accuracy or 0.0, p.examples))


def _progress(learner: ExLL, k: int, from_one_clip: bool) -> Progress:
    history = learner.history(k)
    tested = history.answers[history.answers != UNTESTED]
    mistaken = Counter(tested[tested != k].tolist()).most_common(1)
    recognised = int((tested == k).sum())
    return Progress(
        label=learner.labels[k],
        examples=learner.megacloud(k).count,
        tested=len(tested),
        recognised=recognised,
        new_prototypes=history.opened,
        confused_with=learner.labels[mistaken[0][0]] if mistaken else None,
        confusions=mistaken[0][1] if mistaken else 0,
        verdict=_verdict(len(tested), recognised, from_one_clip),
    )


def _verdict(tested: int, recognised: int, from_one_clip: bool) -> Verdict:
    early, share = tested < LEAST_TESTED, recognised / max(tested, 1)
    if not early and share < NEARLY:
        return "needs more"
    if from_one_clip:
        return "show it again"
    if early:
        return "too early to tell"
    return "enough" if share >= ENOUGH else "nearly there"
