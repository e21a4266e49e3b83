"""Groups of commands that are built when one of them is used, so that other commands start faster."""

from collections.abc import MutableMapping
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup


def later(module: str, help: str) -> typer.Typer:
    """An app that is replaced by ``module.app`` when its commands are needed."""

    class Group(TyperGroup):
        @cached_property
        def _built(self) -> MutableMapping[str, Any]:
            found: Any = typer.main.get_command(import_module(module).app)
            return found.commands  # type: ignore[no-any-return]

        @property
        def commands(self) -> MutableMapping[str, Any]:
            return self._built

        @commands.setter
        def commands(self, _: Any) -> None:
            """The group itself has none to begin with."""

    return typer.Typer(cls=Group, help=help, no_args_is_help=True, rich_markup_mode=None)
