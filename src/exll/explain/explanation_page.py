"""One answer and its reasons as a page, for a reader who knows no machine learning.

The page shows the numbers of an ``Explanation`` and computes none of its own.
"""

import math
from dataclasses import dataclass
from typing import Any

from exll.explain.case import Case
from exll.explain.evidence_map import EvidenceMap, outlined, overlay
from exll.explain.explanation import Evidence, Explanation
from exll.explain.page import render
from exll.explain.score_parts import charts
from exll.explain.thumbnails import Thumbnail, Thumbnails, embedded, shrunk
from exll.explain.wording import file_name, readable
from exll.types import Label

LARGE_SIDE = 480
PICTURES = 6
COUNTS_SHOWN = 8


def page(case: Case, thumbnails: Thumbnails) -> str:
    """The whole file as text; the same for the same case and files."""
    explanation, name = case.explanation, file_name(case.name)
    evidence = {name: getattr(explanation, name) for name in ("hit", "near_hit", "near_miss", "local_choice")}
    return render(
        "explanation.html",
        case=case,
        explanation=explanation,
        name=name,
        earlier_cases=_earlier_cases(explanation),
        pictures={name: _pictures(part, thumbnails) for name, part in evidence.items()},
        of_nothing=list(thumbnails.some(explanation.examples_of_nothing, PICTURES)),
        combined=_combined(explanation),
        charts=charts(explanation.contributions, explanation.against),
        **_drawn(case, name),
    )


def _earlier_cases(explanation: Explanation) -> int:
    """100% of two cases is not much: where the probability is a share of earlier cases, their number; else 0."""
    cases = sum(explanation.pair_counts.values())
    own = explanation.pair_counts.get(explanation.label, 0)
    if not own or not math.isclose(explanation.probability, own / cases):
        return 0
    return cases


def _pictures(evidence: Evidence | None, thumbnails: Thumbnails) -> list[Thumbnail]:
    """Those that are found; where none is, words that say why."""
    return [] if evidence is None else list(thumbnails.some([one.name for one in evidence.examples], PICTURES))


@dataclass(frozen=True)
class ScoreSum:
    """The fused score of a class."""

    label: Label
    whole: float  # what counts of the global score
    local: float
    lifted: float

    @property
    def fused(self) -> float:
        return self.whole + self.local + self.lifted


@dataclass(frozen=True)
class Combined:
    """How local and global inference were combined."""

    rule: str
    scores: list[ScoreSum]  # empty where the fused score is no sum
    class_share: str  # how much of the global score counts; empty where all of it does
    lifted: bool
    counts: list[tuple[Label, int]]
    counts_left_out: int
    count: int


def _combined(explanation: Explanation) -> Combined:
    counts = list(explanation.pair_counts.items())
    scores, share = _scores(explanation), explanation.class_share
    return Combined(
        explanation.combination.rule,
        scores,
        "" if share is None or round(share, 2) == 1.0 else f"{share:.2f}",
        any(row.lifted for row in scores),
        counts[:COUNTS_SHOWN],
        max(0, len(counts) - COUNTS_SHOWN),
        sum(explanation.pair_counts.values()),
    )


def _scores(explanation: Explanation) -> list[ScoreSum]:
    """Of the answer, then of the second choice."""
    e = explanation
    rows = [
        (e.label, e.global_score, e.local_score, e.lifted_score),
        (e.runner_up, sum(part.value for part in e.against), e.local_score_against, e.lifted_score_against),
    ]
    return [
        ScoreSum(label, e.class_share * whole, local, lifted)
        for label, whole, local, lifted in rows
        if label is not None and e.class_share is not None and local is not None and lifted is not None
    ]


def _drawn(case: Case, name: str) -> dict[str, Any]:
    """The picture, the parts of it that the network saw, and its evidence maps."""
    if case.picture is None:
        return {"picture": None, "looked_at": None, "where": []}
    small = shrunk(case.picture, LARGE_SIDE)
    return {
        "picture": embedded(small, f"The input: {name}"),
        "looked_at": embedded(outlined(small, case.boxes), "The parts of the image that the network saw"),
        "where": [(evidence, embedded(overlay(small, evidence), _places(evidence))) for evidence in case.maps],
    }


def _places(evidence: EvidenceMap) -> str:
    words = f"Places that count for {readable(evidence.label, 80)}"
    return words if evidence.against is None else f"{words} and against {readable(evidence.against, 80)}"
