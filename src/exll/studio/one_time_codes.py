"""Codes that open the studio once, within ten minutes, so that a phone need not type the token."""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

VALID_SECONDS = 600
CODE_BYTES = 20
MOST_CODES = 16


class OneTimeCodes:
    """Only their hashes are kept, and only those of the last ones. Each leads to a page."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._codes: list[tuple[bytes, float, str]] = []  # hash, end, page

    def make(self, page: str = "/") -> str:
        code = secrets.token_urlsafe(CODE_BYTES)
        with self._lock:
            self._codes = [*self._codes, (_hash(code), self._now() + VALID_SECONDS, page)][-MOST_CODES:]
        return code

    def use(self, code: str) -> str | None:
        """The page that it leads to, and it is used up; None where there is no such code (any more)."""
        given, now, page = _hash(code), self._now(), None
        with self._lock:
            self._codes = [known for known in self._codes if known[1] > now]
            left = []
            for known in self._codes:
                if hmac.compare_digest(known[0], given):
                    page = known[2]
                else:
                    left.append(known)
            self._codes = left
        return page


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "replace")).digest()
