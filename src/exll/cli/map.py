"""``exll map``: a picture of the prototypes, with similar ones close together."""

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    ImagesOption,
    JsonOption,
    ModelArgument,
    check_out,
    open_with_thumbnails,
    progress_bar,
    say_missing,
)

if TYPE_CHECKING:
    from exll.explain.topology import Topology
    from exll.explain.topology_page import Pictures

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
        MethodChoice,
        typer.Option(help="How prototypes are placed on the map; auto uses tsne with 12 prototypes or more."),
    ] = MethodChoice.auto,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The seed of t-SNE; another seed gives another layout.")
    ] = 0,
    images: ImagesOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a model's prototypes: which are similar, how many examples each has, and which class it belongs to."""
    from json import dumps

    check_out(out, "a map", FORMATS)

    from exll.explain.topology import topology_of
    from exll.explain.topology_page import PICTURE_SIDE, pictures_of

    classifier, thumbnails = open_with_thumbnails(model, images, PICTURE_SIDE, kept_first=True)
    learner, pictures = classifier.learner_, None
    with progress_bar(json) as progress:
        task = progress.add_task("placing prototypes", total=None)
        topology = topology_of(learner, method.value, seed)
        if out.suffix.lower() == ".html":
            progress.update(task, description="pictures", total=len(topology.supports))
            pictures = pictures_of(learner, topology, thumbnails, lambda: progress.advance(task))
    out.write_bytes(_drawn(topology, model.name, out.suffix.lower(), pictures))
    say_missing(thumbnails)
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


def _drawn(topology: "Topology", title: str, suffix: str, pictures: "Pictures | None") -> bytes:
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

    drawn = page(topology, title, pictures) if suffix == ".html" else svg(topology, title)
    return drawn.encode("utf-8")
