"""Weights, confidence and novelty: the numbers that glocal learns about itself."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp, softmax

from exll import ExLLClassifier
from exll.learner.glocal.judgement import (
    COSINE_WIDTH,
    FALSE_ALARMS,
    FIRST_RIDGE,
    LEAST_CHANGE,
    LEAST_COSINE,
    MODEST,
    PROTOTYPE_WIDTH,
    RIDGES,
    Evidence,
    Judgement,
    judge,
    loss_of_ridge,
    ridges_to_try,
)
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import LeftOut, left_out_alone, left_out_with_group, look_alikes
from exll.learner.glocal.review import FIRST_REVIEW, Schedule
from exll.learner.glocal.temperature import INTERCEPTS, SLOPES, fit_temperature
from exll.types import InferenceName, Matrix, Vector
from support import learned, products_of, random_stream

Loss: TypeAlias = Callable[[Vector], tuple[float, Vector]]
NAMES: tuple[InferenceName, ...] = ("fused", "local", "global")


def gaussians(seed: int, spread: float, samples: int, queries: int = 2000) -> tuple[Matrix, Any, Matrix, Any]:
    """Six classes in ten dimensions: samples to learn, and fresh ones of the same kind."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 10))
    y = rng.integers(0, 6, samples + queries)
    X = centres[y] + spread * rng.normal(size=(samples + queries, 10))
    return X[:samples], y[:samples], X[samples:], y[samples:]


def evidence_of(seed: int, samples: int = 80, *, seen_once: float = 0.0, by_groups: bool = True) -> Evidence:
    stream = random_stream(seed, width=6, classes=4, samples=samples)
    learner = learned(stream, "glocal")
    assert isinstance(learner, GlocalLearner)
    products = products_of(learner, RIDGES[3])
    alike = left_out_with_group(products, samples, look_alikes(products.means, products.own))
    single = products.means.class_counts == 1
    return Evidence(left_out_alone(products, samples), alike, seen_once, by_groups, columns=6, single=single)


def without_errors(evidence: Evidence) -> Evidence:
    """The same samples, each far nearer to its own class than to all others."""

    def right(left_out: LeftOut) -> LeftOut:
        own = np.eye(left_out.nearness.shape[1])[left_out.truth]
        return replace(left_out, towards_class=own * left_out.norms[:, None], nearness=own)

    return replace(evidence, with_group=right(evidence.with_group), with_look_alikes=right(evidence.with_look_alikes))


def judged_by(evidence: Evidence) -> Judgement:
    return judge(RIDGES[3], evidence, lambda *weights: np.array([*weights, 0.1]))


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Loss, Vector]]:
    """Every function that is minimised, and where its minimum was found."""
    seen = []

    def noted(loss: Loss, *more: Any, **options: Any) -> Any:
        found = minimize(loss, *more, **options)
        seen.append((loss, np.asarray(found.x)))
        return found

    monkeypatch.setattr("scipy.optimize.minimize", noted)
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_losses(losses: list[tuple[Loss, Vector]], seed: int) -> None:
    evidence = evidence_of(seed)
    losses.clear()
    judged_by(evidence)
    alone = evidence.with_group
    loss_of_ridge(RIDGES[3], alone.towards_class / alone.norms[:, None], alone.truth, 20)
    assert [len(found) for _, found in losses] == [2, 4, 2, 1]
    rng = np.random.default_rng(seed)
    for loss, found in losses:
        for point in (found, found + 0.1, found * rng.uniform(0.5, 1.5, len(found))):
            slow = approx_fprime(point, partial(value_of, loss), 1e-6)
            np.testing.assert_allclose(loss(point)[1], slow, rtol=1e-3, atol=1e-3)


def value_of(loss: Loss, point: Vector) -> float:
    return loss(point)[0]


