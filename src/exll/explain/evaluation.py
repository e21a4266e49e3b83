"""How often a model is right on labelled data that it has not seen: counts of right, wrong, unusual and unknown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

from exll.explain.notebook import one_line, table
from exll.explain.wording import confidence, percent
from exll.types import InferenceName, Label, Level

SHOWN = 5
WORST = 24  # mistakes that are looked into
STEPS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)  # of confidence


class Answer(Protocol):
    """The answer of a model for one example: an :class:`exll.Prediction`."""

    @property
    def label(self) -> Label: ...
    @property
    def probability(self) -> float: ...
    @property
    def level(self) -> Level: ...
    @property
    def novelty(self) -> float | None: ...


@dataclass(frozen=True)
class Counts:
    """What was said of some examples: ``right``, ``wrong``, ``unusual`` and ``unknown`` are all of them.

    An answer is right or wrong where it is usual. ``unusual_right`` and ``unknown_right`` are those whose best guess is
    the truth all the same.
    """

    examples: int
    right: int
    wrong: int
    unusual: int
    unusual_right: int
    unknown: int
    unknown_right: int

    @property
    def best_guess_right(self) -> int:
        """How often the named class is the truth, whatever the level."""
        return self.right + self.unusual_right + self.unknown_right

    @property
    def accuracy(self) -> float:
        """The share of examples whose named class is the truth, whatever the level."""
        return self.best_guess_right / self.examples

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "accuracy": self.accuracy}


@dataclass(frozen=True)
class ClassCounts:
    """One class of the data. ``taken_for`` is the class that its examples were most often mistaken for."""

    label: Label
    taught: bool
    counts: Counts
    taken_for: Label | None
    taken_for_count: int


@dataclass(frozen=True)
class Confusion:
    """How many examples of one class got the label of another as their best guess, unknown ones left out."""

    truth: Label
    label: Label
    count: int

    def __str__(self) -> str:
        return f"{self.truth} taken for {self.label}: {self.count:,}"


@dataclass(frozen=True)
class Mistake:
    """A wrong answer. ``resembles`` names the learned example of the wrong class that it is most like; it is looked
    for only for the worst mistakes."""

    row: int
    name: str
    truth: Label
    label: Label
    probability: float
    level: Level
    resembles: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.truth} taken for {self.label} ({confidence(self.probability)})"


@dataclass(frozen=True)
class Calibration:
    """Answers with a confidence from ``low`` to ``high``: the mean of it, and the share that is right."""

    low: float
    high: float
    answers: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Evaluation:
    """All that was counted. ``classes`` are sorted, the hardest first; ``mistakes`` the most confident first.

    ``local_right``, ``global_right`` and ``either_right`` count the examples for which local inference, global
    inference, or at least one of the two names the truth. ``has_levels`` is False where the preset or the inference
    always names a class.
    """

    inference: InferenceName
    has_levels: bool
    counts: Counts
    confidence: float  # the mean over all that is not unknown
    right_of_known: float  # the share of right best guesses among the same
    calibration: tuple[Calibration, ...]
    classes: tuple[ClassCounts, ...]
    confusions: tuple[Confusion, ...]
    mistakes: tuple[Mistake, ...]
    local_right: int
    global_right: int
    either_right: int

    def with_resembled(self, find: Callable[[Mistake], str | None]) -> "Evaluation":
        """The same, where the worst mistakes say which learned example they resemble."""
        worst = tuple(replace(mistake, resembles=find(mistake)) for mistake in self.mistakes[:WORST])
        return replace(self, mistakes=worst + self.mistakes[WORST:])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON; the counts stand beside what they are of."""
        values = {**self.counts.to_dict(), **asdict(self)}
        del values["counts"]
        values["classes"] = [
            {
                "label": one.label,
                "taught": one.taught,
                **one.counts.to_dict(),
                "taken_for": one.taken_for,
                "taken_for_count": one.taken_for_count,
            }
            for one in self.classes
        ]
        return values

    def __str__(self) -> str:
        counts = self.counts
        of_all = f"{counts.best_guess_right:,} of {counts.examples:,}"
        lines = [f"{percent(counts.accuracy)} of the best guesses right ({of_all}, {self.inference} inference)"]
        if self.has_levels:
            lines += ["what it said:", *self._levels()]
        if counts.unknown < counts.examples:
            besides = ", unknown ones left out" if counts.unknown else ""
            right = percent(self.right_of_known)
            lines.append(f"mean confidence {confidence(self.confidence)}; {right} of these answers right{besides}")
        if self.inference == "fused":
            lines.append(self._inferences())
        never = [str(one.label) for one in self.classes if not one.taught]
        if never:
            lines.append(one_line(f"never taught, so it cannot be right: {', '.join(never)}"))
        if len(self.classes) > 1:
            hardest = [f"{one.label} {percent(one.counts.accuracy)}" for one in self.classes[:SHOWN]]
            lines.append(one_line(f"hardest classes: {', '.join(hardest)}"))
        if self.confusions:
            lines.append(one_line(f"most often confused: {', '.join(map(str, self.confusions[:SHOWN]))}"))
        return "\n".join(lines)

    def _levels(self) -> list[str]:
        counts = self.counts

        def line(count: int, words: str) -> str:
            return f"  {count:6,}  {percent(count / counts.examples):>10}  {words}"

        return [
            line(counts.right, "the right class"),
            line(counts.wrong, "a wrong class"),
            line(counts.unusual, f'unusual ("maybe ..."), the class right in {counts.unusual_right:,}'),
            line(counts.unknown, f"unknown, the nearest class right in {counts.unknown_right:,}"),
        ]

    def _inferences(self) -> str:
        local, whole, either = (
            percent(count / self.counts.examples) for count in (self.local_right, self.global_right, self.either_right)
        )
        return f"local inference alone is right in {local}, global inference alone in {whole}, one of them in {either}"

    def _repr_html_(self) -> str:
        header = ("class", "examples", "right", "wrong", "unusual", "unknown", "most often taken for")
        rows = [
            (
                one.label,
                one.counts.examples,
                one.counts.right,
                one.counts.wrong,
                one.counts.unusual,
                one.counts.unknown,
                one.taken_for,
            )
            for one in self.classes
        ]
        return table(header, rows)


