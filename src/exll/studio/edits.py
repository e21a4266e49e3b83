"""Steps that can be undone, as rows: what each is called, and how its examples were before it."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Before: TypeAlias = tuple[int, str, int]  # number, label and whether it was deleted
Wording: TypeAlias = Callable[[dict[str, int]], str]  # from how many examples of each class a step taught

KEEP = "keep"  # the kind of a step that notes examples as right


class Change(NamedTuple):
    """What a step did to one example: its class before and after, None while it is deleted."""

    example: int
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Edit:
    """A step that can be undone."""

    id: int
    kind: str
    sentence: str
    made_at: float

    @property
    def changes_model(self) -> bool:
        return self.kind != KEEP

    def to_dict(self) -> dict[str, Any]:
        """For events and the JSON API."""
        return {"kind": self.kind, "sentence": self.sentence, "made_at": self.made_at}


@dataclass(frozen=True)
class Undone:
    """A step that was undone, and when."""

    edit: Edit
    undone_at: float

    def to_dict(self) -> dict[str, Any]:
        return {**self.edit.to_dict(), "undone_at": self.undone_at}


def last_edit(connection: sqlite3.Connection) -> Edit | None:
    row = connection.execute("SELECT id, kind, sentence, made_at FROM edits ORDER BY id DESC LIMIT 1").fetchone()
    return None if row is None else Edit(*row)


def log_edit(connection: sqlite3.Connection, kind: str, sentence: str, before: Sequence[Before]) -> None:
    _log_changes(connection, _new_edit(connection, kind, sentence, None), before)


def log_taught(
    connection: sqlite3.Connection, kind: str, group: str | None, before: Sequence[Before], wording: Wording
) -> None:
    """A step of its own, or more of the last one where that is of the same group."""
    edit = _last_of_group(connection, group) or _new_edit(connection, kind, "", group)
    _log_changes(connection, edit, before)
    query = "SELECT label, count(*) FROM changes WHERE edit = ? GROUP BY label ORDER BY min(example)"
    sentence = wording(dict(connection.execute(query, (edit,)).fetchall()))
    connection.execute("UPDATE edits SET sentence = ?, made_at = ? WHERE id = ?", (sentence, time.time(), edit))


def log_kept(connection: sqlite3.Connection, sentence: str, kept: Sequence[Before]) -> None:
    """The examples stay as they are; only the note that they are right is taken back."""
    _log_changes(connection, _new_edit(connection, KEEP, sentence, None), kept)


def moved_class(changes: Sequence[Change], counts: Mapping[str, int]) -> tuple[str, str] | None:
    """The old and the new name where a step moved all examples of a class to one class; ``counts`` are those after
    it."""
    (_, old, new), *_ = changes
    if old is None or new is None or old in counts or any((old, new) != moved[1:] for moved in changes):
        return None
    return old, new


def take_back(connection: sqlite3.Connection, edit: Edit) -> list[Change]:
    """Says what that did to the examples."""
    query = (
        "SELECT id, iif(examples.deleted, NULL, examples.label), iif(changes.deleted, NULL, changes.label) "
        "FROM changes JOIN examples ON id = example WHERE edit = ? ORDER BY id"
    )
    changes = [Change(*row) for row in connection.execute(query, (edit.id,))]
    if not edit.changes_model:
        connection.execute(
            "DELETE FROM kept WHERE (example, label) IN (SELECT example, label FROM changes WHERE edit = ?)", (edit.id,)
        )
    connection.execute(
        "UPDATE examples SET label = changes.label, deleted = changes.deleted "
        "FROM changes WHERE changes.example = examples.id AND changes.edit = ?",
        (edit.id,),
    )
    connection.execute("DELETE FROM edits WHERE id = ?", (edit.id,))
    return [change for change in changes if change.before != change.after]


def _last_of_group(connection: sqlite3.Connection, group: str | None) -> int | None:
    """Nothing came in between: it is the last of all."""
    query = "SELECT id FROM edits WHERE id = (SELECT max(id) FROM edits) AND group_id = ?"
    row = connection.execute(query, (group,)).fetchone()
    return None if row is None else int(row[0])


def _new_edit(connection: sqlite3.Connection, kind: str, sentence: str, group: str | None) -> int:
    inserted = connection.execute(
        "INSERT INTO edits (kind, sentence, made_at, group_id) VALUES (?, ?, ?, ?)",
        (kind, sentence, time.time(), group),
    )
    assert inserted.lastrowid is not None
    return inserted.lastrowid


def _log_changes(connection: sqlite3.Connection, edit: int, before: Sequence[Before]) -> None:
    connection.executemany("INSERT INTO changes VALUES (?, ?, ?, ?)", [(edit, *row) for row in before])
