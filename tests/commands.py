"""The command line: in this process, which is quick, or as its user has it, in a process of its own."""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from exll.cli import main

COMMAND = "from exll.cli.main import run; run()"


def exll(
    *arguments: str | Path,
    cwd: Path | None = None,
    columns: int = 110,
    charset: str = "utf-8",
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[str]:
    """What ``exll`` says and how it ends, by its entry point. Nothing that it sets outlives it."""
    command = ["exll", *map(str, arguments)]
    with (
        nothing_left_behind(cwd or Path.cwd()),
        patch.object(sys, "argv", command),
        patch.object(sys.modules["__main__"], "__package__", None),  # or it calls itself python -m pytest
        CliRunner(charset=charset).isolation(stdin, env={"COLUMNS": str(columns)}) as (stdout, stderr, _),
    ):
        code = _ended()
        sys.stdout.flush()
        sys.stderr.flush()
        said, complained = stdout.getvalue(), stderr.getvalue()
    return subprocess.CompletedProcess(command, code, _text(said, charset), _text(complained, charset))


def exll_process(
    *arguments: str | Path, cwd: Path | None = None, columns: int = 110
) -> subprocess.CompletedProcess[str]:
    """The same in a fresh process, for tests of the process itself."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[0] = 'exll'; {COMMAND}", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": str(columns)},
    )


def exll_json(*arguments: str | Path, cwd: Path | None = None) -> Any:
    result = exll(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@contextmanager
def nothing_left_behind(folder: Path) -> Iterator[None]:
    """A folder to work in, and the environment, the options and the user's own modules as they were before."""
    modules = set(sys.modules)
    with (
        chdir(folder),
        patch.dict(os.environ),
        patch.dict(main._wanted, debug=False),
        patch.object(sys, "path", [*sys.path]),
    ):
        try:
            yield
        finally:
            for name in set(sys.modules) - modules:
                if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder.resolve()):
                    del sys.modules[name]


def _ended() -> int:
    """The exit code; an error that goes through is shown as Python shows it."""
    try:
        main.run()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _text(output: bytes, charset: str) -> str:
    """Click takes an output of ASCII for one that was not set up, and writes UTF-8."""
    return output.decode("utf-8" if charset == "ascii" else charset).replace("\r\n", "\n")
