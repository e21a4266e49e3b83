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
    usage = " ".join([name, *(_placeholder(argument) for argument in arguments)])
    yield f"## {usage}\n\n{' '.join(command.help.split())}\n"
    rows = [(f"`{_placeholder(argument)}`", _described(argument)) for argument in arguments]
    rows += [(_names(option), _described(option)) for option in options if option.name != "help"]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows), ""])
    for sub, inner in getattr(command, "commands", {}).items():
        yield from _sections(f"{name} {sub}", inner)


def _placeholder(argument: Any) -> str:
    """As help texts have it: in brackets where it may be left out."""
    name = str(argument.metavar or argument.name).upper()
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    names = "`, `".join([*option.opts, *option.secondary_opts])
    return f"`{names}`"


def _described(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split()).replace("|", "\\|")
    shown = parameter.default is not None and parameter.default is not False and not parameter.secondary_opts
    if parameter.required:  # of an argument, the missing brackets say so
        return text if parameter.param_type_name == "argument" else f"{text} (required)"
    return f"{text} [default: {parameter.default}]" if shown and "[default" not in text else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
