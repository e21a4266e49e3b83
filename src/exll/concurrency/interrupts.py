"""Ctrl-C waits until no change is half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_deferred() -> Iterator[None]:
    """Hold a keyboard interrupt back until the end of the block. Only the main thread gets any, so only there is work
    to do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # ignored, the system's default, or not Python's: nothing would be raised
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if held:
            handler(*held[0])
