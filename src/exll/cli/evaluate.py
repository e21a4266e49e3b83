"""``exll evaluate``: how often a model is right on labelled data that it has not seen."""

from pathlib import Path
from typing import Annotated

import typer

from exll.cli.common import (
    FALSE_ALARMS,
    BackboneOption,
    CacheOption,
    DataArgument,
    EveryOption,
    FalseAlarmsOption,
    InferenceChoice,
    InferenceOption,
    JsonOption,
    LabelOption,
    ModelArgument,
    ThreadsOption,
    check_out,
    open_model,
    show_skipped,
    thumbnails_of,
    warn_of_splits,
)


def evaluate(
    model: ModelArgument,
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write a page with pictures: an .html file."),
    ] = None,
    inference: InferenceOption = InferenceChoice.fused,
    false_alarms: FalseAlarmsOption = FALSE_ALARMS,
    label: LabelOption = None,
    every: EveryOption = 1,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
) -> None:
    """Count right answers on labelled data.

    Shows how many answers of exll predict are right, wrong, unusual ("maybe") and unknown, in total and per class;
    which classes are confused; and whether the confidence is as high as the share of right answers.
    """
    from json import dumps

    import numpy as np

    from exll.cli.labelled import labelled_vectors
    from exll.streams.stream import open_stream
    from exll.teaching import untaught

    if out is not None:
        check_out(out, "a report", (".html",))
    learner = open_model(model, backbone, threads)
    stream = open_stream(data, label=label, every=every)
    warn_of_splits(stream)
    taught = len(stream.examples) - len(untaught(learner, stream).examples)
    if taught:
        many = f"all {taught:,}" if taught == len(stream.examples) else f"{taught:,} of these"
        typer.echo(
            f"{many} examples were taught to the model: it is right about them more often than about new ones", err=True
        )
    asked = labelled_vectors(learner, stream, cache, quiet=json)
    found = learner.classifier.evaluate(
        np.array(asked.vectors), asked.labels, asked.names, inference.value, false_alarms=false_alarms
    )
    if out is not None:
        from exll.explain.evaluation_page import page

        pictures = thumbnails_of(model, learner.classifier)
        out.write_text(page(found, f"{model.name} on {stream.source.name}", pictures), encoding="utf-8")
    if json:
        more = {"taught": taught, "skipped": len(asked.skipped), "skipped_files": asked.skipped}
        typer.echo(dumps({**found.to_dict(), **more}, indent=2))
        return
    show_skipped(len(asked.skipped), asked.skipped)
    typer.echo(str(found))
    if out is not None:
        typer.echo(f"the whole report: {out}")
