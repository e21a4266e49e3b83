"""``exll explain``: why an image is taken for what it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    BackboneOption,
    BoxOption,
    ImagesOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    check_out,
    open_image_learner,
    parse_box_option,
    say_missing,
    thumbnails_of,
)

if TYPE_CHECKING:
    from exll.explain.explanation import Explanation
    from exll.features.regions import PixelBox
    from exll.vision import ImageLearner


def explain(
    model: ModelArgument,
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="An image file.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write it as a page with pictures: an .html file."),
    ] = None,
    box: BoxOption = None,
    images: ImagesOption = None,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Say why: the examples it resembles most, those it nearly was, and how local and global inference decided."""
    from json import dumps

    if out is not None:
        check_out(out, "an explanation", (".html",))
    region = parse_box_option(box)
    learner = open_image_learner(model, backbone, threads, "explain it in Python.")
    if out is None:
        explanation = learner.explain(image, region)
    else:
        explanation = write_page(learner, image, model, out, region, images)
    if json:
        typer.echo(dumps(explanation.to_dict(), indent=2))
    elif out is None:
        typer.echo(str(explanation))
    else:
        typer.echo(f"{out}: why {image.name} {verdict(explanation)}")


def write_page(
    learner: "ImageLearner",
    image: Path,
    model: Path,
    out: Path,
    box: "PixelBox | None" = None,
    images: Path | None = None,
) -> "Explanation":
    """Write the page of why an image is taken for what it is."""
    from exll.explain.explanation_page import page
    from exll.features.regions import region_ref

    thumbnails = thumbnails_of(model, learner.classifier, kept=learner.kept_thumbnails(), images=images)
    case = learner.case(image, region_ref(str(image), box), box)
    out.write_text(page(case, thumbnails), encoding="utf-8")
    say_missing(thumbnails)
    return case.explanation


def verdict(explanation: "Explanation") -> str:
    if explanation.level == "unknown":
        return f'is unknown (nearest is "{explanation.label}")'
    if explanation.level == "unusual":
        return f'may be "{explanation.label}", but it is unlike the photos that were taught'
    return f'is taken for "{explanation.label}"'
