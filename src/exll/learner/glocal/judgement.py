r"""How the model weighs its evidence: a few numbers, learned from samples that are left out one by one.

The fused score of a class is a sum of three parts, all linear in x and none of them larger in number than the classes:

- the cosine with the mean of the class (``class_weight``),
- how near that mean is, by Mahalanobis distance (``nearness_weight``),
- the cosine with the best prototype of the class (``prototype_weight``).

The weights minimise the log-loss of the left-out samples, with the same total weight for every class and a mild prior.
The scores are then multiplied by an inverse temperature that depends on how similar the input is to what was learned:
the more similar, the higher the confidence. That dependence is learned in the same way, with the same weight for every
sample.

Novelty is how much less similar than the mean an input is, plus how much farther from its class, relative to all that
was learned; each in standard deviations among the left-out samples. With few classes the second part has little
weight, since a few classes say little about the rest of the world. How novel a known thing may be is learned from
samples that are left out with all of their clip. Where most classes came in one clip only, nothing is known of that,
and nothing is called unknown.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from exll.learner.glocal.background import relative_distance
from exll.learner.glocal.leaving_out import LeftOut
from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Tensors, Vector

RIDGES = tuple(0.025 * 2**i for i in range(7))  # 0.025 to 1.6 of the mean eigenvalue
FIRST_RIDGE = 3
UNSEEN_SIDES = 0.3  # the weight of a sample left out with its prototype, against one left out alone
FIRST_COSINE = 5.0  # weight of a cosine before anything could be judged: rather too low than too high a confidence
TYPICAL_COSINE = 20.0  # where the search for weights starts
# Priors, for streams with hardly any errors, which therefore say little. They are worth a few samples.
RIDGE_STEP = 0.5  # nats for one step away from the first ridge, four times that for two
WIDTHS = np.array([100.0, 0.1, 20.0])  # of the three weights, around zero
SLOPE, SLOPE_WIDTH = 0.5, 0.5  # less similar inputs get a lower confidence
FAR, CLOSE = -10.0, 3.0  # standard deviations from the mean similarity beyond which it makes no further difference
INTERCEPTS, SLOPES = (-3.0, 3.0), (-1.0, 3.0)  # bounds of the two numbers of the inverse temperature
BACKGROUND_CLASSES = 20  # at so many classes and one, relative distance has half the weight of similarity
SMALLEST_STD = 1e-6
FALSE_ALARMS = 0.05  # the share of known things that may be called unusual
UNKNOWN_AMONG_UNUSUAL = 0.1  # of those, the share that may be called unknown


@dataclass(frozen=True)
class Judgement:
    """The numbers. Similarity is a cosine with the class and the prototype of the answer, at most 1."""

    ridge: float = RIDGES[FIRST_RIDGE]
    class_weight: float = FIRST_COSINE
    nearness_weight: float = 0.0
    prototype_weight: float = 0.0
    intercept: float = 0.0  # the logarithm of the inverse temperature at the mean similarity
    slope: float = 0.0  # its change per standard deviation of similarity
    similarity_mean: float = 1.0  # of the stream's own examples
    similarity_std: float = 1.0
    distance_mean: float = 0.0  # their relative distance from the class of the answer
    distance_std: float = 1.0
    distance_weight: float = 0.0  # in novelty
    novelties: Vector = field(default_factory=lambda: np.empty(0))  # of the samples left out with their clip
    reviewed: bool = False

    def in_units_of(self, squared_norms: Vector) -> "Judgement":
        """The first weights, which are of cosines, for vectors of about these squared norms."""
        return replace(self, class_weight=self.class_weight / max(float(np.sqrt(squared_norms.mean())), 1e-9))

    def similarity(self, towards_class: Vector, towards_prototype: Vector, norms: Vector) -> Vector:
        """The cosines of class and prototype, each with its weight."""
        weights = np.array([self.class_weight, self.prototype_weight]) + 1e-9
        one, other = weights / weights.sum()
        similarity: Vector = (one * towards_class + other * towards_prototype) / norms
        return similarity

    def inverse_temperature(self, similarity: Vector) -> Vector:
        """The factor on all scores before they become probabilities."""
        factor: Vector = np.exp(self.intercept + self.slope * self._standardised(similarity))
        return factor

    def _standardised(self, similarity: Vector) -> Vector:
        """In standard deviations from the mean. A negative slope was learned among similar inputs; it says nothing of
        dissimilar ones."""
        far = FAR if self.slope > 0 else -CLOSE
        return np.clip((similarity - self.similarity_mean) / self.similarity_std, far, CLOSE)

    def novelty(self, similarity: Vector, distance: Vector) -> Vector:
        """How little an input is like what was learned; ``distance`` is the relative one from the class of the
        answer."""
        dissimilar = (self.similarity_mean - similarity) / self.similarity_std
        far_away = (distance - self.distance_mean) / self.distance_std
        novelty: Vector = dissimilar + self.distance_weight * far_away
        return novelty

    def threshold(self, false_alarms: float) -> float:
        """The novelty that this share of the stream's own examples exceeds; infinite while none could be judged. With
        fewer samples than such a share needs, it is the largest of theirs."""
        if not len(self.novelties):
            return np.inf
        # This quantile is unbiased: a new example is as likely to fall between any two neighbours as beyond the ends.
        return float(np.quantile(self.novelties, 1.0 - false_alarms, method="weibull"))

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values())

    def state(self) -> Tensors:
        return {name: np.asarray(value, np.float64) for name, value in self.__dict__.items()}

    @classmethod
    def from_state(cls, state: Tensors) -> "Judgement":
        novelties = np.array(state["novelties"], np.float64)
        if novelties.ndim != 1:
            raise ValueError("the novelties are not a list of numbers")
        names = cls.__dataclass_fields__.keys() - {"novelties", "reviewed"}
        numbers: dict[str, Any] = {name: float(state[name]) for name in names}
        weights = [numbers[f"{part}_weight"] for part in ("class", "nearness", "prototype", "distance")]
        if min(weights) < 0:
            raise ValueError("a weight is negative")
        if not min(numbers["similarity_std"], numbers["distance_std"]) >= SMALLEST_STD:
            raise ValueError("a standard deviation is not positive, or too small")
        if numbers["ridge"] not in RIDGES:
            raise ValueError(f"the ridge {numbers['ridge']} is not one of those that can be chosen")
        for name, (least, most) in (("intercept", INTERCEPTS), ("slope", SLOPES)):
            if not least <= numbers[name] <= most:
                raise ValueError(f"the {name} of the inverse temperature is outside [{least}, {most}]")
        reviewed = bool(state["reviewed"]) if "reviewed" in state else len(novelties) > 0  # format 2 did not say
        return cls(**numbers, novelties=novelties, reviewed=reviewed)


def ridges_to_try(ridge: float) -> tuple[float, ...]:
    """A ridge and its neighbours."""
    at = RIDGES.index(ridge)
    return RIDGES[max(0, at - 1) : at + 2]


def loss_of_ridge(ridge: float, cosines: Matrix, truth: Indices) -> float:
    """The log-loss of the cosines with the class means alone, at the weight that suits them best, and the prior."""
    _, loss = _fit([cosines], truth, np.ones(len(truth)), np.array([TYPICAL_COSINE]), WIDTHS[:1])
    return loss + RIDGE_STEP * (RIDGES.index(ridge) - FIRST_RIDGE) ** 2


def judge(ridge: float, alone: LeftOut, with_prototype: LeftOut, with_clip: LeftOut) -> Judgement:
    """All numbers but the ridge, which the samples were left out with. ``alone`` must not be empty; ``with_clip`` is of
    samples left out with all of their clip."""
    typical = _typical(alone.norms)
    units = np.array([typical, 1.0, typical])  # so that the weights are those of cosines
    parts = [
        np.concatenate([one, other]) / unit
        for one, other, unit in zip(_parts(alone), _parts(with_prototype), units, strict=True)
    ]
    truth = np.concatenate([alone.truth, with_prototype.truth])
    sample_weight = np.concatenate([_balanced(alone.truth), UNSEEN_SIDES * _balanced(with_prototype.truth)])
    weights, _ = _fit(parts, truth, sample_weight, np.array([TYPICAL_COSINE, 0.01, TYPICAL_COSINE / 4]), WIDTHS)
    judgement = Judgement(ridge, *(weights / units).tolist())
    calibrated = _calibrated(judgement, alone, with_prototype)
    return replace(calibrated, novelties=_novelties(calibrated, with_clip), reviewed=True)


def _novelties(judgement: Judgement, left_out: LeftOut) -> Vector:
    """Sorted."""
    _, similarity, answers = _answers(judgement, left_out)
    return np.sort(judgement.novelty(similarity, _distance(left_out, answers)))


def _distance(left_out: LeftOut, answers: Indices) -> Vector:
    """The relative one, from the classes of the answers."""
    nearness = left_out.nearness[np.arange(len(answers)), answers]
    return relative_distance(left_out.shared, nearness, left_out.norms)


def _calibrated(judgement: Judgement, alone: LeftOut, with_prototype: LeftOut) -> Judgement:
    """Add the inverse temperature, and the means and standard deviations of similarity and distance."""
    scores, similarity, answers = zip(
        *(_answers(judgement, left_out) for left_out in (alone, with_prototype)), strict=True
    )
    mean, std = _mean_and_std(similarity[0])
    measured = replace(judgement, similarity_mean=mean, similarity_std=std, slope=SLOPE)
    intercept, slope = _fit_temperature(
        np.concatenate(scores),
        measured._standardised(np.concatenate(similarity)),
        np.concatenate([alone.truth, with_prototype.truth]),
        np.repeat([1.0, UNSEEN_SIDES], [len(alone.truth), len(with_prototype.truth)]),
    )
    distance_mean, distance_std = _mean_and_std(_distance(alone, answers[0]))
    classes = alone.nearness.shape[1]
    return replace(
        measured,
        intercept=intercept,
        slope=slope,
        distance_mean=distance_mean,
        distance_std=distance_std,
        distance_weight=(classes - 1) / (classes - 1 + BACKGROUND_CLASSES),
    )


def _mean_and_std(values: Vector) -> tuple[float, float]:
    return float(values.mean()), max(float(values.std()), SMALLEST_STD)


def _answers(judgement: Judgement, left_out: LeftOut) -> tuple[Matrix, Vector, Indices]:
    """Fused scores, the similarity of the answers, the answers."""
    parts = _parts(left_out)
    weights = judgement.class_weight, judgement.nearness_weight, judgement.prototype_weight
    scores = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    assert isinstance(scores, np.ndarray)
    answers = scores.argmax(axis=1)
    rows = np.arange(len(answers))
    similarity = judgement.similarity(parts[0][rows, answers], parts[2][rows, answers], left_out.norms)
    return scores, similarity, answers


def _parts(left_out: LeftOut) -> tuple[Matrix, Matrix, Matrix]:
    return left_out.towards_class, left_out.nearness, left_out.towards_prototype


def _typical(norms: Vector) -> float:
    return float(np.sqrt(np.mean(norms**2)))


def _balanced(truth: Indices) -> Vector:
    """Weights: the same total for every class, and in all as much as there are samples."""
    if not len(truth):
        return np.empty(0)
    weights = 1.0 / np.bincount(truth)[truth]
    balanced: Vector = weights * (len(weights) / weights.sum())
    return balanced


def _fit(
    parts: list[Matrix], truth: Indices, sample_weight: Vector, start: Vector, widths: Vector
) -> tuple[Vector, float]:
    """Weights of the parts, none below zero, with the least log-loss, and that loss. The problem is convex."""
    from scipy.optimize import minimize  # a fifth of a second, which answers need not wait for

    rows = np.arange(len(truth))
    true_parts = np.array([sample_weight @ part[rows, truth] for part in parts])

    def loss(weights: Vector) -> tuple[float, Vector]:
        scores = weights[0] * parts[0]
        for weight, part in zip(weights[1:], parts[1:], strict=True):
            scores = scores + weight * part
        likely, total = softmax_rows(scores)
        likely *= sample_weight[:, None]
        slopes = np.array([np.vdot(likely, part) for part in parts]) - true_parts
        prior = weights / widths
        return float(sample_weight @ total - weights @ true_parts + 0.5 * prior @ prior), slopes + prior / widths

    found = minimize(loss, start, jac=True, bounds=[(0.0, None)] * len(parts), method="L-BFGS-B")
    return np.asarray(found.x), float(found.fun)


def _fit_temperature(scores: Matrix, similarity: Vector, truth: Indices, sample_weight: Vector) -> tuple[float, float]:
    """Intercept and slope of the logarithm of the inverse temperature; ``similarity`` is standardised."""
    from scipy.optimize import minimize

    rows = np.arange(len(truth))

    def loss(numbers: Vector) -> tuple[float, Vector]:
        intercept, slope = numbers
        factor = np.exp(intercept + slope * similarity)
        scaled = factor[:, None] * scores
        likely, total = softmax_rows(scaled)
        change = sample_weight * factor * (np.vecdot(likely, scores) - scores[rows, truth])
        slopes = np.array([change.sum(), change @ similarity + (slope - SLOPE) / SLOPE_WIDTH**2])
        prior = 0.5 * ((slope - SLOPE) / SLOPE_WIDTH) ** 2
        return float(sample_weight @ (total - scaled[rows, truth]) + prior), slopes

    found = minimize(loss, np.array([0.0, SLOPE]), jac=True, bounds=[INTERCEPTS, SLOPES], method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])
