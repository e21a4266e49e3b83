"""Images that were asked about a moment ago, so that "why" and "no, it is ..." need not send them again."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from exll.studio.analysed_image import AnalysedImage
from exll.studio.errors import MissingError

MOST_KEPT = 64
MOST_BYTES = 96_000_000


@dataclass(frozen=True)
class RecentImage:
    """An image under the name that it was sent with."""

    name: str
    image: AnalysedImage


class RecentImages:
    """The last ones, in memory only; what is to stay goes to the Inbox (:mod:`exll.studio.inbox`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, RecentImage] = OrderedDict()
        self._nbytes = 0
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many requests wait for an answer right now."""
        return self._waiting

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def keep(self, recent: RecentImage) -> None:
        digest = recent.image.digest
        with self._lock:
            self._drop(digest)
            self._kept[digest] = recent
            self._nbytes += recent.image.nbytes
            while len(self._kept) > MOST_KEPT or (self._nbytes > MOST_BYTES and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))

    def of(self, digest: str) -> RecentImage:
        with self._lock:
            if digest not in self._kept:
                raise MissingError("this photo is no longer in memory.", "Send the photo again.")
            self._kept.move_to_end(digest)
            return self._kept[digest]

    def _drop(self, digest: str) -> None:
        dropped = self._kept.pop(digest, None)
        self._nbytes -= 0 if dropped is None else dropped.image.nbytes
