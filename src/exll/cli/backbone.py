"""``exll backbone``: the networks that see."""

from pathlib import Path
from typing import Annotated

import typer

from exll.cli.common import JsonOption

app = typer.Typer(help="The networks that turn an image into a vector.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_backbones(json: JsonOption = False) -> None:
    """Name the backbones that can be used now, and those that can be added."""
    from json import dumps

    from exll.features.backbone import available_backbones
    from exll.features.export import PUBLISHED

    here = available_backbones()
    if json:
        typer.echo(dumps({"available": here, "can_be_added": [name for name in PUBLISHED if name not in here]}))
        return
    for name in here:
        typer.echo(f"{name:20} {'built in, 512 numbers, 128 px' if name == 'nano' else 'added'}")
    for name, published in PUBLISHED.items():
        if name not in here:
            typer.echo(f"{name:20} can be added: {published.description}")


@app.command("add")
def add_backbone(
    name: Annotated[str, typer.Argument(help="A name of 'exll backbone list'.", show_default=False)],
    weights: Annotated[
        Path | None,
        typer.Option(help="A local state dict (.pth, .pt, .safetensors) instead of the hub.", show_default=False),
    ] = None,
) -> None:
    """Export a published network with timm to ONNX (needs the extra torch, and the hub or --weights)."""
    from exll.features.export import export_published
    from exll.features.folders import backbone_folder

    path = export_published(name, backbone_folder(), weights=weights)
    typer.echo(f"added {name}: {path}")
