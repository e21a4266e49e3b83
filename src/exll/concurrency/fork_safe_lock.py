"""A lock that a forked process can use, whatever its parent's threads were doing."""

import os
import threading
from types import TracebackType


class ForkSafeLock:
    """A reentrant lock. A forked process has none of its parent's other threads: a lock that one of them held would
    never be released there, so it is replaced by a new one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            if self._lock.acquire(blocking=False):
                return
            self._lock = threading.RLock()
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
