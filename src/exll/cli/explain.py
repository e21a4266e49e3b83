"""``exll explain``: why the model gives its answer for an image."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    FALSE_ALARMS,
    STANDARD_INPUT,
    BackboneOption,
    BoxOption,
    FalseAlarmsOption,
    ImagesOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    check_out,
    image_from_standard_input,
    open_image_learner,
    parse_box_option,
    say_missing,
    thumbnails_of,
)

if TYPE_CHECKING:
    from exll.explain.explanation import Explanation
    from exll.features.regions import PixelBox
    from exll.vision import ImageLearner


PIPED = "standard input"


def explain(
    model: ModelArgument,
    image: Annotated[
        Path,
        typer.Argument(metavar="IMAGE", help="An image file; - reads one from standard input.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write a page with pictures: an .html file."),
    ] = None,
    false_alarms: FalseAlarmsOption = FALSE_ALARMS,
    box: BoxOption = None,
    images: ImagesOption = None,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Explain the answer for an image.

    Shows the examples that the image resembles most, those of the second choice, and how local and global
    inference decided.
    """
    from json import dumps

    if out is not None:
        check_out(out, "an explanation", (".html",))
    region = parse_box_option(box)
    learner = open_image_learner(model, backbone, threads, "explain it in Python.")
    piped = image == STANDARD_INPUT
    source = image_from_standard_input() if piped else image
    if out is None:
        explanation = learner.explain(source, region, false_alarms=false_alarms)
    else:
        explanation = write_page(learner, source, model, out, region, images, false_alarms)
    if json:
        typer.echo(dumps(explanation.to_dict(), indent=2))
    elif out is None:
        typer.echo(str(explanation))
    else:
        typer.echo(f"{out}: why {PIPED if piped else image.name} {verdict(explanation)}")


def write_page(
    learner: "ImageLearner",
    image: Path | bytes,
    model: Path,
    out: Path,
    box: "PixelBox | None" = None,
    images: Path | None = None,
    false_alarms: float = FALSE_ALARMS,
    truth: str | None = None,
) -> "Explanation":
    """Write the page that explains the answer for an image; with the ``truth``, it says if the answer is wrong."""
    from dataclasses import replace

    from exll.explain.explanation_page import page
    from exll.features.regions import region_ref

    thumbnails = thumbnails_of(model, learner.classifier, kept=learner.kept_thumbnails(), images=images)
    name = PIPED if isinstance(image, bytes) else str(image)
    case = learner.case(image, region_ref(name, box), box, false_alarms=false_alarms)
    out.write_text(page(replace(case, truth=truth), thumbnails), encoding="utf-8")
    say_missing(thumbnails)
    return case.explanation


def verdict(explanation: "Explanation") -> str:
    if explanation.level == "unknown":
        return f'is unknown (nearest is "{explanation.label}")'
    if explanation.level == "unusual":
        return f'may be "{explanation.label}", but it is unlike the photos that were taught'
    return f'is taken for "{explanation.label}"'
