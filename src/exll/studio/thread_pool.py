"""Threads beside the event loop, with a bounded queue: when it is full, the next request is refused."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from exll.studio.errors import BusyError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class BoundedPool:
    def __init__(self, threads: int, most_pending: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, f"studio {name}")
        self._most_pending = most_pending
        self._pending = 0
        self._lock = threading.Lock()

    async def run(
        self, work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        with self._lock:
            if self._pending >= self._most_pending:
                raise BusyError("the studio is busy.", "Try again in a moment.")
            self._pending += 1
        try:
            future = self._pool.submit(contextvars.copy_context().run, partial(work, *args, **kwargs))
        except RuntimeError:  # it was closed
            self._finished()
            raise _closed() from None
        future.add_done_callback(self._finished)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # nobody waits for the answer any more
                raise
            raise _closed() from None

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _finished(self, _: Future[Any] | None = None) -> None:
        with self._lock:
            self._pending -= 1


def _closed() -> BusyError:
    return BusyError("this project is being closed.", "Try again in a moment.")
