"""Any number of threads may ask, save and read rules while one learns, renames and merges."""

import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exll import ExLLClassifier, load
from support import both_presets

WIDTH = 12


def new_class_every_few_rows(rows: int) -> tuple[NDArray[np.float64], list[str]]:
    """Labels that sort in front of all earlier ones: whoever mixes two moments gets a wrong label."""
    rng = np.random.default_rng(0)
    labels = [f"{1000 - i // 20:04d}" for i in range(rows)]
    centres = rng.normal(size=(rows // 20 + 1, WIDTH)) * 3
    return np.array([centres[i // 20] for i in range(rows)]) + rng.normal(size=(rows, WIDTH)) * 0.1, labels


def asked_by_threads(ask: Callable[[], None], teach: Callable[[], None], threads: int = 3) -> None:
    problems: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            while not done.is_set():
                ask()
        except BaseException as error:
            problems.append(error)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        teach()
    finally:
        done.set()
        for worker in workers:
            worker.join()
    if problems:
        raise problems[0]


@pytest.mark.slow
@both_presets
@pytest.mark.parametrize("batch", [1, 7, 400])
def test_answers_are_of_one_moment_while_classes_appear(preset: str, batch: int) -> None:
    X, labels = new_class_every_few_rows(1600)
    model = ExLLClassifier(preset).partial_fit(X[:21], labels[:21])

    def ask() -> None:
        probabilities = model.predict_proba(X[:20], "local")
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert set(model.predict(X[:20], "local").tolist()) == {"1000"}
        assert len(model.rules()) >= 2
        assert model.megacloud("1000").count >= 20
        assert model.nbytes_ > 0

    def teach() -> None:
        for start in range(21, len(X), batch):
            model.partial_fit(X[start : start + batch], labels[start : start + batch])

    asked_by_threads(ask, teach)


@pytest.mark.slow
@both_presets
def test_a_model_saved_or_pickled_while_it_learns_is_whole(preset: str, tmp_path: Path) -> None:
    X, labels = new_class_every_few_rows(3000)
    model = ExLLClassifier(preset).partial_fit(X[:1], labels[:1])

    def ask() -> None:
        path = tmp_path / f"{threading.get_ident()}.exll"
        model.save(path)
        assert load(path).classifier.learner_.sample_count >= 1
        copy = pickle.loads(pickle.dumps(model))
        copy.partial_fit(X[:5], labels[:5])

    def teach() -> None:
        for _ in range(3):
            model.partial_fit(X, labels)

    asked_by_threads(ask, teach, threads=2)


@pytest.mark.slow
@both_presets
def test_fit_shows_nothing_before_something_is_learned(preset: str) -> None:
    X, labels = new_class_every_few_rows(100)
    model = ExLLClassifier(preset).fit(X, labels)

    def ask() -> None:
        assert set(model.predict(X[:20], "local").tolist()) == {"1000"}

    def teach() -> None:
        for _ in range(3):
            model.fit(X, labels)

    asked_by_threads(ask, teach)


@both_presets
def test_renaming_and_merging_are_seen_whole(preset: str) -> None:
    X, labels = new_class_every_few_rows(400)
    model = ExLLClassifier(preset).fit(X, labels)

    def ask() -> None:
        assert set(model.predict(X[380:], "local").tolist()) == {"0981"}
        np.testing.assert_allclose(model.predict_proba(X[:3]).sum(axis=1), 1)

    def merge() -> None:
        for i in range(1, 19):
            model.rename_class(f"{1000 - i:04d}", "1000", merge=True)

    asked_by_threads(ask, merge)
    assert model.classes_.tolist() == ["0981", "1000"]
