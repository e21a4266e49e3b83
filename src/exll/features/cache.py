"""Feature vectors that were computed before, by backbone and image content, in one SQLite file of bounded size.

SQLite makes it safe for several processes at once. An error of the cache (a full disk, a damaged file, a folder that
cannot be written) never stops a run; vectors are then computed again.
"""

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from exll.features.folders import cache_folder

DEFAULT_MEGABYTES = 512
EVICT_TO = 0.9
CHECK_EVERY = 1000  # vectors written between two looks at the size


class FeatureCache:
    """Vectors by key; the least recently used go first when room runs out."""

    def __init__(self, path: Path | None = None, most_bytes: int | None = None) -> None:
        self._most_bytes = _most_bytes() if most_bytes is None else most_bytes
        self._path = path
        self._threads = threading.local()
        self._since_check = CHECK_EVERY  # so that the first write looks
        self._off = self._most_bytes <= 0

    @staticmethod
    def key(identity: str, content: bytes) -> bytes:
        digest = hashlib.sha256(identity.encode())
        digest.update(content)
        return digest.digest()

    def get(self, keys: Sequence[bytes], width: int) -> dict[bytes, NDArray[np.float32]]:
        """Those of the vectors that are there and whole."""
        if self._off or not keys:
            return {}
        try:
            connection = self._connection()
            marks = ",".join("?" * len(keys))
            rows = connection.execute(f"SELECT key, vector FROM features WHERE key IN ({marks})", list(keys)).fetchall()
            if rows:
                self._touch(connection, [key for key, _ in rows])
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return {}
        return {key: np.frombuffer(vector, np.float32) for key, vector in rows if len(vector) == 4 * width}

    def put(self, vectors: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        if self._off:
            return
        now = int(time.time())
        rows = [(key, np.ascontiguousarray(vector, np.float32).tobytes(), now) for key, vector in vectors]
        try:
            connection = self._connection()
            with connection:
                connection.executemany("INSERT OR REPLACE INTO features VALUES (?, ?, ?)", rows)
            self._since_check += len(rows)
            if self._since_check >= CHECK_EVERY:
                self._since_check = 0
                self._evict(connection)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors kept."""
        try:
            return _size(self._connection())
        except (sqlite3.Error, OSError):
            return 0

    def _touch(self, connection: sqlite3.Connection, keys: list[bytes]) -> None:
        # Once an hour is enough to tell old from new, and spares a write for every read.
        now = int(time.time())
        with contextlib.suppress(sqlite3.OperationalError), connection:
            connection.executemany(
                "UPDATE features SET used = ? WHERE key = ? AND used < ?", [(now, key, now - 3600) for key in keys]
            )

    def _evict(self, connection: sqlite3.Connection) -> None:
        size = _size(connection)
        if size <= self._most_bytes:
            return
        surplus = size - EVICT_TO * self._most_bytes
        with connection:
            connection.execute(
                "DELETE FROM features WHERE key IN (SELECT key FROM ("
                "SELECT key, SUM(LENGTH(vector)) OVER (ORDER BY used, key ROWS UNBOUNDED PRECEDING) "
                "- LENGTH(vector) AS older FROM features) WHERE older < ?)",
                (surplus,),
            )
        connection.execute("PRAGMA incremental_vacuum")

    def _connection(self) -> sqlite3.Connection:
        """One connection per thread: SQLite's cannot be shared."""
        connection: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            path = self._path or cache_folder() / "features.sqlite"
            connection = _open(path)
            self._threads.connection = connection
        return connection

    def _give_up(self, error: Exception) -> None:
        """No cache for the rest of this run; a damaged file is cleared away for the next one."""
        self._off = True
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with contextlib.suppress(OSError):
                _remove(self._path or cache_folder() / "features.sqlite")


def _most_bytes() -> int:
    named = os.environ.get("EXLL_CACHE_MB", "")
    return 1_000_000 * (int(named) if named.isascii() and named.isdecimal() else DEFAULT_MEGABYTES)


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked or not writable, but not damaged
            raise
        _remove(path)
        return _connect(path)


def _remove(path: Path) -> None:
    """The database with what SQLite lays beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=20.0)
    connection.execute("PRAGMA page_size = 16384")  # several vectors a page, little of it left empty
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS features (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL)"
    )
    return connection


def _size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COALESCE(SUM(LENGTH(vector)), 0) FROM features").fetchone()[0])
