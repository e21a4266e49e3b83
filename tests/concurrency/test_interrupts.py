import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.concurrency.interrupts import interrupt_deferred
from exll.errors import LearningInterruptedError
from exll.learner.megacloud import MegaClouds
from exll.learner.records import AllRecords
from support import both_presets, random_stream


def test_ctrl_c_waits_until_nothing_is_half_done() -> None:
    finished = []

    def work() -> None:
        with interrupt_deferred():
            signal.raise_signal(signal.SIGINT)
            finished.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert finished == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with interrupt_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@both_presets
def test_an_interrupted_call_leaves_a_model_of_the_samples_it_learned(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = random_stream(1, samples=390, width=10, classes=8)
    stream = replace(stream, y=[i // 50 for i in range(390)])  # most classes come after the interrupt
    classifier = ExLLClassifier(preset, records="vectors")
    classifier.partial_fit(stream.X[:1], stream.y[:1])
    press_ctrl_c_at(100, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        classifier.partial_fit(stream.X[1:], stream.y[1:])
    learned = classifier.learner_.sample_count
    assert 100 <= learned < 390
    twin = ExLLClassifier(preset, records="vectors").partial_fit(stream.X[:learned], stream.y[:learned])
    assert classifier.classes_.tolist() == twin.classes_.tolist()
    one, other = classifier.learner_.state(), twin.learner_.state()
    assert one.keys() == other.keys()
    np.testing.assert_array_equal(one["prototypes.counts"], other["prototypes.counts"])
    classifier.partial_fit(stream.X[learned:], stream.y[learned:])
    assert classifier.learner_.sample_count == 390


def press_ctrl_c_at(sample: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of learning one sample, as it would be recorded."""
    add, calls = AllRecords.add, [0]

    def interrupted_add(*args: Any) -> None:
        calls[0] += 1
        if calls[0] == sample:
            signal.raise_signal(signal.SIGINT)
        add(*args)

    monkeypatch.setattr(AllRecords, "add", interrupted_add)


@both_presets
def test_a_model_that_broke_inside_a_sample_says_so_and_is_not_saved(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = random_stream(1, samples=60, width=10, classes=3)
    classifier = ExLLClassifier(preset).partial_fit(stream.X, stream.y)

    def out_of_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(AllRecords, "add", out_of_memory)
    with pytest.raises(MemoryError):
        classifier.partial_fit(stream.X, stream.y)
    with pytest.raises(LearningInterruptedError, match="load the last saved one"):
        classifier.predict(stream.X)
    with pytest.raises(LearningInterruptedError):
        classifier.partial_fit(stream.X, stream.y)
    with pytest.raises(LearningInterruptedError):
        classifier.save(tmp_path / "broken.exll")
    assert not list(tmp_path.iterdir())
    for ask in (classifier.rules, lambda: classifier.megacloud(0), lambda: classifier.rename_class(0, 9)):
        with pytest.raises(LearningInterruptedError):
            ask()


@both_presets
def test_ctrl_c_during_a_merge_leaves_labels_and_classes_together(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    merge = MegaClouds.merge

    def interrupted(*args: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        merge(*args)

    monkeypatch.setattr(MegaClouds, "merge", interrupted)
    classifier = ExLLClassifier(preset).fit(np.eye(4), ["a", "b", "c", "d"])
    with pytest.raises(KeyboardInterrupt):
        classifier.rename_class("b", "a", merge=True)
    assert classifier.predict(np.eye(4), "local").tolist() == ["a", "a", "c", "d"]
