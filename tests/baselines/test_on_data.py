"""The baselines on real features: as good as the batch computations they stand for, and as forgetful as is known."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from exll.baselines import (
    KLDA,
    KNN,
    NCM,
    SLDA,
    XDNN,
    FeCAM,
    FineTune,
    LeastSquares,
    NaiveBayes,
    Perceptron,
    RanPAC,
    Replay,
    SOvR,
    StreamingRDA,
)
from exll.baselines.base import Baseline
from exll.vectors import normalise
from oracle import rivals
from tasks import Task

pytestmark = pytest.mark.data

Scores = NDArray[np.float64]
TASKS = ["grocery81", "grocery43", "scene15", "eth80-new-instances"]
POINT = 0.01


def means_of(X: Scores, y: NDArray[np.int64]) -> Scores:
    return np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])


def batch_ncm(X: Scores, y: NDArray[np.int64], queries: Scores) -> Scores:
    return -np.array([((queries - mean) ** 2).sum(axis=1) for mean in means_of(X, y)]).T


def batch_slda(X: Scores, y: NDArray[np.int64], queries: Scores) -> Scores:
    """With the covariance within classes, which the streaming one comes close to."""
    means = means_of(X, y)
    within = np.cov((X - means[y]).T, bias=True)
    weights = np.linalg.solve((1 - 1e-4) * within + 1e-4 * np.eye(len(within)), means.T)
    return np.asarray(queries @ weights - 0.5 * (means.T * weights).sum(axis=0))


def batch_sovr(X: Scores, y: NDArray[np.int64], queries: Scores) -> Scores:
    own = queries @ means_of(X, y).T
    rest = queries @ np.array([X[y != k].mean(axis=0) for k in range(y.max() + 1)]).T
    return np.asarray(own / (own + rest))


def batch_naive_bayes(X: Scores, y: NDArray[np.int64], queries: Scores) -> Scores:
    classes = y.max() + 1
    model = GaussianNB(priors=np.full(classes, 1 / classes), var_smoothing=0).fit(X, y)
    model.var_ = (1 - 1e-4) * model.var_ + 1e-4
    return np.asarray(model.predict_joint_log_proba(queries))


BATCH: dict[str, tuple[Baseline, Callable[..., Scores]]] = {
    "ncm": (NCM(normalise=True), batch_ncm),
    "slda": (SLDA(normalise=True), batch_slda),
    "slda, centred": (SLDA("centred", normalise=True), batch_slda),
    "sovr": (SOvR(normalise=True), batch_sovr),
    "naive bayes": (NaiveBayes(normalise=True), batch_naive_bayes),
}


RIVALS: dict[str, tuple[Baseline, Callable[..., Scores]]] = {
    "rls": (LeastSquares(), rivals.least_squares),
    "ranpac": (RanPAC(700), partial(rivals.ranpac, features=700, seed=0)),
    "klda": (KLDA(features=500), partial(rivals.klda, features=500, seed=0, gamma=0.1, shrinkage=0.2, cosine=False)),
    "klda, cosine": (
        KLDA("cosine", features=500),
        partial(rivals.klda, features=500, seed=0, gamma=0.1, shrinkage=0.2, cosine=True),
    ),
    "fecam": (FeCAM(), partial(rivals.fecam, gamma1=10.0, gamma2=10.0, power=1.0)),
    "rda": (StreamingRDA(), partial(rivals.rda, share=0.8, shrinkage=0.5)),
    "knn": (KNN(), partial(rivals.knn, k=5, weighted=True)),
    "xdnn": (XDNN(), partial(rivals.xdnn, farthest=True)),
    "xdnn, mended": (XDNN("mended"), partial(rivals.xdnn, farthest=False)),
}
FEW = 300  # questions: some batch computations take their time


def accuracy(model: Baseline, task: Task, how: str, seed: int = 0) -> float:
    order = task.order(how, seed)
    return float((model.fit(task.X[order], task.y[order]).predict(task.X_test) == task.y_test).mean())


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("learner", BATCH)
def test_a_stream_gives_what_a_batch_gives(data_folder: Path, learner: str, name: str) -> None:
    task = Task(name, data_folder)
    labels, y = np.unique(task.y, return_inverse=True)
    model, batch = BATCH[learner]
    scores = batch(normalise(task.X), y, normalise(task.X_test))
    expected = float((labels[scores.argmax(axis=1)] == task.y_test).mean())
    for how in ("iid", "class-iid"):
        assert accuracy(model, task, how) == pytest.approx(expected, abs=POINT)


@pytest.mark.parametrize("name", ["grocery81-5shot", "scene15"])
@pytest.mark.parametrize("learner", RIVALS)
def test_a_stream_of_a_stronger_baseline_gives_what_a_batch_gives(data_folder: Path, learner: str, name: str) -> None:
    task = Task(name, data_folder)
    order = task.order("class-iid", 0)
    numbers: dict[str, int] = {}
    y = np.array([numbers.setdefault(label, len(numbers)) for label in task.y[order].tolist()])
    asked = np.random.default_rng(0).permutation(len(task.y_test))[:FEW]
    X, queries = normalise(task.X[order]), normalise(task.X_test[asked])
    model, batch = RIVALS[learner]
    truths = task.y_test[asked]
    expected = float((np.array(list(numbers))[batch(X, y, queries).argmax(axis=1)] == truths).mean())
    model = clone(model).set_params(normalise=True).fit(task.X[order], task.y[order])
    found = float((model.predict(task.X_test[asked]) == truths).mean())
    assert found == pytest.approx(expected, abs=POINT)


@pytest.mark.parametrize("name", ["grocery81-5shot", "grocery81-10shot"])
def test_centred_slda_is_the_batch_form_with_few_examples_too(data_folder: Path, name: str) -> None:
    """The published rule is 3 points below it with five (docs/baselines.md)."""
    task = Task(name, data_folder)
    labels, y = np.unique(task.y, return_inverse=True)
    expected = labels[batch_slda(normalise(task.X), y, normalise(task.X_test)).argmax(axis=1)]
    for how in ("iid", "class-iid"):
        order = task.order(how, 0)
        model = SLDA("centred", normalise=True).fit(task.X[order], task.y[order])
        assert (model.predict(task.X_test) == expected).mean() > 0.999


@pytest.mark.parametrize("model", [NCM(), SOvR(), NaiveBayes(), NaiveBayes("hayes"), SLDA("centred")], ids=str)
def test_the_order_does_not_matter_where_that_is_promised(data_folder: Path, model: Baseline) -> None:
    task = Task("scene15", data_folder)
    answers = []
    for how, seed in (("iid", 0), ("iid", 1), ("class-iid", 0)):
        order = task.order(how, seed)
        answers.append(model.fit(task.X[order], task.y[order]).predict(task.X_test))
    assert all((other == answers[0]).mean() > 0.999 for other in answers[1:])


@pytest.mark.parametrize("model", [Perceptron(), FineTune()], ids=str)
def test_one_class_after_the_other_is_forgotten(data_folder: Path, model: Baseline) -> None:
    task = Task("scene15", data_folder)
    assert accuracy(model, task, "class-iid") < 0.5 * accuracy(model, task, "iid")


def test_replay_forgets_less_the_more_it_keeps(data_folder: Path) -> None:
    task = Task("scene15", data_folder)
    forgetful, few, many = (accuracy(model, task, "class-iid") for model in (FineTune(), Replay(2), Replay(20)))
    assert forgetful + 0.2 < few < many
