"""The part of an explanation's page that takes the global score apart, prototype by prototype."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from exll.explain.contributions import Contribution, Without
from exll.explain.explanation import Explanation
from exll.explain.page import quoted, table
from exll.explain.wording import counted

BARS = 10  # prototypes with a bar of their own
WIDE = 1000  # units of a bar's drawing

STYLE = """
.charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:24px}
.chart table{width:100%}.chart td:nth-child(2){width:45%;padding-right:14px}
.chart td:last-child{text-align:right;white-space:nowrap}.chart small,.without small{display:block;color:var(--faint)}
.bar{display:block;width:100%;height:1.2em}.up{fill:var(--for)}.down{fill:var(--against)}.zero{fill:var(--faint)}
.chart tr:last-child th,.chart tr:last-child td{font-weight:600;border-bottom:0}
@media (max-width:760px){.charts{grid-template-columns:minmax(0,1fr)}}
"""


def score_section(explanation: Explanation, without: Sequence[Without]) -> Iterator[str]:
    other = explanation.runner_up
    heading = "" if other is None else f" and not {quoted(other)}"
    yield f"<h2>Why {quoted(explanation.label)}{heading}</h2>"
    yield (
        "<p>Global inference gives every class a score, and the highest wins. The score is a sum: each group of the "
        "class adds or takes away its part. Each bar begins where the one before it ended; the last is the sum.</p>"
    )
    yield '<div class="charts">'
    lists = [explanation.contributions, *([explanation.against] if explanation.against else [])]
    low, high = _range(lists)
    for parts in lists:
        yield from _chart(parts, low, high)
    yield "</div><p>Numbers are rounded, so the last digit of a sum may differ by a little.</p>"
    if other is not None:
        yield f"<p>{_comparison(explanation)}</p>"
    yield from _without(explanation, without)


def all_parts(explanation: Explanation) -> Iterator[str]:
    """Every contribution with more digits, out of sight until it is asked for."""
    for parts in (explanation.contributions, explanation.against):
        if parts:
            rows = [(f"prototype {part.prototype}", f"{part.support:,}", f"{part.value:.6g}") for part in parts]
            rows.append(("Sum: the score", f"{sum(part.support for part in parts):,}", f"{_score(parts):.6g}"))
            summary = f"{counted(len(parts), 'contribution')} to the score of {quoted(parts[0].label)}"
            content = table(("Prototype", "examples", "adds"), rows)
            yield f"<details><summary>{summary}</summary>{content}</details>"


def _score(parts: Sequence[Contribution]) -> float:
    return sum(part.value for part in parts)


def _steps(parts: Sequence[Contribution]) -> list[tuple[str, str, float]]:
    """(name, examples, value) of each bar: the weightiest prototypes, then all others together."""
    weightiest = sorted(parts, key=lambda part: -abs(part.value))[:BARS]
    steps = [
        (f"Prototype {part.prototype}", f"{counted(part.support, 'example')}", part.value)
        for part in parts
        if part in weightiest
    ]
    rest = [part for part in parts if part not in weightiest]
    if rest:
        examples = counted(sum(part.support for part in rest), "example")
        steps.append((f"{len(rest):,} others together", examples, _score(rest)))
    return steps


def _range(lists: Sequence[Sequence[Contribution]]) -> tuple[float, float]:
    """From the lowest to the highest that any running sum reaches, zero among them: one scale for both charts."""
    reached = [0.0]
    for parts in lists:
        reached += accumulate(value for _, _, value in _steps(parts))
    return min(reached), max(reached)


def _chart(parts: Sequence[Contribution], low: float, high: float) -> Iterator[str]:
    rows, reached = [], 0.0
    for name, examples, value in _steps(parts):
        rows.append((f"{name} <small>{examples}</small>", _bar(reached, reached + value, low, high), f"{value:+.3f}"))
        reached += value
    rows.append(("Sum: the score", _bar(0.0, reached, low, high), f"{_score(parts):.3f}"))
    yield f'<div class="chart"><h3>{quoted(parts[0].label)}</h3>{table(("Group", "", "adds"), rows)}</div>'


def _bar(start: float, end: float, low: float, high: float) -> str:
    scale = WIDE / ((high - low) or 1.0)
    left, width, zero = (min(start, end) - low) * scale, abs(end - start) * scale, -low * scale
    kind = "up" if end >= start else "down"
    return (
        f'<svg class="bar" viewBox="0 0 {WIDE} 20" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{left:.1f}" y="3" width="{max(width, 2):.1f}" height="14"/>'
        f'<rect class="zero" x="{min(zero, WIDE - 3):.1f}" y="0" width="3" height="20"/></svg>'
    )


def _comparison(explanation: Explanation) -> str:
    ahead = _score(explanation.contributions) - _score(explanation.against)
    label, other = quoted(explanation.label), quoted(explanation.runner_up)
    if ahead >= 0:
        return f"By this score {label} is ahead of {other} by <strong>{ahead:.3f}</strong>."
    return (
        f"By this score alone {other} would be ahead by <strong>{-ahead:.3f}</strong>; "
        f"{explanation.combination.decider} decided for {label}."
    )


def _without(explanation: Explanation, without: Sequence[Without]) -> Iterator[str]:
    if not without:
        return
    yield "<h2>What if a group had never been learned?</h2>"
    yield (
        "<p>This is not the number above with another sign. Without a group the middle of its class lies elsewhere, so "
        "all other groups of the class count differently too. Here the class was truly worked out again.</p>"
    )
    values = {part.prototype: part.value for part in (*explanation.contributions, *explanation.against)}
    rows = [
        (
            f"Prototype {one.prototype} of {quoted(one.label)}",
            f"{values[one.prototype]:+.3f}",
            _change(one),
            _answer(one),
        )
        for one in without
    ]
    head = ("Without", "it adds above", "the score would change by", "global inference would say")
    yield f'<div class="without">{table(head, rows)}</div>'


def _change(one: Without) -> str:
    if one.score_after is None:
        return "it is all of its class, which would be gone"
    return f"{one.change:+.3f} <small>from {one.score_before:.3f} to {one.score_after:.3f}</small>"


def _answer(one: Without) -> str:
    if one.global_label_after is None:
        return "nothing"
    still = "still " if one.global_label_after == one.global_label_before else ""
    return f"{still}{quoted(one.global_label_after)}"
