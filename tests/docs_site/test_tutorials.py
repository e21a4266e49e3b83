"""Every command and every Python block of the start page, the tutorials and the concepts runs, page by page."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from commands import exll
from exll.cli.demo import EVERY, SIZE
from exll.streams.household.videos import Household
from made_once import made_once
from pictures import picture
from served import served

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow]
PAGES = [ROOT / "docs" / "index.md", *(ROOT / "docs").glob("tutorials/*.md"), *(ROOT / "docs").glob("concepts/*.md")]
BLOCK = re.compile(r"^( *)```(python|console)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
CLAIMS: dict[str, Callable[[dict[str, Any]], bool]] = {  # what the words around the blocks say of their results
    "evaluate": lambda names: names["report"].counts.accuracy > 0.8,
    "fleet": lambda names: names["house"].classes_.tolist() == ["clock", "key", "mug"],
    "stream": lambda names: names["right"] > 0.7 * names["asked"],
    "vectors": lambda names: all(answer.level != "usual" for answer in names["answers"]),
    "videos": lambda names: names["unlike"]["with groups"] < 0.3 < 0.7 < names["unlike"]["without"],
}
KINDS = ("ball", "clock", "key", "mug", "scissors", "spoon")
STUDIO = "http://localhost:8765/"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drawings of half of the classes that ``exll demo`` leaves."""
    with made_once(tmp_path_factory, "demo") as folder:
        if not folder.exists():
            home = Household(frames=1, test_frames=1, size=SIZE)
            data = home.dataset()
            assert data.test is not None
            for name, stream in (("taught", data.train), ("asked", data.test)):
                for example in stream.examples[::EVERY]:
                    if example.label in KINDS:
                        file = f"{example.instance}-{example.factor}-{example.level}.jpg"
                        (folder / name / example.label).mkdir(parents=True, exist_ok=True)
                        home.picture(example).save(folder / name / example.label / file)
    return folder


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Features of the same drawings are made once for all pages."""
    with made_once(tmp_path_factory, "features") as folder:
        monkeypatch.setenv("EXLL_CACHE", str(folder))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
@pytest.mark.usefixtures("cache")
def test_a_page_runs(page: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    picture(0, 0).save("mug.jpg")
    names: dict[str, Any] = {"__name__": page.stem}
    with ExitStack() as running:
        for _, kind, indented in BLOCK.findall(page.read_text(encoding="utf-8")):
            block = dedent(indented)
            if kind == "console":
                for command in _commands(block):
                    _run(command, demo, running, names)
            else:
                code = compile(block.replace(STUDIO, str(names.get("studio"))), str(page), "exec")
                exec(code, names)
    assert page.stem not in CLAIMS or CLAIMS[page.stem](names)


def _commands(block: str) -> Iterator[list[str]]:
    for line in block.splitlines():
        words = shlex.split(line)
        assert words[:2] == ["$", "exll"], line
        yield words[2:]


def _run(command: list[str], demo: Path, running: ExitStack, names: dict[str, Any]) -> None:
    if command == ["demo"]:
        shutil.copytree(demo, "exll-demo", dirs_exist_ok=True)
    elif command[0] == "studio":
        names["studio"] = running.enter_context(served(Path(command[1]))).address
    else:
        said = exll(*command)
        assert said.returncode == 0, f"{command}: {said.stdout}{said.stderr}"
