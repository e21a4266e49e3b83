from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import softmax

from exll import ExLLClassifier
from exll.errors import InputError
from exll.explain.suspects import SHRINKAGE, calibrated, find_suspects, leave_one_out_posteriors
from exll.types import Matrix, RecordsKind
from support import both_presets, random_stream
from suspects import measured
from tasks import Task


def slow_posterior(X: Matrix, y: np.ndarray, i: int, classes: int) -> np.ndarray:
    """Linear discriminant analysis of all rows but one, from nothing: scores with the covariance within all classes,
    and within all but its own, weighted by how many rows there are."""
    others = np.arange(len(X)) != i
    means = np.array([X[others & (y == k)].mean(axis=0) for k in range(classes)])
    scores, second = np.zeros(classes), X.shape[1] / (len(X) + 2 * X.shape[1])
    for rows, weight in ((others, 1 - second), (y != y[i], second)):
        residuals = X[rows] - means[y[rows]]
        # The count stays that of all rows: fewer rows would only rescale the shrinkage.
        covariance = (1 - SHRINKAGE) * residuals.T @ residuals / len(X) + SHRINKAGE * np.eye(X.shape[1])
        precision = np.linalg.inv(covariance)
        found = means @ precision @ X[i] - 0.5 * np.einsum("ij,jk,ik->i", means, precision, means)
        scores += weight * found
    return np.asarray(softmax(scores[None])[0])


def test_leaving_one_out_equals_a_model_that_never_saw_it() -> None:
    for width in (7, 40):  # fewer numbers than a class has rows, and more
        stream = random_stream(6, width=width, classes=4, samples=60)
        y = np.array(stream.y)
        fast = leave_one_out_posteriors(stream.unit, y, 4)
        slow = np.array([slow_posterior(stream.unit, y, i, 4) for i in range(60)])
        np.testing.assert_allclose(fast, slow, atol=1e-7)


def test_several_wrong_examples_of_one_kind_do_not_hide_each_other() -> None:
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(6, 200))  # more numbers than examples, as with photos
    kinds = np.repeat(range(6), 15)
    X = centres[kinds] + rng.normal(size=(90, 200))
    labels = [f"c{k}" for k in kinds]
    for wrong in (range(1), range(5)):
        given = [*labels]
        for i in wrong:
            given[i] = "c3"
        found = ExLLClassifier(records="vectors").fit(X, given).suspects()
        assert sorted(suspect.position for suspect in found.contradicted()) == [*wrong]
        assert {suspect.would_be for suspect in found.contradicted()} == {"c0"}


def test_a_row_alone_in_its_class_has_no_say() -> None:
    X = np.eye(4)[[0, 0, 1, 1, 2]] + 0.01
    posteriors = leave_one_out_posteriors(X, np.array([0, 0, 1, 1, 2]), 3)
    np.testing.assert_allclose(posteriors[4], 1 / 3)
    found = find_suspects(X, ["a", "a", "b", "b", "c"], list("vwxyz"))
    assert "z" not in [suspect.name for suspect in found.contradicted()]


def test_confidence_is_calibrated_and_wrong_labels_do_not_count() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 3000)
    scores = rng.normal(size=(3000, 3)) + 2.0 * np.eye(3)[truth]
    honest = np.exp(2.0 * scores) / np.exp(2.0 * scores).sum(axis=1, keepdims=True)
    boasting = honest**4 / (honest**4).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated(boasting, truth).posteriors, honest, atol=0.03)
    assert calibrated(boasting, truth).wrong_labels < 0.02
    for share in (0.05, 0.2):
        labels = np.where(rng.random(3000) < share, rng.integers(0, 3, 3000), truth)
        found = calibrated(boasting, labels)
        np.testing.assert_allclose(found.posteriors, honest, atol=0.09)  # 0.14 at 0.05 if each label were trusted
        assert found.wrong_labels == pytest.approx(share, abs=0.04)
    assert (calibrated(honest, truth).posteriors.argmax(axis=1) == honest.argmax(axis=1)).all()


