"""Names of files may hold any bytes, and a terminal may have any encoding: commands print what they can."""

import os
import sys
from pathlib import Path

import pytest
from PIL import Image

from commands import exll
from grids import write_features

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always text")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("odd")
    for label, colour in (("kiwi", (90, 120, 40)), ("lemon", (230, 210, 60))):
        (home / "photos" / label).mkdir(parents=True)
        for n in range(3):
            named = os.fsencode(home / "photos" / label) + b"/\xff\xe9%d.png" % n
            Image.new("RGB", (40, 40), tuple(c + n for c in colour)).save(os.fsdecode(named))
    (home / "photos" / "kiwi" / os.fsdecode(b"no\xffimage.png")).write_bytes(b"none")
    done = exll("learn", "photos", "--model", "m.exll", "--backbone", "nano", cwd=home)
    assert done.returncode == 0, done.stderr
    return home


PHOTO = os.fsdecode(b"photos/kiwi/\xff\xe90.png")
COMMANDS: dict[str, list[str]] = {
    "learn": ["learn", "photos", "--model", "m.exll"],
    "predict": ["predict", "m.exll", PHOTO],
    "predict --json": ["predict", "m.exll", PHOTO, "--json"],
    "predict a missing file": ["predict", "m.exll", os.fsdecode(b"photos/kiwi/\xff.png")],
    "explain": ["explain", "m.exll", PHOTO],
    "evaluate": ["evaluate", "m.exll", "photos"],
    "evaluate --json": ["evaluate", "m.exll", "photos", "--json"],
    "rules": ["rules", "m.exll"],
    "suspects": ["suspects", "m.exll"],
    "progress": ["progress", "m.exll"],
    "info": ["info", "m.exll"],
}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_are_no_utf8_can_be_printed_everywhere(folder: Path, command: str, encoding: str) -> None:
    done = exll(*COMMANDS[command], cwd=folder, charset=encoding)
    assert done.returncode == (1 if "missing" in command else 0), done.stderr
    assert "something went wrong" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_benchmark_is_printed_on_terminals_without_circled_digits(tmp_path: Path, encoding: str) -> None:
    write_features(tmp_path / "data.npz")
    options = ("--learners", "ncm", "--seeds", "1", "--jobs", "1", "-o", "out")
    done = exll("bench", "features", "data.npz", *options, cwd=tmp_path, charset=encoding)
    assert done.returncode == 0, done.stderr
    assert "the three best marked * + ~" in done.stdout
