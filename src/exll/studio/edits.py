"""Steps that can be undone and redone, as rows: what each is called, who made it, and the other state of its examples.

``changes`` holds the state of the examples before the step; while the step is undone, the state after it. So undo and
redo are the same: the states in ``examples`` and in ``changes`` are exchanged. A new step removes what is undone.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from exll.studio.authors import author

Role: TypeAlias = Literal["taught", "held out", "nothing"]
TAUGHT: Role = "taught"
HELD_OUT: Role = "held out"  # kept to measure the model; never learned
NOTHING: Role = "nothing"  # a photo that is none of the classes; its label is empty

IMPORT = "import"  # the kind of a step that taught a zip
KEEP = "keep"  # the kind of a step that notes examples as right
UNDONE_GROUPS = 1000  # that are remembered
# What the model knows of an example: its label, an empty one for nothing, NULL for what it has not learned.
KNOWN = "iif({0}.deleted OR {0}.role = 'held out', NULL, {0}.label)"
EDIT = "SELECT id, kind, sentence, made_at, made_by, undone FROM edits"


class State(NamedTuple):
    """How an example is."""

    example: int
    label: str
    role: Role
    deleted: int


class Change(NamedTuple):
    """What a step did to one example: what the model knew of it before, and what it is to know after it. None stands
    for what it does not learn, an empty label for an example of nothing."""

    example: int
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Taught:
    """How many examples of a class a step taught, in one role."""

    label: str
    role: Role
    count: int


Wording: TypeAlias = Callable[[Sequence[Taught]], str]


@dataclass(frozen=True)
class Edit:
    """A step, and whether it is undone now."""

    id: int
    kind: str
    sentence: str
    made_at: float
    made_by: str | None
    undone: bool

    def to_dict(self) -> dict[str, Any]:
        """For events and the JSON API."""
        return {
            "id": self.id,
            "kind": self.kind,
            "sentence": self.sentence,
            "made_at": self.made_at,
            "made_by": self.made_by,
        }


@dataclass(frozen=True)
class Undone:
    """A step that was undone, when and by whom."""

    edit: Edit
    undone_at: float
    undone_by: str | None

    def to_dict(self) -> dict[str, Any]:
        return {**self.edit.to_dict(), "undone_at": self.undone_at, "undone_by": self.undone_by}


def last_edit(connection: sqlite3.Connection) -> Edit | None:
    """The one that undo would take back."""
    return _edit(connection, f"{EDIT} WHERE NOT undone ORDER BY id DESC LIMIT 1")


def next_redo(connection: sqlite3.Connection) -> Edit | None:
    return _edit(connection, f"{EDIT} WHERE undone ORDER BY id LIMIT 1")


def history(connection: sqlite3.Connection, before: int, limit: int) -> list[Edit]:
    """The newest first."""
    rows = connection.execute(f"{EDIT} WHERE id < ? ORDER BY id DESC LIMIT ?", (before, limit))
    return [_edit_of(row) for row in rows]


def change_examples(
    connection: sqlite3.Connection, kind: str, wording: Callable[[int], str], wanted: Sequence[State]
) -> list[Change]:
    """Bring examples to another state, as one step. Gives what changed; nothing is no step. ``wording`` makes its
    sentence from how many changed."""
    query = "SELECT id, label, role, deleted FROM examples WHERE id = ?"
    before = [State(*connection.execute(query, (state.example,)).fetchone()) for state in wanted]
    changed = [(old, new) for old, new in zip(before, wanted, strict=True) if old != new]
    if not changed:
        return []
    connection.executemany(
        "UPDATE examples SET label = ?, role = ?, deleted = ? WHERE id = ?",
        [(new.label, new.role, new.deleted, new.example) for _, new in changed],
    )
    _log(connection, _new_edit(connection, kind, wording(len(changed)), None), [old for old, _ in changed])
    return [Change(new.example, known(old), known(new)) for old, new in changed]


def known(state: State) -> str | None:
    """What the model is to know of an example."""
    return None if state.deleted or state.role == HELD_OUT else state.label


def log_taught(
    connection: sqlite3.Connection, kind: str, group: str | None, added: Sequence[State], wording: Wording
) -> None:
    """A step of its own, or more of the last one where that is of the same group. Of an import all is one step,
    whatever was done in between."""
    _remove_undone(connection)
    edit = _last_of_group(connection, group, kind == IMPORT) or _new_edit(connection, kind, "", group)
    _log(connection, edit, [state._replace(deleted=1) for state in added])
    query = "SELECT label, role, count(*) FROM changes WHERE edit = ? GROUP BY label, role ORDER BY min(example)"
    sentence = wording([Taught(*row) for row in connection.execute(query, (edit,))])
    connection.execute("UPDATE edits SET sentence = ?, made_at = ? WHERE id = ?", (sentence, time.time(), edit))


def log_kept(connection: sqlite3.Connection, sentence: str, kept: Sequence[State]) -> None:
    """The examples stay as they are; only the note that they are right is taken back."""
    _log(connection, _new_edit(connection, KEEP, sentence, None), kept)


def moved_class(changes: Sequence[Change], counts: Mapping[str, int]) -> tuple[str, str] | None:
    """The old and the new name where a step moved all examples of a class to one class; ``counts`` are those after
    it."""
    (_, old, new), *_ = changes
    if not old or not new or old in counts or any((old, new) != moved[1:] for moved in changes):
        return None
    return old, new


def undo_or_redo(connection: sqlite3.Connection, edit: Edit) -> list[Change]:
    """Undo a step, or redo one that is undone. Gives what that did to the examples."""
    connection.execute("UPDATE edits SET undone = NOT undone WHERE id = ?", (edit.id,))
    _note_undone(connection, edit)
    if edit.kind == KEEP:
        _note_kept(connection, edit)
        return []
    of_edit = "FROM changes JOIN examples ON id = example WHERE edit = ? ORDER BY id"
    now = connection.execute(f"SELECT id, examples.label, examples.role, examples.deleted {of_edit}", (edit.id,))
    states = [State(*row) for row in now.fetchall()]
    query = f"SELECT id, {KNOWN.format('examples')}, {KNOWN.format('changes')} {of_edit}"
    changes = [Change(*row) for row in connection.execute(query, (edit.id,))]
    connection.execute(
        "UPDATE examples SET label = changes.label, role = changes.role, deleted = changes.deleted "
        "FROM changes WHERE changes.example = examples.id AND changes.edit = ?",
        (edit.id,),
    )
    connection.executemany(
        "UPDATE changes SET label = ?, role = ?, deleted = ? WHERE edit = ? AND example = ?",
        [(state.label, state.role, state.deleted, edit.id, state.example) for state in states],
    )
    return [change for change in changes if change.before != change.after]


def _note_kept(connection: sqlite3.Connection, edit: Edit) -> None:
    noted = "SELECT example, label FROM changes WHERE edit = ?"
    if edit.undone:
        connection.execute(f"INSERT OR IGNORE INTO kept {noted}", (edit.id,))
    else:
        connection.execute(f"DELETE FROM kept WHERE (example, label) IN ({noted})", (edit.id,))


def _note_undone(connection: sqlite3.Connection, edit: Edit) -> None:
    """Kept beside the steps: those that are undone go when another one is made."""
    (group,) = connection.execute("SELECT group_id FROM edits WHERE id = ?", (edit.id,)).fetchone()
    connection.execute("DELETE FROM undone_groups WHERE group_id = ?", (group,))
    if group is not None and not edit.undone:
        connection.execute("INSERT INTO undone_groups (group_id) VALUES (?)", (group,))
        newest = f"SELECT number FROM undone_groups ORDER BY number DESC LIMIT {UNDONE_GROUPS}"
        connection.execute(f"DELETE FROM undone_groups WHERE number NOT IN ({newest})")


def is_undone(connection: sqlite3.Connection, group: str) -> bool:
    """Whether the newest step of this group was undone."""
    return connection.execute("SELECT 1 FROM undone_groups WHERE group_id = ?", (group,)).fetchone() is not None


def _last_of_group(connection: sqlite3.Connection, group: str | None, anywhere: bool) -> int | None:
    """Unless it may be ``anywhere``, nothing came in between: it is the last of all."""
    last = "" if anywhere else " AND id = (SELECT max(id) FROM edits)"
    row = connection.execute(f"SELECT id FROM edits WHERE group_id = ?{last} ORDER BY id DESC", (group,)).fetchone()
    return None if row is None else int(row[0])


def _new_edit(connection: sqlite3.Connection, kind: str, sentence: str, group: str | None) -> int:
    _remove_undone(connection)
    inserted = connection.execute(
        "INSERT INTO edits (kind, sentence, made_at, group_id, made_by) VALUES (?, ?, ?, ?, ?)",
        (kind, sentence, time.time(), group, author.get()),
    )
    assert inserted.lastrowid is not None
    return inserted.lastrowid


def _remove_undone(connection: sqlite3.Connection) -> None:
    """What was undone can be redone until something else is done."""
    connection.execute("DELETE FROM edits WHERE undone")


def _log(connection: sqlite3.Connection, edit: int, states: Sequence[State]) -> None:
    connection.executemany(
        "INSERT INTO changes (edit, example, label, role, deleted) VALUES (?, ?, ?, ?, ?)",
        [(edit, state.example, state.label, state.role, state.deleted) for state in states],
    )


def _edit(connection: sqlite3.Connection, query: str) -> Edit | None:
    row = connection.execute(query).fetchone()
    return None if row is None else _edit_of(row)


def _edit_of(row: Sequence[Any]) -> Edit:
    number, kind, sentence, made_at, made_by, undone = row
    return Edit(number, kind, sentence, made_at, made_by, bool(undone))
