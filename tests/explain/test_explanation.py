import json

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.errors import InputError
from exll.learner.glocal.inference import GlocalInference
from exll.types import RecordsKind, Vector
from support import PRESET_NAMES, assert_equal_models, both_presets, random_stream

STREAM = random_stream(14, width=10, classes=5, samples=300)


def taught(preset: str, records: RecordsKind = "vectors", samples: int = 300) -> ExLLClassifier:
    model = ExLLClassifier(preset, records=records)
    labels = [f"c{k}" for k in STREAM.y[:samples]]
    return model.fit(STREAM.X[:samples], labels, refs=[f"{i}.jpg" for i in range(samples)])


@pytest.fixture(scope="module", params=PRESET_NAMES)
def model(request: pytest.FixtureRequest) -> ExLLClassifier:
    return taught(request.param)


@pytest.fixture(scope="module")
def paper() -> ExLLClassifier:
    return taught("paper")


@pytest.fixture(scope="module")
def glocal() -> ExLLClassifier:
    return taught("glocal")


def test_label_probability_and_runner_up_are_those_of_predict(model: ExLLClassifier) -> None:
    for x, answer in zip(STREAM.queries, model.answers(STREAM.queries), strict=True):
        explanation = model.explain(x)
        assert (explanation.label, explanation.runner_up) == (answer.label, answer.runner_up)
        assert explanation.probability == pytest.approx(answer.probability)
        assert explanation.known in (None, answer.known)
        assert explanation.local_label == model.predict(x[None], "local")[0]
        assert explanation.global_label == model.predict(x[None], "global")[0]


def test_hit_near_hit_and_near_miss_are_the_nearest_prototypes_by_mahalanobis_distance(paper: ExLLClassifier) -> None:
    model, learner = paper, paper.learner_
    matrix = learner.inference().precision.apply(np.eye(10))
    centres = learner._prototypes.vectors
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        explanation = model.explain(x)
        distances = np.sqrt([(unit - p) @ matrix @ (unit - p) for p in centres])
        own = sorted(model.megacloud(explanation.label).prototypes.tolist(), key=lambda j: distances[j])
        assert explanation.hit.distance == pytest.approx(distances[own[0]], rel=1e-6)
        assert explanation.hit.prototype == own[0] or distances[own[1]] == pytest.approx(distances[own[0]])
        assert explanation.near_hit is not None
        assert explanation.near_hit.distance == pytest.approx(distances[own[1]], rel=1e-6)
        assert explanation.near_miss is not None
        assert explanation.runner_up is not None
        others = model.megacloud(explanation.runner_up).prototypes
        assert explanation.near_miss.distance == pytest.approx(distances[others].min(), rel=1e-6)
        assert explanation.near_miss.label == explanation.runner_up


def test_hit_near_hit_and_near_miss_of_glocal_are_the_prototypes_of_largest_cosine(glocal: ExLLClassifier) -> None:
    asked = glocal.learner_.inference()
    matrix = asked.precision.apply(np.eye(10))
    centres, ids, _ = glocal.learner_.centres
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        explanation = glocal.explain(x)
        seen = centres - asked.origin
        reach = np.sqrt(np.einsum("ij,jk,ik->i", seen, matrix, seen))
        cosines = dict(zip(ids.tolist(), seen @ matrix @ (unit - asked.origin) / reach, strict=True))
        distances = np.sqrt([(unit - p) @ matrix @ (unit - p) for p in centres])
        distance_of = dict(zip(ids.tolist(), distances, strict=True))
        own = sorted(glocal.megacloud(explanation.label).prototypes.tolist(), key=lambda j: -cosines[j])
        assert explanation.near_hit is not None
        assert explanation.near_miss is not None
        assert explanation.runner_up is not None
        assert [explanation.hit.prototype, explanation.near_hit.prototype] == own[:2]
        rivals = glocal.megacloud(explanation.runner_up).prototypes.tolist()
        assert explanation.near_miss.prototype == max(rivals, key=lambda j: cosines[j])
        for shown in (explanation.hit, explanation.near_hit, explanation.near_miss):
            assert shown.distance == pytest.approx(distance_of[shown.prototype], rel=1e-6)


