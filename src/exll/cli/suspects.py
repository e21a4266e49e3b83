"""``exll suspects``: training images whose label is probably wrong."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

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


def suspects(
    model: ModelArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a page that shows each beside the examples that contradict it: an .html file.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many to show at most.")] = 20,
    images: ImagesOption = None,
    json: JsonOption = False,
) -> None:
    """List training images whose label is probably wrong, judged by all other images, and images that were taught with
    two labels."""
    from json import dumps

    if out is not None:
        check_out(out, "a page of suspects", (".html",))

    from exll.explain.suspects_page import SIDE, page

    classifier, thumbnails = open_with_thumbnails(model, images, SIDE)
    with progress_bar(json) as progress:
        task = progress.add_task("judging", total=None)
        found = classifier.suspects()
        doubtful = found.contradicted()
        if out is not None:
            progress.update(task, description="pictures", total=min(top, len(doubtful)))
            content = page(found, top, classifier.learner_, model.name, thumbnails, lambda: progress.advance(task))
            out.write_text(content, encoding="utf-8")
    say_missing(thumbnails)
    if json:
        result = {
            "contradicted": len(doubtful),
            "wrong_labels": found.wrong_labels,
            "suspects": [asdict(suspect) for suspect in doubtful[:top]],
            "contradictions": [asdict(contradiction) for contradiction in found.contradictions],
        }
        typer.echo(dumps(result, indent=2))
    elif out is not None:
        typer.echo(f"{out}: {found.summary()}")
    else:
        typer.echo(found.text(top))
