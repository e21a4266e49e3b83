"""What all our pages share: one HTML file that asks nothing of any network, fit for light, dark, paper and keyboard.

Labels and names are strangers' text. All of it goes through ``shown``, and the page's own policy lets no script run and
no style apply but those written here, and no picture show but those inside the file.
"""

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from typing import Any

from exll.explain.wording import readable

LONGEST_SHOWN = 300
LIGHT = """--paper:#fff;--card:#f6f6f4;--ink:#202020;--faint:#5c5c5c;--line:#b8b8b8;--lit:#000;
  --for:#c65200;--against:#2166ac"""
DARK = """--paper:#16181b;--card:#202327;--ink:#ececec;--faint:#a8a8a8;--line:#4a4d52;--lit:#fff;
  --for:#f08b3c;--against:#6ea8e0"""

STYLE = f"""
:root{{color-scheme:light dark;{LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;max-width:1500px;padding:12px 16px 84px;background:var(--paper);color:var(--ink);
  font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}}
h1{{font-size:1.35rem;margin:0}}p{{margin:.2rem 0;color:var(--faint)}}figure{{margin:0}}
figcaption{{font-size:.875rem;color:var(--faint);margin-top:4px}}
.find{{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:.7rem 0}}
input,button{{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:6px}}
input{{padding:6px 10px;min-width:0;width:16rem;max-width:100%}}
summary{{margin-top:12px;cursor:pointer}}
@media (max-width:760px){{body{{padding-left:10px;padding-right:10px}}}}
@media print{{:root{{color-scheme:light;{LIGHT}}}.find{{display:none}}body{{padding:0;max-width:none}}
  *{{print-color-adjust:exact}}figure{{break-inside:avoid}}}}
"""

READING = """
body{max-width:1100px;padding-top:24px;padding-bottom:48px}
h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.25rem;margin:2.4rem 0 .4rem}h3{font-size:1rem;margin:0}
p{max-width:70ch;margin:.4rem 0}strong{color:var(--ink)}
.pictures{display:flex;flex-wrap:wrap;gap:6px;list-style:none;margin:.5rem 0;padding:0}
img{display:block;max-width:100%;height:auto;border-radius:4px}
.missing{display:block;width:9rem;max-width:100%;padding:8px;font-size:.8125rem;line-height:1.3;
  border:1px dashed var(--line);border-radius:4px;color:var(--faint)}
.more{white-space:nowrap;color:var(--faint)}
"""


def html_page(title: str, body: Iterable[str], style: str, script: str = "") -> str:
    """The whole file as text. ``title`` and ``body`` are HTML already; ``style`` comes after the shared one."""
    whole_style = STYLE + style
    may_run = _hash(script) if script else "'none'"
    policy = (
        f"default-src 'none'; style-src {_hash(whole_style)}; script-src {may_run}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>{whole_style}</style>\n</head>\n<body>",
        *body,
        *([f"<script>{script}</script>"] if script else []),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def shown(text: Any, most: int = LONGEST_SHOWN) -> str:
    """A stranger's text, fit to stand anywhere in a page."""
    return escape(readable(text, most))


def quoted(label: Any, most: int = LONGEST_SHOWN) -> str:
    """A label in a sentence, whichever way its script runs."""
    return f"“<bdi>{shown(label, most)}</bdi>”"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of HTML cells; the first of a row names it."""
    titles = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = (_row(*row) for row in rows)
    return "\n".join([f"<table><thead><tr>{titles}</tr></thead><tbody>", *lines, "</tbody></table>"])


def _row(name: str, *cells: str) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
