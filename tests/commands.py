"""The command line as its user has it: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = "from exll.cli.main import run; run()"


def exll(*arguments: str | Path, cwd: Path | None = None, columns: int = 110) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": str(columns)},
    )


def exll_json(*arguments: str | Path, cwd: Path | None = None) -> dict[str, Any]:
    result = exll(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts
