"""The Tab key, in a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import COMMAND, exll

ASK = """
eval "$(exll completion bash)"
complete -p exll
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _exll_completion exll; echo "${COMPREPLY[*]}"; }
ask exll le
ask exll predict --inf
ask exll predict --inference ""
ask exll bench de
ask exll predict m.ex
"""


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_choices_and_leaves_paths_to_itself(tmp_path: Path) -> None:
    program = tmp_path / "exll"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'exll'\n{COMMAND}\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    answer = subprocess.run(
        ["bash", "--norc", "-c", ASK], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    )
    assert answer.stderr == ""
    assert answer.stdout.splitlines() == [
        "complete -o default -F _exll_completion exll",  # -o default: files, where exll has nothing to say
        "learn",
        "--inference",
        "fused local global",
        "demo",
        "",
    ]


@pytest.mark.parametrize(("shell", "words"), [("zsh", "compdef _exll_completion exll"), ("fish", "complete --command")])
def test_the_other_shells_have_scripts_too(shell: str, words: str) -> None:
    result = exll("completion", shell)
    assert result.returncode == 0
    assert words in result.stdout
    assert "_EXLL_COMPLETE=complete_" in result.stdout


def test_a_shell_that_is_not_known_is_wrong_usage() -> None:
    assert exll("completion", "tcsh").returncode == 2
