"""Hooks of MkDocs: pages from files beside docs/ and from notebooks, and formulas as MathML, which needs no script."""

import html
import os
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[2]
# Files outside of docs/ that become pages; their place is in the navigation of mkdocs.yml.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "training/README.md": "training.md",
}
LINK = re.compile(r"\[([^]]+)\]\(([^)\s]+)\)")
NOTEBOOK = re.compile(r"\]\(\.\./notebooks/(\w+)\.ipynb\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=_page(name)))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for name, content in _notebook(path).items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links from docs/ to a file outside of it lead to its page."""
    for name, page in PAGES.items():
        markdown = markdown.replace(f"](../{name})", f"]({page})")
    return NOTEBOOK.sub(r"](notebooks/\1.md)", markdown)


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


def _notebook(path: Path) -> dict[str, str | bytes]:
    """The notebook as a page, and its pictures."""
    resources = {"output_files_dir": path.stem, "unique_key": path.stem}
    text, found = MarkdownExporter().from_filename(str(path), resources=resources)
    text = text.replace("](../docs/", "](../").replace(".ipynb)", ".md)")
    return {f"{path.stem}.md": text, **found["outputs"]}


def _mathml(formula: str, block: bool) -> str:
    drawn = convert(html.unescape(formula).strip(), display="block" if block else "inline")
    return drawn.replace("<math ", '<math tabindex="0" ', 1) if block else drawn  # long ones scroll, also by keyboard