def test_contributions_sum_to_the_score_that_prediction_computes(model: ExLLClassifier) -> None:
    asked = model.learner_.inference()
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        explanation = model.explain(x)
        scores = dict(zip(asked.labels, asked.scores(unit[None], "global")[0], strict=True))
        total = sum(part.value for part in explanation.contributions)
        against = sum(part.value for part in explanation.against)
        assert explanation.runner_up is not None
        assert total == pytest.approx(scores[explanation.label], rel=1e-9, abs=1e-9)
        assert explanation.global_score == pytest.approx(scores[explanation.label], rel=1e-9, abs=1e-9)
        assert against == pytest.approx(scores[explanation.runner_up], rel=1e-9, abs=1e-9)
        values = [part.value for part in explanation.contributions]
        assert values == sorted(values, reverse=True)


def test_the_fused_score_of_glocal_is_the_sum_of_both_and_what_probabilities_are_made_of(
    glocal: ExLLClassifier,
) -> None:
    asked = glocal.learner_.inference()
    assert isinstance(asked, GlocalInference)
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        explanation = glocal.explain(x)
        assert explanation.local_score is not None
        global_scores, local_scores = asked.global_and_local(asked.dots(unit[None]))
        fused = (global_scores + asked.local_share * local_scores)[0]
        k = asked.labels.index(explanation.label)
        assert k == fused.argmax()
        assert explanation.global_score + explanation.local_score == pytest.approx(fused[k], rel=1e-9, abs=1e-9)
        # However sure it is, the logarithms of the probabilities differ as the fused scores do.
        likely = np.log(asked.posteriors(unit[None], "fused")[1][0])
        sure = (likely.max() - likely) / np.where(fused == fused.max(), 1, fused.max() - fused)
        assert sure[np.arange(len(fused)) != k] == pytest.approx(sure[np.arange(len(fused)) != k].mean(), rel=1e-6)
    assert taught("paper").explain(STREAM.queries[0]).local_score is None


def recomputed_score(model: ExLLClassifier, unit: Vector, mean: Vector) -> float:
    """The global score of a class with this mean."""
    asked = model.learner_.inference()
    matrix = asked.precision.apply(np.eye(10))
    mean = mean - asked.origin
    dot, length = mean @ matrix @ (unit - asked.origin), mean @ matrix @ mean
    if model.preset == "paper":
        return float(dot - 0.5 * length)
    assert isinstance(asked, GlocalInference)
    judged = asked.judgement
    return float(judged.class_weight * dot / np.sqrt(length) + judged.nearness_weight * (dot - 0.5 * length))


def test_without_a_prototype_the_class_is_truly_recomputed(model: ExLLClassifier) -> None:
    learner = model.learner_
    clouds = {j: [record.position for record in learner.records(j)] for j in learner.supports}
    for prototype in learner.supports:
        change = model.without(STREAM.queries[0], prototype)
        ids = [j for j in model.megacloud(change.label).prototypes.tolist() if j != prototype]
        mean = STREAM.unit[[i for j in ids for i in clouds[j]]].mean(axis=0)
        expected = recomputed_score(model, STREAM.unit_queries[0], mean)
        assert change.score_after == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert change.score_after is not None
        assert change.change == pytest.approx(change.score_after - change.score_before)
    with pytest.raises(InputError, match="no prototype 9999"):
        model.without(STREAM.queries[0], 9999)


def test_without_is_not_the_contribution(model: ExLLClassifier) -> None:
    explanation = model.explain(STREAM.queries[0])
    changes = [model.without(STREAM.queries[0], part.prototype).change for part in explanation.contributions]
    assert not np.allclose([-part.value for part in explanation.contributions], np.array(changes, float))


