"""The rows of a project in SQLite: what was taught, in which order, and every edit since, each ready to be undone.

One connection writes, always from the one writer's thread; every reading thread has a connection of its own. A commit
is on the disk when it returns (WAL with ``synchronous=FULL``).
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.errors import ExLLError
from exll.studio import inbox_rows
from exll.studio.edits import (
    HELD_OUT,
    NOTHING,
    TAUGHT,
    Change,
    Edit,
    Role,
    State,
    Wording,
    change_examples,
    history,
    is_undone,
    last_edit,
    log_kept,
    log_taught,
    next_redo,
    undo_or_redo,
)
from exll.studio.errors import ConflictError, MissingError
from exll.studio.inbox_rows import AskedPhoto
from exll.studio.schema import migrate
from exll.studio.totals import COUNTED, Totals
from exll.studio.versions import Version, add_version, remove_version, states_of, version, versions

DATABASE = "studio.db"
LARGEST_ID = 2**63 - 1
GIVEN = "(SELECT value FROM json_each(?))"  # any number of them, where a list of variables is bounded
LEARNED = "SELECT id, label, vector, clip FROM examples JOIN images USING (digest) WHERE NOT deleted"
ROW = f"{LEARNED} AND role <> 'held out'"
EXAMPLE = "SELECT id, digest, label, name, taught_at, deleted, role, box, source, clip FROM examples"
# The images that are to stay on the disk.
NEEDED = (
    "SELECT digest FROM images UNION SELECT source FROM examples WHERE source IS NOT NULL UNION "
    "SELECT digest FROM inbox"
)


@dataclass(frozen=True)
class StoredImage:
    """What is known of an image beside its bytes; ``vector`` is what the backbone made of it."""

    digest: str
    format: str
    nbytes: int
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class StoredExample:
    """What is known of an example beside its image."""

    id: int
    digest: str
    label: str
    name: str
    taught_at: float
    deleted: bool
    role: Role = TAUGHT
    box: str | None = None  # the region of the photo ``source`` that it is
    source: str | None = None
    clip: str | None = None  # the recording that it is a frame of


@dataclass(frozen=True)
class NewExample:
    """An image on the disk already, and what it is to be."""

    image: StoredImage
    label: str
    name: str
    role: Role = TAUGHT
    box: str | None = None
    source: str | None = None
    taught_at: float | None = None  # now
    clip: str | None = None


@dataclass(frozen=True)
class Row:
    """An example as the model learns it; its ref is its number. An empty label: an example of nothing."""

    id: int
    label: str
    vector: NDArray[np.float32]
    clip: str | None = None


class Store:
    def __init__(self, folder: Path) -> None:
        self.path = folder / DATABASE
        self._own = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._writer = self._connect()
        try:
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA synchronous = FULL")
            migrate(self._writer, str(self.path))
        except sqlite3.DatabaseError as error:
            self.close()
            raise ExLLError(f"{self.path} cannot be used as a project: {error}.") from error
        except BaseException:
            self.close()
            raise
        self.generation = int(self.metadata("generation") or 1)

    def close(self) -> None:
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    # -- reading

    def metadata(self, name: str) -> str | None:
        row = self._one("SELECT value FROM facts WHERE name = ?", name)
        return None if row is None else str(row[0])

    def image(self, digest: str) -> StoredImage | None:
        row = self._one("SELECT digest, format, bytes, vector FROM images WHERE digest = ?", digest)
        if row is None:
            return None
        digest, format, nbytes, vector = row
        return StoredImage(digest, format, nbytes, np.frombuffer(vector, np.float32))

    def digests(self) -> set[str]:
        """Of all images that belong to some example, deleted ones too, or to the inbox."""
        return {digest for (digest,) in self._reading().execute(NEEDED)}

    def example(self, number: int) -> StoredExample:
        """One that was ever taught, also where it is deleted now."""
        row = self._one(f"{EXAMPLE} WHERE id = ?", number)
        if row is None:
            raise MissingError(f"there is no example {number}.")
        return _example(row)

    def taught_as(self, digest: str) -> list[StoredExample]:
        """Where an image was taught."""
        return self._examples(f"{EXAMPLE} WHERE digest = ? AND NOT deleted ORDER BY id", digest)

    def is_taught(self, digest: str) -> bool:
        """Whether an image was taught, or a region of it."""
        query = "SELECT 1 FROM examples WHERE (digest = ?1 OR source = ?1) AND NOT deleted"
        return self._one(query, digest) is not None

    def examples(self, label: str | None, before: int, limit: int, role: Role | None = None) -> list[StoredExample]:
        """The newest first, from below a number on. Examples of nothing only where they are asked for."""
        of_label = "" if label is None else "AND label = :label "
        of_role = f"AND role <> '{NOTHING}' " if role is None else "AND role = :role "
        query = f"{EXAMPLE} WHERE NOT deleted AND id < :before {of_label}{of_role}ORDER BY id DESC LIMIT :limit"
        return self._examples(query, {"label": label, "before": before, "limit": limit, "role": role})

    def numbered(self, numbers: Iterable[int]) -> dict[int, StoredExample]:
        return {example.id: example for example in self._examples(f"{EXAMPLE} WHERE id IN {GIVEN}", _json(numbers))}

    def newest_of_each(self, count: int) -> dict[str, list[int]]:
        """The numbers of some examples of every class, the newest first."""
        query = (
            "SELECT label, id FROM (SELECT label, id, row_number() OVER (PARTITION BY label ORDER BY id DESC) AS place "
            "FROM examples WHERE NOT deleted AND role = 'taught') WHERE place <= ? ORDER BY label, place"
        )
        found: dict[str, list[int]] = {}
        for label, number in self._reading().execute(query, (count,)):
            found.setdefault(label, []).append(number)
        return found

    def counts(self, role: Role = TAUGHT) -> dict[str, int]:
        """How many examples each class has, in the order of first sight."""
        query = "SELECT label, count(*) FROM examples WHERE NOT deleted AND role = ? GROUP BY label ORDER BY min(id)"
        return dict(self._reading().execute(query, (role,)).fetchall())

    def totals(self) -> Totals:
        return Totals(*self._one(f"SELECT {COUNTED} FROM examples WHERE NOT deleted"))

    def rows_after(self, position: int, most: int) -> list[Row]:
        """What a model that stands at a number has to learn next."""
        return self._rows(f"{ROW} AND id > ? ORDER BY id LIMIT ?", position, most)

    def rows_of(self, numbers: Iterable[int]) -> list[Row]:
        """Those of these examples that are not deleted, in the order of their numbers."""
        return self._rows(f"{ROW} AND id IN {GIVEN} ORDER BY id", _json(numbers))

    def rows_of_role(self, role: Role) -> list[Row]:
        """All that were taught, or all that are held out, in the order of their numbers."""
        return self._rows(f"{LEARNED} AND role = ? ORDER BY id", role)

    def kept(self) -> set[int]:
        """Examples that somebody looked at and found right, with the label they have now."""
        query = "SELECT id FROM kept JOIN examples ON kept.example = id AND kept.label = examples.label"
        return {number for (number,) in self._reading().execute(query)}

    def last_edit(self) -> Edit | None:
        return last_edit(self._reading())

    def next_redo(self) -> Edit | None:
        return next_redo(self._reading())

    def is_undone(self, group: str) -> bool:
        """Whether the newest step of this group was undone."""
        return is_undone(self._reading(), group)

    def history(self, before: int, limit: int) -> list[Edit]:
        return history(self._reading(), before, limit)

    def versions(self) -> list[Version]:
        return versions(self._reading())

    def inbox(self) -> list[AskedPhoto]:
        """Those that wait, the oldest first."""
        return inbox_rows.waiting(self._reading())

    def inbox_photos(self, numbers: Iterable[int]) -> list[AskedPhoto]:
        return inbox_rows.numbered(self._reading(), _json(numbers))

    def inbox_numbers(self) -> set[int]:
        """Of those that wait."""
        return inbox_rows.waiting_numbers(self._reading())

    def checkpoints(self) -> list[tuple[str, int, int, str]]:
        """File, generation, position and version of every checkpoint, the newest first."""
        query = "SELECT file, generation, position, version FROM snapshots ORDER BY generation DESC, position DESC"
        return self._reading().execute(query).fetchall()

    # -- writing, in the writer's thread only

    def set_metadata(self, name: str, value: str) -> None:
        with self._transaction() as connection:
            _set_metadata(connection, name, value)

    def add(
        self, taught: Sequence[NewExample], kind: str, wording: Wording, group: str | None = None
    ) -> list[StoredExample]:
        """Examples in the order they are to be learned, as one edit; those of one group that follow one another are
        one edit together."""
        now, added = time.time(), list[StoredExample]()
        with self._transaction() as connection:
            for new in taught:
                image, taught_at = new.image, now if new.taught_at is None else new.taught_at
                connection.execute(
                    "INSERT OR IGNORE INTO images VALUES (?, ?, ?, ?)",
                    (image.digest, image.format, image.nbytes, image.vector.astype("<f4").tobytes()),
                )
                inserted = connection.execute(
                    "INSERT INTO examples (digest, label, name, taught_at, role, box, source, clip) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (image.digest, new.label, new.name, taught_at, new.role, new.box, new.source, new.clip),
                )
                assert inserted.lastrowid is not None
                about = image.digest, new.label, new.name, taught_at, False, new.role, new.box, new.source, new.clip
                added.append(StoredExample(inserted.lastrowid, *about))
            states = [State(example.id, example.label, example.role, 0) for example in added]
            log_taught(connection, kind, group, states, wording)
        return added

    def relabel(self, kind: str, wording: Callable[[int], str], numbers: Iterable[int], label: str) -> list[Change]:
        """Give live examples another label. An example of nothing is taught then. Where the image is in that class
        already, the example is deleted: no image is twice in a class."""
        query = "SELECT digest FROM examples WHERE NOT deleted AND label = ?"
        there = {digest for (digest,) in self._reading().execute(query, (label,))}
        wanted = []
        for example in self._live(numbers):
            if example.label == label:
                continue
            role = HELD_OUT if example.role == HELD_OUT else TAUGHT
            twice = example.digest in there
            wanted.append(
                State(example.id, example.label, example.role, 1) if twice else State(example.id, label, role, 0)
            )
            there.add(example.digest)
        return self._change(kind, wording, wanted)

    def delete(self, kind: str, wording: Callable[[int], str], numbers: Iterable[int]) -> list[Change]:
        """Photos that came from the inbox do not wait there again, unless they were said to be nothing."""
        live = self._live(numbers)
        gone = [digest for e in live if e.role != NOTHING for digest in (e.digest, e.source) if digest is not None]
        wanted = [State(example.id, example.label, example.role, 1) for example in live]
        return self._change(kind, wording, wanted, leave_inbox=gone)

    def set_role(self, kind: str, wording: Callable[[int], str], numbers: Iterable[int], role: Role) -> list[Change]:
        """Hold live examples of classes out, or have them learned."""
        classed = [example for example in self._live(numbers) if example.role != NOTHING]
        return self._change(kind, wording, [State(example.id, example.label, role, 0) for example in classed])

    def restore(self, number: int, wording: Callable[[Version], str]) -> list[Change]:
        """Bring all examples to what they were in a version."""
        there = version(self._reading(), number)
        return self._change("restore", lambda _: wording(there), states_of(self._reading(), number))

    def undo(self) -> tuple[Edit, list[Change]]:
        """Take the last edit back, as if it had never been."""
        return self._undo_or_redo(self.last_edit(), "there is nothing to undo.")

    def redo(self) -> tuple[Edit, list[Change]]:
        """Make the edit again that was undone last."""
        return self._undo_or_redo(self.next_redo(), "there is nothing to redo.")

    def add_version(self, name: str) -> Version:
        with self._transaction() as connection:
            number = add_version(connection, name)
        return version(self._reading(), number)

    def remove_version(self, number: int) -> None:
        with self._transaction() as connection:
            remove_version(connection, number)

    def renew(self, name: str, value: str) -> None:
        """Set a value that the model depends on: it has to be replayed."""
        with self._transaction() as connection:
            _set_metadata(connection, name, value)
            generation = self._next_generation(connection)
        self.generation = generation

    def keep(self, numbers: Iterable[int], wording: Callable[[int], str]) -> int:
        """Note examples as right. Says how many were not noted before; none is no edit."""
        with self._transaction() as connection:
            query = f"INSERT OR IGNORE INTO kept SELECT id, label FROM examples WHERE id IN {GIVEN} AND NOT deleted"
            kept = connection.execute(f"{query} RETURNING example, label", (_json(numbers),)).fetchall()
            if kept:
                log_kept(connection, wording(len(kept)), [State(number, label, TAUGHT, 0) for number, label in kept])
        return len(kept)

    def add_to_inbox(self, photo: AskedPhoto, most: int, most_bytes: int) -> list[str]:
        """The oldest go where it is full. Gives images nobody needs now."""
        with self._transaction() as connection:
            return _unneeded(connection, inbox_rows.add(connection, photo, most, most_bytes))

    def dismiss(self, numbers: Iterable[int]) -> tuple[int, list[str]]:
        """Remove waiting photos from the inbox: how many, and the images nobody needs now."""
        with self._transaction() as connection:
            gone = inbox_rows.remove(connection, _json(numbers))
            return len(gone), _unneeded(connection, gone)

    def purge(self) -> list[str]:
        """Forget deleted examples for good, also in versions, and with them what could be undone. Gives images nobody
        needs now."""
        with self._transaction() as connection:
            before = {digest for (digest,) in connection.execute(NEEDED)}
            connection.execute("DELETE FROM edits")
            connection.execute("DELETE FROM examples WHERE deleted")
            # those that were taught: without steps to undo they cannot come back to wait
            connection.execute(
                "DELETE FROM inbox WHERE digest IN (SELECT digest FROM examples UNION SELECT source FROM examples)"
            )
            connection.execute("DELETE FROM images WHERE digest NOT IN (SELECT digest FROM examples)")
            needed = {digest for (digest,) in connection.execute(NEEDED)}
        return sorted(before - needed)

    def add_checkpoint(self, file: str, generation: int, position: int, version: str, keep: int) -> list[str]:
        """Note a checkpoint; gives the files of those that are one too many."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (file, generation, position, version)
            )
            old = connection.execute(
                "SELECT file FROM snapshots ORDER BY generation DESC, position DESC LIMIT -1 OFFSET ?", (keep,)
            ).fetchall()
            connection.executemany("DELETE FROM snapshots WHERE file = ?", old)
        return [file for (file,) in old]

    def remove_old_checkpoints(self) -> list[str]:
        """Those of before the last edit, which nobody reads any more; gives their files."""
        with self._transaction() as connection:
            old = connection.execute("SELECT file FROM snapshots WHERE generation < ?", (self.generation,)).fetchall()
            connection.executemany("DELETE FROM snapshots WHERE file = ?", old)
        return [file for (file,) in old]

    # -- parts of these

    def _live(self, numbers: Iterable[int]) -> list[StoredExample]:
        return self._examples(f"{EXAMPLE} WHERE id IN {GIVEN} AND NOT deleted ORDER BY id", _json(numbers))

    def _change(
        self, kind: str, wording: Callable[[int], str], wanted: Sequence[State], leave_inbox: Sequence[str] = ()
    ) -> list[Change]:
        """Gives what changed, also what the model does not notice; nothing is no edit."""
        generation = self.generation
        with self._transaction() as connection:
            changes = change_examples(connection, kind, wording, wanted)
            connection.execute(f"DELETE FROM inbox WHERE digest IN {GIVEN}", (json.dumps(leave_inbox),))
            if any(change.before != change.after for change in changes):
                generation = self._next_generation(connection)
        self.generation = generation
        return changes

    def _undo_or_redo(self, edit: Edit | None, without: str) -> tuple[Edit, list[Change]]:
        if edit is None:
            raise ConflictError(without)
        generation = self.generation
        with self._transaction() as connection:
            changes = undo_or_redo(connection, edit)
            if changes:
                generation = self._next_generation(connection)
        self.generation = generation
        return edit, changes

    # -- connections

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer
        except BaseException:
            self._writer.execute("ROLLBACK")
            raise
        self._writer.execute("COMMIT")

    def _next_generation(self, connection: sqlite3.Connection) -> int:
        _set_metadata(connection, "generation", str(self.generation + 1))
        return self.generation + 1

    def _reading(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        with self._lock:
            self._opened.append(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _rows(self, query: str, *values: Any) -> list[Row]:
        rows = self._reading().execute(query, values)
        return [Row(number, label, np.frombuffer(vector, np.float32), clip) for number, label, vector, clip in rows]

    def _one(self, query: str, *values: Any) -> Any:
        return self._reading().execute(query, values).fetchone()

    def _examples(self, query: str, *values: Any) -> list[StoredExample]:
        given = values[0] if values and isinstance(values[0], dict) else values
        return [_example(row) for row in self._reading().execute(query, given)]


def _example(row: Sequence[Any]) -> StoredExample:
    number, digest, label, name, taught_at, deleted, *more = row
    return StoredExample(number, digest, label, name, taught_at, bool(deleted), *more)


def _unneeded(connection: sqlite3.Connection, digests: Sequence[str]) -> list[str]:
    query = f"SELECT value FROM json_each(?) WHERE value NOT IN ({NEEDED})"
    return [digest for (digest,) in connection.execute(query, (json.dumps(digests),))]


def _json(numbers: Iterable[int]) -> str:
    return json.dumps(list(numbers))


def _set_metadata(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
