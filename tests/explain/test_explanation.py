import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.errors import InputError
from exll.explain.explanation import Explanation
from exll.learner.glocal.inference import GlocalInference
from exll.linalg.ties import slack
from exll.types import RecordsKind, Vector
from support import PRESET_NAMES, assert_equal_models, both_presets, random_stream
from tasks import Task

STREAM = random_stream(14, width=10, classes=5, samples=300)


def taught(preset: str, records: RecordsKind = "vectors", samples: int = 300) -> ExLLClassifier:
    model = ExLLClassifier(preset, records=records, lengths="ignored")
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


def nearest_first(numbers: dict[int, float], prototypes: Any) -> list[int]:
    return sorted(prototypes.tolist(), key=lambda j: -numbers[j])


def check_evidence(model: ExLLClassifier, x: Vector, numbers: dict[int, float]) -> None:
    """``numbers`` is what prototypes are ranked by, larger for nearer ones."""
    explanation = model.explain(x)
    own = nearest_first(numbers, model.megacloud(explanation.label).prototypes)
    best = {
        label: numbers[nearest_first(numbers, model.megacloud(label).prototypes)[0]]
        for label in model.classes_.tolist()
    }
    assert [explanation.hit.prototype, *([explanation.near_hit.prototype] if explanation.near_hit else [])] == own[:2]
    if explanation.local_label == explanation.label:
        assert explanation.local_choice is None
    else:
        assert explanation.local_choice is not None
        assert explanation.local_choice.label == explanation.local_label
        assert explanation.local_choice.prototype == max(numbers, key=lambda j: numbers[j])
    farther = {label: value for label, value in best.items() if value < best[explanation.label]}
    if not farther:
        assert explanation.near_miss is None
        return
    missed = explanation.runner_up if explanation.runner_up in farther else max(farther, key=lambda c: farther[c])
    assert explanation.near_miss is not None
    assert missed is not None
    assert explanation.near_miss.label == missed
    assert explanation.near_miss.prototype == nearest_first(numbers, model.megacloud(missed).prototypes)[0]


def test_evidence_of_the_paper_is_ranked_by_mahalanobis_distance(paper: ExLLClassifier) -> None:
    matrix = paper.learner_.inference().precision.apply(np.eye(10))
    centres = paper.learner_._prototypes.vectors
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        halves = [-0.5 * (unit - p) @ matrix @ (unit - p) for p in centres]
        check_evidence(paper, x, dict(enumerate(halves)))
        for shown in paper.explain(x).evidence.values():
            scores = halves[shown.prototype] + 0.5 * unit @ matrix @ unit
            assert shown.score == pytest.approx(scores, rel=1e-6, abs=1e-6)
            assert shown.similarity is None


def test_evidence_of_glocal_is_ranked_by_the_similarity_that_is_shown(glocal: ExLLClassifier) -> None:
    asked = glocal.learner_.inference()
    matrix = asked.precision.apply(np.eye(10))
    centres, ids, _ = glocal.learner_.centres
    seen = centres - asked.origin
    reach = np.sqrt(np.einsum("ij,jk,ik->i", seen, matrix, seen))
    for x, unit in zip(STREAM.queries, STREAM.unit_queries, strict=True):
        question = unit - asked.origin
        cosines = seen @ matrix @ question / reach / np.sqrt(question @ matrix @ question)
        by_id = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
        check_evidence(glocal, x, by_id)
        for shown in glocal.explain(x).evidence.values():
            assert shown.similarity == pytest.approx(by_id[shown.prototype], rel=1e-6)


def check_order(explanation: Explanation) -> None:
    """Nothing but what local inference preferred is nearer than the hit; both classes of a disagreement are named, and
    the one that the answer is not is shown."""
    evidence = dict(explanation.evidence)
    hit, preferred = evidence.pop("hit"), evidence.pop("local choice", None)
    for shown in evidence.values():
        assert shown.score <= hit.score + slack(hit.score)
        assert (shown.similarity or 0) <= (hit.similarity or 0) + 1e-6
    assert (preferred is None) == (explanation.label == explanation.local_label)
    if preferred is not None:
        assert preferred.score >= hit.score - slack(hit.score)
        assert preferred.label == explanation.local_label
    for label in (explanation.local_label, explanation.global_label):
        assert f'"{label}"' in explanation.reason


@both_presets
@pytest.mark.parametrize("seed", range(4))
def test_no_evidence_is_nearer_than_the_hit_by_the_number_shown(preset: str, seed: int) -> None:
    stream = random_stream(seed)
    model = ExLLClassifier(preset, records="none").fit(stream.X, stream.y)
    for x in stream.queries:
        check_order(model.explain(x))


