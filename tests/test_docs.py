"""The documents say what is there."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))


def table_rows(name: str) -> list[list[str]]:
    lines = (ROOT / "docs" / name).read_text().splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if re.match(r"\| \d", line)]
    return [[cell.strip() for cell in row] for row in rows]


def cited_decisions() -> set[int]:
    citations = re.findall(r"docs/decisions\.md, ([\d, and]+)", SOURCES)
    return {int(number) for citation in citations for number in re.findall(r"\d+", citation)}


def test_every_decision_is_cited_from_the_code_and_every_citation_exists() -> None:
    numbers = [int(row[0]) for row in table_rows("decisions.md")]
    assert numbers == list(range(1, 17))
    assert cited_decisions() == set(numbers)


def test_every_equation_points_at_code_that_exists() -> None:
    rows = table_rows("equations.md")
    covered: set[int] = set()
    for row in rows:
        covered |= {int(number) for number in re.findall(r"\d+", row[0])}
        file = row[2].strip("` ")
        if not file:
            continue
        module = import_module(file.removeprefix("src/").removesuffix(".py").replace("/", "."))
        for name in re.findall(r"`([\w.]+)`", row[3].split(", with")[0]):
            found: object = module
            for part in name.split("."):
                assert hasattr(found, part), f"{file} has no {name}"
                found = getattr(found, part)
    assert covered == set(range(1, 25))


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in (*re.findall(r"\]\(([^)#]+)\)", text), *re.findall(r'src="([^"]+)"', text)):
        assert ((ROOT / page).parent / target).exists(), target


@pytest.mark.process
@pytest.mark.parametrize("page", ["cli", "rest"])
def test_a_generated_page_is_fresh(page: str) -> None:
    made = subprocess.run(
        [sys.executable, "-c", f"import sys, make_{page}; sys.stdout.write(make_{page}.page())"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "docs",
    )
    assert made.stdout == (ROOT / "docs" / f"{page}.md").read_text(), f"run python docs/make_{page}.py"
