"""State that one writer changes at a time, that others may ask between two changes, and that says so when a change
broke off."""

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from exll.errors import LearningInterruptedError
from exll.learner.interrupts import interrupt_deferred
from exll.learner.threads import one_blas_thread

Answers = TypeVar("Answers")


class Guarded(Generic[Answers]):
    """A subclass changes itself inside ``_changing`` and makes its answers in ``_make_answers``: a frozen picture that
    shares nothing with what learning changes, kept until the next change."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._broken = False
        self._answers: Answers | None = None

    def _make_answers(self) -> Answers:
        raise NotImplementedError

    def _asked(self) -> Answers:
        with self.lock:
            self._check_whole()
            if self._answers is None:
                with one_blas_thread():
                    self._answers = self._make_answers()
            return self._answers

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Alone, and with a keyboard interrupt held back. Whoever breaks off inside leaves a model that says so."""
        with self.lock, interrupt_deferred():
            self._check_whole()
            self._answers = None
            self._broken = True
            yield
            self._broken = False

    def _check_whole(self) -> None:
        if self._broken:
            raise LearningInterruptedError(
                "learning broke off inside a sample, so this model can no longer be trusted; load the last saved one."
            )

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            self._check_whole()
            attributes = {name: value for name, value in self.__dict__.items() if name not in ("lock", "_answers")}
            return copy.deepcopy(attributes)  # what is being pickled must not change meanwhile

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """What was mapped from a file for reading only is copied, since learning writes to it."""
        self.__dict__.update(copy.deepcopy(attributes), lock=threading.RLock(), _answers=None)
