r"""How the model weighs its evidence: a few numbers, learned from samples that are left out.

The global score of a class is a sum of two parts:

- the cosine with the mean of the class (``class_weight``),
- how near that mean is, by Mahalanobis distance (``nearness_weight``).

The fused score adds parts that are more informative where x is usual, and misleading where it is not:

- the cosine with the best prototype of the class (``prototype_weight``),
- cosine and nearness in the space of the lift (``lifted_weight``, ``lifted_nearness_weight``),
- a share of the global score, which the other two may replace once there is a lift (``class_change``).

The more novel x is, the less these count: fully where x is as usual as half of the stream's own examples, not at all
where it is unusual.

The weights minimise the log-loss of samples that are left out with what came with them, with the same total weight for
every class and a mild prior: first those of the global score, then, with these given, those of the rest. The scores are
then multiplied by an inverse temperature that depends on how usual the input is: the more usual, the higher the
confidence. That dependence is learned in the same way, also from samples that are left out with those that look like
them, with the same weight for every sample. The mean confidence is never higher than so many samples can show.

Novelty is the sum of three parts, each in standard deviations among the left-out samples: how much less similar to its
class than the mean an input is; how much farther from it, relative to all that was learned; and how much smaller its
plain cosine with the mean of the class is, neither from the origin nor under the precision. Its class is the answer of
global inference. A few classes say little about the rest of the world. So the distance has little weight while there
are few of them, and the weight of the plain cosine is one over their number. An input is *unusual* where it is more
novel than nearly all samples that were left out. It is *unknown* where it is less similar to its class than nearly all
samples are to the classes of others.

Where most classes came in one group only, nothing can be judged by groups. Then prototypes have no weight, confidence
is kept low, and nothing is called unusual for its novelty.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.background import relative_distance
from exll.learner.glocal.leaving_out import LeftOut
from exll.learner.glocal.temperature import (
    INTERCEPTS,
    SLOPES,
    Confidence,
    bounded,
    fit_temperature,
    inverse_temperature,
)
from exll.learner.glocal.weights import fit_weights
from exll.learner.inference import Limits
from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Tensors, Vector

RIDGES = tuple(0.2 * 2.0**i for i in range(-6, 4))  # 0.003 to 1.6 of the mean eigenvalue
FIRST_RIDGE = 6
FIRST_COSINE = 5.0  # weight of a cosine before anything could be judged: rather too low than too high a confidence
TYPICAL_COSINE = 20.0  # where the search for weights starts
LEAST_COSINE, LEAST_CHANGE = 1.0, -0.9  # also where nothing that was learned tells of the rest, there is an answer
# Priors, for streams with hardly any errors, which therefore say little. They are worth a few samples.
RIDGE_STEP = 1 / 144  # nats per column for one step away from the first ridge, four times that for two
COSINE_WIDTH, PROTOTYPE_WIDTH = 100.0, 5.0  # of weights, around zero
NEARNESS_WIDTH = 60.0  # divided by the columns, which distance is a sum over; at most 1, the weight of LDA
BACKGROUND_CLASSES = 20  # at so many classes and one, relative distance has half the weight of similarity
SMALLEST_STD = 1e-6
NEVER = -1e6  # a score that no weight makes up for
FALSE_ALARMS = 0.06  # the share of known things that may be called unusual
UNKNOWN_SHARE = 0.5  # times that: the share of the examples of other classes that are less similar than what is unknown
LOCAL_FROM = 0.5  # the share of the stream's own examples for which prototypes have their full weight
PLAIN = frozenset(("plain_mean", "plain_std", "plain_weight"))  # in the judgement since format 10
MODEST = 0.8  # the mean confidence in its own examples of a model that has seen every class in one group only


@dataclass(frozen=True)
class Judgement:
    """The numbers. Similarity is a cosine with the class that global inference answers, at most 1."""

    ridge: float = RIDGES[FIRST_RIDGE]
    class_weight: float = FIRST_COSINE
    nearness_weight: float = 0.0
    class_change: float = 0.0  # by what share the scores of the classes change where x is usual
    prototype_weight: float = 0.0
    lifted_weight: float = 0.0
    lifted_nearness_weight: float = 0.0
    intercept: float = 0.0  # the logarithm of the inverse temperature where novelty is zero
    slope: float = 0.0  # how much that falls with novelty
    similarity_mean: float = 1.0  # of the stream's own examples
    similarity_std: float = 1.0
    distance_mean: float = 0.0  # their relative distance from their class
    distance_std: float = 1.0
    distance_weight: float = 0.0  # in novelty
    plain_mean: float = 1.0  # their plain cosine with the mean of their class
    plain_std: float = 1.0
    plain_weight: float = 0.0  # in novelty
    seen_once: float = 0.0  # the share of the classes that came in one group only
    novelties: Vector = field(default_factory=lambda: np.empty(0))  # of samples left out with what came with them
    other_similarities: Vector = field(default_factory=lambda: np.empty(0))  # of samples with the classes of others
    disputes: Indices = field(default_factory=lambda: np.empty((0, 3), np.int64))  # see ``disputes_of``
    reviewed: bool = False

    def in_units_of(self, squared_norms: Vector) -> "Judgement":
        """The first weights, which are of cosines, for vectors of about these squared norms."""
        return replace(self, class_weight=self.class_weight / max(float(np.sqrt(squared_norms.mean())), 1e-9))

    def inverse_temperature(self, novelty: Vector) -> Vector:
        """The factor on all scores before they become probabilities."""
        return inverse_temperature(self.intercept, self.slope, novelty)

    def novelty(self, similarity: Vector, distance: Vector, plain_cosine: Vector) -> Vector:
        """How little an input is like what was learned; ``distance`` is the relative one from its class."""
        dissimilar = (self.similarity_mean - similarity) / self.similarity_std
        far_away = (distance - self.distance_mean) / self.distance_std
        plainly_dissimilar = (self.plain_mean - plain_cosine) / self.plain_std
        novelty: Vector = dissimilar + self.distance_weight * far_away + self.plain_weight * plainly_dissimilar
        return novelty

    def local_shares(self, novelty: Vector) -> Vector:
        """How much of the weight of prototypes counts for each input, from 0 to 1."""
        if not len(self.novelties):
            return np.ones(len(novelty))
        full, none = np.quantile(self.novelties, [LOCAL_FROM, 1.0 - FALSE_ALARMS])
        shares: Vector = np.clip((none - novelty) / max(none - full, SMALLEST_STD), 0.0, 1.0)
        return shares

    def limits(self, false_alarms: float) -> Limits:
        """The novelty that this share of the stream's own examples exceeds, infinite while none could be judged; with
        fewer samples than such a share needs, it is the largest of theirs. And the similarity that half that share of
        the examples of other classes fall below, minus infinity while nothing is known of others."""
        novelty, similarity = np.inf, -np.inf
        if len(self.novelties):
            novelty = share_above(self.novelties, false_alarms)
        if len(self.other_similarities):
            similarity = float(np.quantile(self.other_similarities, self.unknown_share(false_alarms)))
        return Limits(novelty, similarity)

    @staticmethod
    def unknown_share(false_alarms: float) -> float:
        return UNKNOWN_SHARE * false_alarms

    def disputes_of(self, global_k: int, local_k: int) -> dict[int, int]:
        """How often each class was the truth of a left-out sample for which global and local inference answered so."""
        like = self.disputes[(self.disputes[:, :2] == (global_k, local_k)).all(axis=1), 2]
        truths, counts = np.unique(like, return_counts=True)
        return dict(zip(truths.tolist(), counts.tolist(), strict=True))

    @property
    def lifts(self) -> bool:
        """Whether the lift counts."""
        return self.lifted_weight > 0.0 or self.lifted_nearness_weight > 0.0

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.state().values())

    def state(self) -> Tensors:
        numbers = {name: np.asarray(value, np.float64) for name, value in self.__dict__.items()}
        return {**numbers, "disputes": self.disputes}

    @classmethod
    def from_state(cls, state: Tensors, classes: int) -> "Judgement":
        novelties, others = (np.array(state[name], np.float64) for name in ("novelties", "other_similarities"))
        if (novelties.ndim, others.ndim) != (1, 1):
            raise ValueError("novelties or similarities are not a list of numbers")
        disputes = np.array(state["disputes"], np.int64).reshape(-1, 3)
        if len(disputes) and not (disputes.min() >= 0 and disputes.max() < classes):
            raise ValueError("a dispute is about a class that is not there")
        names = cls.__dataclass_fields__.keys() - {"novelties", "other_similarities", "disputes", "reviewed"}
        if not {"class_change", "lifted_weight"} & state.keys():  # a file of format 6
            names -= {"class_change", "lifted_weight", "lifted_nearness_weight"}
        if not PLAIN & state.keys():  # a file of format 9 or before
            names -= PLAIN
        numbers: dict[str, Any] = {name: float(state[name]) for name in names}
        if min(value for name, value in numbers.items() if name.endswith("_weight")) < 0:
            raise ValueError("a weight is negative")
        if numbers.get("class_change", 0.0) < LEAST_CHANGE:
            raise ValueError("the scores of the classes are turned around")
        if not min(value for name, value in numbers.items() if name.endswith("_std")) >= SMALLEST_STD:
            raise ValueError("a standard deviation is not positive, or too small")
        if numbers["ridge"] not in RIDGES:
            raise ValueError(f"the ridge {numbers['ridge']} is not one of those that can be chosen")
        for name, (least, most) in (("intercept", INTERCEPTS), ("slope", SLOPES), ("seen_once", (0.0, 1.0))):
            if not least <= numbers[name] <= most:
                raise ValueError(f"{name} is outside [{least}, {most}]")
        reviewed = bool(state["reviewed"])
        return cls(**numbers, novelties=novelties, other_similarities=others, disputes=disputes, reviewed=reviewed)


def share_above(values: Vector, share: float) -> float:
    """The value that this share of all such values exceeds; with fewer than such a share needs, the largest."""
    # This quantile is unbiased: a new value is as likely to fall between any two neighbours as beyond the ends.
    return float(np.quantile(values, 1.0 - share, method="weibull"))


def ridges_to_try(ridge: float) -> tuple[float, ...]:
    """A ridge and its neighbours."""
    at = RIDGES.index(ridge)
    return RIDGES[max(0, at - 1) : at + 2]


def loss_of_ridge(
    ridge: float, cosines: Matrix, truth: Indices, columns: int, single: NDArray[np.bool_] | None = None
) -> float:
    """The log-loss of the cosines with the class means alone, at the weight that suits them best, and the prior, which
    is for every column."""
    start, width = np.array([TYPICAL_COSINE]), np.array([COSINE_WIDTH])
    given = np.zeros_like(cosines) if single is None else _never(cosines, single)
    _, loss = fit_weights([cosines], truth, np.ones(len(truth)), start, width, given=given)
    return loss + RIDGE_STEP * columns * (RIDGES.index(ridge) - FIRST_RIDGE) ** 2


@dataclass(frozen=True)
class Evidence:
    """Left-out samples that the model is judged by."""

    with_group: LeftOut  # left out with what came with them; where nothing is known of that, alone
    with_look_alikes: LeftOut  # left out with those that look like them
    seen_once: float  # the share of the classes that came in one group only
    by_groups: bool  # whether ``with_group`` says something of new groups
    columns: int  # of the vectors
    single: NDArray[np.bool_]  # (C,) the classes of one sample, which is never left out


def judge(ridge: float, evidence: Evidence, other_similarity: Callable[[float, float], Vector]) -> Judgement:
    """All numbers but the ridge, which the samples were left out with. ``evidence.with_group`` must not be empty;
    ``other_similarity`` gives the similarities to others for the weights of a class."""
    left_out = evidence.with_group
    weights = _class_weights(left_out, evidence)
    judgement = _measured(Judgement(ridge, *weights, seen_once=evidence.seen_once, reviewed=True), left_out)
    if evidence.by_groups:
        judgement = _with_detail(judgement, left_out, evidence)
    judgement = _with_temperature(judgement, evidence)
    return replace(
        judgement,
        novelties=judgement.novelties if evidence.by_groups else np.empty(0),
        other_similarities=np.sort(other_similarity(judgement.class_weight, judgement.nearness_weight)),
        disputes=_disputes(judgement, left_out),
    )


def probability_of_truth(judgement: Judgement, confidence: Confidence, left_out: LeftOut) -> tuple[Vector, Indices]:
    """Of every left-out sample, and what it is taken for; ``confidence`` may be that of a calibration."""
    scores = _scores(judgement, left_out)
    likely, _ = softmax_rows(confidence.inverse_temperature(_novelty(judgement, left_out))[:, None] * scores)
    return likely[np.arange(len(left_out.truth)), left_out.truth], scores.argmax(axis=1)


def _never(scores: Matrix, single: NDArray[np.bool_]) -> Matrix:
    """Scores to add, so that classes of one sample are never answered while weights are learned. They are never the
    truth of a left-out sample, so weights that keep them down would always be the better ones."""
    return np.broadcast_to(np.where(single, NEVER, 0.0), scores.shape)


def _class_weights(left_out: LeftOut, evidence: Evidence) -> tuple[float, float]:
    """Of cosine and nearness, without prototypes."""
    unit = _typical(left_out.norms)  # so that the weight is that of a cosine
    parts = [left_out.towards_class / unit, left_out.nearness]
    start, widths = (
        np.array([TYPICAL_COSINE, 0.01]),
        np.array([COSINE_WIDTH, min(1.0, NEARNESS_WIDTH / evidence.columns)]),
    )
    sample_weight, least = _balanced(left_out.truth), (LEAST_COSINE, 0.0)
    given = _never(left_out.nearness, evidence.single)
    (cosine, nearness), _ = fit_weights(parts, left_out.truth, sample_weight, start, widths, least=least, given=given)
    return float(cosine / unit), float(nearness)


def _with_detail(judgement: Judgement, left_out: LeftOut, evidence: Evidence) -> Judgement:
    """Add the weights of what counts where x is usual. What the classes alone say of an unusual x stays."""
    unit, lifted_unit = _typical(left_out.norms), _typical(left_out.lifted_norms[left_out.lifted_norms > 0])
    given, shares = _class_scores(judgement, left_out), judgement.local_shares(_novelty(judgement, left_out))[:, None]
    replaceable = shares * (left_out.lifted_norms > 0)[:, None]  # only where the lift was heard
    parts = [
        replaceable * given,
        shares / unit * left_out.towards_prototype,
        shares / lifted_unit * left_out.towards_lifted,
        shares * left_out.lifted_nearness,
    ]
    widths = np.array([1.0, PROTOTYPE_WIDTH, COSINE_WIDTH, min(1.0, NEARNESS_WIDTH / evidence.columns)])
    sample_weight, least = _balanced(left_out.truth), (LEAST_CHANGE, 0.0, 0.0, 0.0)
    given = given + _never(given, evidence.single)
    weights, _ = fit_weights(parts, left_out.truth, sample_weight, np.zeros(4), widths, least=least, given=given)
    change, prototype, lifted, nearness = weights.tolist()
    return replace(
        judgement,
        class_change=change,
        prototype_weight=prototype / unit,
        lifted_weight=lifted / lifted_unit,
        lifted_nearness_weight=nearness,
    )


def _measured(judgement: Judgement, left_out: LeftOut) -> Judgement:
    """Add the means and standard deviations of what novelty is made of, and the novelties, sorted."""
    measured_by = _measures(judgement, left_out)
    (similarity_mean, similarity_std), (distance_mean, distance_std), (plain_mean, plain_std) = map(
        _mean_and_std, measured_by
    )
    classes = left_out.nearness.shape[1]
    measured = replace(
        judgement,
        similarity_mean=similarity_mean,
        similarity_std=similarity_std,
        distance_mean=distance_mean,
        distance_std=distance_std,
        distance_weight=(classes - 1) / (classes - 1 + BACKGROUND_CLASSES),
        plain_mean=plain_mean,
        plain_std=plain_std,
        plain_weight=1.0 / classes,
    )
    return replace(measured, novelties=np.sort(measured.novelty(*measured_by)))


def _with_temperature(judgement: Judgement, evidence: Evidence) -> Judgement:
    """Add the inverse temperature."""
    left_out = evidence.with_group
    if evidence.by_groups:
        both = left_out.joined(evidence.with_look_alikes)
        intercept, slope = fit_temperature(_scores(judgement, both), _novelty(judgement, both), both.truth)
    else:
        intercept, slope = INTERCEPTS[1], 0.0
    intercept = _modest_intercept(judgement, left_out, slope, evidence.seen_once, intercept)
    return replace(judgement, intercept=intercept, slope=slope)


def _modest_intercept(judgement: Judgement, left_out: LeftOut, slope: float, seen_once: float, most: float) -> float:
    """At most ``most``, so that the mean confidence in the stream's own examples is no higher than n of them can show:
    (n + 1) / (n + 2), Laplace's rule for n right answers out of n. And the larger the share of classes that were seen
    in one group only, the nearer it is to ``MODEST``."""
    scores, novelty = _scores(judgement, left_out), bounded(_novelty(judgement, left_out))

    def confidence(intercept: float) -> float:
        likely, _ = softmax_rows(np.exp(intercept - slope * novelty)[:, None] * scores)
        return float(likely.max(axis=1).mean())

    stated, samples = confidence(most), len(left_out.truth)
    wanted = (1.0 - seen_once) * min(stated, (samples + 1) / (samples + 2)) + seen_once * MODEST
    if stated <= wanted:
        return most
    least = INTERCEPTS[0]
    for _ in range(40):  # confidence grows with the intercept
        middle = 0.5 * (least + most)
        least, most = (middle, most) if confidence(middle) < wanted else (least, middle)
    return least


def _disputes(judgement: Judgement, left_out: LeftOut) -> Indices:
    """Of samples for which global and local inference differ: the answer of each, and the truth, (n, 3)."""
    by_classes = _class_scores(judgement, left_out).argmax(axis=1)
    by_prototypes = left_out.towards_prototype.argmax(axis=1)
    differ = by_classes != by_prototypes
    disputes: Indices = np.stack([by_classes, by_prototypes, left_out.truth], axis=1)[differ]
    return disputes


def _measures(judgement: Judgement, left_out: LeftOut) -> tuple[Vector, Vector, Vector]:
    """Similarity, relative distance and plain cosine, of the classes that global inference answers."""
    answers = _class_scores(judgement, left_out).argmax(axis=1)
    rows = np.arange(len(answers))
    similarity: Vector = left_out.towards_class[rows, answers] / left_out.norms
    distance = relative_distance(left_out.shared, left_out.nearness[rows, answers], left_out.norms)
    return similarity, distance, left_out.plain_cosines[rows, answers]


def _novelty(judgement: Judgement, left_out: LeftOut) -> Vector:
    return judgement.novelty(*_measures(judgement, left_out))


def _class_scores(judgement: Judgement, left_out: LeftOut) -> Matrix:
    scores: Matrix = judgement.class_weight * left_out.towards_class + judgement.nearness_weight * left_out.nearness
    return scores


def _scores(judgement: Judgement, left_out: LeftOut) -> Matrix:
    """Fused."""
    by_classes, shares = _class_scores(judgement, left_out), judgement.local_shares(_novelty(judgement, left_out))
    detail = judgement.class_change * by_classes + judgement.prototype_weight * left_out.towards_prototype
    detail += judgement.lifted_weight * left_out.towards_lifted
    detail += judgement.lifted_nearness_weight * left_out.lifted_nearness
    return by_classes + shares[:, None] * detail


def _mean_and_std(values: Vector) -> tuple[float, float]:
    return float(values.mean()), max(float(values.std()), SMALLEST_STD)


def _typical(norms: Vector) -> float:
    return float(np.sqrt(np.mean(norms**2))) if len(norms) else 1.0


def _balanced(truth: Indices) -> Vector:
    """Weights: the same total for every class, and in all as much as there are samples."""
    if not len(truth):
        return np.empty(0)
    weights = 1.0 / np.bincount(truth)[truth]
    balanced: Vector = weights * (len(weights) / weights.sum())
    return balanced
