"""One lesson on many workers, from the side of the client: it hands out tasks, keeps what is finished, and makes one
model of it."""

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from exll.cluster.handing_out import Progress, hand_out
from exll.cluster.parts import Parts, folder_beside, remove_leftovers
from exll.cluster.tree import ModelTree
from exll.cluster.work import Task
from exll.cluster.workers import Workers, existing_workers, local_workers
from exll.errors import InputError
from exll.loading import load
from exll.scaling import keeps_lengths
from exll.streams.orderings import order_name
from exll.streams.stream import Stream, default_order, open_stream
from exll.teaching import Lesson, Model, learned_count, lessons_before, prepare_lesson
from exll.version import __version__


def learn_on_cluster(
    model: Model,
    data: Stream | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    client: Any = None,
    order: str | None = None,
    seed: int = 0,
    again: bool = False,
    strict: bool = False,
    cache: bool = False,
    progress: Progress = lambda done: None,
) -> Model:
    """Teach a model a whole stream on many workers; gives a new model, which is the same however many they are.

    ``workers`` starts so many processes on this machine; ``client`` is a Dask client, or the address of a scheduler. An
    ``order`` and the other options are those of ``exll learn``. Where a ``path`` is given the model is saved there at
    the end. Until then all that is finished is kept beside it, in ``path + ".parts"``, and the same call continues
    from there.

    A script that calls this with ``workers`` needs ``if __name__ == "__main__":``, as with any processes of Python.

    >>> from exll import ImageLearner, learn_on_cluster
    >>> learn_on_cluster(ImageLearner(), "photos", "things.exll", workers=4)  # doctest: +SKIP
    ImageLearner(backbone='efficientnet_lite0', looks=2, preset='glocal'): 81 classes, 2,640 examples
    """
    if (workers is None) == (client is None):
        raise InputError("learning on a cluster takes either workers, a number, or client, a Dask client or address.")
    stream = data if isinstance(data, Stream) else open_stream(data)
    order = order_name(order or default_order(stream.kind))
    lesson, rest = prepare_lesson(model, stream.ordered(order, seed), order, seed, again)
    if not rest.examples:
        if path is not None:
            remove_leftovers(folder_beside(Path(path)), lesson.fingerprint)
        return model
    with ExitStack() as stack:
        if workers is not None:
            found = stack.enter_context(local_workers(workers))
        elif isinstance(client, str):
            found = stack.enter_context(existing_workers(client))
        else:
            found = Workers(client)
        target = Path(path or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exll-"))) / "model.exll")

        def save(learned: Model) -> None:
            if path is not None:
                learned.save(target)

        return teach_on_cluster(
            model, rest, lesson, save, folder_beside(target), found, strict=strict, cache=cache, progress=progress
        )


def teach_on_cluster(
    model: Model,
    stream: Stream,
    lesson: Lesson,
    save: Callable[[Model], None],
    folder: Path,
    workers: Workers,
    *,
    strict: bool = False,
    cache: bool = False,
    progress: Progress = lambda done: None,
) -> Model:
    """Learn the rest of a lesson on workers. ``stream`` is in the lesson's order already; what is finished is kept in
    ``folder`` until ``save`` is done with the new model."""
    _check_mergeable(model, stream)
    task = Task.of(model, stream, cache, strict)
    examples, digests = stream.examples[lesson.position :], stream.digests[lesson.position :]
    manifest = {
        "source": lesson.source,
        "fingerprint": lesson.fingerprint,
        "order": lesson.order,
        "seed": lesson.seed,
        "sequence": hashlib.sha256(b"".join(own.named for own in digests)).hexdigest(),
        "model": task.describe(),
        "exll": __version__,
    }
    parts = Parts(folder, manifest)
    tree = ModelTree(task, examples, parts, model if hasattr(model.classifier, "learner_") else None)
    hand_out(tree, workers, lambda done: progress(lesson.position + done))
    workers.release()
    place = tree.held[tree.root]
    learned: Model = model if place is None else load(place, type(model), backbone=model.backbone)
    before = lessons_before(model, lesson)
    known = base64.b64decode(lesson.digests) + lesson.note(examples, digests, tree.reasons(), learned_count(model))
    lesson.digests = base64.b64encode(known).decode()
    if hasattr(learned.classifier, "learner_"):
        learned.classifier.lessons_ = [*before, asdict(lesson)]
        save(learned)
    parts.remove()
    return learned


def _check_mergeable(model: Model, stream: Stream) -> None:
    """Checked before the work, not after it."""
    classifier = model.classifier
    width = 0 if stream.vectors is None else stream.vectors.shape[1]
    if width and keeps_lengths(classifier.lengths, classifier.preset, width):
        raise InputError(
            f"models of vectors with {width} numbers keep their lengths, each in units of its first examples, and "
            "cannot be merged; learn them without workers, or in Python with lengths='ignored'."
        )
