"""``exll completion``: a script with which the Tab key completes commands, options, choices and files."""

import enum
from typing import Annotated

import typer

VARIABLE = "_EXLL_COMPLETE"  # the script asks exll itself, and says so with this variable


class Shell(enum.StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that the script is for.", show_default=False)],
) -> None:
    """Print a script that lets the Tab key complete commands, options and files.

    bash: put eval "$(exll completion bash)" into ~/.bashrc. zsh: put eval "$(exll completion zsh)" into ~/.zshrc, after
    compinit. fish: exll completion fish > ~/.config/fish/completions/exll.fish
    """
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name="exll", complete_var=VARIABLE, shell=shell.value))


def answer_the_shell() -> None:
    """Let typer know the shells; it then answers where the variable is set, and ends the process."""
    from typer._completion_classes import completion_init

    completion_init()
