"""State that one writer changes at a time, that others may read between two changes, and that raises an error after a
change was interrupted."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Generic, Self, TypeVar

from exll.concurrency.fork_safe_lock import ForkSafeLock
from exll.concurrency.interrupts import interrupt_deferred
from exll.errors import InputError, LearningInterruptedError
from exll.linalg.threads import one_blas_thread

Answers = TypeVar("Answers")


class Guarded(Generic[Answers]):
    """A subclass changes itself inside ``_changing`` and makes its answers in ``_make_answers``: a snapshot that
    shares nothing with what learning changes, kept until the next change.

    :meth:`publish` keeps a snapshot: a learner that answers every question without waiting for the writer.
    """

    def __init__(self) -> None:
        self.lock: Any = ForkSafeLock()
        self._broken = False
        self._is_published = False
        self._outdated = False  # whether a change has left something to be done by _renew
        self._answers: Answers | None = None
        self._published: Self | None = None

    def _make_answers(self) -> Answers:
        raise NotImplementedError

    def _renew(self) -> None:
        """Bring up to date what a change left to be done when it is needed; holds the lock."""

    def _current_answers(self) -> Answers:
        with self.lock:
            self._check_whole()
            if self._answers is None:
                with one_blas_thread():
                    if self._outdated:
                        with self._changing():
                            self._renew()
                    self._answers = self._make_answers()
            return self._answers

    def publish(self) -> Self:
        """Keep a snapshot, exact answers included, for readers while learning continues."""
        with self.lock:
            answers = self._current_answers()
            published = object.__new__(type(self))
            published.__dict__.update(
                self._copied(self._shared()), lock=nullcontext(), _is_published=True, _answers=answers, _published=None
            )
            self._published = published
            return published

    def published(self) -> Self | None:
        """The last snapshot, without waiting for the writer; None before the first one."""
        return self._published

    def _shared(self) -> dict[int, Any]:
        """What stands in a published copy, by the id of what it stands for here, instead of a copy of that."""
        return {}

    def _copied(self, instead: dict[int, Any]) -> dict[str, Any]:
        own = {name: part for name, part in self.__dict__.items() if name not in ("lock", "_answers", "_published")}
        return copy.deepcopy(own, instead)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Alone, and with keyboard interrupts held back. An exception inside marks the state as broken."""
        with self.lock, interrupt_deferred():
            self._check_complete()
            self._answers = None
            self._broken = True
            yield
            self._broken = False

    def _check_whole(self) -> None:
        if self._broken:
            raise LearningInterruptedError(
                "learning stopped in the middle of a sample, so this model may be wrong; load the last saved one."
            )

    def _check_complete(self) -> None:
        self._check_whole()
        if self._is_published:
            raise InputError("this is a read-only snapshot of a model; use the model that it was taken from.")

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            self._check_complete()
            return self._copied({})  # what is being pickled must not change meanwhile

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """What was mapped from a file for reading only is copied, since learning writes to it."""
        self.__dict__.update(copy.deepcopy(attributes), lock=ForkSafeLock(), _answers=None, _published=None)
