from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from exll import ExLLClassifier, load
from exll.errors import InputError
from exll.learner.exll import Parameters
from exll.learner.paper.fusion import PairwiseFusion, SampleScores
from exll.learner.paper.learner import PaperLearner
from exll.saving.model_file import read_model, write_model
from exll.types import CountPairs, PairWeights
from support import assert_equal_models, learned, random_stream, untaught

READINGS: list[tuple[CountPairs, PairWeights]] = [("before", "confidence"), ("after", "one"), ("after", "confidence")]
every_reading = pytest.mark.parametrize(("count_pairs", "pair_weights"), READINGS)


def fusion_with(*counted: tuple[int, int, int], weights: PairWeights = "one") -> PairwiseFusion:
    """A fusion that saw (global, local, truth) these times."""
    fusion = PairwiseFusion(weights)
    for global_label, local_label, truth in counted:
        class_scores, prototype_scores = np.zeros(4), np.zeros(4)
        class_scores[global_label] = prototype_scores[local_label] = 1.0
        fusion.learn(SampleScores(class_scores, prototype_scores, np.arange(4)), truth)
    return fusion


def scores(*labels: int, sure: float = 3.0) -> np.ndarray:
    rows = np.zeros((len(labels), 4))
    rows[np.arange(len(labels)), labels] = sure
    return rows


def test_a_seen_pair_answers_with_its_counts() -> None:
    fusion = fusion_with((0, 1, 2), (0, 1, 2), (0, 1, 1))
    labels, posteriors = fusion.posteriors(scores(0), scores(1))
    assert labels.tolist() == [2]
    np.testing.assert_allclose(posteriors, [[0, 1 / 3, 2 / 3, 0]])


def test_equal_counts_go_to_the_class_seen_first() -> None:
    assert fusion_with((0, 1, 3), (0, 1, 2)).labels(scores(0), scores(1)).tolist() == [2]


def test_an_unseen_pair_that_agrees_keeps_its_label_and_the_mean_of_both_posteriors() -> None:
    labels, posteriors = fusion_with((0, 1, 2)).posteriors(scores(3), scores(3, sure=1.0))
    assert labels.tolist() == [3]
    surer, less = np.exp(3.0) / (np.exp(3.0) + 3), np.exp(1.0) / (np.exp(1.0) + 3)
    np.testing.assert_allclose(posteriors[0, 3], (surer + less) / 2)


def test_an_unseen_pair_that_differs_goes_to_the_inference_with_the_higher_confidence() -> None:
    fusion = PairwiseFusion()
    labels, posteriors = fusion.posteriors(scores(0, 0, sure=3.0), scores(1, 1, sure=2.0))
    assert labels.tolist() == [0, 0]
    np.testing.assert_allclose(posteriors[0, 0], np.exp(3.0) / (np.exp(3.0) + 3))
    assert fusion.labels(scores(0, sure=2.0), scores(1, sure=3.0)).tolist() == [1]


def test_confidence_is_told_apart_where_both_posteriors_round_to_one() -> None:
    fusion = PairwiseFusion()
    assert fusion.labels(scores(0, sure=900.0), scores(1, sure=5000.0)).tolist() == [1]
    assert fusion.labels(scores(1, sure=900.0), scores(0, sure=5000.0)).tolist() == [0]


def test_equal_confidences_leave_it_to_the_class_seen_first() -> None:
    fusion = PairwiseFusion()
    assert fusion.labels(scores(2), scores(1)).tolist() == [1]
    assert fusion.labels(scores(1), scores(2)).tolist() == [1]


def test_of_equally_good_prototypes_the_class_seen_first_speaks() -> None:
    scores = SampleScores(np.zeros(3), np.array([1.0, 1.0 + 1e-13, 0.5]), np.array([2, 1, 0]))
    assert scores.local_label == 1


def test_a_frozen_copy_does_not_hear_what_is_learned_later() -> None:
    fusion = fusion_with((0, 1, 2))
    frozen = fusion.frozen()
    for _ in range(3):
        fusion.learn(SampleScores(np.eye(4)[0], np.eye(4)[1], np.arange(4)), 3)
    fusion.learn(SampleScores(np.eye(4)[2], np.eye(4)[2], np.arange(4)), 3)
    assert frozen.counts == {(0, 1): {2: 1}}
    assert fusion.counts[0, 1] == {2: 1, 3: 3}


def test_merging_classes_renames_every_mention() -> None:
    fusion = fusion_with((0, 1, 2), (0, 3, 3), (0, 1, 1), (2, 3, 1))
    fusion.merge(kept=1, absorbed=3)
    assert fusion.counts == {(0, 1): {2: 1, 1: 2}, (2, 1): {1: 1}}
    fusion.merge(kept=0, absorbed=1)
    assert fusion.counts == {(0, 0): {1: 1, 0: 2}, (1, 0): {0: 1}}


def test_counting_starts_with_the_second_sample() -> None:
    # Nothing is known at the first; from then on every sample is counted, also the first of a new class (decision 9).
    stream = random_stream(2, samples=90, classes=6)
    learner = learned(stream, "paper")
    assert isinstance(learner, PaperLearner)
    assert sum(sum(counts.values()) for counts in learner._fusion.counts.values()) == 89