def slow_answers(found: Judgement, left_out: LeftOut) -> list[tuple[Vector, float, float, int]]:
    """Of every sample the fused scores, similarity and novelty by the class of global inference, and the truth."""
    answers = []
    for i, k in enumerate(left_out.truth.tolist()):
        by_class = found.class_weight * left_out.towards_class[i] + found.nearness_weight * left_out.nearness[i]
        best = int(by_class.argmax())
        similarity = left_out.towards_class[i, best] / left_out.norms[i]
        distance = (left_out.shared[i] - 2 * left_out.nearness[i, best]) / left_out.norms[i] ** 2
        novelty = (found.similarity_mean - similarity) / found.similarity_std
        novelty += found.distance_weight * (distance - found.distance_mean) / found.distance_std
        novelty += found.plain_weight * (found.plain_mean - left_out.plain_cosines[i, best]) / found.plain_std
        full, none = np.quantile(found.novelties, [0.5, 1 - FALSE_ALARMS])
        share = min(1.0, max(0.0, (none - novelty) / (none - full)))
        detail = found.class_change * by_class + found.prototype_weight * left_out.towards_prototype[i]
        detail = detail + found.lifted_weight * left_out.towards_lifted[i]
        detail = detail + found.lifted_nearness_weight * left_out.lifted_nearness[i]
        answers.append((by_class + share * detail, similarity, novelty, k))
    return answers


def slow_loss(found: Judgement, left_out: LeftOut) -> float:
    """The log-loss, sample by sample, and the prior. Every class has the same weight."""
    lifted_norms = left_out.lifted_norms if left_out.lifted_norms.any() else np.ones(1)
    typical, lifted = (float(np.sqrt(np.mean(norms**2))) for norms in (left_out.norms, lifted_norms))
    of_classes = [found.class_weight * typical / COSINE_WIDTH, found.nearness_weight]  # with few columns
    of_detail = [found.class_change, found.prototype_weight * typical / PROTOTYPE_WIDTH]
    of_lift = [found.lifted_weight * lifted / COSINE_WIDTH, found.lifted_nearness_weight]
    total = 0.5 * float((np.array([*of_classes, *of_detail, *of_lift]) ** 2).sum())
    classes, truth = len(set(left_out.truth.tolist())), left_out.truth.tolist()
    for scores, _, _, k in slow_answers(found, left_out):
        total += len(truth) / (classes * truth.count(k)) * float(logsumexp(scores) - scores[k])
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_that_make_the_truth_least_surprising(seed: int) -> None:
    """First those of the classes; then those of what counts where an input is usual."""
    rng, evidence = np.random.default_rng(seed), evidence_of(seed)
    left_out = evidence.with_group
    signal = np.eye(left_out.nearness.shape[1])[left_out.truth]
    left_out = replace(
        left_out,
        towards_lifted=3.0 * signal + rng.normal(size=signal.shape),
        lifted_nearness=signal + rng.normal(size=signal.shape),
        lifted_norms=np.full(len(signal), 3.0),
    )
    found = judged_by(replace(evidence, with_group=left_out))
    detail = ("class_change", "prototype_weight", "lifted_weight", "lifted_nearness_weight")
    assert min(found.class_weight, found.nearness_weight, *(getattr(found, name) for name in detail[1:])) >= 0
    assert found.class_change >= LEAST_CHANGE
    assert found.lifted_weight > 0
    nothing: dict[str, Any] = dict.fromkeys(detail, 0.0)
    classes_alone = replace(found, **nothing)
    least_weight = LEAST_COSINE / float(np.sqrt(np.mean(left_out.norms**2)))
    assert found.class_weight >= least_weight - 1e-9
    least, least_of_all = slow_loss(classes_alone, left_out), slow_loss(found, left_out)
    assert least_of_all <= least + 1e-6
    for _ in range(25):
        cosine, nearness, *factors = rng.uniform(0.8, 1.2, 6)
        other = replace(
            classes_alone,
            class_weight=max(found.class_weight * cosine + rng.choice([0, 0.02]), least_weight),
            nearness_weight=found.nearness_weight * nearness + rng.choice([0, 0.02]),
        )
        assert slow_loss(other, left_out) >= least - 1e-4
        moved: dict[str, Any] = {
            name: max(
                getattr(found, name) * factor + rng.choice([0, 0.02]), LEAST_CHANGE if name == "class_change" else 0.0
            )
            for name, factor in zip(detail, factors, strict=True)
        }
        assert slow_loss(replace(found, **moved), left_out) >= least_of_all - 1e-4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_the_inverse_temperature_has_the_least_log_loss(seed: int) -> None:
    """Every sample has the same weight, also those left out with their look-alikes, and the prior is a slope of a half,
    give or take as much."""
    evidence = evidence_of(seed)
    found = judged_by(evidence)
    told = slow_answers(found, evidence.with_group)
    similarities = [similarity for _, similarity, _, _ in told]
    assert found.similarity_mean == pytest.approx(np.mean(similarities), rel=1e-6)
    assert found.similarity_std == pytest.approx(np.std(similarities), rel=1e-6)
    np.testing.assert_allclose(found.novelties, sorted(novelty for _, _, novelty, _ in told), atol=1e-9)
    told += slow_answers(found, evidence.with_look_alikes)

    def surprise(intercept: float, slope: float) -> float:
        total = 0.5 * ((slope - 0.5) / 0.5) ** 2
        for scores, _, novelty, k in told:
            scaled = np.exp(intercept - slope * min(max(novelty, -3), 10)) * scores
            total += float(logsumexp(scaled) - scaled[k])
        return total

    least, rng = surprise(found.intercept, found.slope), np.random.default_rng(seed)
    for step in rng.normal(0, 0.1, (25, 2)):
        intercept, slope = np.clip(found.intercept + step[0], *INTERCEPTS), np.clip(found.slope + step[1], *SLOPES)
        assert surprise(intercept, slope) >= least - 1e-4