@both_presets
def test_examples_come_by_closeness_with_vectors_and_by_age_without(preset: str) -> None:
    x = STREAM.queries[3]
    close = taught(preset, "vectors").explain(x).hit.examples
    assert len(close) > 1
    similarities = [example.similarity for example in close]
    assert similarities == sorted(similarities, reverse=True, key=lambda s: s or 0.0)
    for example in close:
        assert example.similarity == pytest.approx(STREAM.unit[example.position] @ STREAM.unit_queries[3], abs=2e-3)
    aged = taught(preset, "refs").explain(x).hit.examples
    assert [example.position for example in aged] == sorted(example.position for example in aged)
    assert aged[0].similarity is None
    assert taught(preset, "none").explain(x).hit.examples == ()


def test_the_reason_of_glocal_says_who_said_what(glocal: ExLLClassifier) -> None:
    agreed = set()
    for x in STREAM.queries:
        explanation = glocal.explain(x)
        agreed.add(explanation.agreed)
        said = {explanation.local_label, explanation.global_label}
        assert all(f'"{label}"' in explanation.reason for label in said)
        assert explanation.pair_counts == {}
        if not explanation.agreed:
            assert f'"{explanation.label}" comes out first' in explanation.reason
    assert agreed == {True, False}


def test_the_reason_says_what_the_fusion_table_knew(paper: ExLLClassifier) -> None:
    model = paper
    reasons = {model.explain(x).reason.split(";")[1] for x in STREAM.queries}
    for x in STREAM.queries:
        explanation = model.explain(x)
        assert explanation.agreed == (explanation.local_label == explanation.global_label)
        if explanation.pair_counts:
            assert explanation.probability == pytest.approx(
                explanation.pair_counts[explanation.label] / sum(explanation.pair_counts.values())
            )
            assert "while learning, and the truth was" in explanation.reason
        else:
            assert "never came up while learning" in explanation.reason
    assert len(reasons) > 1


@both_presets
def test_one_class_and_one_prototype_are_explained_too(preset: str) -> None:
    alone = ExLLClassifier(preset).fit([[1.0, 2.0]], ["only"]).explain([2.0, 1.0])
    assert (alone.label, alone.runner_up, alone.near_hit, alone.near_miss) == ("only", None, None, None)
    assert alone.probability == 1.0
    assert alone.hit.support == 1
    assert alone.hit.membership == 1.0
    change = ExLLClassifier(preset).fit([[1.0, 2.0]], ["only"]).without([2.0, 1.0], 0)
    assert (change.score_after, change.change, change.global_label_after) == (None, None, None)


@both_presets
def test_explanations_leave_no_trace_and_are_plain_values(preset: str) -> None:
    one, other = taught(preset), taught(preset)
    prototype = next(iter(one.learner_.supports))
    for x in STREAM.queries[:10]:
        facts = one.explain(x).to_dict()
        assert json.loads(json.dumps(facts))["label"] == facts["label"]
        one.without(x, prototype)
    one.suspects()
    assert_equal_models(one, other)


def test_bad_questions_get_one_clear_sentence(model: ExLLClassifier) -> None:
    assert model.explain(STREAM.queries[:1]) == model.explain(STREAM.queries[0])
    with pytest.raises(InputError, match="one vector can be explained at a time; got 2"):
        model.explain(STREAM.queries[:2])
    with pytest.raises(InputError, match="all zeros"):
        model.explain(np.zeros(10))
    with pytest.raises(InputError, match="expecting 10"):
        model.explain(np.ones(3))
    with pytest.raises(ValueError, match="not fitted"):
        ExLLClassifier("paper").explain(np.ones(3))


def test_memberships_are_shares_of_one(model: ExLLClassifier) -> None:
    asked = model.learner_.inference()
    explanation = model.explain(STREAM.queries[0])
    scores = asked.row_scores(asked.dots(STREAM.unit_queries[:1]))[0, : len(asked.prototype_ids)]
    weights = np.exp(scores - scores.max())
    row = asked.row_of_prototype(explanation.hit.prototype)
    assert explanation.hit.membership == pytest.approx(weights[row] / weights.sum())
    assert explanation.hit.share == explanation.hit.support / model.megacloud(explanation.label).count
    assert 0 < explanation.megacloud_membership <= 1
