"""One bound on the memory that all decoders of a process take together."""

import ctypes
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

KEPT_BY_THE_ALLOCATOR = 16_000_000  # claims up to this size need not be returned to the system


class DecodingMemory:
    """A number of bytes that threads share. Who does not fit waits, first come, first served.

    A thread claims all it needs at once and then waits for nothing, so that nobody waits forever. What a thread reads
    while it holds a claim belongs to that claim.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._free = limit
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()
        self._thread = threading.local()

    @contextmanager
    def claim(self, size: int) -> Iterator[None]:
        """Holds so many bytes, or all there are if that is less, until the block ends."""
        if getattr(self._thread, "holds_claim", False):
            yield
            return
        size, place = min(size, self.limit), object()
        with self._changed:
            self._queue.append(place)
            try:
                self._changed.wait_for(lambda: self._queue[0] is place and size <= self._free)
                self._free -= size
            finally:  # also where the waiting was interrupted
                self._queue.remove(place)
                self._changed.notify_all()
        self._thread.holds_claim = True
        try:
            yield
        finally:
            self._thread.holds_claim = False
            if size > KEPT_BY_THE_ALLOCATOR:
                _return_freed_memory()
            with self._changed:
                self._free += size
                self._changed.notify_all()


def _return_freed_memory() -> None:
    """To the system. glibc keeps what a thread has freed for that thread alone, hundreds of megabytes in each."""
    with suppress(AttributeError, OSError, TypeError):  # another allocator, which has no such function
        ctypes.CDLL(None).malloc_trim(0)


DECODING = DecodingMemory(460_000_000)
