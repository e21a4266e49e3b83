r"""How the model weighs its evidence: a few numbers, learned from witnesses that are left out one by one.

The fused score of a class is a sum of three parts, all linear in x and none of them larger in number than the classes:

- the cosine with the class's mean (``class_weight``),
- how near that mean is, by Mahalanobis distance (``nearness_weight``),
- the cosine with the class's best prototype (``prototype_weight``).

The weights are those under which the left-out witnesses are least surprising (log-loss, every class with the same say),
with a mild prior. How sure it then is (``sureness``, a factor on all scores) depends on how familiar the input is: the
closer to what was learned, the surer; that dependence is learned the same way, with every witness the same say.

Novelty is how much less familiar an input is than usual, and how much farther from its class, relative to all that was
learned, each in units of its spread among the left-out witnesses. With few classes the second says little, since all
that was learned is then no picture of the rest of the world. How novel a known thing may be is learned from witnesses
that are left out with all of their film; where every class was filmed only once nothing is known of that, and
nothing is called unknown.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from exll.learner.glocal.background import relative_distance
from exll.learner.glocal.leaving_out import Evidence
from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Tensors, Vector

RIDGES = tuple(0.025 * 2**i for i in range(7))  # 0.025 to 1.6 of the mean eigenvalue
FIRST_RIDGE = 3
UNSEEN_SIDES = 0.3  # the say of a witness left out with its prototype against one left out alone
FIRST_COSINE = 5.0  # weight of a cosine before anything could be judged: rather too modest than too sure
USUAL_COSINE = 20.0  # where the search for weights starts
# Priors, for streams on which nearly nothing goes wrong and which therefore say little. They are worth a few witnesses.
RIDGE_STEP = 0.5  # nats for one step away from the first ridge, four times that for two
WIDTHS = np.array([100.0, 0.1, 20.0])  # of the three weights, around none
SLOPE, SLOPE_WIDTH = 0.5, 0.5  # strange things are less sure
FAR, CLOSE = -10.0, 3.0  # spreads from the usual familiarity beyond which it makes no further difference
LEVELS, SLOPES = (-3.0, 3.0), (-1.0, 3.0)  # bounds of the two numbers of sureness
BACKGROUND_CLASSES = 20  # at so many classes and one, relative distance says half as much as familiarity
FALSE_ALARMS = 0.05  # the share of the stream's own examples that "unknown" may be said of


@dataclass(frozen=True)
class Judgement:
    """The numbers. Familiarity is a cosine with what the answer stands for, at most 1."""

    ridge: float = RIDGES[FIRST_RIDGE]
    class_weight: float = FIRST_COSINE
    nearness_weight: float = 0.0
    prototype_weight: float = 0.0
    level: float = 0.0  # the logarithm of sureness at the usual familiarity
    slope: float = 0.0  # its change per spread of familiarity
    usual: float = 1.0  # familiarity of the stream's own examples
    spread: float = 1.0
    usual_distance: float = 0.0  # their relative distance from the class they are taken for
    spread_of_distance: float = 1.0
    distance_weight: float = 0.0  # its say in novelty
    novelties: Vector = field(default_factory=lambda: np.empty(0))  # of the witnesses left out with what came with them
    reviewed: bool = False

    def in_units_of(self, lengths: Vector) -> "Judgement":
        """The weights it starts with, which are of cosines, for vectors of about these squared lengths."""
        return replace(self, class_weight=self.class_weight / max(float(np.sqrt(lengths.mean())), 1e-9))

    def familiarity(self, towards_class: Vector, towards_prototype: Vector, reach: Vector) -> Vector:
        """The cosines of class and prototype, each with its weight."""
        weights = np.array([self.class_weight, self.prototype_weight]) + 1e-9
        one, other = weights / weights.sum()
        familiarity: Vector = (one * towards_class + other * towards_prototype) / reach
        return familiarity

    def sureness(self, familiarity: Vector) -> Vector:
        """The factor on all scores before they become probabilities."""
        sureness: Vector = np.exp(self.level + self.slope * self._unusual(familiarity))
        return sureness

    def _unusual(self, familiarity: Vector) -> Vector:
        """In spreads. A slope that was learned upside down, among familiar things, says nothing of strange ones."""
        return np.clip((familiarity - self.usual) / self.spread, FAR if self.slope > 0 else -CLOSE, CLOSE)

    def novelty(self, familiarity: Vector, distance: Vector) -> Vector:
        """How little an input is like what was learned; ``distance`` is the relative one from the answer's class."""
        unfamiliar = (self.usual - familiarity) / self.spread
        outlying = (distance - self.usual_distance) / self.spread_of_distance
        novelty: Vector = unfamiliar + self.distance_weight * outlying
        return novelty

    def threshold(self, false_alarms: float) -> float:
        """The novelty that this share of the stream's own examples exceeds; nothing exceeds it while none could be
        judged. With fewer witnesses than such a share needs it is the largest of theirs."""
        if not len(self.novelties):
            return np.inf
        # This quantile is unbiased: a new example is as likely to fall between any two neighbours as beyond the ends.
        return float(np.quantile(self.novelties, 1.0 - false_alarms, method="weibull"))

    def state(self) -> Tensors:
        return {name: np.asarray(value, np.float64) for name, value in self.__dict__.items()}

    @classmethod
    def from_state(cls, state: Tensors) -> "Judgement":
        novelties = np.array(state["novelties"], np.float64)
        if novelties.ndim != 1:
            raise ValueError("the judgement's novelties are no list")
        names = cls.__dataclass_fields__.keys() - {"novelties", "reviewed"}
        numbers: dict[str, Any] = {name: float(state[name]) for name in names}
        weights = [numbers[f"{part}_weight"] for part in ("class", "nearness", "prototype", "distance")]
        spreads = min(numbers["spread"], numbers["spread_of_distance"])
        if min(weights) < 0 or not spreads > 0 or numbers["ridge"] not in RIDGES:
            raise ValueError("the judgement's weights are none")
        if not (LEVELS[0] <= numbers["level"] <= LEVELS[1] and SLOPES[0] <= numbers["slope"] <= SLOPES[1]):
            raise ValueError("the judgement is out of bounds")
        reviewed = bool(state["reviewed"]) if "reviewed" in state else len(novelties) > 0  # format 2 had no such word
        return cls(**numbers, novelties=novelties, reviewed=reviewed)