def test_a_few_wrong_samples_do_not_make_all_probabilities_equal() -> None:
    scores = 4.0 * np.eye(2)[[0, 1, 0, 1, 0, 1]]
    intercept, _ = fit_temperature(scores, np.zeros(6), np.array([0, 1, 0, 0, 1, 0]))  # three of six are wrong
    assert -3 < intercept < -1


def test_the_plain_cosine_counts_for_one_over_the_number_of_classes() -> None:
    evidence = evidence_of(0)
    found, left_out = judged_by(evidence), evidence.with_group
    best = (found.class_weight * left_out.towards_class + found.nearness_weight * left_out.nearness).argmax(axis=1)
    plain = left_out.plain_cosines[np.arange(len(best)), best]
    assert found.plain_weight == 1 / 4
    assert (found.plain_mean, found.plain_std) == pytest.approx((plain.mean(), plain.std()))


@pytest.mark.parametrize("seed", range(3))
def test_confidence_is_no_higher_than_so_many_samples_can_show(seed: int) -> None:
    """By Laplace's rule, where every left-out sample is right."""
    evidence = without_errors(evidence_of(seed))
    found, samples = judged_by(evidence), len(evidence.with_group.truth)
    stated = [
        softmax(np.exp(found.intercept - found.slope * min(max(novelty, -3), 10)) * scores).max()
        for scores, _, novelty, _ in slow_answers(found, evidence.with_group)
    ]
    assert np.mean(stated) == pytest.approx((samples + 1) / (samples + 2), abs=1e-6)


def mean_confidence(found: Judgement, left_out: LeftOut) -> float:
    by_class = found.class_weight * left_out.towards_class + found.nearness_weight * left_out.nearness
    return float(softmax(np.exp(found.intercept) * by_class, axis=1).max(axis=1).mean())


