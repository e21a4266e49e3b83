"""Named versions: how every example was at a moment, as rows, so that one can return to it."""

import sqlite3
import time
from dataclasses import dataclass

from exll.studio.authors import author
from exll.studio.edits import State
from exll.studio.errors import ConflictError, MissingError
from exll.studio.totals import COUNTED

MOST_VERSIONS = 100

VERSION = f"SELECT id, name, made_at, made_by, {COUNTED} FROM versions LEFT JOIN version_examples ON version = id "


@dataclass(frozen=True)
class Version:
    """A named moment that one can return to, and how much was taught then."""

    id: int
    name: str
    made_at: float
    made_by: str | None
    classes: int
    examples: int
    held_out: int


def versions(connection: sqlite3.Connection) -> list[Version]:
    """The newest first."""
    return [Version(*row) for row in connection.execute(f"{VERSION} GROUP BY id ORDER BY id DESC")]


def version(connection: sqlite3.Connection, number: int) -> Version:
    row = connection.execute(f"{VERSION} WHERE id = ? GROUP BY id", (number,)).fetchone()
    if row is None:
        raise MissingError(f"there is no version {number}.")
    return Version(*row)


def add_version(connection: sqlite3.Connection, name: str) -> int:
    (count,) = connection.execute("SELECT count(*) FROM versions").fetchone()
    if count >= MOST_VERSIONS:
        raise ConflictError(f"there are {MOST_VERSIONS} versions already.", "Remove one first.")
    inserted = connection.execute(
        "INSERT INTO versions (name, made_at, made_by) VALUES (?, ?, ?)", (name, time.time(), author.get())
    )
    assert inserted.lastrowid is not None
    connection.execute(
        "INSERT INTO version_examples SELECT ?, id, label, role FROM examples WHERE NOT deleted", (inserted.lastrowid,)
    )
    return inserted.lastrowid


def remove_version(connection: sqlite3.Connection, number: int) -> None:
    version(connection, number)
    connection.execute("DELETE FROM versions WHERE id = ?", (number,))


def states_of(connection: sqlite3.Connection, number: int) -> list[State]:
    """How every example was then; what came after it counts as deleted. Only those that are otherwise now."""
    query = (
        "SELECT id, coalesce(past.label, examples.label), coalesce(past.role, examples.role), past.example IS NULL "
        "FROM examples LEFT JOIN version_examples AS past ON past.example = id AND version = ? "
        "WHERE past.example IS NULL AND NOT deleted OR past.example IS NOT NULL AND "
        "(deleted OR past.label <> examples.label OR past.role <> examples.role) ORDER BY id"
    )
    return [State(*row) for row in connection.execute(query, (number,))]