def ridges_to_try(ridge: float) -> tuple[float, ...]:
    """A ridge and its neighbours."""
    at = RIDGES.index(ridge)
    return RIDGES[max(0, at - 1) : at + 2]


def loss_of_ridge(ridge: float, cosines: Matrix, truth: Indices) -> float:
    """The log-loss of the cosines with the class means alone, at the weight that suits them best, and the prior."""
    _, loss = _fit([cosines], truth, np.ones(len(truth)), np.array([USUAL_COSINE]), WIDTHS[:1])
    return loss + RIDGE_STEP * (RIDGES.index(ridge) - FIRST_RIDGE) ** 2


def judge(ridge: float, alone: Evidence, with_prototype: Evidence, apart: Evidence) -> Judgement:
    """All numbers but the ridge, which the evidence was made with. ``alone`` must not be empty; ``apart`` is of
    witnesses left out with all that came with them."""
    typical = _typical(alone.reach)
    units = np.array([typical, 1.0, typical])  # so that the weights are those of cosines
    parts = [
        np.concatenate([one, other]) / unit
        for one, other, unit in zip(_parts(alone), _parts(with_prototype), units, strict=True)
    ]
    truth = np.concatenate([alone.truth, with_prototype.truth])
    say = np.concatenate([_balanced(alone.truth), UNSEEN_SIDES * _balanced(with_prototype.truth)])
    weights, _ = _fit(parts, truth, say, np.array([USUAL_COSINE, 0.01, USUAL_COSINE / 4]), WIDTHS)
    judgement = Judgement(ridge, *(weights / units).tolist())
    calibrated = _calibrated(judgement, alone, with_prototype)
    return replace(calibrated, novelties=_novelties(calibrated, apart), reviewed=True)


def _novelties(judgement: Judgement, evidence: Evidence) -> Vector:
    """Sorted."""
    _, familiarity, answers = _answers(judgement, evidence)
    return np.sort(judgement.novelty(familiarity, _distance(evidence, answers)))


def _distance(evidence: Evidence, answers: Indices) -> Vector:
    """The relative one, from the answers' classes."""
    nearness = evidence.nearness[np.arange(len(answers)), answers]
    return relative_distance(evidence.shared, nearness, evidence.reach)


