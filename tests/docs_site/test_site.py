"""The site as it is built: complete, without a trace of markup, and loading nothing from elsewhere."""

import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

import exll
import exll.baselines
from made_once import made_once

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.process, pytest.mark.slow]
FOREIGN = ("http:", "https:", "//")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ``make docs`` builds it: a link or an anchor that leads nowhere is an error."""
    with made_once(tmp_path_factory, "site") as folder:
        if not (folder / "objects.inv").exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
            built = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
            assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Loaded(HTMLParser):
    """What a browser fetches for a page, and the text that it shows outside of code."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.words: list[str] = []
        self._hidden = 0
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("code", "pre", "script", "style", "annotation")
        fetched = ("src", "srcset", "poster", "data") if tag != "link" else ("href",)
        canonical = ("rel", "canonical") in attrs
        self.addresses += [value for name, value in attrs if name in fetched and value and not canonical]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("code", "pre", "script", "style", "annotation")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not [address for address in Loaded(page).addresses if address.startswith(FOREIGN)], page


def test_no_style_loads_anything_from_another_host(site: Path) -> None:
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", sheet.read_text("utf-8")), sheet


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    lines = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    described = {line.split()[0] for line in lines}
    public = [f"exll.{name}" for name in exll.__all__] + [f"exll.baselines.{name}" for name in exll.baselines.__all__]
    assert [name for name in public if name not in described] == []


def test_docstrings_are_shown_without_their_markup(site: Path) -> None:
    for page in (site / "reference").glob("*.html"):
        words = "".join(Loaded(page).words)
        assert not re.findall(r":\w+:`|:(?:meth|class|mod|func):|>>>|\$\$|``", words), page


def test_a_dollar_sign_of_a_shell_is_no_formula(site: Path) -> None:
    assert "$(exll completion" in (site / "cli.html").read_text("utf-8")
    assert "<math" in (site / "concepts" / "precision.html").read_text("utf-8")


def test_complete_programs_and_notebooks_are_shown(site: Path) -> None:
    examples = (site / "examples.html").read_text(encoding="utf-8")
    for program in (ROOT / "examples").glob("*.py"):
        assert program.name in examples.partition("<h1")[2]
    notebook = site / "notebooks" / "first_photos.html"
    pictures = [address for address in Loaded(notebook).addresses if address.startswith("first_photos/")]
    assert pictures
    assert all((notebook.parent / picture).exists() for picture in pictures)
