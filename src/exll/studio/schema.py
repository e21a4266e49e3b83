"""The tables of a project, and how an older file becomes a newer one."""

import sqlite3

from exll.errors import ExLLError

# Each entry brings a file one version further; ``user_version`` counts how many it has had. Never change one: add.
MIGRATIONS = (
    """
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE images (digest TEXT PRIMARY KEY, format TEXT NOT NULL, bytes INTEGER NOT NULL, vector BLOB NOT NULL)
        STRICT;
    CREATE TABLE examples (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        digest TEXT NOT NULL REFERENCES images (digest),
        label TEXT NOT NULL,
        name TEXT NOT NULL,
        taught_at REAL NOT NULL,
        deleted INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX examples_by_label ON examples (label, id) WHERE NOT deleted;
    CREATE INDEX examples_by_image ON examples (digest);
    CREATE TABLE edits (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        sentence TEXT NOT NULL,
        made_at REAL NOT NULL
    ) STRICT;
    CREATE TABLE changes (
        edit INTEGER NOT NULL REFERENCES edits (id) ON DELETE CASCADE,
        example INTEGER NOT NULL REFERENCES examples (id) ON DELETE CASCADE,
        label TEXT NOT NULL,
        deleted INTEGER NOT NULL,
        PRIMARY KEY (edit, example)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changes_by_example ON changes (example);
    CREATE TABLE kept (
        example INTEGER NOT NULL REFERENCES examples (id) ON DELETE CASCADE,
        label TEXT NOT NULL,
        PRIMARY KEY (example, label)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE snapshots (
        file TEXT PRIMARY KEY,
        generation INTEGER NOT NULL,
        position INTEGER NOT NULL,
        version TEXT NOT NULL
    ) STRICT;
    INSERT INTO facts VALUES ('generation', '1');
    """,
    "ALTER TABLE edits ADD COLUMN group_id TEXT;",
    """
    ALTER TABLE examples ADD COLUMN role TEXT NOT NULL DEFAULT 'taught';
    ALTER TABLE examples ADD COLUMN box TEXT;
    ALTER TABLE examples ADD COLUMN source TEXT;
    ALTER TABLE changes ADD COLUMN role TEXT NOT NULL DEFAULT 'taught';
    ALTER TABLE edits ADD COLUMN made_by TEXT;
    ALTER TABLE edits ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE versions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        made_at REAL NOT NULL,
        made_by TEXT
    ) STRICT;
    CREATE TABLE version_examples (
        version INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
        example INTEGER NOT NULL REFERENCES examples (id) ON DELETE CASCADE,
        label TEXT NOT NULL,
        role TEXT NOT NULL,
        PRIMARY KEY (version, example)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX version_examples_by_example ON version_examples (example);
    CREATE TABLE inbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        digest TEXT NOT NULL UNIQUE,
        format TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        vector BLOB NOT NULL,
        name TEXT NOT NULL,
        asked_at REAL NOT NULL,
        level TEXT NOT NULL,
        label TEXT NOT NULL,
        probability REAL NOT NULL,
        novelty REAL
    ) STRICT;
    """,
    """
    ALTER TABLE examples ADD COLUMN clip TEXT;
    CREATE TABLE undone_groups (number INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL UNIQUE) STRICT;
    """,
)


def migrate(connection: sqlite3.Connection, where: str) -> None:
    """Bring the tables to this version, each step whole or not at all."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise ExLLError(f"{where} was made by a newer exll (version {version} of its tables); please update exll.")
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        connection.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")
