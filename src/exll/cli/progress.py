"""``exll progress``: have I taught enough?"""

from typing import Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, open_classifier


def progress(
    model: ModelArgument,
    top: Annotated[int, typer.Option(min=1, help="How many classes to show at most, the weakest first.")] = 20,
    json: JsonOption = False,
) -> None:
    """Say per class whether enough was taught, from how the stream's own examples fared before they were learned."""
    from json import dumps

    classes = open_classifier(model).progress()
    if json:
        typer.echo(dumps([entry.to_dict() for entry in classes], indent=2))
        return
    for entry in classes[:top]:
        typer.echo(str(entry))
    enough = sum(entry.verdict == "enough" for entry in classes)
    rest = len(classes) - min(top, len(classes))
    typer.echo(f"{enough:,} of {len(classes):,} classes seem taught enough" + (f"; {rest:,} not shown" if rest else ""))
