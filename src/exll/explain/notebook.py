"""Results as small tables for a notebook, and as lines that a terminal can show. Labels and names are other people's
text: every one of them is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from exll.explain.wording import readable

LONGEST_CELL = 200
LONGEST_LINE = 2000


def one_line(text: Any) -> str:
    """Text without line breaks and control characters."""
    return readable(text, LONGEST_LINE)


def paragraph(text: str) -> str:
    return f"<p>{escape(one_line(text))}</p>"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """
    >>> table(["label"], [["<b>"]])
    '<table><thead><tr><th>label</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "" if value is None else escape(readable(value, LONGEST_CELL))
