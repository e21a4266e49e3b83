"""How many photos the Inbox accepts, and when."""

import time
from collections.abc import Callable

from exll.studio.limits import Buckets

MOST_PHOTOS, MOST_BYTES = 500, 200_000_000
AT_ONCE, PER_SECOND = 20, 1.0  # of one address: a handful of photos, and one per second of a live camera
LOOKED_AT_SECONDS = 600.0  # for so long, what somebody looks at is not pushed out


class Incoming:
    """``look`` is called whenever somebody looks at the Inbox."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._addresses = Buckets(AT_ONCE, PER_SECOND)
        self._now = now
        self._looked_at = -LOOKED_AT_SECONDS
        self.known: frozenset[int] = frozenset()  # those that taught nothing new when the model last saw what waits

    def accepts(self, address: str) -> bool:
        return not self._addresses.take(address)

    def look(self) -> None:
        self._looked_at = self._now()

    @property
    def is_looked_at(self) -> bool:
        return self._now() - self._looked_at < LOOKED_AT_SECONDS
