"""``exll evaluate``: how often a model is right on labelled data that it has not seen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    feature_cache,
    open_model,
    progress_bar,
    show_skipped,
    thumbnails_of,
    warn_of_splits,
)

if TYPE_CHECKING:
    from exll.explain.evaluation import Evaluation
    from exll.streams.stream import Stream
    from exll.teaching import Model


def evaluate(
    model: ModelArgument,
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write it as a page with pictures: an .html file."),
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

    Counts what exll predict says of the same images: right, wrong, unusual ("maybe") and unknown, in all and per
    class; which classes are confused; and whether the confidence fits.
    """
    from json import dumps

    from exll.streams.stream import open_stream

    if out is not None:
        check_out(out, "a report", (".html",))
    learner = open_model(model, backbone, threads)
    stream = open_stream(data, label=label, every=every)
    warn_of_splits(stream)
    found, skipped = _evaluated(learner, stream, inference, false_alarms, cache, quiet=json)
    if out is not None:
        from exll.explain.evaluation_page import page

        pictures = thumbnails_of(model, learner.classifier)
        out.write_text(page(found, f"{model.name} on {stream.source.name}", pictures), encoding="utf-8")
    if json:
        typer.echo(dumps({**found.to_dict(), "skipped": len(skipped), "skipped_files": skipped}, indent=2))
        return
    show_skipped(len(skipped), skipped)
    typer.echo(str(found))
    if out is not None:
        typer.echo(f"the whole report: {out}")


def _evaluated(
    learner: "Model", stream: "Stream", inference: InferenceChoice, false_alarms: float, cache: bool, quiet: bool
) -> "tuple[Evaluation, list[list[str]]]":
    """With the examples that could not be read, and why."""
    import numpy as np

    from exll.errors import StreamError
    from exll.teaching import vectors_of, why_unusable

    classifier = learner.classifier
    labels = {str(label): label for label in classifier.classes_.tolist()}  # those of data are always strings
    vectors, truths, names, skipped = [], [], [], []
    with progress_bar(quiet) as progress:
        task = progress.add_task("looking", total=len(stream.examples))
        for example, extracted in zip(
            stream.examples, vectors_of(learner, stream, 0, feature_cache(cache)), strict=True
        ):
            error = why_unusable(example, extracted)
            if error is not None:
                skipped.append([example.ref, str(error)])
            else:
                vectors.append(extracted.vector)
                truths.append(labels.get(example.label, example.label))
                names.append(example.ref)
            progress.advance(task)
    if not vectors:
        show_skipped(len(skipped), skipped)
        raise StreamError(f"none of the {len(stream.examples):,} examples of {stream.source} could be read.")
    found = classifier.evaluate(np.array(vectors), truths, names, inference.value, false_alarms=false_alarms)
    return found, skipped
