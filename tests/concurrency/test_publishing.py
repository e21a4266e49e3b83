"""A published moment answers as the learner did then, waits for nobody, and costs little memory."""

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exll import ExLLClassifier
from exll.errors import InputError
from exll.explain.explanation import explain
from exll.explain.progress import progress_of
from exll.explain.rules import rules_of
from exll.explain.topology import topology_of
from exll.learner.exll import ExLL
from exll.types import RecordsKind
from support import assert_equal_models, both_presets

WIDTH, PATIENCE = 10, 60


def stream(rows: int) -> tuple[NDArray[np.float64], list[str], list[str]]:
    rng = np.random.default_rng(5)
    centres, kinds = 3 * rng.normal(size=(4, WIDTH)), rng.integers(0, 4, rows)
    X = centres[kinds] + rng.normal(size=(rows, WIDTH))
    return X, [f"kind {k}" for k in kinds], [f"{i}.jpg" for i in range(rows)]


def taught(preset: str, rows: int = 60, records: RecordsKind = "vectors") -> ExLLClassifier:
    X, y, refs = stream(rows)
    return ExLLClassifier(preset, records=records, lengths="ignored").partial_fit(X, y, refs=refs)


def all_said(learner: ExLL) -> dict[str, Any]:
    """Whatever can be asked, in values that can be compared."""
    X, _, _ = stream(5)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    laid_out, expected = topology_of(learner, "pca"), learner.expected()
    return {
        "expected": expected and [numbers.tolist() for numbers in expected],
        "posteriors": learner.inference().posteriors(X, "fused")[1].tolist(),
        "explained": [explain(learner, x).to_dict() for x in X],
        "rules": [rule.to_dict() for rule in rules_of(learner, "prototype")],
        "progress": [progress.to_dict() for progress in progress_of(learner)],
        "map": (laid_out.positions.tolist(), laid_out.names, laid_out.edges),
        "sizes": (learner.sample_count, learner.class_count, learner.prototype_count, learner.labels),
    }


@both_presets
@pytest.mark.parametrize("records", ["none", "refs", "vectors", 3])
def test_a_published_moment_stays_as_it_was(preset: str, records: RecordsKind) -> None:
    model = taught(preset, records=records)
    then = all_said(model.learner_)
    published = model.learner_.publish()
    assert all_said(published) == then
    X, y, refs = stream(400)
    model.partial_fit(X, y, refs=refs)
    model.rename_class("kind 0", "kind 1", merge=True)
    model.learner_.rename_refs(lambda ref: f"renamed {ref}")
    assert all_said(published) == then
    assert all_said(model.learner_.publish()) == all_said(model.learner_) != then


@both_presets
def test_whoever_asks_is_answered_while_somebody_learns(preset: str) -> None:
    learner = taught(preset).learner_
    then = all_said(learner.publish())
    learning, ended, answered = threading.Event(), threading.Event(), threading.Event()
    answers = []

    def learn() -> None:
        with learner._changing():
            learning.set()
            ended.wait()

    def ask() -> None:
        published = learner.published()
        assert published is not None
        answers.append(all_said(published))
        answered.set()

    threads = [threading.Thread(target=learn), threading.Thread(target=ask)]
    threads[0].start()
    learning.wait()
    threads[1].start()
    answered.wait(PATIENCE)
    answered_meanwhile = answers.copy()
    ended.set()
    for thread in threads:
        thread.join()
    assert answered_meanwhile == [then]


@both_presets
def test_publishing_changes_nothing_of_what_is_learned(preset: str) -> None:
    X, y, refs = stream(80)
    one, other = (ExLLClassifier(preset, records="vectors") for _ in range(2))
    for row in range(len(X)):
        for model in (one, other):
            model.partial_fit(X[row : row + 1], y[row : row + 1], refs=refs[row : row + 1])
        one.learner_.publish()
    assert_equal_models(one, other)


@both_presets
def test_only_the_learner_itself_learns_and_is_saved(preset: str) -> None:
    model = taught(preset)
    assert model.learner_.published() is None
    published = model.learner_.publish()
    assert model.learner_.published() is published
    for change in (
        lambda: published.learn(np.eye(WIDTH)[:1], ["kind 0"]),
        lambda: published.rename_class("kind 0", "thing"),
        published.state,
        lambda: pickle.dumps(published),
    ):
        with pytest.raises(InputError, match="read-only snapshot"):
            change()
    assert pickle.loads(pickle.dumps(model)).learner_.published() is None


@both_presets
def test_what_is_large_is_shared_with_the_learner(preset: str) -> None:
    learner = taught(preset).learner_
    published = learner.publish()
    assert published._statistics.scatter is learner._statistics.scatter
    assert published._precision is learner._precision
    own, shared = learner._records.all_vectors(), published._records.all_vectors()
    assert own is not None
    assert shared is not None
    assert np.shares_memory(own.codes, shared.codes)