@pytest.mark.data
@pytest.mark.parametrize("task", ["grocery81", "grocery81-5shot"])
def test_no_evidence_is_nearer_than_the_hit_in_400_photos(data_folder: Path, task: str) -> None:
    features = Task(task, data_folder)
    order = features.order("iid", 0)
    model = ExLLClassifier(records="none").fit(features.X[order], features.y[order])
    asked = model.learner_.inference()
    assert isinstance(asked, GlocalInference)
    weightless = asked.local_share < 1e-3
    for x in features.X_test[np.random.default_rng(0).permutation(len(features.X_test))[:400]]:
        explanation = model.explain(x)
        check_order(explanation)
        shown = {evidence.label for evidence in explanation.evidence.values()}
        assert {explanation.local_label, explanation.global_label} <= shown
        assert ("single groups have no weight yet" in explanation.reason) == weightless


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
    cosines = [example.cosine for example in close]
    assert cosines == sorted(cosines, reverse=True, key=lambda s: s or 0.0)
    for example in close:
        assert example.cosine == pytest.approx(STREAM.unit[example.position] @ STREAM.unit_queries[3], abs=2e-3)
    aged = taught(preset, "refs").explain(x).hit.examples
    assert [example.position for example in aged] == sorted(example.position for example in aged)
    assert aged[0].cosine is None
    assert taught(preset, "none").explain(x).hit.examples == ()


def test_the_reason_of_glocal_says_who_said_what(glocal: ExLLClassifier) -> None:
    agreed = set()
    for x in STREAM.queries:
        explanation = glocal.explain(x)
        agreed.add(explanation.agreed)
        speak = "both give" if explanation.agreed else f'is of "{explanation.local_label}"; the classes as a whole'
        assert speak in explanation.reason
    assert agreed == {True, False}


def test_groups_without_weight_are_not_said_to_be_summed(glocal: ExLLClassifier) -> None:
    asked = glocal.learner_.inference()
    assert isinstance(asked, GlocalInference)
    weighty, weightless = replace(asked, local_share=0.3), replace(asked, local_share=1e-9)
    for local_k in (0, 1):
        assert "sum of their scores" in weighty.reason(0, 0, local_k, True).lower()
        not_yet = weightless.reason(0, 0, local_k, True)
        assert (
            ". The classes as a whole decided, each by all its examples together; single groups have no weight."
            in not_yet
        )
        not_here = weighty.reason(0, 0, local_k, False)
        assert ": here only the classes as a whole do." in not_here
        assert "sum" not in not_yet + not_here


def test_where_an_input_is_unlike_the_examples_no_single_group_counts() -> None:
    stream = random_stream(4, width=10, classes=5, samples=300)
    model, seen = ExLLClassifier("glocal").fit(stream.X, stream.y), set()
    for x in stream.queries:
        explanation = model.explain(x)
        assert explanation.local_score is not None
        unlike = "the less a single group counts: here only the classes as a whole do" in explanation.reason
        assert unlike == (explanation.local_score == 0)
        seen.add(unlike)
    assert seen == {True, False}


@both_presets
def test_earlier_cases_are_told_where_the_two_disagree_and_cases_were_counted(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = taught(preset).learner_.inference()
    counted = asked.combination.counted
    for counts, sentence in (
        ({}, ""),
        ({0: 1}, f'The last time they disagreed like this {counted}, "{asked.labels[0]}" was right.'),
        ({1: 1}, f'The last time they disagreed like this {counted}, "{asked.labels[0]}" was not right.'),
        ({1: 2}, f'The last 2 times they disagreed like this {counted}, "{asked.labels[0]}" was never right.'),
        ({0: 3, 1: 1}, f'The last 4 times they disagreed like this {counted}, "{asked.labels[0]}" was right 3 times.'),
    ):
        monkeypatch.setattr(type(asked), "counts_of_pair", lambda *_, counts=counts: counts)
        assert asked.happened(0, 0, 1) == sentence
        assert asked.reason(0, 0, 1, True).endswith(sentence)
        assert asked.happened(0, 0, 0) == ""


def test_the_reason_says_what_the_fusion_table_knew(paper: ExLLClassifier) -> None:
    said = set()
    for x in STREAM.queries:
        explanation = paper.explain(x)
        assert explanation.agreed == (explanation.local_label == explanation.global_label)
        counts, total = explanation.pair_counts, sum(explanation.pair_counts.values())
        if counts:
            assert explanation.probability == pytest.approx(counts[explanation.label] / total)
        said.add((explanation.agreed, bool(counts)))
        words = {
            (True, True): "while learning, and the truth was",
            (False, True): f'they disagreed like this while learning, "{explanation.label}" was right',
        }
        assert words.get((explanation.agreed, bool(counts)), "did not happen while learning") in explanation.reason
    assert said >= {(True, True), (False, True), (False, False)}


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
    with pytest.raises(InputError, match="only one vector can be explained at a time; got 2"):
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