def evaluation_of(
    answers: Sequence[Answer],
    truths: Sequence[Label],
    names: Sequence[str],
    taught: Iterable[Label],
    inference: InferenceName = "fused",
    local_labels: Sequence[Label] = (),
    global_labels: Sequence[Label] = (),
) -> Evaluation:
    """Count what was said of some examples; all sequences have one entry per example."""
    asked = list(zip(truths, answers, strict=True))
    known = [(truth, answer) for truth, answer in asked if answer.level != "unknown"]
    pairs = Counter((truth, answer.label) for truth, answer in known if truth != answer.label)
    confusions = [Confusion(truth, label, count) for (truth, label), count in pairs.most_common()]
    mistakes = [
        Mistake(row, name, truth, answer.label, answer.probability, answer.level)
        for row, (name, (truth, answer)) in enumerate(zip(names, asked, strict=True))
        if truth != answer.label and answer.level != "unknown"
    ]
    local = [label == truth for label, truth in zip(local_labels, truths, strict=bool(local_labels))]
    whole = [label == truth for label, truth in zip(global_labels, truths, strict=bool(global_labels))]
    return Evaluation(
        inference=inference,
        has_levels=any(answer.novelty is not None for answer in answers),
        counts=_counts(asked),
        confidence=_mean([answer.probability for _, answer in known]),
        right_of_known=_mean([truth == answer.label for truth, answer in known]),
        calibration=tuple(_calibration(known)),
        classes=tuple(_classes(asked, confusions, set(taught))),
        confusions=tuple(confusions),
        mistakes=tuple(sorted(mistakes, key=lambda mistake: -mistake.probability)),
        local_right=sum(local),
        global_right=sum(whole),
        either_right=sum(one or other for one, other in zip(local, whole, strict=True)),
    )


def _counts(asked: Sequence[tuple[Label, Answer]]) -> Counts:
    said = Counter((answer.level, truth == answer.label) for truth, answer in asked)
    return Counts(
        examples=len(asked),
        right=said["usual", True],
        wrong=said["usual", False],
        unusual=said["unusual", True] + said["unusual", False],
        unusual_right=said["unusual", True],
        unknown=said["unknown", True] + said["unknown", False],
        unknown_right=said["unknown", True],
    )


def _classes(
    asked: Sequence[tuple[Label, Answer]], confusions: Sequence[Confusion], taught: set[Label]
) -> list[ClassCounts]:
    by_class: dict[Label, list[tuple[Label, Answer]]] = {}
    for truth, answer in asked:
        by_class.setdefault(truth, []).append((truth, answer))
    most: dict[Label, Confusion] = {}
    for confusion in confusions:  # the largest first
        most.setdefault(confusion.truth, confusion)
    found = []
    for label, own in by_class.items():
        other = most.get(label)
        taken_for, count = (None, 0) if other is None else (other.label, other.count)
        found.append(ClassCounts(label, label in taught, _counts(own), taken_for, count))
    return sorted(found, key=lambda one: (one.counts.accuracy, str(one.label)))


def _calibration(known: Sequence[tuple[Label, Answer]]) -> Iterator[Calibration]:
    for low, high in pairwise(STEPS):
        here = [
            (answer.probability, truth == answer.label)
            for truth, answer in known
            if low <= answer.probability < high or (high == 1.0 and answer.probability >= 1.0)
        ]
        if here:
            sure, right = zip(*here, strict=True)
            yield Calibration(low, high, len(here), _mean(sure), _mean(right))


def _mean(values: Sequence[float]) -> float:
    return float(sum(values) / len(values)) if values else 0.0
