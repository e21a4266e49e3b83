"""Hooks of MkDocs: pages from the files beside docs/, and formulas as MathML, which browsers draw by themselves."""

import html
import os
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# A file of the root that becomes a page when it is there; its place is in the navigation of mkdocs.yml.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "training/README.md": "training.md",
}
LINK = re.compile(r"\[([^]]+)\]\(([^)\s]+)\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Not every copy has every file: what is missing is left out of the navigation."""
    sources = {page: ROOT / name for name, page in PAGES.items()}

    def there(entry: Any) -> bool:
        page = next(iter(entry.values())) if isinstance(entry, dict) else entry
        return isinstance(page, list) or sources.get(page, ROOT / "docs" / page).exists()

    for section in config.nav:
        for pages in section.values():
            if isinstance(pages, list):
                pages[:] = filter(there, pages)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, page, content=_page(name)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links from docs/ to a file of the root lead to its page."""
    for name, page in PAGES.items():
        markdown = markdown.replace(f"](../{name})", f"]({page})")
    return markdown


def on_page_content(content: str, **_: object) -> str:
    return FORMULA.sub(lambda found: _mathml(found[2], found[1] == "div"), content)


def _page(name: str) -> str:
    """The text with its links as they are inside docs/; what has no page is named and not linked."""

    def inside(link: re.Match[str]) -> str:
        words, target = link.groups()
        if target.startswith(("#", "http")):
            return link[0]
        path, _, anchor = target.partition("#")
        named = os.path.normpath((ROOT / name).parent / path).removeprefix(f"{ROOT}/")
        page = PAGES.get(named, named.removeprefix("docs/"))
        if named not in PAGES and not (named.startswith("docs/") and (ROOT / named).is_file()):
            return words if words.startswith("`") else f"`{words}`"
        return f"[{words}]({page}#{anchor})" if anchor else f"[{words}]({page})"

    return LINK.sub(inside, (ROOT / name).read_text(encoding="utf-8"))


def _mathml(formula: str, block: bool) -> str:
    drawn = convert(html.unescape(formula).strip(), display="block" if block else "inline")
    return drawn.replace("<math ", '<math tabindex="0" ', 1) if block else drawn  # long ones scroll, also by keyboard