def test_where_nothing_is_known_of_new_groups_confidence_is_held_down_and_prototypes_do_not_count() -> None:
    evidence = evidence_of(1, seen_once=1.0, by_groups=False)
    found = judged_by(evidence)
    assert (found.prototype_weight, found.class_change, found.lifted_weight) == (0, 0, 0)
    assert (found.slope, len(found.novelties)) == (0, 0)
    assert mean_confidence(found, evidence.with_group) == pytest.approx(MODEST, abs=1e-6)
    freely = judged_by(evidence_of(1))
    some = judged_by(evidence_of(1, seen_once=0.3))
    assert some.prototype_weight == freely.prototype_weight > 0
    intercepts = [judged_by(without_errors(evidence_of(1, seen_once=share))).intercept for share in (0.0, 0.3, 0.6)]
    assert intercepts[0] > intercepts[1] + 0.1 > intercepts[2] + 0.2


def test_classes_of_one_sample_have_no_part_in_the_weights() -> None:
    """They are never the truth of a left-out sample: weights that keep them down would always be the better ones."""
    evidence = evidence_of(0)

    def with_another_class(left_out: LeftOut) -> LeftOut:
        names = [name for name, values in left_out.__dict__.items() if values.shape == left_out.nearness.shape]
        more: Any = {name: np.c_[getattr(left_out, name), np.full(len(left_out.truth), 9.0)] for name in names}
        return replace(left_out, **more)

    single = np.append(evidence.single, True)
    both = [with_another_class(left_out) for left_out in (evidence.with_group, evidence.with_look_alikes)]
    with_one_more = replace(evidence, with_group=both[0], with_look_alikes=both[1], single=single)
    found, without = judged_by(with_one_more), judged_by(evidence)
    assert found.class_weight == pytest.approx(without.class_weight, rel=1e-3)
    assert found.nearness_weight == pytest.approx(without.nearness_weight, rel=1e-3, abs=1e-4)
    kept_down = judged_by(replace(with_one_more, single=np.zeros_like(single)))
    assert kept_down.class_weight != pytest.approx(without.class_weight, rel=0.05)
    cosines, truth = np.c_[np.eye(3)[[0, 1, 2] * 5], np.ones(15)], np.array([0, 1, 2] * 5)
    alone = loss_of_ridge(0.2, cosines[:, :3], truth, 20)
    assert loss_of_ridge(0.2, cosines, truth, 20, np.arange(4) == 3) == pytest.approx(alone, rel=1e-6)
    assert loss_of_ridge(0.2, cosines, truth, 20) > alone + 1


def test_disputes_are_the_samples_that_local_and_global_inference_answer_differently() -> None:
    evidence = evidence_of(0)
    found, left_out = judged_by(evidence), evidence.with_group
    by_class = found.class_weight * left_out.towards_class + found.nearness_weight * left_out.nearness
    triples = list(
        zip(by_class.argmax(axis=1), left_out.towards_prototype.argmax(axis=1), left_out.truth.tolist(), strict=True)
    )
    differing = [triple for triple in triples if triple[0] != triple[1]]
    assert differing
    assert found.disputes.tolist() == [list(map(int, triple)) for triple in differing]
    for a, b, _ in differing:
        like = [truth for one, other, truth in differing if (one, other) == (a, b)]
        assert found.disputes_of(int(a), int(b)) == {k: like.count(k) for k in set(like)}
    assert found.disputes_of(0, 0) == {}
    np.testing.assert_allclose(found.other_similarities, sorted([found.class_weight, found.nearness_weight, 0.1]))


def test_a_ridge_and_its_neighbours_are_tried() -> None:
    assert ridges_to_try(RIDGES[0]) == RIDGES[:2]
    assert ridges_to_try(RIDGES[3]) == RIDGES[2:5]
    assert ridges_to_try(RIDGES[-1]) == RIDGES[-2:]


def test_of_equal_ridges_the_usual_is_taken_and_a_better_one_wins() -> None:
    cosines, truth = np.eye(3)[[0, 1, 2] * 5], np.array([0, 1, 2] * 5)
    assert min(RIDGES, key=lambda ridge: loss_of_ridge(ridge, cosines, truth, 20)) == RIDGES[FIRST_RIDGE] == 0.2
    confused = cosines[np.roll(np.arange(15), 1)]
    assert loss_of_ridge(RIDGES[2], cosines, truth, 20) < loss_of_ridge(RIDGES[FIRST_RIDGE], confused, truth, 20)


