"""The paper preset against the slow truth: every decision the same, every score the same."""

from typing import Any, Literal

import numpy as np
import pytest

from exll.learner.exll import ExLL
from exll.learner.paper.learner import PaperLearner
from exll.types import CountPairs, InferenceName, PairWeights
from oracle.lagging import OracleLagging
from oracle.paper import OraclePaper
from support import Stream, assignments, learned, random_stream


def oracle_of(stream: Stream, oracle: OraclePaper | None = None) -> OraclePaper:
    oracle = oracle or OraclePaper()
    for x, k in zip(stream.unit, stream.y, strict=True):
        oracle.learn(x, k)
    return oracle


def counted(learner: ExLL) -> list[tuple[int, int, int]]:
    """Every sample that was counted, as (global, local, truth)."""
    assert isinstance(learner, PaperLearner)
    return sorted(
        (*pair, truth)
        for pair, counts in learner._fusion.counts.items()
        for truth, count in counts.items()
        for _ in range(count)
    )


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 20))])
def test_every_decision_and_score_equals_the_oracle(seed: int) -> None:
    stream = random_stream(seed)
    oracle, learner = oracle_of(stream), learned(stream, "paper", refresh_growth=0)

    assert assignments(learner) == oracle.assignments
    for k, clouds in enumerate(oracle.clouds):
        megacloud = learner.megacloud(k)
        ids = megacloud.prototypes.tolist()
        assert [learner.supports[j] for j in ids] == [len(cloud.members) for cloud in clouds]
        edges = {(ids.index(a), ids.index(b)): count for (a, b), count in megacloud.edges.items()}
        assert {**edges, **{(b, a): count for (a, b), count in edges.items()}} == oracle.edges[k]
        np.testing.assert_allclose(megacloud.mean, oracle.class_mean(k), rtol=0, atol=1e-12)
        np.testing.assert_allclose(learner._prototypes.radii[ids], [cloud.radius for cloud in clouds], rtol=1e-9)
        centres = [oracle.centre(cloud) for cloud in clouds]
        np.testing.assert_allclose(learner._prototypes.vectors[ids], centres, rtol=0, atol=1e-12)
    assert counted(learner) == sorted(oracle.phi)

    asked = learner.inference()
    precision = oracle.precision()
    answers = np.array([oracle.predict(x) for x in stream.unit_queries])
    names: tuple[InferenceName, ...] = ("global", "local", "fused")
    for column, name in enumerate(names):
        assert asked.winners(stream.unit_queries, name).tolist() == answers[:, column].tolist()
    ways: tuple[tuple[Literal["global", "local"], Any], ...] = (
        ("global", oracle.global_scores),
        ("local", oracle.local_scores),
    )
    for name, slow in ways:
        expected = np.array([slow(x, precision) for x in stream.unit_queries])
        np.testing.assert_allclose(asked.scores(stream.unit_queries, name), expected, rtol=1e-6, atol=1e-8)
        posteriors = np.array([oracle.posterior(row.tolist()) for row in expected])
        np.testing.assert_allclose(asked.posteriors(stream.unit_queries, name)[1], posteriors, atol=1e-6)


def test_the_oracle_tells_a_wrong_learner_from_a_right_one() -> None:
    stream = random_stream(3, samples=150, width=12, classes=5)
    lagging = learned(stream, "paper", refresh_growth=5.0)
    assert assignments(lagging) != oracle_of(stream).assignments


READINGS: tuple[tuple[CountPairs, PairWeights], ...] = (
    ("before", "confidence"),
    ("after", "one"),
    ("after", "confidence"),
)


@pytest.mark.parametrize("growth", [0.0, 0.1, 2.0])
@pytest.mark.parametrize(("count_pairs", "pair_weights"), READINGS)
@pytest.mark.parametrize("seed", [1, 4, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (20, 21, 22))])
def test_every_reading_of_the_fusion_table_equals_the_oracle(
    seed: int, count_pairs: CountPairs, pair_weights: PairWeights, growth: float
) -> None:
    stream = random_stream(seed, samples=120)
    after, by_confidence = count_pairs == "after", pair_weights == "confidence"
    slow = OracleLagging(after, by_confidence, growth=growth) if growth else OraclePaper(after, by_confidence)
    oracle = oracle_of(stream, slow)
    learner = learned(stream, "paper", growth, count_pairs=count_pairs, pair_weights=pair_weights)
    assert isinstance(learner, PaperLearner)
    assert assignments(learner) == oracle.assignments
    assert counted(learner) == sorted(oracle.phi)
    for (one, other), weights in (learner._fusion.weights or {}).items():
        expected = [oracle.weight(one, other, k) for k in weights]
        np.testing.assert_allclose(list(weights.values()), expected, rtol=1e-6)
    answers = [oracle.predict(x)[2] for x in stream.unit_queries]
    assert learner.inference().winners(stream.unit_queries, "fused").tolist() == answers


@pytest.mark.parametrize("growth", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("seed", [3, 5, 8, 12])
def test_a_lagging_learner_decides_as_the_slow_lagging_one_and_answers_exactly(seed: int, growth: float) -> None:
    stream = random_stream(seed, samples=160)
    oracle, learner = oracle_of(stream, OracleLagging(growth=growth)), learned(stream, "paper", growth)
    assert assignments(learner) == oracle.assignments
    assert counted(learner) == sorted(oracle.phi)
    asked, exact = learner.inference(), oracle.precision()
    for name, slow in (("global", oracle.global_scores), ("local", oracle.local_scores)):
        expected = np.array([slow(x, exact) for x in stream.unit_queries])
        scores = asked.scores(stream.unit_queries, name)  # type: ignore[arg-type]
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-8)
