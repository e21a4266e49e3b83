"""``exll backbone``: the networks that turn an image into a vector."""

from pathlib import Path
from typing import Annotated

import typer

from exll.cli.common import JsonOption

app = typer.Typer(help="The networks that turn an image into a vector.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_backbones(json: JsonOption = False) -> None:
    """List the backbones that can be used or added."""
    from json import dumps

    from exll.features.backbone import DEFAULT
    from exll.features.known_networks import known_networks

    known = known_networks()
    if json:
        here = [network.name for network in known if network.available]
        typer.echo(dumps({"available": here, "can_be_added": [n.name for n in known if not n.available]}))
        return
    for network in known:
        how = f"; to add it: {network.to_add}" if network.to_add else ""
        typer.echo(f"{network.name:20} {network.description}{how}")
    typer.echo(
        f"\n{DEFAULT}-int8 computes in 8-bit numbers: faster, as accurate in good light.\n"
        f"{DEFAULT}@160 sees 160 px: faster, less accurate.\n"
        f"{DEFAULT}:5,6,7,last takes other outputs (docs/backbones.md)."
    )


@app.command("add")
def add_backbone(
    name: Annotated[str, typer.Argument(help="A name of 'exll backbone list'.", show_default=False)],
    weights: Annotated[
        Path | None,
        typer.Option(help="A local state dict (.pth, .pt, .safetensors) instead of a download.", show_default=False),
    ] = None,
) -> None:
    """Add a published network, exported to ONNX.

    Needs the extra 'torch', and the internet or --weights.
    """
    from exll.features.export import export_published
    from exll.features.folders import backbone_folder

    typer.echo(f"exporting {name}; this takes a minute ...", err=True)
    path = export_published(name, backbone_folder(), weights=weights)
    typer.echo(f"added {name}: {path}")
