"""The glossary names what exists, and the words that it retired are gone."""

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text()
OLD = ("saving/old_names.py", "bench/results.py")  # read files of older versions
TERMS, RETIRED = PAGE.split("## Words that are not used")


def rows(text: str) -> list[list[str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return [row for row in cells if row[0] not in ("term", "not") and not set(row[0]) <= {"-"}]


def resolve(name: str) -> object:
    """What a dotted name stands for: a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("row", rows(TERMS), ids=lambda row: row[0])
def test_every_term_exists_in_the_code(row: list[str]) -> None:
    _, meaning, name = row
    assert meaning
    assert resolve(name.strip("`")) is not None


def test_a_name_that_does_not_exist_is_noticed() -> None:
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        resolve("exll.learner.exll.ExLL.no_such_thing")


def test_no_term_is_listed_twice() -> None:
    terms = [term for row in rows(TERMS) for term in row[0].split(", ")]
    assert len(terms) == len(set(terms))


def tracked() -> list[Path]:
    """Source, tests and documents; files of the past keep their words."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    kinds = {".py", ".md", ".js", ".html", ".css", ".toml", ".j2"}
    own = {ROOT / "docs" / "glossary.md", Path(__file__).resolve(), *(ROOT / "src" / "exll" / name for name in OLD)}
    paths = (ROOT / name for name in listed.stdout.splitlines())
    return [path for path in paths if path.suffix in kinds and path.is_file() and path not in own]


@pytest.mark.parametrize("word", [row[0] for row in rows(RETIRED)])
def test_a_retired_word_is_found_nowhere(word: str) -> None:
    stem = word.removesuffix("y")
    # Part of an identifier too, but not of another word: "voice" is in "invoice", "film" in no word of ours.
    pattern = re.compile(rf"(?<![a-z])({stem}(s|y|ies|es|ed|ing)?)(?![a-z])", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)
