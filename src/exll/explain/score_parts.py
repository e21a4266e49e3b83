"""The global score taken apart by prototype, as bars for a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from exll.explain.contributions import Contribution
from exll.types import Label

BARS = 10  # prototypes with a bar of their own
WIDE = 1000  # units of a bar's drawing


@dataclass(frozen=True)
class Bar:
    """From ``start`` to ``end`` on a scale from ``low`` to ``high``."""

    name: str
    support: int
    start: float
    end: float
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.end - self.start

    @property
    def rectangles(self) -> Iterator[tuple[str, float, int, float, int]]:
        """(kind, x, y, width, height) of the bar and of the mark at zero."""
        scale = WIDE / ((self.high - self.low) or 1.0)
        left, width = (min(self.start, self.end) - self.low) * scale, abs(self.value) * scale
        yield "up" if self.value >= 0 else "down", left, 3, max(width, 2), 14
        yield "zero", min(-self.low * scale, WIDE - 3), 0, 3, 20


@dataclass(frozen=True)
class Chart:
    """The bars of one class, each beginning where the one before it ended, and their sum."""

    label: Label
    bars: tuple[Bar, ...]
    sum: Bar


def charts(*lists: Sequence[Contribution]) -> list[Chart]:
    """One per class, all on one scale."""
    steps = [_steps(parts) for parts in lists if parts]
    reached = [0.0, *(sum_ for own in steps for sum_ in accumulate(value for _, _, value in own))]
    low, high = min(reached), max(reached)
    return [_chart(parts[0].label, own, low, high) for parts, own in zip(filter(None, lists), steps, strict=True)]


def _chart(label: Label, steps: Sequence[tuple[str, int, float]], low: float, high: float) -> Chart:
    ends = list(accumulate(value for _, _, value in steps))
    bars = [
        Bar(name, support, start, end, low, high)
        for (name, support, _), start, end in zip(steps, [0.0, *ends[:-1]], ends, strict=True)
    ]
    return Chart(label, tuple(bars), Bar("", sum(bar.support for bar in bars), 0.0, ends[-1], low, high))


def _steps(parts: Sequence[Contribution]) -> list[tuple[str, int, float]]:
    """(name, examples, value) of each bar: the largest values, then all others together."""
    largest = sorted(parts, key=lambda part: -abs(part.value))[:BARS]
    steps = [(f"Prototype {part.prototype}", part.support, part.value) for part in parts if part in largest]
    rest = [part for part in parts if part not in largest]
    if rest:
        name = f"{len(rest):,} others together"
        steps.append((name, sum(part.support for part in rest), sum(part.value for part in rest)))
    return steps
