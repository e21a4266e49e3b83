"""A report as one HTML file, pictures inside, for light, dark, paper and phone."""

import base64
from collections.abc import Iterator

from exll.bench.report import Picture, Report, Section
from exll.bench.tables import MARKS, Table, Value
from exll.explain.page import READING, html_page, shown

STYLE = """
.scroll{overflow-x:auto;margin:.6rem 0 .2rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9375rem;overflow-wrap:normal}
th,td{padding:.28rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
thead th{white-space:normal;vertical-align:bottom;font-weight:600;min-width:5.5rem}
th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);min-width:0}
tbody th{font-weight:500}
.first{font-weight:700;text-decoration:underline;text-underline-offset:3px}.second{font-weight:700}
.third{text-decoration:underline;text-underline-offset:3px}
td small{display:block;color:var(--faint);font-weight:400}
figure{margin:1rem 0}figure img{background:#fff;padding:6px;border:1px solid var(--line)}
h3{margin-top:1.4rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--faint)}dd{margin:0}
summary h2{display:inline}.mark{display:inline-block;width:1.2em}
@media (max-width:760px){figure div{overflow-x:auto}figure img{max-width:none;width:820px}
  th,td{padding:.28rem .45rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
"""
EMPTY_MARK = '<span class="mark"></span>'
PLACES = ("", "first", "second", "third")


def html(report: Report) -> str:
    return html_page(shown(report.title), _body(report), READING + STYLE)


def _body(report: Report) -> Iterator[str]:
    yield f"<h1>{shown(report.title)}</h1>"
    yield f"<p>{shown(report.lead)} The three best of a column are marked ① ② ③.</p>"
    for section in report.sections:
        yield from _section(section)
    if report.footnotes:
        notes = "".join(f"<li>{shown(note, 500)}</li>" for note in report.footnotes)
        yield f"<h2>About the paper's numbers</h2><ul>{notes}</ul>"
    facts = "".join(f"<dt>{shown(name)}</dt><dd>{shown(value, 1000)}</dd>" for name, value in report.made_with)
    yield f"<h2>Made with</h2><dl>{facts}</dl>"


def _section(section: Section) -> Iterator[str]:
    heading = f"<h2>{shown(section.title)}</h2>"
    yield f"<details><summary>{heading}</summary>" if section.folded else heading
    for part in section.parts:
        yield _picture(part) if isinstance(part, Picture) else _table(part, section.title)
    if section.folded:
        yield "</details>"


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode()
    words = shown(picture.words, 500)
    image = f'<img alt="{words}" src="data:image/png;base64,{data}">'
    return f"<figure><div>{image}</div><figcaption>{words}</figcaption></figure>"


def _table(table: Table, under: str) -> str:
    head = "".join(f'<th scope="col">{shown(column)}</th>' for column in ("Learner", *table.columns))
    rows = "".join(
        f'<tr><th scope="row">{shown(name)}</th>{"".join(map(_value, values))}</tr>' for name, values in table.rows
    )
    label = shown(table.title)
    title = "" if table.title == under else f"<h3>{label}</h3>"
    note = f"<p>{shown(table.note, 600)}</p>" if table.note else ""
    return (
        f'{title}<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{head}'
        f"</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _value(value: Value) -> str:
    place = PLACES[value.rank]
    published = f"<small>paper {shown(value.published)}</small>" if value.published else ""
    mark = f'<span class="mark" role="img" aria-label="{place}">{MARKS[value.rank]}</span>' if place else EMPTY_MARK
    return f'<td><span class="{place}">{shown(value.text)}</span> {mark}{published}</td>'