def calibration_error(probabilities: Vector, right: NDArray[np.bool_]) -> float:
    """The expected difference between what is said and what happens, over ten parts of the scale."""
    part = np.minimum((probabilities * 10).astype(int), 9)
    parts = [part == i for i in range(10) if (part == i).any()]
    return float(sum(own.mean() * abs(probabilities[own].mean() - right[own].mean()) for own in parts))


@pytest.mark.parametrize(("spread", "bound"), [(0.3, 0.01), (0.8, 0.03), (1.5, 0.08)])
@pytest.mark.slow
def test_probabilities_are_how_often_it_is_right(spread: float, bound: float) -> None:
    """On more of the same stream they are rather too low: they were also learned from samples without look-alikes."""
    errors = []
    for seed in range(3):
        X, y, queries, truth = gaussians(seed, spread, 410)
        model = ExLLClassifier("glocal", records="none", lengths="ignored").fit(X, y)
        probabilities = model.predict_proba(queries)
        errors.append(calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth))
    assert np.mean(errors) < bound


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.slow
def test_the_threshold_is_exceeded_by_the_stated_share_of_the_reservoir(share: float) -> None:
    X, y, queries, _ = gaussians(1, 0.6, 410)
    model = ExLLClassifier("glocal", records="none", lengths="ignored").fit(X, y)
    assert isinstance(model.learner_, GlocalLearner)
    novelties = model.learner_._judgement.novelties
    threshold = model.novelty_threshold(share)
    assert np.mean(novelties > threshold) == pytest.approx(share, abs=1.5 / len(novelties))
    # Fresh samples of the same kind, which were not reservoir, fare alike.
    assert np.mean(model.novelty(queries) > threshold) == pytest.approx(share, abs=0.06)


def test_what_is_less_similar_or_farther_away_is_more_novel() -> None:
    judged = Judgement(
        similarity_mean=0.8,
        similarity_std=0.1,
        distance_mean=-0.5,
        distance_std=0.2,
        distance_weight=1.0,
        plain_mean=0.9,
        plain_std=0.05,
        plain_weight=0.5,
    )
    novelty = judged.novelty(
        similarity=np.array([0.8, 0.7, 0.8, 0.9, 0.8]),
        distance=np.array([-0.5, -0.5, -0.1, -0.7, -0.5]),
        plain_cosine=np.array([0.9, 0.9, 0.9, 0.9, 0.6]),
    )
    np.testing.assert_allclose(novelty, [0, 1, 2, -2, 3], atol=1e-12)
    assert judged.limits(0.05) == (np.inf, -np.inf)  # nothing is unusual or unknown while nothing could be judged


@pytest.mark.parametrize("seed", range(3))
def test_novelty_is_in_standard_deviations_from_the_mean_of_the_reservoir(seed: int) -> None:
    found = judged_by(evidence_of(seed))
    assert found.novelties.mean() == pytest.approx(0, abs=1e-9)
    assert 0.5 < found.novelties.std() <= 2 + 1e-9


def test_confidence_falls_with_novelty_within_bounds() -> None:
    judged = Judgement(intercept=0.3, slope=0.5)
    np.testing.assert_allclose(judged.inverse_temperature(np.array([0.0, 1.0])), np.exp([0.3, -0.2]))
    scaled = judged.inverse_temperature(np.array([-9.0, -3.0, 0.0, 10.0, 99.0]))
    assert (np.diff(scaled) <= 0).all()
    assert (scaled[0], scaled[3]) == (scaled[1], scaled[4])


def test_prototypes_count_less_the_more_novel_an_input_is() -> None:
    judged = Judgement(novelties=np.linspace(0, 1, 101))
    shares = judged.local_shares(np.array([-5.0, 0.5, 0.72, 0.94, 2.0]))
    np.testing.assert_allclose(shares, [1, 1, 0.5, 0, 0], atol=1e-12)
    assert Judgement().local_shares(np.array([7.0])).tolist() == [1]


