"""The preset glocal on real features: better than the paper's fusion, and no worse than SLDA."""

from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.baselines import SLDA
from tasks import Task

pytestmark = [pytest.mark.data, pytest.mark.slow]

POINT = 0.01


def accuracy(model: ExLLClassifier | SLDA, task: Task) -> float:
    order = task.order("iid", 0)
    return float(np.mean(model.fit(task.X[order], task.y[order]).predict(task.X_test) == task.y_test))


@pytest.mark.parametrize("name", ["grocery81", "scene15"])
def test_it_beats_the_papers_fusion_and_keeps_up_with_slda(data_folder: Path, name: str) -> None:
    task = Task(name, data_folder)
    glocal = accuracy(ExLLClassifier("glocal", records="none"), task)
    assert glocal > accuracy(ExLLClassifier("paper", records="none"), task)
    assert glocal >= accuracy(SLDA(normalise=True), task) - 0.8 * POINT


def test_its_probabilities_are_calibrated_and_its_false_alarms_as_promised(data_folder: Path) -> None:
    task = Task("scene15", data_folder)
    order = task.order("iid", 0)
    model = ExLLClassifier("glocal", records="none").fit(task.X[order], task.y[order])
    probabilities = model.predict_proba(task.X_test)
    right = model.classes_[probabilities.argmax(axis=1)] == task.y_test
    assert probabilities.max(axis=1).mean() == pytest.approx(right.mean(), abs=0.05)
    alarms = np.mean(model.novelty(task.X_test) > model.novelty_threshold(0.05))
    assert alarms == pytest.approx(0.05, abs=0.04)
