"""``exll explain``: why an image is taken for what it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    BackboneOption,
    BoxOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    check_out,
    open_image_learner,
    parse_box_option,
    thumbnails_of,
)

if TYPE_CHECKING:
    from exll.explain.explanation import Evidence, Explanation
    from exll.features.regions import PixelBox
    from exll.vision import ImageLearner

EXAMPLES_SHOWN = 3


def explain(
    model: ModelArgument,
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="An image file.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write it as a page with pictures: an .html file."),
    ] = None,
    box: BoxOption = None,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Say why: the examples it resembles most, those it nearly was, and what both voices said."""
    from json import dumps

    if out is not None:
        check_out(out, "an explanation", (".html",))
    region = parse_box_option(box)
    learner = open_image_learner(model, backbone, threads, "explain it in Python.")
    if out is None:
        explanation = learner.explain(image, region)
    else:
        explanation = write_page(learner, image, model, out, region)
    if json:
        typer.echo(dumps(explanation.to_dict(), indent=2))
    elif out is None:
        typer.echo(_words(explanation))
    else:
        typer.echo(f"{out}: why {image.name} {_verdict(explanation)}")


def write_page(
    eye: "ImageLearner", image: Path, model: Path, out: Path, box: "PixelBox | None" = None
) -> "Explanation":
    """Write the page of why an image is taken for what it is."""
    from exll.explain.explanation_page import page
    from exll.features.regions import region_ref

    case = eye.case(image, region_ref(str(image), box), box)
    out.write_text(page(case, thumbnails_of(model, eye.classifier)), encoding="utf-8")
    return case.explanation


def _verdict(explanation: "Explanation") -> str:
    if explanation.known is False:
        return f'is unknown (nearest is "{explanation.label}")'
    return f'is taken for "{explanation.label}"'


def _words(explanation: "Explanation") -> str:
    runner_up = "" if explanation.runner_up is None else f', else "{explanation.runner_up}"'
    sure = f"{explanation.probability:.1%}{runner_up}"
    if explanation.known is False:
        answer = f'unknown (nearest is "{explanation.label}", {sure})'
    else:
        answer = f'"{explanation.label}" ({sure})'
    lines = [answer, explanation.reason]
    parts = (("hit", explanation.hit), ("near hit", explanation.near_hit), ("near miss", explanation.near_miss))
    lines += [_line(name, evidence) for name, evidence in parts if evidence is not None]
    return "\n".join(lines)


def _line(name: str, evidence: "Evidence") -> str:
    shown = ", ".join(example.name for example in evidence.examples[:EXAMPLES_SHOWN]) or "no examples remembered"
    more = evidence.support - min(EXAMPLES_SHOWN, len(evidence.examples))
    rest = f" and {more} more" if more and evidence.examples else ""
    return f'{name:10} "{evidence.label}", distance {evidence.distance:.1f}: {shown}{rest}'