def _calibrated(judgement: Judgement, alone: Evidence, with_prototype: Evidence) -> Judgement:
    """Sureness, and what is usual, from the weights."""
    scores, familiarity, answers = zip(
        *(_answers(judgement, evidence) for evidence in (alone, with_prototype)), strict=True
    )
    usual, spread = _usual(familiarity[0])
    measured = replace(judgement, usual=usual, spread=spread, slope=SLOPE)
    level, slope = _fit_sureness(
        np.concatenate(scores),
        measured._unusual(np.concatenate(familiarity)),
        np.concatenate([alone.truth, with_prototype.truth]),
        np.repeat([1.0, UNSEEN_SIDES], [len(alone.truth), len(with_prototype.truth)]),
    )
    usual_distance, spread_of_distance = _usual(_distance(alone, answers[0]))
    classes = alone.nearness.shape[1]
    return replace(
        measured,
        level=level,
        slope=slope,
        usual_distance=usual_distance,
        spread_of_distance=spread_of_distance,
        distance_weight=(classes - 1) / (classes - 1 + BACKGROUND_CLASSES),
    )


def _usual(values: Vector) -> tuple[float, float]:
    return float(values.mean()), max(float(values.std()), 1e-6)


def _answers(judgement: Judgement, evidence: Evidence) -> tuple[Matrix, Vector, Indices]:
    """Fused scores, the familiarity of the answers, the answers."""
    parts = _parts(evidence)
    weights = judgement.class_weight, judgement.nearness_weight, judgement.prototype_weight
    scores = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    assert isinstance(scores, np.ndarray)
    answers = scores.argmax(axis=1)
    rows = np.arange(len(answers))
    familiarity = judgement.familiarity(parts[0][rows, answers], parts[2][rows, answers], evidence.reach)
    return scores, familiarity, answers


def _parts(evidence: Evidence) -> tuple[Matrix, Matrix, Matrix]:
    return evidence.towards_class, evidence.nearness, evidence.towards_prototype


def _typical(reach: Vector) -> float:
    return float(np.sqrt(np.mean(reach**2)))


def _balanced(truth: Indices) -> Vector:
    """The same say for every class, and as much for all together as there are witnesses."""
    if not len(truth):
        return np.empty(0)
    say = 1.0 / np.bincount(truth)[truth]
    balanced: Vector = say * (len(say) / say.sum())
    return balanced


def _fit(parts: list[Matrix], truth: Indices, say: Vector, start: Vector, widths: Vector) -> tuple[Vector, float]:
    """Weights of the parts, none below zero, that make the truth least surprising, and how surprising it then is. The
    problem is convex."""
    from scipy.optimize import minimize  # a fifth of a second, which answers need not wait for

    rows = np.arange(len(truth))
    true_parts = np.array([say @ part[rows, truth] for part in parts])

    def loss(weights: Vector) -> tuple[float, Vector]:
        scores = weights[0] * parts[0]
        for weight, part in zip(weights[1:], parts[1:], strict=True):
            scores = scores + weight * part
        likely, total = softmax_rows(scores)
        likely *= say[:, None]
        slopes = np.array([np.vdot(likely, part) for part in parts]) - true_parts
        prior = weights / widths
        return float(say @ total - weights @ true_parts + 0.5 * prior @ prior), slopes + prior / widths

    found = minimize(loss, start, jac=True, bounds=[(0.0, None)] * len(parts), method="L-BFGS-B")
    return np.asarray(found.x), float(found.fun)


def _fit_sureness(scores: Matrix, unusual: Vector, truth: Indices, say: Vector) -> tuple[float, float]:
    """Level and slope of the logarithm of sureness."""
    from scipy.optimize import minimize

    rows = np.arange(len(truth))

    def loss(numbers: Vector) -> tuple[float, Vector]:
        level, slope = numbers
        sure = np.exp(level + slope * unusual)
        scaled = sure[:, None] * scores
        likely, total = softmax_rows(scaled)
        change = say * sure * (np.vecdot(likely, scores) - scores[rows, truth])
        slopes = np.array([change.sum(), change @ unusual + (slope - SLOPE) / SLOPE_WIDTH**2])
        prior = 0.5 * ((slope - SLOPE) / SLOPE_WIDTH) ** 2
        return float(say @ (total - scaled[rows, truth]) + prior), slopes

    level, slope = minimize(loss, np.array([0.0, SLOPE]), jac=True, bounds=[LEVELS, SLOPES], method="L-BFGS-B").x
    return float(level), float(slope)
