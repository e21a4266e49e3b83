import numpy as np
import pytest

import peers

OURS = ["exll, paper", "exll, glocal", "our SLDA"]


def test_every_learner_that_is_installed_learns_and_answers(capsys: pytest.CaptureFixture[str]) -> None:
    times = peers.compare(12, samples=120, questions=30, pairs=2, wanted=[*OURS, "scikit-learn GaussianNB"])
    assert list(times) == [*OURS, "scikit-learn GaussianNB"]
    for taken in times.values():
        assert min(taken.learning, taken.answering, taken.both) > 0
        assert 1 / peers.CLASSES < taken.accuracy <= 1
    peers.report(12, 120, times)
    assert "| our SLDA |" in capsys.readouterr().out


def test_a_peer_that_is_missing_is_left_out_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> peers.Learner:
        raise ImportError("No module named 'nowhere'")

    found = dict(peers.installed({"nobody's": missing, "ours": peers.learners(4, 2)["our SLDA"]}))
    assert list(found) == ["ours"]
    assert capsys.readouterr().out == "nobody's is left out: No module named 'nowhere'.\n"


def test_all_learn_the_samples_that_they_are_given() -> None:
    learner = peers.learners(2, 2)["scikit-learn GaussianNB"]()
    rows = learner.rows(np.array([[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]], np.float32))
    for x, k in zip(rows, [0, 1, 0, 1], strict=True):
        learner.learn(x, k)
    assert [learner.answer(x) for x in rows] == [0, 1, 0, 1]


def test_the_promise_is_judged_by_learning_and_answering(capsys: pytest.CaptureFixture[str]) -> None:
    ours = peers.Times(learning=1.0, answering=1.0, both=10.0, accuracy=0.5)
    for theirs, kept in ((49.0, "BROKEN"), (50.0, "kept")):
        peer = peers.Times(learning=1.0, answering=1.0, both=theirs, accuracy=0.5)
        peers.report(4, 10, {peers.REFERENCE: ours, peers.PEER: peer})
        assert capsys.readouterr().out.strip().endswith(kept)
