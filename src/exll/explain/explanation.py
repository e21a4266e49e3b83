"""The hit, the near hit and the near miss behind one answer, in numbers that add up."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from exll.explain.contributions import Contribution, contributions
from exll.explain.notebook import one_line, paragraph, table
from exll.explain.wording import file_name, in_brackets
from exll.learner.exll import ExLL
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.learner.inference import Combination, Inference, next_best
from exll.learner.nothing import Unlike
from exll.linalg.softmax import softmax_rows
from exll.linalg.ties import first_of_largest
from exll.types import Label, Level, Matrix, Vector

REFS_SHOWN = 12
NEGLIGIBLE = 1e-3  # a part of a score that is as good as none
EXAMPLES_NAMED = 3


@dataclass(frozen=True)
class Remembered:
    """A learned example: its name, its place in the stream, and its cosine to x where its vector was kept."""

    name: str
    position: int
    cosine: float | None


@dataclass(frozen=True)
class Evidence:
    """A prototype as evidence: how near, how much of its class, and the examples it is made of.

    ``score`` is what local inference ranks prototypes by (Eq. 18), and can be compared within one answer only.
    ``similarity`` is the same as a cosine in [-1, 1], which can be compared between answers; None where the preset has
    none. ``membership`` is the softmax over all prototypes of the scores (docs/decisions.md, 14). Examples come by
    closeness to x where their vectors were kept, else oldest first.
    """

    prototype: int
    label: Label
    support: int
    share: float
    score: float
    similarity: float | None
    membership: float
    examples: tuple[Remembered, ...]

    def named(self) -> str:
        """The first few of its examples, and how many more there are."""
        shown = ", ".join(example.name for example in self.examples[:EXAMPLES_NAMED]) or "no examples remembered"
        more = self.support - min(EXAMPLES_NAMED, len(self.examples))
        return shown + (f" and {more} more" if more and self.examples else "")

    def ranked_by(self) -> str:
        """The number that it is ranked by."""
        return f"score {self.score:.1f}" if self.similarity is None else f"similarity {self.similarity:.2f}"


@dataclass(frozen=True)
class Explanation:
    """One answer and its reasons.

    ``level`` is "usual", "unusual" or "unknown" ("usual" where the preset cannot tell), ``novelty`` the score behind
    it. The hit is the prototype of the answer that local inference used, so no near hit is nearer. No near miss
    is either: it is the nearest prototype of the runner-up, or, where that is nearer than the hit, of the nearest class
    that is not. ``local_choice`` is the nearest prototype of all where it is not of the answer's class.

    ``contributions`` sum to the global score of the label; ``against`` are those of the runner-up. ``reason`` is the
    decision in a sentence or two, in the words of the preset. ``pair_counts`` says how often each label was the truth
    when local and global inference gave these answers; it is empty where that never happened, and where the preset
    does not count. Where the fused score is a sum, it is ``class_share`` times the global one, plus ``local_score``,
    what the hit adds, plus ``lifted_score``, what the lift adds; those that end in ``_against`` are the runner-up's.
    The paper's score is not a sum, and they are None.

    ``examples_of_nothing`` are the names of the examples that belong to no class and are more like the input than every
    prototype is, the nearest first; where there is one, the level is "unknown".
    """

    label: Label
    probability: float
    runner_up: Label | None
    level: Level
    novelty: float | None
    hit: Evidence
    near_hit: Evidence | None
    near_miss: Evidence | None
    local_choice: Evidence | None
    local_label: Label
    global_label: Label
    pair_counts: dict[Label, int]
    reason: str
    megacloud_membership: float
    global_score: float
    class_share: float | None
    local_score: float | None
    local_score_against: float | None
    lifted_score: float | None
    lifted_score_against: float | None
    contributions: tuple[Contribution, ...]
    against: tuple[Contribution, ...]
    combination: Combination  # words for a page; no part of ``to_dict``
    examples_of_nothing: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [one_line(self._answer()), one_line(self.reason)]
        for name, evidence in self.evidence.items():
            words = f'"{evidence.label}", {evidence.ranked_by()}: {evidence.named()}'
            lines.append(f"{name:12} {one_line(words)}")
        if self.examples_of_nothing:
            lines.append(f"{'of nothing':12} {one_line(', '.join(map(file_name, self.examples_of_nothing)))}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (name, evidence.label, evidence.ranked_by(), f"{evidence.support:,}", evidence.named())
            for name, evidence in self.evidence.items()
        ]
        header = ("", "class", "ranked by", "examples", "such as")
        return f"{paragraph(self._answer())}{paragraph(self.reason)}{table(header, rows)}"

    def _answer(self) -> str:
        if self.level == "unknown":
            return f'unknown (nearest is "{self.label}")'
        runner_up = None if self.runner_up is None else f'"{self.runner_up}"'
        answer = f'"{self.label}" {in_brackets(self.probability, runner_up)}'
        return answer if self.level == "usual" else f"maybe {answer}: it is unlike what was learned"

    @property
    def evidence(self) -> dict[str, Evidence]:
        """What there is of the four, by name."""
        found = {
            "hit": self.hit,
            "near hit": self.near_hit,
            "near miss": self.near_miss,
            "local choice": self.local_choice,
        }
        return {name: evidence for name, evidence in found.items() if evidence is not None}

    @property
    def known(self) -> bool:
        return self.level != "unknown"

    @property
    def agreed(self) -> bool:
        return self.local_label == self.global_label

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        values = asdict(self)
        del values["combination"]
        values["known"], values["agreed"] = self.known, self.agreed
        values["pair_counts"] = [{"label": label, "count": count} for label, count in self.pair_counts.items()]
        return values


def explain(learner: ExLL, x: Vector, false_alarms: float = FALSE_ALARMS, unlike: Unlike | None = None) -> Explanation:
    """Explain the fused answer for one unit vector; ``unlike`` knows the examples of nothing, if there are any."""
    with learner.lock:  # answer and records of one moment
        inference = learner.inference()
        dots = inference.dots(x[None, :])
        global_scores, local_scores = inference.global_and_local(dots)
        judged = inference.judged(x[None, :], dots, "fused")
        winners, posteriors, measured = judged
        k, global_k, local_k = int(winners[0]), first_of_largest(global_scores[0]), first_of_largest(local_scores[0])
        alone = len(inference.labels) == 1
        second = None if alone else int(next_best(winners, inference.likely(posteriors, dots))[0])
        counts = inference.counts_of_pair(global_k, local_k)
        local = _Local(learner, inference, x, dots)
        hit, near_hit = local.nearest_two(k)
        missed = None if second is None else _class_of_near_miss(local_scores[0], k, second)
        nothing = () if unlike is None else unlike.names(x[None, :])[0]
        novelty = None if measured is None else float(measured.novelty[0])
        parts = inference.parts(x[None, :], dots)

        def added(scores: Matrix | None, class_: int | None) -> float | None:
            return None if scores is None or class_ is None else float(scores[0, class_])

        local_part, lifted_part = (None, None) if parts is None else (parts.local, parts.lifted)
        return Explanation(
            label=inference.labels[k],
            probability=min(1.0, float(posteriors[0, k])),
            runner_up=None if second is None else inference.labels[second],
            level="unknown" if nothing else inference.levels(judged, false_alarms)[0],
            novelty=novelty,
            hit=hit,
            near_hit=near_hit,
            near_miss=None if missed is None else local.nearest(missed),
            local_choice=None if local_k == k else local.nearest(local_k),
            local_label=inference.labels[local_k],
            global_label=inference.labels[global_k],
            pair_counts={
                inference.labels[truth]: count for truth, count in sorted(counts.items(), key=lambda item: -item[1])
            },
            reason=_looks_like_nothing(len(nothing))
            + inference.reason(
                k,
                global_k,
                local_k,
                local_counts=local_part is None or _counts(local_part),
                lift_counts=lifted_part is not None and _counts(lifted_part),
            ),
            megacloud_membership=min(1.0, float(inference.judged(x[None, :], dots, "global").posteriors[0, k])),
            global_score=float(global_scores[0, k]),
            class_share=None if parts is None else float(parts.class_shares[0]),
            local_score=added(local_part, k),
            local_score_against=added(local_part, second),
            lifted_score=added(lifted_part, k),
            lifted_score_against=added(lifted_part, second),
            contributions=tuple(contributions(inference, x, k)),
            against=() if second is None else tuple(contributions(inference, x, second)),
            combination=inference.combination,
            examples_of_nothing=nothing[:REFS_SHOWN],
        )


def _looks_like_nothing(count: int) -> str:
    """How the reason begins where so many examples of nothing are nearer than every prototype."""
    if not count:
        return ""
    examples = "an example" if count == 1 else f"{count:,} examples"
    return f"It looks more like {examples} of nothing than like any group of a class. "


def _counts(part: Matrix) -> bool:
    return bool(np.abs(part).max() > NEGLIGIBLE)


def _class_of_near_miss(local_scores: Vector, k: int, second: int) -> int | None:
    """The runner-up, or where that is nearer than the hit the nearest class that is not, if there is one."""
    if local_scores[second] <= local_scores[k]:
        return second
    farther = np.where(local_scores <= local_scores[k], local_scores, -np.inf)
    farther[k] = -np.inf
    nearest = first_of_largest(farther)
    return None if np.isneginf(farther[nearest]) else nearest


class _Local:
    """The prototypes as evidence for one vector."""

    def __init__(self, learner: ExLL, inference: Inference, x: Vector, dots: Matrix) -> None:
        self._learner = learner
        self._inference = inference
        self._x = x
        self._scores = inference.row_scores(dots)[0, : len(inference.prototype_ids)]
        self._memberships = softmax_rows(self._scores[None, :])[0][0]
        self._similarities = inference.similarities(x[None, :], dots)

    def nearest(self, k: int) -> Evidence:
        """Eq. 10 within class k."""
        rows = self._inference.rows_of_class(k)
        return self._evidence(rows.start + first_of_largest(self._scores[rows]), k)

    def nearest_two(self, k: int) -> tuple[Evidence, Evidence | None]:
        """Eq. 10 and 11 within class k."""
        rows = self._inference.rows_of_class(k)
        own = self._scores[rows].copy()
        first = first_of_largest(own)
        hit = self._evidence(rows.start + first, k)
        if len(own) == 1:
            return hit, None
        own[first] = -np.inf
        return hit, self._evidence(rows.start + first_of_largest(own), k)

    def _evidence(self, row: int, k: int) -> Evidence:
        prototype, support = int(self._inference.prototype_ids[row]), int(self._inference.supports[row])
        return Evidence(
            prototype=prototype,
            label=self._inference.labels[k],
            support=support,
            share=support / int(self._inference.class_counts[k]),
            score=float(self._scores[row]),
            similarity=None if self._similarities is None else float(self._similarities[0, row]),
            membership=float(self._memberships[row]),
            examples=tuple(
                Remembered(record.name, record.position, similarity)
                for record, similarity in self._learner.closest_records(prototype, self._x, REFS_SHOWN)
            ),
        )
