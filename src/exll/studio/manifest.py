"""The manifest of a dataset: all its photos as a table (CSV), in the order in which they were taught.

A cell that a spreadsheet would take for a formula begins with an apostrophe there, which reading takes off again.
"""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from exll.studio.errors import UnusableError

MANIFEST = "manifest.csv"
NEEDED = ("file", "label")
MOST_BYTES = 50_000_000
FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


@dataclass(frozen=True)
class Line:
    """One photo. ``file`` and ``source`` are paths below the manifest's folder; ``box`` is the region of ``source``
    that the file shows. The frames of one recording have the same ``clip``."""

    file: str
    label: str
    role: str = "taught"
    name: str = ""
    taught_at: str = ""
    box: str = ""
    source: str = ""
    clip: str = ""


COLUMNS = tuple(field.name for field in fields(Line))


def as_csv(lines: Iterable[Line]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([guarded(getattr(line, column)) for column in COLUMNS] for line in lines)
    return text.getvalue().encode("utf-8-sig")  # without the mark at its start, Excel reads another encoding


def read_csv(content: bytes, most: int) -> list[Line] | None:
    """None for a table of something else. More columns, other orders of them and missing ones are fine."""
    if len(content) > MOST_BYTES:
        raise UnusableError(f"{MANIFEST} in the zip has more than {MOST_BYTES // 1_000_000} MB.", "Split the dataset.")
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        if not set(NEEDED) <= set(rows.fieldnames or ()):
            return None
        lines = []
        for row in rows:
            given = {column: unguarded(row[column]) for column in COLUMNS if row.get(column)}
            lines.append(Line(**{"file": "", "label": "", **given}))
            if len(lines) > most:
                raise UnusableError(f"{MANIFEST} in the zip may have at most {most:,} lines.", "Split the dataset.")
    except (csv.Error, UnicodeDecodeError) as error:
        raise UnusableError(f"{MANIFEST} in the zip cannot be read: {error}.", "Save it as CSV in UTF-8.") from error
    return lines


def guarded(cell: str) -> str:
    """
    >>> guarded("=1+1"), guarded("'=1+1"), guarded("'t Hof")
    ("'=1+1", "''=1+1", "'t Hof")
    """
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """
    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("'t Hof")
    ('=1+1', "'=1+1", "'t Hof")
    """
    return cell[1:] if GUARDED.match(cell) else cell