def test_limits_are_quantiles_of_own_examples_and_of_those_of_others() -> None:
    judged = Judgement(novelties=np.arange(99.0), other_similarities=np.linspace(0, 1, 101))
    np.testing.assert_allclose(judged.limits(0.1), [89.0, 0.05])
    assert judged.limits(0.001).novelty == 98.0  # too few for such a share: the largest


def assert_sound(model: ExLLClassifier, queries: Matrix) -> None:
    for name in NAMES:
        probabilities = model.predict_proba(queries, name)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(queries, name)).all()
    assert np.isfinite(model.novelty(queries)).all()
    assert set(model.predict(queries, unknown=-1).tolist()) <= {-1, *model.classes_.tolist()}
    for x in queries[:3]:
        facts = model.explain(x).to_dict()
        assert np.isfinite([facts["probability"], facts["global_score"], facts["local_score"], facts["novelty"]]).all()


RNG = np.random.default_rng(7)
TWO_DIMENSIONS = np.array([[1.0, 0.1], [0.1, 1.0]])[[0, 1] * 40] + 0.05 * RNG.normal(size=(80, 2))
NAMED_CASES: dict[str, tuple[Matrix, list[int]]] = {
    "one class": (RNG.normal(size=(60, 5)), [0] * 60),
    "one sample": (RNG.normal(size=(1, 5)), [0]),
    "one sample of each class": (RNG.normal(size=(60, 5)), list(range(60))),
    "a second sample of one class only": (RNG.normal(size=(61, 5)), [*range(60), 0]),
    "two equal samples": (np.ones((2, 5)), [0, 0]),
    "two equal samples of two classes": (np.ones((2, 5)), [0, 1]),
    "constant vectors": (np.ones((60, 5)), [0, 1, 2] * 20),
    "constant within classes": (np.eye(5)[[0, 1, 2] * 20], [0, 1, 2] * 20),
    "opposite vectors": (np.outer([1.0, -1.0] * 30, np.ones(5)), [0, 1] * 30),
    "two dimensions": (TWO_DIMENSIONS, [0, 1] * 40),
    "one dimension": (np.array([[1.0], [-1.0]])[[0, 1] * 30], [0, 1] * 30),
    "labels at random": (RNG.normal(size=(120, 5)), RNG.integers(0, 4, 120).tolist()),
    "a class of one among many": (RNG.normal(size=(61, 5)), [*([0, 1] * 30), 2]),
    "one class, then another": (RNG.normal(size=(80, 5)), [*([0] * 60), *([1] * 20)]),
    "just before the first review": (RNG.normal(size=(15, 5)), [0, 1, 2] * 5),
    "just at the first review": (RNG.normal(size=(16, 5)), [*([0, 1, 2] * 5), 0]),
}


@pytest.mark.parametrize("case", NAMED_CASES)
def test_streams_with_little_or_nothing_to_judge_by_are_answered_soundly(case: str) -> None:
    X, y = NAMED_CASES[case]
    queries = np.concatenate([X[:10], np.random.default_rng(1).normal(size=(10, X.shape[1])), -X[:3]])
    whole = ExLLClassifier("glocal", lengths="ignored").fit(X, y)
    assert_sound(whole, queries)
    step_by_step = ExLLClassifier("glocal", lengths="ignored")
    for x, k in zip(X[:20], y[:20], strict=True):
        step_by_step.partial_fit(x[None], [k])
        assert_sound(step_by_step, queries[:4])


def test_with_one_class_nothing_is_unknown() -> None:
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = ExLLClassifier("glocal", lengths="ignored").fit(X, ["only"] * 60)
    assert model.novelty_threshold() == np.inf
    assert set(model.predict(-X, unknown="no").tolist()) == {"only"}