def test_weighted_by_confidence_one_confident_case_outweighs_two_others() -> None:
    def seen(truth: int, score: float) -> None:
        for table in (weighted, bare):
            table.learn(SampleScores(score * np.eye(4)[0], score * np.eye(4)[1], np.arange(4)), truth)

    weighted, bare = PairwiseFusion("confidence"), PairwiseFusion()
    for truth, score in ((2, 0.1), (2, 0.1), (3, 9.0)):
        seen(truth, score)
    assert bare.labels(scores(0), scores(1)).tolist() == [2]
    labels, posteriors = weighted.posteriors(scores(0), scores(1))
    assert labels.tolist() == [3]
    one_case = np.exp(0.1) / (np.exp(0.1) + 3), np.exp(9.0) / (np.exp(9.0) + 3)
    np.testing.assert_allclose(posteriors[0, 3], one_case[1] / (2 * one_case[0] + one_case[1]))
    assert weighted.share(0, 1, 3) == pytest.approx(posteriors[0, 3])
    assert weighted.counts == bare.counts == {(0, 1): {2: 2, 3: 1}}


def test_weights_that_differ_by_rounding_alone_go_to_the_class_seen_first() -> None:
    fusion = PairwiseFusion("confidence")
    for truth, score in ((3, 1.0 + 1e-13), (2, 1.0)):
        fusion.learn(SampleScores(score * np.eye(4)[0], score * np.eye(4)[1], np.arange(4)), truth)
    assert fusion.labels(scores(0), scores(1)).tolist() == [2]


def test_merging_classes_adds_their_weights() -> None:
    fusion = fusion_with((0, 1, 2), (0, 3, 3), (0, 1, 1), weights="confidence")
    once = np.exp(1.0) / (np.exp(1.0) + 3)
    fusion.merge(kept=1, absorbed=3)
    assert fusion.weights is not None
    assert fusion.weights[0, 1] == pytest.approx({2: once, 1: 2 * once})


def test_counted_after_every_sample_is_in_the_table_and_a_lone_class_speaks_for_itself() -> None:
    learner = learned(random_stream(2, samples=90, classes=6), "paper", count_pairs="after")
    assert isinstance(learner, PaperLearner)
    counts = learner._fusion.counts
    assert sum(sum(truths.values()) for truths in counts.values()) == 90
    # With the sample in the model, both answers are more often right than before it.
    assert _right(counts) > _right(_before(90)._fusion.counts)


def _right(counts: dict[tuple[int, int], dict[int, int]]) -> int:
    return sum(truths.get(one, 0) for (one, other), truths in counts.items() if one == other)


def _before(samples: int) -> PaperLearner:
    learner = learned(random_stream(2, samples=samples, classes=6), "paper")
    assert isinstance(learner, PaperLearner)
    return learner


@every_reading
@pytest.mark.parametrize("growth", [0.0, 0.1])
def test_how_a_stream_is_cut_does_not_matter_to_the_table(
    growth: float, count_pairs: CountPairs, pair_weights: PairWeights
) -> None:
    stream = random_stream(5, samples=150)
    whole, single = (
        untaught(stream.X.shape[1], "paper", growth, count_pairs=count_pairs, pair_weights=pair_weights)
        for _ in range(2)
    )
    whole.learn(stream.unit, stream.y)
    for i in range(len(stream.y)):
        single.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
    one, other = whole.state()["fusion.counts"], single.state()["fusion.counts"]
    np.testing.assert_allclose(one, other, rtol=1e-6)


@every_reading
def test_a_saved_table_goes_on_as_if_never_stopped(
    tmp_path: Path, count_pairs: CountPairs, pair_weights: PairWeights
) -> None:
    stream = random_stream(7, samples=120)
    model = ExLLClassifier("paper", count_pairs=count_pairs, pair_weights=pair_weights)
    assert clone(model).get_params() == model.get_params()
    model.partial_fit(stream.X[:80], stream.y[:80]).save(tmp_path / "m.exll")
    copy = load(tmp_path / "m.exll", ExLLClassifier)
    for one in (model, copy):
        one.partial_fit(stream.X[80:], stream.y[80:])
    assert_equal_models(model, copy)


def test_a_file_from_before_there_was_a_choice_counts_before_and_by_one(tmp_path: Path) -> None:
    stream = random_stream(7, samples=60)
    model = ExLLClassifier("paper").fit(stream.X, stream.y)
    model.save(tmp_path / "m.exll")
    file = read_model(tmp_path / "m.exll")
    for name in ("count_pairs", "pair_weights"):
        assert file.metadata.pop(name) is None
    write_model(tmp_path / "old.exll", file.metadata, file.tensors)
    assert_equal_models(model, load(tmp_path / "old.exll", ExLLClassifier))
    explicit = ExLLClassifier("paper", count_pairs="before", pair_weights="one").fit(stream.X, stream.y)
    np.testing.assert_array_equal(model.predict(stream.queries), explicit.predict(stream.queries))


def test_a_preset_without_a_table_refuses_to_be_told_how_to_count() -> None:
    for name, value in {"count_pairs": "after", "pair_weights": "one"}.items():
        with pytest.raises(InputError, match=f"'{name}' .* None with the preset 'glocal', which has no table of pairs"):
            ExLLClassifier(**{name: value}).fit([[1.0, 0.0]], ["mug"])  # type: ignore[arg-type]
    assert Parameters("paper", 0.1, "refs").count_pairs is None


def test_an_explanation_says_how_much_weight_its_cases_have() -> None:
    stream = random_stream(3, samples=200)
    model = ExLLClassifier("paper", pair_weights="confidence").fit(stream.X, stream.y)
    seen = 0
    for x in stream.queries:
        explanation = model.explain(x)
        if explanation.pair_counts:
            seen += 1
            assert f"which makes it {explanation.probability:.0%}." in explanation.reason
            assert all(isinstance(count, int) for count in explanation.pair_counts.values())
    assert seen
