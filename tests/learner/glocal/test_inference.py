"""What glocal answers, against the same sums over the whole history."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from exll.learner.glocal.inference import GlocalInference
from exll.learner.glocal.judgement import FIRST_COSINE, Judgement
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.review import FIRST_REVIEW
from exll.learner.head import SHORTEST, linear_discriminant, whitened_cosine
from exll.types import InferenceName, Matrix, Vector
from oracle.glocal import OracleGlocal, Parts
from support import Stream, learned, learned_with_oracle, random_stream

NAMES: tuple[InferenceName, ...] = ("global", "local", "fused")
CASES = [(0, 3, 2, 40), (1, 8, 5, 70), (2, 12, 3, 100), (3, 20, 6, 30), (4, 6, 1, 30)]


def taught(seed: int, width: int, classes: int, samples: int) -> tuple[GlocalLearner, OracleGlocal, Stream]:
    stream = random_stream(seed, width=width, classes=classes, samples=samples, queries=30)
    ridge = learned_with_oracle(stream, 0.0)[0]._judgement.ridge
    return *learned_with_oracle(stream, ridge), stream


def slow_scores(judged: Judgement, parts: Parts, name: InferenceName, novelty: float) -> Vector:
    global_scores = judged.class_weight * parts.towards_class + judged.nearness_weight * parts.nearness
    if name == "global":
        return global_scores
    if name == "local":
        return max(judged.class_weight + judged.prototype_weight, 0.1) * parts.towards_prototype
    share = slow_share(judged, novelty)
    detail = judged.class_change * global_scores + judged.prototype_weight * parts.towards_prototype
    return global_scores + share * detail


def slow_share(judged: Judgement, novelty: float) -> float:
    """Of the weight of prototypes: all up to the median of the novelties, none from their largest six per cent on."""
    if not len(judged.novelties):
        return 1.0
    full, none = np.quantile(judged.novelties, [0.5, 0.94])
    return float(min(1.0, max(0.0, (none - novelty) / (none - full))))


@pytest.mark.parametrize(("seed", "width", "classes", "samples"), CASES)
def test_scores_probabilities_and_novelty_are_those_of_the_whole_history(
    seed: int, width: int, classes: int, samples: int
) -> None:
    learner, oracle, stream = taught(seed, width, classes, samples)
    asked, queries = learner.inference(), stream.unit_queries
    assert isinstance(asked, GlocalInference)
    judged = asked.judgement
    all_parts = [oracle.parts(x) for x in queries]
    measured = asked.judged(queries, asked.dots(queries), "fused").measured
    assert measured is not None
    for row, parts in enumerate(all_parts):
        k = int((judged.class_weight * parts.towards_class + judged.nearness_weight * parts.nearness).argmax())
        similarity = parts.towards_class[k] / parts.norms
        outlying = oracle.relative_distance(queries[row], k) - judged.distance_mean
        outlying *= judged.distance_weight / judged.distance_std
        plain = judged.plain_weight * (judged.plain_mean - parts.plain_cosines[k]) / judged.plain_std
        novelty = (judged.similarity_mean - similarity) / judged.similarity_std + outlying + plain
        assert measured.similarity[row] == pytest.approx(similarity, rel=1e-6, abs=1e-6)
        assert measured.novelty[row] == pytest.approx(novelty, rel=1e-6, abs=1e-6)
    for name in NAMES:
        rows = zip(all_parts, measured.novelty, strict=True)
        scores = np.array([slow_scores(judged, parts, name, novelty) for parts, novelty in rows])
        if name != "fused":
            np.testing.assert_allclose(asked.scores(queries, name), scores, rtol=1e-7, atol=1e-7)
        labels, posteriors = asked.posteriors(queries, name)
        np.testing.assert_array_equal(labels, scores.argmax(axis=1))
        np.testing.assert_array_equal(asked.winners(queries, name), labels)
        factors = np.exp(judged.intercept - judged.slope * np.clip(measured.novelty, -3, 10))
        np.testing.assert_allclose(posteriors, softmax(factors[:, None] * scores, axis=1), rtol=1e-5, atol=1e-7)


def test_the_cases_hold_prototypes_that_count_in_full_in_part_and_not_at_all() -> None:
    shares = set()
    for case in CASES:
        learner, _, stream = taught(*case)
        asked = learner.inference()
        assert isinstance(asked, GlocalInference)
        if asked.local_share > 0.01:
            found = asked.judgement.local_shares(asked.novelty(stream.unit_queries))
            shares |= {0 if share == 0 else 1 if share == 1 else 0.5 for share in found.tolist()}
            X, dots = stream.unit_queries, asked.dots(stream.unit_queries)
            _, local_scores = asked.global_and_local(dots)
            expected = asked.local_share * found[:, None] * local_scores
            np.testing.assert_allclose(asked.parts(X, dots).local, expected)
    assert shares == {0, 0.5, 1}


def test_an_input_is_unknown_by_its_similarity_and_unusual_by_its_novelty() -> None:
    stream = random_stream(2, width=12, classes=5, samples=120, queries=200)
    asked = learned(stream, "glocal").inference()
    assert isinstance(asked, GlocalInference)
    seen = set()
    for false_alarms in (0.06, 0.3):
        limits = asked.limits(false_alarms)
        assert limits.novelty == np.quantile(asked.judgement.novelties, 1 - false_alarms, method="weibull")
        assert limits.similarity == np.quantile(asked.judgement.other_similarities, false_alarms / 2)
        judged = asked.judged(stream.unit_queries, asked.dots(stream.unit_queries), "fused")
        assert judged.measured is not None
        for novelty, similarity, level in zip(*judged.measured, asked.levels(judged, false_alarms), strict=True):
            if similarity < limits.similarity:
                assert level == "unknown"
            else:
                assert level == ("unusual" if novelty > limits.novelty else "usual")
            seen.add(level)
    assert seen == {"usual", "unusual", "unknown"}
    other = asked.judged(stream.unit_queries, asked.dots(stream.unit_queries), "local")
    assert set(asked.levels(other, 0.06)) == {"usual"}


def test_before_the_first_review_a_mean_itself_has_the_first_weight_whatever_the_precision() -> None:
    for seed in range(5):
        stream = random_stream(seed, classes=4, samples=FIRST_REVIEW - 1, repeats=0)
        learner = learned(stream, "glocal")
        asked = learner.inference()
        means = np.array([learner.megacloud(k).mean for k in range(learner.class_count)])
        own = np.diagonal(asked.scores(means, "global"))
        assert np.sqrt(np.mean(own**2)) == pytest.approx(FIRST_COSINE)
        assert asked.limits(0.05) == (np.inf, -np.inf)


@pytest.mark.parametrize("seed", range(6))
def test_the_arg_max_of_the_probabilities_is_the_winner(seed: int) -> None:
    stream = random_stream(seed, samples=90, repeats=0.6)
    asked = learned(stream, "glocal").inference()
    X = np.concatenate([stream.unit_queries, stream.unit])
    for name in NAMES:
        labels, posteriors = asked.posteriors(X, name)
        np.testing.assert_array_equal(posteriors.argmax(axis=1), asked.winners(X, name))
        np.testing.assert_array_equal(labels, asked.winners(X, name))
        np.testing.assert_allclose(posteriors.sum(axis=1), 1)


def test_rows_asked_together_and_one_by_one_are_answered_alike() -> None:
    stream = random_stream(2, width=12, classes=5, samples=120)
    asked = learned(stream, "glocal").inference()
    together = asked.posteriors(stream.unit_queries, "fused")[1], asked.novelty(stream.unit_queries)
    for i, x in enumerate(stream.unit_queries):
        np.testing.assert_allclose(asked.posteriors(x[None], "fused")[1][0], together[0][i], rtol=1e-9)
        np.testing.assert_allclose(asked.novelty(x[None])[0], together[1][i], atol=1e-9)


def dots_and_squared_norms(x: Vector, means: Matrix, precision: Matrix, origin: Vector) -> tuple[Vector, Vector]:
    seen = means - origin
    return seen @ precision @ (x - origin), np.einsum("ij,jk,ik->i", seen, precision, seen)


def test_heads_are_the_formulas_that_they_stand_for() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    precision, origin, x, means = root @ root.T, rng.normal(size=5), rng.normal(size=5), rng.normal(size=(4, 5))
    dots, squared_norms = dots_and_squared_norms(x, means, precision, origin)
    apart = np.array([(x - p) @ precision @ (x - p) for p in means])
    whole = float((x - origin) @ precision @ (x - origin))
    np.testing.assert_allclose(linear_discriminant(squared_norms).scores(dots, squared_norms), (whole - apart) / 2)
    cosines = np.array([(p - origin) @ precision @ (x - origin) for p in means]) / np.sqrt(squared_norms)
    mixed = whitened_cosine(squared_norms, 3.0, 0.5).scores(dots, squared_norms)
    np.testing.assert_allclose(mixed, 3.0 * cosines + 0.5 * (whole - apart) / 2)


def test_a_mean_at_the_origin_points_nowhere() -> None:
    head = whitened_cosine(np.array([0.0, SHORTEST / 2, 4.0]), 3.0)
    assert head.slopes.tolist() == [0.0, 0.0, 1.5]
    assert head.pulls.tolist() == [0.0, 0.0, 0.0]


def test_local_inference_has_an_answer_where_nearness_has_all_the_weight() -> None:
    stream = random_stream(31, width=8, classes=4, samples=120)
    learner = learned(stream, "glocal")
    assert isinstance(learner, GlocalLearner)
    learner._judgement = replace(learner._judgement, class_weight=0.0, nearness_weight=1.0, prototype_weight=0.0)
    learner._answers = None
    assert len(set(learner.inference().winners(stream.unit, "local").tolist())) == 4