def test_a_class_met_after_the_last_review_is_known_at_once() -> None:
    X, y, _, _ = gaussians(3, 0.2, 40)  # the last review was due at 39, the next is at 46
    model = ExLLClassifier("glocal", lengths="ignored").fit(X, y)
    rng = np.random.default_rng(0)
    new = rng.normal(size=10) * 3 + 0.05 * rng.normal(size=(8, 10))
    model.partial_fit(new[:1], [9])
    assert isinstance(model.learner_, GlocalLearner)
    assert model.learner_._schedule.next_review == 46
    assert model.predict(new[1:]).tolist() == [9] * 7
    assert model.predict(new[1:], unknown=-1).tolist() == [9] * 7
    assert_sound(model, np.concatenate([X, new]))
    model.rename_class(9, int(y[0]), merge=True)
    assert_sound(model, np.concatenate([X, new]))


@pytest.mark.slow
def test_reviews_are_due_by_the_count_alone() -> None:
    X, y, _, _ = gaussians(2, 0.5, 840)
    model, due, before = ExLLClassifier("glocal", lengths="ignored"), [], Judgement()
    for i, (x, k) in enumerate(zip(X, y, strict=True), start=1):
        model.partial_fit(x[None], [k])
        assert isinstance(model.learner_, GlocalLearner)
        if model.learner_._judgement is not before:
            due.append(i)
            before = model.learner_._judgement
    assert due[1:7] == [6, 8, 10, 13, 17, 20]
    assert due[-4:] == [397, 476, 571, 770]  # by a fifth, and once there are 500 by 35 %
    assert due[1] == FIRST_REVIEW


def test_a_long_stream_is_reviewed_more_rarely() -> None:
    schedule = Schedule(FIRST_REVIEW, np.zeros(1))
    due = [1000]
    while due[-1] < 5000:
        schedule.reviewed_at(due[-1])
        due.append(schedule.next_review)
    assert due == [1000, 1350, 1822, 2459, 4180, 7106]


@pytest.mark.slow
def test_after_a_merge_of_classes_what_is_usual_is_judged_anew() -> None:
    X, y, queries, _ = gaussians(1, 0.6, 410)
    model = ExLLClassifier("glocal", records="none", lengths="ignored").fit(X, y)
    assert isinstance(model.learner_, GlocalLearner)
    due = model.learner_._schedule.next_review
    kept, *others = sorted(set(y.tolist()))
    for other in others:
        model.rename_class(other, kept, merge=True)
        called_unknown = np.mean(model.novelty(queries) > model.novelty_threshold(0.05))
        assert called_unknown <= 0.1
        assert model.learner_._schedule.next_review == due
        assert_sound(model, queries)
    assert model.novelty_threshold() == np.inf  # one class is left
    model.partial_fit(X, [kept] * len(X))
    assert model.novelty_threshold() == np.inf


def test_others_are_let_in_after_every_review(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review is the longest that anybody waits for, so no two of them fall into one stretch of learning."""
    stream = random_stream(3, width=5, classes=3, samples=150)
    reviewed: list[int] = []
    review, learn_rows = GlocalLearner._review, GlocalLearner._learn_rows

    def counted_review(self: GlocalLearner) -> None:
        reviewed[-1] += 1
        review(self)

    def counted_rows(self: GlocalLearner, *rows: Any) -> None:
        reviewed.append(0)
        learn_rows(self, *rows)

    monkeypatch.setattr(GlocalLearner, "_review", counted_review)
    monkeypatch.setattr(GlocalLearner, "_learn_rows", counted_rows)
    ExLLClassifier(lengths="ignored").fit(stream.X, stream.y)
    assert max(reviewed) == 1
    assert sum(reviewed) > 8


def test_nothing_is_printed_where_no_class_has_a_second_prototype(capfd: pytest.CaptureFixture[str]) -> None:
    stream = random_stream(3, width=5, classes=2, samples=60)
    ExLLClassifier(max_prototypes=1, lengths="ignored").fit(stream.X, stream.y)
    assert capfd.readouterr() == ("", "")  # LAPACK would say so itself, past Python
