import json
import subprocess
import sys
from pathlib import Path

import pytest

from exll import ExLLClassifier
from exll.version import __version__
from support import random_stream


def exll(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from exll.cli.main import run; run()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "COLUMNS": "100", "OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    stream = random_stream(3, samples=90, classes=3)
    path = tmp_path / "model.exll"
    ExLLClassifier("paper").fit(stream.X, [("mug", "pan", "[red]pot")[k] for k in stream.y]).save(path)
    return path


def test_the_demo_learns_saves_and_shows_every_figure(tmp_path: Path) -> None:
    path = tmp_path / "digits.exll"
    result = exll("demo", "--save", str(path))
    assert result.returncode == 0, result.stderr
    for words in ("global inference", "local inference", "fused inference", "either right", "prototypes", "bytes"):
        assert words in result.stdout
    assert "samples per second" in result.stdout
    assert result.stdout.count("IF it resembles digit_") == 2
    facts = json.loads(exll("info", "--json", str(path)).stdout)
    assert facts["examples"] == 1438
    assert len(facts["classes"]) == 10


def test_the_demo_gives_the_same_model_for_the_same_seed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert exll("demo", "--seed", "3", "--save", str(tmp_path / name)).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_info_shows_a_model_and_takes_odd_names_literally(model: Path) -> None:
    result = exll("info", str(model))
    assert result.returncode == 0
    for words in ("3 classes", "paper", "90", "mug", "[red]pot"):
        assert words in result.stdout


def test_errors_are_one_line_with_exit_code_1(tmp_path: Path) -> None:
    result = exll("info", str(tmp_path / "none.exll"))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("exll: there is no model file at ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" in exll("--debug", "info", str(tmp_path / "none.exll")).stderr


def test_wrong_usage_has_exit_code_2() -> None:
    assert exll("info").returncode == 2
    assert exll("sing").returncode == 2


def test_version_and_help() -> None:
    assert exll("--version").stdout == f"exll {__version__}\n"
    assert "demo" in exll("--help").stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom exll.cli.main import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'safetensors') if m in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr.strip() == "[]"
