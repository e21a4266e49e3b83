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

    from exll.explain.wording import counted

    found = open_classifier(model).suspects()
    doubtful = found.contradicted()
    if json:
        result = {
            "contradicted": len(doubtful),
            "suspects": [asdict(suspect) for suspect in doubtful[:top]],
            "contradictions": [asdict(contradiction) for contradiction in found.contradictions],
        }
        typer.echo(dumps(result, indent=2))
        return
    for contradiction in found.contradictions:
        pairs = zip(contradiction.names, contradiction.labels, strict=True)
        typer.echo("one image, several labels: " + ", ".join(f'{name} ("{label}")' for name, label in pairs))
    for suspect in doubtful[:top]:
        typer.echo(
            f'{suspect.doubt:.3f}  {suspect.name}: taught as "{suspect.label}", the others say "{suspect.would_be}"'
        )
    rest = len(doubtful) - min(top, len(doubtful))
    typer.echo(
        f"{len(doubtful):,} of {counted(len(found.ranked), 'example')} look more like another class, judged by all the "
        "others: worth a look, though some may be right" + (f"; {rest:,} not shown" if rest else "")
    )