@both_presets
def test_a_wrong_label_comes_first_with_what_it_would_be(preset: str) -> None:
    stream = random_stream(9, width=12, classes=3, samples=150, repeats=0)
    labels = [f"c{k}" for k in stream.y]
    truth = labels[70]
    labels[70] = next(label for label in ("c0", "c1", "c2") if label != truth)
    model = ExLLClassifier(preset, records="vectors", lengths="ignored")
    model.fit(stream.X, labels, refs=[f"{i}.jpg" for i in range(150)])
    first = model.suspects().ranked[0]
    assert (first.name, first.position, first.label, first.would_be) == ("70.jpg", 70, labels[70], truth)
    assert first.doubt > 0.9
    assert first in model.suspects().contradicted()
    again = ExLLClassifier(preset, records="none", lengths="ignored").fit(stream.X, labels)
    given = again.suspects(stream.X, labels, [f"{i}.jpg" for i in range(150)])
    assert given.ranked[0].name == "70.jpg"
    assert again.suspects(stream.X, labels).ranked[0].name == "sample 71"


def test_how_many_times_likelier_tells_suspects_apart_and_right_labels_are_not_named() -> None:
    stream = random_stream(9, width=12, classes=3, samples=150, repeats=0)
    X = stream.unit + 0.2 * np.random.default_rng(0).normal(size=stream.X.shape)
    clean = ExLLClassifier(records="vectors", lengths="ignored").fit(X, stream.y).suspects()
    labels = np.array(stream.y)
    labels[:12] = (labels[:12] + 1) % 3
    found = ExLLClassifier(records="vectors", lengths="ignored").fit(X, labels).suspects()
    named = found.contradicted()
    assert len({suspect.position for suspect in named} & set(range(12))) >= 9
    assert all(suspect.times > 1 and suspect.wrong >= 0.5 for suspect in named)
    assert len({suspect.odds for suspect in named}) > len(named) / 2
    assert found.wrong_labels == pytest.approx(12 / 150, abs=0.06)
    assert len(clean.contradicted()) <= 1


def test_the_same_image_under_two_labels_is_found() -> None:
    X = random_stream(9, width=6, samples=20, repeats=0).X
    X[7] = X[3] * 5
    X[11] = X[12]
    labels = ["a", "b"] * 10
    labels[11] = labels[12]
    model = ExLLClassifier("paper", records="vectors").fit(X, labels, refs=[str(i) for i in range(20)])
    labels[7] = "c"
    assert model.suspects().contradictions == []
    model.fit(X, labels, refs=[str(i) for i in range(20)])
    (found,) = model.suspects().contradictions
    assert (found.names, found.labels) == (("3", "7"), ("b", "c"))


@pytest.mark.parametrize("records", ["none", "refs", 5])
def test_without_vectors_one_sentence_says_what_to_do(records: RecordsKind) -> None:
    model = ExLLClassifier("paper", records=records).fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(InputError, match=r"pass the data again, suspects\(X, y, refs\)"):
        model.suspects()


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "ranking", "recall"), [("grocery81", 0.95, 0.9), ("scene15", 0.88, 0.8), ("miniplaces", 0.58, 0.5)]
)
@pytest.mark.slow
def test_five_percent_of_wrong_labels_are_ranked_first_and_most_are_named(
    data_folder: Path, task: str, ranking: float, recall: float
) -> None:
    found = measured(Task(task, data_folder), seed=0)
    assert found.ranking >= ranking
    assert found.recall >= recall
    assert found.precision >= 0.6
    assert 0.04 <= found.estimate <= 0.07


@pytest.mark.data
@pytest.mark.parametrize("task", ["grocery81", "scene15", "miniplaces"])
@pytest.mark.slow
def test_of_right_labels_at_most_one_percent_are_named(data_folder: Path, task: str) -> None:
    assert measured(Task(task, data_folder), seed=0, share=0.0).named <= 0.01
