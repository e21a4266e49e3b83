"""A forked process can use what its parent made, or is told that it cannot."""

import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.concurrency.fork_safe_lock import ForkSafeLock
from exll.errors import LearningInterruptedError
from support import both_presets

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def in_child(check: Callable[[], bool]) -> bool:
    """Whether a check holds in a forked process; one that hangs is ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            held = check()
        except BaseException:
            os._exit(2)
        os._exit(0 if held else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Held:
    """A thread that is inside ``block`` until told to leave."""

    def __init__(self, enter: Callable[[threading.Event, threading.Event], None]) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=enter, args=(self.inside, self.leave))

    def __enter__(self) -> None:
        self._thread.start()
        assert self.inside.wait(60)

    def __exit__(self, *_: object) -> None:
        self.leave.set()
        self._thread.join()


def taught(preset: str) -> ExLLClassifier:
    rng = np.random.default_rng(0)
    return ExLLClassifier(preset).fit(rng.normal(size=(40, 6)), rng.integers(0, 3, 40))


@both_presets
def test_a_process_forked_while_another_thread_learns_says_that_learning_was_interrupted(preset: str) -> None:
    model = taught(preset)

    def learn(inside: threading.Event, leave: threading.Event) -> None:
        with model.learner_._changing():
            inside.set()
            leave.wait()

    def refused() -> bool:
        try:
            model.predict(np.ones((1, 6)))
        except LearningInterruptedError:
            return True
        return False

    with Held(learn):
        assert in_child(refused)
    assert len(model.predict(np.ones((1, 6)))) == 1  # the parent goes on


@both_presets
def test_a_process_forked_while_another_thread_asks_goes_on(preset: str) -> None:
    model = taught(preset)
    expected = model.predict(np.ones((1, 6))).tolist()

    def ask(inside: threading.Event, leave: threading.Event) -> None:
        with model.learner_.lock:
            inside.set()
            leave.wait()

    with Held(ask):
        assert in_child(lambda: model.predict(np.ones((1, 6))).tolist() == expected)


def test_a_lock_that_the_forking_thread_holds_stays_its_own() -> None:
    lock = ForkSafeLock()

    def others_wait() -> bool:
        got = threading.Event()

        def take() -> None:
            with lock:
                got.set()

        with lock:
            other = threading.Thread(target=take)
            other.start()
            early = got.wait(0.2)
        lock.__exit__(None, None, None)  # the parent's block, which this process is inside of, too
        other.join()
        return not early and got.is_set()

    with lock:
        assert in_child(others_wait)
