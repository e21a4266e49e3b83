"""Events for open pages: published by any thread, read by each subscriber at its own pace; a publisher never waits."""

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

from exll.studio.errors import BusyError

MOST_SUBSCRIBERS = 64
MOST_UNHEARD = 100
HEARTBEAT_SECONDS = 15.0


class _Subscriber:
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.unheard: asyncio.Queue[str | None] = asyncio.Queue()

    def hear(self, message: str | None) -> None:
        """In the subscriber's loop. Who falls far behind gets one event "missed" instead of all that it missed."""
        if message is not None and self.unheard.qsize() >= MOST_UNHEARD:
            while not self.unheard.empty():
                self.unheard.get_nowait()
            message = _message(0, "missed", {})
        self.unheard.put_nowait(message)


class Events:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: set[_Subscriber] = set()
        self._numbers = itertools.count(1)
        self._closed = False

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        self._tell(_message(next(self._numbers), kind, data))

    def close(self) -> None:
        """Every stream ends, so that the server can."""
        self._closed = True
        self._tell(None)

    def subscribe(self) -> AsyncIterator[str]:
        """Server-sent events as text, until the studio closes; a comment now and then keeps the line open."""
        subscriber = _Subscriber()
        with self._lock:
            if self._closed or len(self._subscribers) >= MOST_SUBSCRIBERS:
                raise BusyError("too many pages are open already.", "Close some of them.")
            self._subscribers.add(subscriber)
        return self._heard_by(subscriber)

    async def _heard_by(self, subscriber: _Subscriber) -> AsyncIterator[str]:
        try:
            yield _message(0, "hello", {})
            while True:
                try:
                    message = await asyncio.wait_for(subscriber.unheard.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if message is None:
                    return
                yield message
        finally:
            with self._lock:
                self._subscribers.discard(subscriber)

    def _tell(self, message: str | None) -> None:
        with self._lock:
            for subscriber in self._subscribers:
                if not subscriber.loop.is_closed():
                    subscriber.loop.call_soon_threadsafe(subscriber.hear, message)


def _message(number: int, kind: str, data: dict[str, Any]) -> str:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"
