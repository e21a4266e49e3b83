"""Writes docs/cli.md from the commands' own help texts. A test checks that it is fresh."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from exll.cli.main import app

PAGE = Path(__file__).with_name("cli.md")
HEAD = """# The command line

Made from the commands' help texts by `python docs/make_cli.py`; please change the commands, not this page.
"""


def page() -> str:
    return "\n".join([HEAD, *_sections("exll", typer.main.get_command(app))])


def _sections(name: str, command: Any) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join([name, *(str(argument.metavar or argument.name).upper() for argument in arguments)])
    yield f"## {usage}\n\n{' '.join(command.help.split())}\n"
    rows = [(f"`{argument.metavar or argument.name}`", argument.help) for argument in arguments]
    rows += [(_names(option), _described(option)) for option in options if option.name != "help"]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows), ""])
    for sub, inner in getattr(command, "commands", {}).items():
        yield from _sections(f"{name} {sub}", inner)


def _names(option: Any) -> str:
    names = "`, `".join([*option.opts, *option.secondary_opts])
    return f"`{names}`"


def _described(option: Any) -> str:
    text = " ".join((option.help or "").split()).replace("|", "\\|")
    shown = option.default is not None and option.default is not False and not option.secondary_opts
    if option.required:
        return f"{text} (required)"
    return f"{text} [default: {option.default}]" if shown and "[default" not in text else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
