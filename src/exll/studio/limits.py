"""Limits: bytes per request, checked before and while they are read, and requests per second and address."""

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exll.studio.error_responses import error_response
from exll.studio.errors import StudioError, TooLargeError, TooOftenError
from exll.studio.guards import OPEN_PATHS

MOST_FILE_BYTES = 32_000_000
MOST_BODY_BYTES = 128_000_000
MOST_IMPORT_BYTES = 1_000_000_000
MOST_OPEN_BYTES = 64_000  # where no token is asked for
MOST_TEXT_BYTES = 1_000_000  # of JSON and of all else that brings no files
IMPORT_PATH = "/api/project/import"
ADDRESSES_KEPT = 1024
LONGEST_LENGTH = 15  # digits


class BodyLimit:
    """Refuses by the announced length, and counts what arrives: the announced length may be wrong or missing."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        brings_files = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        most = _most_bytes(scope["path"], brings_files)
        size = f"{most // 1_000_000:,} MB" if most >= 1_000_000 else f"{most // 1000} kB"
        kind = "a request" if brings_files else "a request without files"
        error = TooLargeError(f"{kind} may have at most {size}.", "Send less at a time.")
        announced = headers.get(b"content-length", b"0")
        if not announced.isdigit() or len(announced) > LONGEST_LENGTH or int(announced) > most:
            await error_response(error)(scope, receive, send)
            return
        await _Counted(self.app, most, error).run(scope, receive, send)


def _most_bytes(path: str, brings_files: bool) -> int:
    if path in OPEN_PATHS:
        return MOST_OPEN_BYTES
    if not brings_files:
        return MOST_TEXT_BYTES
    return MOST_IMPORT_BYTES if path == IMPORT_PATH else MOST_BODY_BYTES


class _Counted:
    def __init__(self, app: ASGIApp, most: int, error: StudioError) -> None:
        self._app, self._most, self._error = app, most, error
        self._got = 0
        self._all_read = False
        self._answered = False

    @property
    def _too_much(self) -> bool:
        return self._got > self._most

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted() -> Message:
            message = await receive()
            self._got += len(message.get("body", b""))
            self._all_read = not message.get("more_body", False)
            if self._too_much:
                raise self._error
            return message

        async def answer(message: Message) -> None:
            # A malformed body is refused at its first bad byte. Where it is also too large, that is the better reason.
            if message.get("status") == 400:
                while not (self._all_read or self._too_much):
                    with contextlib.suppress(TooLargeError):
                        await counted()
            # Whoever reads the body may have made an answer of its own out of the error.
            if self._too_much and not self._answered:
                return
            self._answered = True
            await send(message)

        try:
            await self._app(scope, counted, answer)
        except TooLargeError:
            if self._answered:
                raise
        if self._too_much and not self._answered:
            await error_response(self._error)(scope, receive, send)


class Bucket:
    """So many at once, and so many per second after that."""

    def __init__(self, at_once: float, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._at_once, self._per_second, self._now = at_once, per_second, now
        self._left, self._filled_at = at_once, now()

    def take(self) -> float:
        """Take one. Gives 0, or the seconds until there is one to take."""
        now = self._now()
        self._left = min(self._at_once, self._left + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0


class Buckets:
    """One per address. Only the addresses that came last are kept, so that memory is bounded."""

    def __init__(self, at_once: float, per_second: float) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._of_address: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._of_address)

    def take(self, address: str) -> float:
        with self._lock:
            bucket = self._of_address.pop(address, None) or Bucket(self._at_once, self._per_second)
            self._of_address[address] = bucket
            while len(self._of_address) > ADDRESSES_KEPT:
                self._of_address.popitem(last=False)
            return bucket.take()


def wrong_logins() -> Buckets:
    """How many wrong tokens one address may send."""
    return Buckets(10, 0.2)


class RateLimit:
    """Requests of one address."""

    def __init__(self, app: ASGIApp, at_once: float = 600, per_second: float = 300) -> None:
        self.app = app
        self._requests = Buckets(at_once, per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            wait = self._requests.take((scope.get("client") or ("", 0))[0])
            if wait:
                error = TooOftenError("too many requests.", "Try again in a moment.", wait)
                await error_response(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)
