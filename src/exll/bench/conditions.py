"""What a task changes about its data: which examples are asked about, and how hard the stream is made.

Everything is drawn from the examples in canonical order: the same seed gives the same changes, whatever the order.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.errors import BenchError
from exll.streams.example import Example
from exll.streams.orderings import arrange, canonical, grouped, split

HELD_OUT, TAIL, WRONG = range(3)  # a generator each, so that no change moves what another one draws


@dataclass(frozen=True)
class Conditions:
    """All of them off by default.

    >>> Conditions(wrong_labels=0.2).shown
    {'wrong labels': '20%'}
    """

    test_domain: str | None = None  # this domain is asked, and all the others are learned
    hold_out: float | None = None  # this share of every class and domain is asked, the same for all orders and seeds;
    # of videos, whole ones: frames of one video are alike
    long_tail: float | None = None  # the rarest class has this share of the examples of the most frequent one
    wrong_labels: float | None = None  # this share of the examples is learned under another label
    delay: int = 0  # the label of an example arrives so many examples later

    def __post_init__(self) -> None:
        for field in fields(self)[1:4]:
            share = getattr(self, field.name)
            if share is not None and (isinstance(share, bool) or not isinstance(share, float) or not 0 < share < 1):
                raise BenchError(f"{field.name} must be a share between 0 and 1, like 0.2; got {share!r}.")
        if self.test_domain is not None and self.hold_out is not None:
            raise BenchError("a task has test_domains or hold_out, not both; each chooses the test examples.")

    @property
    def identity(self) -> dict[str, Any]:
        """Those that are on."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def shown(self) -> dict[str, Any]:
        """Those that are on, in words of a report."""
        return {
            name.replace("_", " "): f"{100 * value:g}%" if isinstance(value, float) else value
            for name, value in self.identity.items()
        }

    @property
    def make_a_test_part(self) -> bool:
        return self.test_domain is not None or self.hold_out is not None

    def check_delay(self, points: list[int]) -> None:
        """Something must be learned before the first question."""
        if self.delay and points[0] <= self.delay:
            raise BenchError(
                f"delay must be less than the examples before the first point, {points[0]}; got {self.delay}."
            )

    def parts(
        self, train: list[Example], test: list[Example] | None, order: str, seed: int
    ) -> tuple[list[Example], list[Example]]:
        """The stream to learn, in its order, and the examples to ask about."""
        if self.test_domain is not None:
            train, test = self._leaving_out_a_domain(train, train if test is None else test)
        elif self.hold_out is not None:
            if test is not None:
                raise BenchError("hold_out is for data without a test part; this data has one. Leave hold_out out.")
            train, test = _held_out(train, self.hold_out)
        if test is None:
            stream, test = split(train, order, seed)
        else:
            stream = arrange(train, order, seed)
        return (stream if self.long_tail is None else _thinned(stream, self.long_tail, seed)), test

    def labels(self, stream: list[Example], seed: int) -> NDArray[np.str_]:
        """What the learner is told about each example of the stream."""
        labels = np.array([example.label for example in stream])
        if self.wrong_labels is None or len(classes := np.unique(labels)) < 2:
            return labels
        rng = np.random.default_rng([seed, WRONG])
        places = _canonical_places(stream)
        wrong = places[rng.permutation(len(stream))[: round(self.wrong_labels * len(stream))]]
        own = np.searchsorted(classes, labels[wrong])
        labels[wrong] = classes[(own + rng.integers(1, len(classes), len(wrong))) % len(classes)]
        return labels

    def _leaving_out_a_domain(self, train: list[Example], asked: list[Example]) -> tuple[list[Example], list[Example]]:
        known = sorted({example.domain for example in asked if example.domain is not None})
        if self.test_domain not in known:
            raise BenchError(
                f"there is no domain {self.test_domain!r} to ask; there are: {', '.join(known) or 'no domains'}."
            )
        learned = [example for example in train if example.domain != self.test_domain]
        if not learned:
            raise BenchError(f"all examples are of the domain {self.test_domain!r}: nothing is left to learn.")
        return learned, [example for example in asked if example.domain == self.test_domain]


def _held_out(examples: list[Example], share: float) -> tuple[list[Example], list[Example]]:
    """At least one of every class and domain that has two is asked, and at least one is learned."""
    rng = np.random.default_rng(HELD_OUT)
    learned: list[Example] = []
    asked: list[Example] = []
    for group in grouped(canonical(examples), lambda example: (example.label, example.domain)):
        units = grouped(group, lambda example: example.video or id(example))
        count = min(max(1, round(share * len(units))), len(units) - 1)
        chosen = set(rng.permutation(len(units))[:count].tolist())
        for place, unit in enumerate(units):
            (asked if place in chosen else learned).extend(unit)
    if not asked:
        raise BenchError("hold_out needs a class with two examples, or two videos; there is none.")
    return learned, asked


def _thinned(stream: list[Example], rarest: float, seed: int) -> list[Example]:
    """Counts that fall exponentially over the classes, in random order; a class keeps at least one and at most all."""
    rng = np.random.default_rng([seed, TAIL])
    places = _canonical_places(stream).tolist()
    classes = grouped(places, lambda place: stream[place].label)
    most = max(len(group) for group in classes)
    kept: set[int] = set()
    for rank, number in enumerate(rng.permutation(len(classes)).tolist()):
        group = classes[number]
        count = max(1, round(most * rarest ** (rank / max(1, len(classes) - 1))))
        kept.update(group[i] for i in rng.permutation(len(group))[:count])
    return [example for place, example in enumerate(stream) if place in kept]


def _canonical_places(stream: Sequence[Example]) -> NDArray[np.int64]:
    """The places in the stream, in the order in which the examples would be listed."""
    place_of = {id(example): place for place, example in enumerate(stream)}
    return np.array([place_of[id(example)] for example in canonical(stream)], np.int64)
