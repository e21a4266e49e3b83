"""``exll learn``: teach a model a folder, a table, a video or features."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    BackboneOption,
    CacheOption,
    DataArgument,
    EveryOption,
    JsonOption,
    LabelOption,
    ThreadsOption,
    feature_cache,
    open_model,
    progress_bar,
    show_skipped,
)

if TYPE_CHECKING:
    from exll.streams.stream import Stream
    from exll.teaching import Lesson, Model


def learn(
    data: DataArgument,
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file: made if missing, added to if there.")],
    preset: Annotated[str | None, typer.Option(help="Which learner to make [default: paper].")] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="as-is, iid, class-iid, instance, low-shot-instance, few-shot-N [default: iid for folders, else as-is]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the order.")] = 0,
    records: Annotated[
        str | None,
        typer.Option(help="What to remember of each example: none, refs, vectors or a number [default: vectors]."),
    ] = None,
    backbone: BackboneOption = None,
    label: LabelOption = None,
    every: EveryOption = 1,
    again: Annotated[bool, typer.Option("--again", help="Teach data that was learned already once more.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first unreadable file.")] = False,
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between two saves.")] = 30.0,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Teach a model: each example once, in one pass. Stopped at any moment, the same command goes on where it stood."""
    from exll.streams.stream import default_order, open_stream
    from exll.teaching import find_lesson, new_lesson, teach

    stream = open_stream(data, label=label, every=every)
    order = order or default_order(stream.kind)
    stream = stream.ordered(order, seed)
    learner = _model_for(model, stream, preset, records, backbone, threads)
    lesson = find_lesson(learner, stream, order, seed)
    if lesson is not None and lesson.finished and not again:
        _report(learner, lesson, json, f"{data} was learned already; --again teaches it once more.")
        return
    if stream.passed_over and not json:
        typer.echo(f"passing over {len(stream.passed_over):,} files: no images, or outside a class", err=True)
    resumed = lesson is not None and not lesson.finished
    if lesson is None or lesson.finished:
        lesson = new_lesson(stream, order, seed)
    if resumed and not json:
        typer.echo(f"going on at {lesson.position:,} of {lesson.examples:,}", err=True)
    try:
        with progress_bar(json) as progress:
            task = progress.add_task("learning", total=lesson.examples, completed=lesson.position)
            teach(
                learner,
                stream,
                lesson,
                lambda: learner.save(model),
                cache=feature_cache(cache),
                save_every=save_every,
                strict=strict,
                progress=lambda lesson: progress.update(task, completed=lesson.position),
            )
    except KeyboardInterrupt:
        typer.echo(
            f"stopped at {lesson.position:,} of {lesson.examples:,}; the same command goes on from there.", err=True
        )
        raise typer.Exit(130) from None
    _report(learner, lesson, json)


def _model_for(
    path: Path, stream: "Stream", preset: str | None, records: str | None, backbone: str | None, threads: int | None
) -> "Model":
    """The model of that file, or a new one; an option that a model's first example has fixed must not differ."""
    from exll.errors import InputError
    from exll.estimator import ExLLClassifier
    from exll.vision import ImageLearner

    wanted: Any = int(records) if records is not None and records.isdigit() else records
    if path.exists():
        model = open_model(path, backbone, threads)
        classifier = model.classifier if isinstance(model, ImageLearner) else model
        for name, value in (("preset", preset), ("records", wanted)):
            if value is not None and value != getattr(classifier, name):
                raise InputError(
                    f"{path} was made with {name} {getattr(classifier, name)!r}, which cannot be changed to {value!r}."
                )
        return model
    if stream.kind == "features":
        new = ExLLClassifier(preset or "paper", records=wanted or "vectors")
        new._check_parameters(anew=True)
        return new
    learner = ImageLearner(backbone or "nano", preset or "paper", records=wanted or "vectors", threads=threads)
    learner.classifier._check_parameters(anew=True)
    return learner


def _report(model: "Model", lesson: "Lesson", json: bool, remark: str | None = None) -> None:
    from json import dumps

    from exll.errors import StreamError
    from exll.vision import ImageLearner

    classifier = model.classifier if isinstance(model, ImageLearner) else model
    if not hasattr(classifier, "learner_"):
        show_skipped(lesson.skipped, lesson.skipped_named)
        raise StreamError(
            f"nothing could be learned from {lesson.source}: none of its {lesson.examples:,} examples could be read."
        )
    facts: dict[str, Any] = {
        "source": lesson.source,
        "order": lesson.order,
        "seed": lesson.seed,
        "learned": lesson.learned,
        "skipped": lesson.skipped,
        "classes": len(classifier.classes_),
        "prototypes": classifier.n_prototypes_,
        "examples": classifier.learner_.sample_count,
        "bytes": classifier.nbytes_,
    }
    if json:
        typer.echo(
            dumps({**facts, "skipped_files": lesson.skipped_named, "already": remark is not None}, ensure_ascii=False)
        )
        return
    show_skipped(lesson.skipped, lesson.skipped_named)
    if remark is not None:
        typer.echo(remark)
    typer.echo(
        f"{facts['examples']:,} examples learned in all, {facts['classes']:,} classes, "
        f"{facts['prototypes']:,} prototypes, {facts['bytes'] / 1e6:.1f} MB"
    )
