"""``exll learn``: teach a model with a folder, a table, a video or features."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    DATA_HELP,
    BackboneOption,
    EveryOption,
    JsonOption,
    LabelOption,
    LooksOption,
    Saver,
    ThreadsOption,
    check_preset,
    feature_cache,
    open_model,
    progress_bar,
    show_skipped,
    stopped_by_ctrl_c,
    warn_of_splits,
)

if TYPE_CHECKING:
    from exll.cluster.workers import Workers
    from exll.streams.stream import Stream
    from exll.teaching import Lesson, Model


def _check_records(records: str | None) -> str | None:
    number = records is not None and records.isascii() and records.isdecimal() and int(records) > 0
    if not number and records not in (None, "none", "refs", "vectors"):
        raise typer.BadParameter(f"must be none, refs, vectors or a number of at least 1; got {records!r}.")
    return records


def learn(
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help=DATA_HELP, show_default=False)],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="The model file; it is created, or examples are added to it.")
    ],
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=check_preset,
            help="How to learn: glocal (our own learner) or paper (the equations of the paper) [default: glocal].",
        ),
    ] = None,
    max_prototypes: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most prototypes that a class may have [default: grows slowly with its examples]."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="The order of the examples: as-is, iid (shuffled), class-iid (class after class), instance (video "
            "after video), low-shot-instance (one video per class) or few-shot N (N examples per class) [default: iid "
            "for folders, else as-is]."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the order.")] = 0,
    records: Annotated[
        str | None,
        typer.Option(
            callback=_check_records,
            help="What to remember of the examples: vectors and names (vectors), names only (refs), nothing (none), or "
            "only the N nearest to each prototype (a number) [default: vectors].",
        ),
    ] = None,
    thumbnails: Annotated[
        int | None,
        typer.Option(min=0, max=64, help="Small pictures to keep in the model per prototype, 0 for none [default: 3]."),
    ] = None,
    backbone: BackboneOption = None,
    looks: LooksOption = None,
    label: LabelOption = None,
    every: EveryOption = 1,
    again: Annotated[bool, typer.Option("--again", help="Teach the data even if it was learned before.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first unreadable file.")] = False,
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between two saves.")] = 30.0,
    threads: ThreadsOption = None,
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Keep features, so that the network sees each image once [default: yes; on workers no].",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="The number of processes on this machine to learn with.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Learn on the workers of a Dask scheduler, like tcp://10.0.0.5:8786."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Teach a model, each example once.

    exll learn photos -m things.exll teaches a folder with one sub-folder per class; exll learn 1.jpg 2.jpg --label kiwi
    -m things.exll teaches single images. If it is stopped, the same command continues where it stopped.
    """
    from exll.cluster.parts import folder_beside, remove_leftovers
    from exll.cluster.run import teach_on_cluster
    from exll.learner.preset import DEFAULT_PRESET, find_preset
    from exll.saving.model_file import place_for
    from exll.streams.orderings import order_name
    from exll.streams.stream import default_order
    from exll.teaching import prepare_lesson, teach

    chosen = find_preset(preset or DEFAULT_PRESET)
    reason = None if chosen is None else chosen.refuses.get("max_prototypes")
    if max_prototypes is not None and reason is not None:
        raise typer.BadParameter(f"the preset {preset} {reason}; leave it out.", param_hint="--max-prototypes")
    on_workers = workers is not None or scheduler is not None
    if workers is not None and scheduler is not None:
        raise typer.BadParameter(
            "give either --workers, for processes of this machine, or --scheduler; not both.", param_hint="--workers"
        )
    if on_workers and threads is not None:
        raise typer.BadParameter("a worker has one thread; leave it out.", param_hint="--threads")
    place_for(model)
    whole = _stream(data, label, every)
    order = order_name(order or default_order(whole.kind))
    whole = whole.ordered(order, seed)
    learner = _model_for(model, whole, preset, records, max_prototypes, backbone, threads, looks, thumbnails)
    lesson, stream = prepare_lesson(learner, whole, order, seed, again)
    if not stream.examples:
        remove_leftovers(folder_beside(model), lesson.fingerprint)
        _report(model, learner, lesson, json, f"{', '.join(data)} was learned before; --again teaches it again.")
        return
    warn_of_splits(whole)
    if not json:
        _announce(whole, stream, lesson)
    save = Saver(model)
    done = lesson.position

    def shown(position: int) -> None:
        nonlocal done
        done = position
        progress.update(task, completed=done)

    stoppable = stopped_by_ctrl_c(
        lambda: f"stopped at {done:,} of {lesson.examples:,}; the same command continues from there."
    )
    with stoppable, progress_bar(json) as progress:
        task = progress.add_task("learning", total=lesson.examples, completed=lesson.position)
        if on_workers:
            with _workers(workers, scheduler, json) as found:
                learner = teach_on_cluster(
                    learner,
                    stream,
                    lesson,
                    save,
                    folder_beside(model),
                    found,
                    strict=strict,
                    cache=bool(cache),
                    progress=shown,
                )
        else:
            teach(
                learner,
                stream,
                lesson,
                partial(save, learner),
                cache=feature_cache(cache is not False),
                save_every=save_every,
                strict=strict,
                progress=lambda lesson: shown(lesson.position),
            )
    _report(model, learner, lesson, json)


