"""``exll suspects``: training images whose label the others contradict."""

from dataclasses import asdict
from typing import Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, open_classifier


def suspects(
    model: ModelArgument,
    top: Annotated[int, typer.Option(min=1, help="How many to show at most.")] = 20,
    json: JsonOption = False,
) -> None:
    """Name training images that the other examples would call something else, and images taught under two labels."""
    from json import dumps

    found = open_classifier(model).suspects()
    if json:
        doubtful = found.contradicted()
        result = {
            "contradicted": len(doubtful),
            "suspects": [asdict(suspect) for suspect in doubtful[:top]],
            "contradictions": [asdict(contradiction) for contradiction in found.contradictions],
        }
        typer.echo(dumps(result, indent=2))
        return
    typer.echo(found.text(top))
