"""``exll map``: a picture of the prototypes and how they lie to each other."""

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, check_out, open_classifier

if TYPE_CHECKING:
    from exll.explain.topology import Topology

FORMATS = (".png", ".svg", ".html")


class MethodChoice(enum.StrEnum):
    auto = "auto"
    tsne = "tsne"
    pca = "pca"


def map_command(
    model: ModelArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The picture to write: .png, .svg or .html.")
    ] = Path("map.html"),
    method: Annotated[
        MethodChoice, typer.Option(help="How prototypes are laid flat; auto takes tsne from 12 prototypes on.")
    ] = MethodChoice.auto,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of t-SNE: another seed, another layout.")] = 0,
    json: JsonOption = False,
) -> None:
    """Draw a model's prototypes: which lie close together, how large they are, and of which class."""
    from json import dumps

    check_out(out, "a map", FORMATS)
    learner = open_classifier(model).learner_

    from exll.explain.topology import topology_of

    topology = topology_of(learner, method.value, seed)
    out.write_bytes(_drawn(topology, model.name, out.suffix.lower()))
    if json:
        written = {
            "out": str(out),
            "prototypes": len(topology.supports),
            "classes": len(topology.labels),
            "examples": int(topology.supports.sum()),
            "edges": len(topology.edges),
            "method": topology.method,
            "seed": seed,
        }
        typer.echo(dumps(written, indent=2))
    else:
        typer.echo(f"{out}: {topology.summary()}")


def _drawn(topology: "Topology", title: str, suffix: str) -> bytes:
    from exll.errors import InputError

    if suffix == ".png":
        try:
            from exll.explain.topology_picture import png
        except ModuleNotFoundError as error:
            raise InputError(
                'a .png map needs matplotlib: pip install "exll[bench]", or write an .svg or .html map.'
            ) from error
        return png(topology, title)

    from exll.explain.topology_page import page, svg

    return (page if suffix == ".html" else svg)(topology, title).encode("utf-8")
