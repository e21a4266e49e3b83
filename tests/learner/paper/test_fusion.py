import numpy as np

from exll.learner.paper.fusion import PairwiseFusion, SampleScores
from exll.learner.paper.learner import PaperLearner
from support import learned, random_stream


def fusion_with(*counted: tuple[int, int, int]) -> PairwiseFusion:
    """A fusion that saw (global, local, truth) these times."""
    fusion = PairwiseFusion()
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
