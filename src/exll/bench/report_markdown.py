"""A report as Markdown, its pictures beside it."""

from collections.abc import Iterator

from exll.bench.report import Picture, Report
from exll.bench.tables import MARKS, Table, Value


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {plain(report.title)}"
    yield f"\n{report.lead}"
    for section in report.sections:
        yield f"\n## {section.title}"
        if section.words:
            yield f"\n{section.words}"
        for part in section.parts:
            if isinstance(part, Picture):
                yield f"\n![{part.words}]({part.name}.png)"
            else:
                yield from _table(part)
    if report.legend:
        yield "\n## What the names mean\n"
        yield from (f"- **{plain(name)}**: {plain(words)}." for name, words in report.legend)
    if report.footnotes:
        yield "\n## About the paper's numbers\n"
        yield from (f"- {note}" for note in report.footnotes)
    yield "\n## Made with\n"
    yield from (f"- {name}: {plain(value)}" for name, value in report.made_with)


def _table(table: Table) -> Iterator[str]:
    yield f"\n### {plain(table.title)}\n"
    yield from table_lines(table)


def table_lines(table: Table) -> Iterator[str]:
    """Without its title."""
    yield f"| {table.head} | {' | '.join(map(plain, table.columns))} |"
    yield f"|---|{'---:|' * len(table.columns)}"
    for name, values in table.rows:
        yield f"| {plain(name)} | {' | '.join(map(_value, values))} |"
    if table.note:
        yield f"\n{table.note}"


def _value(value: Value) -> str:
    text = plain(value.text)
    shown = f"**{text}** {MARKS[1]}" if value.rank == 1 else f"{text} {MARKS[value.rank]}".strip()
    return f"{shown} (paper {value.published})" if value.published else shown


def plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
