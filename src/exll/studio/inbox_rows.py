"""The table of the Inbox: photos that were asked about and found unusual or unknown. Each waits for as long as no
example shows the same photo or a region of it: naming it takes it out, and undo brings it back by itself."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exll.types import Level

WAITS = (
    "(NOT EXISTS (SELECT 1 FROM examples WHERE examples.digest = inbox.digest AND NOT deleted) AND "
    "digest NOT IN (SELECT source FROM examples WHERE source IS NOT NULL AND NOT deleted))"
)
PHOTO = "SELECT id, digest, format, bytes, vector, name, asked_at, level, label, probability, novelty FROM inbox"


@dataclass(frozen=True)
class AskedPhoto:
    """A photo on the disk with what was answered when somebody asked; ``id`` is 0 where it has no row yet."""

    id: int
    digest: str
    format: str
    nbytes: int
    vector: NDArray[np.float32]
    name: str
    asked_at: float
    level: Level
    label: str  # the nearest class
    probability: float
    novelty: float | None


def waiting(connection: sqlite3.Connection) -> list[AskedPhoto]:
    """The oldest first."""
    return _photos(connection.execute(f"{PHOTO} WHERE {WAITS} ORDER BY id"))


def numbered(connection: sqlite3.Connection, numbers: str) -> list[AskedPhoto]:
    """Also those that do not wait; ``numbers`` are JSON."""
    return _photos(connection.execute(f"{PHOTO} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", (numbers,)))


def waiting_numbers(connection: sqlite3.Connection) -> set[int]:
    return {number for (number,) in connection.execute(f"SELECT id FROM inbox WHERE {WAITS}")}


def add(connection: sqlite3.Connection, photo: AskedPhoto, most: int, most_bytes: int) -> list[str]:
    """Gives the digests of those that have to go for it: of the waiting ones the oldest, and as many that do not wait
    are kept for undo."""
    vector = photo.vector.astype("<f4").tobytes()
    answer = photo.level, photo.label, photo.probability, photo.novelty
    connection.execute(
        "INSERT INTO inbox (digest, format, bytes, vector, name, asked_at, level, label, probability, novelty) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (photo.digest, photo.format, photo.nbytes, vector, photo.name, photo.asked_at, *answer),
    )
    gone: list[str] = []
    for which, most_of_these in ((WAITS, most_bytes), (f"NOT {WAITS}", 2**62)):
        newest = (
            "SELECT id, row_number() OVER (ORDER BY id DESC) AS place, sum(bytes) OVER (ORDER BY id DESC) AS total "
            f"FROM inbox WHERE {which}"
        )
        query = (
            f"DELETE FROM inbox WHERE id IN (SELECT id FROM ({newest}) WHERE place > ? OR total > ?) RETURNING digest"
        )
        gone += [digest for (digest,) in connection.execute(query, (most, most_of_these)).fetchall()]
    return gone


def remove(connection: sqlite3.Connection, numbers: str) -> list[str]:
    """Of those that wait; gives their digests."""
    query = f"DELETE FROM inbox WHERE id IN (SELECT value FROM json_each(?)) AND {WAITS} RETURNING digest"
    return [digest for (digest,) in connection.execute(query, (numbers,)).fetchall()]


def _photos(rows: sqlite3.Cursor) -> list[AskedPhoto]:
    return [_photo(row) for row in rows]


def _photo(row: Sequence[object]) -> AskedPhoto:
    number, digest, format, nbytes, vector, *rest = row
    return AskedPhoto(number, digest, format, nbytes, np.frombuffer(vector, np.float32), *rest)  # type: ignore[arg-type, call-overload]