@contextmanager
def _workers(count: int | None, scheduler: str | None, quiet: bool) -> "Iterator[Workers]":
    import logging

    from exll.cluster.workers import existing_workers, local_workers

    with local_workers(count or 1) if scheduler is None else existing_workers(scheduler) as found:
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is said in our own words
        if found.dashboard is not None and not quiet:
            typer.echo(f"watch the workers at {found.dashboard}", err=True)
        yield found


def _stream(data: list[str], label: str | None, every: int) -> "Stream":
    from exll.errors import InputError
    from exll.streams.stream import open_images, open_stream

    if len(data) == 1:
        return open_stream(data[0], label=label, every=every)
    if label is None:
        raise InputError(f"{len(data)} images can be taught at once with --label, which says what they show.")
    return open_images(data, label)


def _announce(whole: "Stream", stream: "Stream", lesson: "Lesson") -> None:
    from exll.explain.wording import counted

    if whole.passed_over:
        typer.echo(f"skipping {counted(len(whole.passed_over), 'file')}: not an image, or outside a class", err=True)
    known = len(whole.examples) - len(stream.examples)
    if known:
        typer.echo(f"{known:,} of {len(whole.examples):,} examples were learned before", err=True)
    if lesson.position:
        typer.echo(f"continuing at {lesson.position:,} of {lesson.examples:,}", err=True)


def _model_for(
    path: Path,
    stream: "Stream",
    preset: str | None,
    records: str | None,
    max_prototypes: int | None,
    backbone: str | None,
    threads: int | None,
    looks: int | None,
    thumbnails: int | None,
) -> "Model":
    """The model of that file, or a new one; options that are fixed by the first example must not differ."""
    from exll.errors import InputError
    from exll.estimator import ExLLClassifier
    from exll.features.backbone import DEFAULT
    from exll.learner.preset import DEFAULT_PRESET
    from exll.vision import ImageLearner

    wanted: Any = int(records) if records is not None and records.isdecimal() else records
    if path.exists():
        model = open_model(path, backbone, threads)
        classifier = model.classifier
        for name, value in (("preset", preset), ("records", wanted), ("max_prototypes", max_prototypes)):
            if value is not None and value != getattr(classifier, name):
                raise InputError(
                    f"{path} was made with {name} {getattr(classifier, name)!r}, which cannot be changed to {value!r}."
                )
        if looks is not None and model.backbone is not None and looks != model.backbone.looks:
            raise InputError(f"{path} was made with looks {model.backbone.looks}, which cannot be changed to {looks}.")
        if thumbnails is not None and isinstance(model, ImageLearner) and thumbnails != model.thumbnails:
            raise InputError(
                f"{path} was made with thumbnails {model.thumbnails}, which cannot be changed to {thumbnails}."
            )
        return model
    made_of: dict[str, Any] = {
        "preset": preset or DEFAULT_PRESET,
        "records": "vectors" if wanted is None else wanted,
        "max_prototypes": max_prototypes,
    }
    if stream.kind == "features":
        classifier = ExLLClassifier(**made_of)
        classifier._check_parameters()
        return classifier
    if thumbnails is not None:
        made_of["thumbnails"] = thumbnails
    return ImageLearner(backbone or DEFAULT, threads=threads, looks=looks, **made_of)


def _report(path: Path, model: "Model", lesson: "Lesson", json: bool, remark: str | None = None) -> None:
    from json import dumps

    from exll.errors import StreamError
    from exll.explain.wording import counted

    classifier = model.classifier
    if not hasattr(classifier, "learner_"):
        show_skipped(lesson.skipped, lesson.skipped_named)
        raise StreamError(
            f"nothing could be learned from {lesson.source}: "
            f"of {counted(lesson.examples, 'example')}, none could be read."
        )
    summary: dict[str, Any] = {
        "source": lesson.source,
        "order": lesson.order,
        "seed": lesson.seed,
        "learned": lesson.learned,
        "skipped": lesson.skipped,
        "classes": len(classifier.classes_),
        "prototypes": classifier.n_prototypes_,
        "examples": classifier.learner_.sample_count,
        "bytes": path.stat().st_size,
    }
    if json:
        typer.echo(dumps({**summary, "skipped_files": lesson.skipped_named, "already": remark is not None}))
        return
    show_skipped(lesson.skipped, lesson.skipped_named)
    if remark is not None:
        typer.echo(remark)
    typer.echo(
        f"{counted(summary['examples'], 'example')} learned in all, {counted(summary['classes'], 'class')}, "
        f"{counted(summary['prototypes'], 'prototype')}, {summary['bytes'] / 1e6:.1f} MB"
    )
