"""What all commands share: versions, help, errors, exit codes, quick imports."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import exll, exll_process
from exll import ExLLClassifier
from exll.version import __version__
from pictures import picture
from support import random_stream


def test_version_help_and_backbones() -> None:
    assert exll("--version").stdout == f"exll {__version__}\n"
    assert "learn" in exll("--help").stdout
    listed = exll("backbone", "list").stdout
    assert listed.startswith("efficientnet_lite0 ")
    assert "\nnano " in listed
    assert "resnet-18" in listed
    assert exll("backbone", "add", "giant").returncode == 1


def test_info_shows_a_model_and_takes_odd_names_literally(tmp_path: Path) -> None:
    stream = random_stream(3, samples=90, classes=3)
    names = ("mug", "pan", "[red]pot")
    ExLLClassifier("paper").fit(stream.X, [names[k] for k in stream.y]).save(tmp_path / "m.exll")
    result = exll("info", tmp_path / "m.exll")
    assert result.returncode == 0
    for words in ("3 classes", "paper", "90", "mug", "[red]pot"):
        assert words in result.stdout


def test_errors_are_one_line_with_exit_code_1(tmp_path: Path) -> None:
    for command in (("info",), ("predict", tmp_path / "x.png"), ("evaluate", tmp_path)):
        result = exll(command[0], tmp_path / "none.exll", *command[1:])
        assert result.returncode == 1
        assert result.stdout == ""
        assert result.stderr.startswith("exll: there is no model file at ")
        assert result.stderr.count("\n") == 1
    assert "Traceback" in exll("--debug", "info", tmp_path / "none.exll").stderr
    assert exll("learn", tmp_path / "nothing", "-m", tmp_path / "m.exll").stderr.startswith("exll: There is no ")


@pytest.mark.process
@pytest.mark.parametrize("arguments", [("--version",), ("info", "none.exll"), ("info",), ("sing",)])
def test_a_process_of_its_own_says_the_same_and_ends_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The tests that run commands in this process rely on it."""
    own, here = (run(*arguments, cwd=tmp_path, columns=80) for run in (exll_process, exll))
    assert (own.returncode, own.stdout, own.stderr) == (here.returncode, here.stdout, here.stderr)


@pytest.mark.process
def test_the_traceback_of_a_process_is_shown_when_it_is_asked_for(tmp_path: Path) -> None:
    result = exll_process("--debug", "info", tmp_path / "none.exll")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Traceback")
    assert "ModelFileNotFoundError: there is no model file at " in result.stderr


def test_an_error_that_nobody_thought_of_is_one_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("not\nthought of")

    monkeypatch.setattr("exll.saving.model_file.read_model", fail)
    result = exll("info", tmp_path / "m.exll")
    assert (result.returncode, result.stdout) == (1, "")
    reason = "ZeroDivisionError: not thought of"
    assert result.stderr == f"exll: internal error ({reason}); exll --debug shows where.\n"
    assert "Traceback" in exll("--debug", "info", tmp_path / "m.exll").stderr


def test_wrong_usage_has_exit_code_2() -> None:
    assert exll("info").returncode == 2
    assert exll("sing").returncode == 2


@pytest.mark.parametrize("command", [("demo", "--out"), ("bench", "demo", "-o"), ("bench", "report", ".", "-o")])
def test_a_folder_below_a_file_is_refused_before_any_work(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "results.jsonl").touch()
    result = exll(*command, "file/x/y", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"exll: {tmp_path / 'file'} is a file, so there can be no folder file/x/y.\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "forbidden"),
    [
        (["--help"], ("numpy", "scipy", "sklearn", "onnxruntime", "matplotlib", "PIL", "safetensors")),
        (["learn", "--help"], ("numpy", "scipy", "sklearn", "onnxruntime", "matplotlib", "PIL", "safetensors")),
        (["info"], ("scipy", "sklearn", "onnxruntime", "matplotlib", "PIL")),
    ],
)
def test_commands_import_no_more_than_they_need(command: list[str], forbidden: tuple[str, ...], tmp_path: Path) -> None:
    if command == ["info"]:
        ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "m.exll")
        command = ["info", str(tmp_path / "m.exll")]
    assert imported_by(command) & set(forbidden) == set()


@pytest.mark.process
@pytest.mark.parametrize("preset", ["glocal", "paper"])
def test_answers_wait_for_no_import_that_they_do_not_need(data: Path, tmp_path: Path, preset: str) -> None:
    model, photo = str(tmp_path / "m.exll"), str(tmp_path / "new.png")
    assert exll("learn", data, "-m", model, "--preset", preset, "--backbone", "nano").returncode == 0
    picture(2, 99).save(photo)
    slow = {"sklearn", "matplotlib", "joblib", "pandas", "scipy.optimize", "scipy.special", "scipy.stats"}
    for command in (["predict", "--no-cache"], ["predict"], ["predict"]):  # not cached, to be cached, cached
        imported = imported_by([*command, model, photo])
        assert {"onnxruntime", "scipy.linalg"} <= imported  # it did answer
        assert imported & slow == set()
    assert imported_by(["evaluate", model, str(data)]) & slow == set()


def imported_by(command: list[str]) -> set[str]:
    """Every module that a command imports, in a process of its own."""
    code = (
        f"import sys\nfrom exll.cli.main import app\ntry:\n    app({command})\n"
        "except SystemExit as end:\n    assert not end.code, end.code\nprint(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


def test_the_page_of_commands_says_what_may_be_left_out() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "## exll studio [DIR]\n" in page
    assert re.search(r"\| `\[DIR\]` \| .* \[default: studio\] \|", page)
    assert "## exll predict MODEL IMAGES...\n" in page


@pytest.mark.process
def test_commands_use_one_thread_for_small_matrices() -> None:
    code = (
        "from exll.cli.main import run\ntry: run()\nexcept SystemExit: pass\n"
        "import scipy.linalg, threadpoolctl\nprint({pool['num_threads'] for pool in threadpoolctl.threadpool_info()})"
    )
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    cases: list[tuple[dict[str, str], str]] = [
        ({}, "{1}"),
        ({"OPENBLAS_NUM_THREADS": "2"}, f"{{{min(2, os.cpu_count() or 1)}}}"),
    ]
    for given, expected in cases:
        result = subprocess.run(
            [sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True, env={**kept, **given}
        )
        assert result.stdout.splitlines()[-1] == expected


@pytest.mark.parametrize("group", [(), ("bench",), ("backbone",)])
def test_no_summary_of_a_command_is_cut(group: tuple[str, ...]) -> None:
    listed = exll(*group, "--help", columns=80).stdout.partition("Commands:\n")[2].splitlines()
    assert listed
    assert [line for line in listed if line.rstrip().endswith("...")] == []
