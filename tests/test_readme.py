"""What the README shows is what one gets."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import exll
from pictures import picture

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def split_output(block: str) -> list[tuple[list[str], str]]:
    """Its commands, each with the output that the README shows below it."""
    parts = re.split(r"^\$ exll (.*)\n", block, flags=re.MULTILINE)
    return [(shlex.split(command), output) for command, output in zip(parts[1::2], parts[2::2], strict=True)]


@pytest.mark.slow
def test_the_commands_say_what_the_readme_shows(after_demo: Path, tmp_path: Path) -> None:
    (tmp_path / "exll-demo").symlink_to(after_demo / "exll-demo")
    commands = [pair for block in blocks("console") for pair in split_output(block)]
    assert len(commands) == 5
    for arguments, shown in commands:
        said = exll(*arguments, cwd=tmp_path, columns=200)
        assert said.returncode == 0, said.stderr
        assert NUMBER.sub("#", said.stdout) == NUMBER.sub("#", shown)
        assert numbers(said.stdout) == pytest.approx(numbers(shown), abs=0.5)  # another processor rounds otherwise


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("mug_01", "mug_02", "pan_01", "new")):
        picture(number == 2, number).save(f"{name}.jpg")
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "X": rng.normal(size=(18, 5)),
        "y": ["mug", "pan", "bowl"] * 6,
        "names": [f"mug_{row:02}.jpg" for row in range(18)],
        "X_new": 100 * np.eye(5),
    }
    programs = blocks("python")
    assert len(programs) == 2
    for program in programs:
        exec(program, given)
    assert given["learner"].classes_.tolist() == ["bowl", "mug", "pan"]
    assert (tmp_path / "things.exll").exists()
    assert "mug_07.jpg" not in str(given["clf"].rules())
