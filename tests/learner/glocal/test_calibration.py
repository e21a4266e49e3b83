"""Calibration: labelled inputs from elsewhere set confidence and limits, and nothing else."""

import threading
from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.errors import InputError, ModelFileError
from exll.learner.glocal.calibration import LEAST, MOST
from exll.saving.model_file import read_model, write_model
from exll.types import Indices, Matrix

CENTRES = np.random.default_rng(0).normal(size=(6, 80))


def rows(count: int, seed: int) -> tuple[Matrix, Indices]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, count)
    return CENTRES[y] + 3.0 * rng.normal(size=(count, 80)), y


FEW, Y_FEW = rows(60, 1)
ORDER = np.random.default_rng(4).permutation(np.repeat(np.arange(60), 5))  # each came five times: too easy to judge by
X, Y = FEW[ORDER], Y_FEW[ORDER]
HERE, Y_HERE = rows(200, 2)
ASKED, Y_ASKED = rows(600, 3)


@pytest.fixture
def model() -> ExLLClassifier:
    return ExLLClassifier().fit(X, Y)


def gap(model: ExLLClassifier) -> float:
    answers = model.answers(ASKED)
    right = np.mean([answer.label == truth for answer, truth in zip(answers, Y_ASKED, strict=True)])
    return abs(float(np.mean([answer.probability for answer in answers]) - right))


def unusual(model: ExLLClassifier, false_alarms: float) -> float:
    return float(np.mean([answer.level != "usual" for answer in model.answers(ASKED, false_alarms=false_alarms)]))


def test_confidence_and_levels_hold_where_the_inputs_came_from_and_answers_stay(model: ExLLClassifier) -> None:
    labels, before, called = model.predict(ASKED), gap(model), unusual(model, 0.1)
    assert model.calibrate(HERE, Y_HERE) is model
    assert model.calibration_count_ == 200
    np.testing.assert_array_equal(model.predict(ASKED), labels)
    assert gap(model) < 0.05 < before
    assert abs(unusual(model, 0.1) - 0.1) < 0.06 < abs(called - 0.1)


def test_it_can_be_taken_back_and_comes_with_the_file(model: ExLLClassifier, tmp_path: Path) -> None:
    before = model.predict_proba(ASKED)
    after = model.calibrate(HERE, Y_HERE).predict_proba(ASKED)
    model.save(tmp_path / "m.exll")
    found = load(tmp_path / "m.exll", ExLLClassifier)
    assert found.calibration_count_ == 200
    np.testing.assert_array_equal(found.predict_proba(ASKED), after)
    np.testing.assert_array_equal(found.forget_calibration().predict_proba(ASKED), before)
    assert (found.calibration_count_, (before != after).any()) == (0, True)


def test_few_inputs_change_nothing_yet_and_of_many_the_newest_count(model: ExLLClassifier) -> None:
    before = model.predict_proba(ASKED)
    model.calibrate(HERE[: LEAST - 1], Y_HERE[: LEAST - 1])
    np.testing.assert_array_equal(model.predict_proba(ASKED), before)
    model.calibrate(HERE[LEAST - 1 : LEAST], Y_HERE[LEAST - 1 : LEAST])
    assert (model.predict_proba(ASKED) != before).any()
    for _ in range(6):
        model.calibrate(HERE, Y_HERE)
    assert model.calibration_count_ == MOST


def test_it_follows_what_is_learned_later_and_classes_that_become_one(model: ExLLClassifier) -> None:
    model.calibrate(HERE, Y_HERE)
    model.partial_fit(HERE[:30] + 1.0, [9] * 30)
    model.rename_class(2, 0, merge=True)
    learner = model.learner_
    classes = learner.state()["calibration.classes"]
    merged = np.where(Y_HERE == 2, 0, Y_HERE)
    assert [learner.labels[k] for k in classes.tolist()] == merged.tolist()
    assert np.isfinite(model.predict_proba(ASKED)).all()


def test_a_merge_while_one_calibrates_leaves_the_model_whole(model: ExLLClassifier, tmp_path: Path) -> None:
    with model.learner_.lock:
        other = threading.Thread(target=model.calibrate, args=(HERE, np.where(Y_HERE == 2, 1, Y_HERE)))
        other.start()
        model.rename_class(2, 0, merge=True)
    other.join()
    assert np.isfinite(model.predict_proba(ASKED)).all()
    model.save(tmp_path / "m.exll")
    assert load(tmp_path / "m.exll", ExLLClassifier).calibration_count_ == 200


def test_classes_that_are_not_known_and_models_too_young_are_refused(model: ExLLClassifier) -> None:
    with pytest.raises(InputError, match="only with classes that it knows; got 77"):
        model.calibrate(HERE[:2], [0, 77])
    assert model.calibration_count_ == 0
    young = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
    with pytest.raises(InputError, match="once it has learned 16 examples; got 2"):
        young.calibrate([[1.0, 0.1]], ["mug"])
    with pytest.raises(InputError, match='"paper" has no calibration'):
        ExLLClassifier("paper").fit(X, Y).calibrate(HERE, Y_HERE)


@pytest.mark.parametrize("fault", ["another class", "another width", "another number"])
def test_a_file_with_an_impossible_calibration_is_refused(model: ExLLClassifier, tmp_path: Path, fault: str) -> None:
    model.calibrate(HERE, Y_HERE).save(tmp_path / "m.exll")
    file = read_model(tmp_path / "m.exll")
    vectors, classes = file.tensors["calibration.vectors"], file.tensors["calibration.classes"]
    forged = {
        "another class": {"calibration.classes": classes + 1},
        "another width": {"calibration.vectors": np.ascontiguousarray(vectors[:, 1:])},
        "another number": {"calibration.classes": classes[1:]},
    }[fault]
    write_model(tmp_path / "m.exll", file.metadata, {**file.tensors, **forged})
    with pytest.raises(ModelFileError, match="the calibration"):
        load(tmp_path / "m.exll")
