"""What goes out with a release says what is there."""

import re
from pathlib import Path

import pytest

from exll.version import __version__

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/versioning.md"])
def test_every_row_names_tests_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).is_file()] == []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = table.splitlines()
        if head.split("|")[-2].strip() in ("test", "shown by"):
            assert [row for row in rows if "`tests/" not in row.split("|")[-2]] == []


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [__version__]


def test_what_the_image_is_built_from_is_there_and_not_ignored() -> None:
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    sources = " ".join(copied).split()
    assert "src" in sources
    assert [source for source in sources if f"!{source}" not in allowed or not (ROOT / source).exists()] == []
