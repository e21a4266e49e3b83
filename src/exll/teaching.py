"""Teaching a model with a whole stream. A power cut loses at most one interval, and the next call continues from there.

A model's file remembers its *lessons*: which data (by fingerprint), in which order, and how far it was learned. Batches
depend only on the position in the stream, and the model is saved between two batches. So a continued run gives the same
model as an uninterrupted one.
"""

import base64
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from PIL.Image import Image

from exll.concurrency.interrupts import interrupt_deferred
from exll.errors import ImageError, StreamError
from exll.estimator import ExLLClassifier
from exll.explain.thumbnails import shrunk
from exll.features.backbone import BATCH as NETWORK_BATCH
from exll.features.cache import FeatureCache
from exll.features.extract import Extracted, extract
from exll.features.own_backbone import Network
from exll.streams.example import Example
from exll.streams.fingerprint import Digests
from exll.streams.orderings import order_name
from exll.streams.stream import Stream
from exll.streams.video import frames
from exll.vectors import has_direction
from exll.vision import ImageLearner

BATCH = 64
MOST_NAMED = 1000
DIGEST_BYTES = 8

Model = ImageLearner | ExLLClassifier


@dataclass
class Lesson:
    """One stream and how far it was learned."""

    fingerprint: str
    source: str
    order: str
    seed: int
    examples: int
    position: int = 0
    learned: int = 0
    skipped: int = 0
    skipped_named: list[list[str]] = field(default_factory=list)  # [ref, reason]
    again: bool = False  # whether it teaches what was learned before
    spans: list[list[int]] = field(default_factory=list)  # [first, count]: their positions in the model
    digests: str = ""  # of the examples learned, in base64: what a changed folder must not teach twice

    @property
    def finished(self) -> bool:
        return self.position >= self.examples

    def note(
        self, examples: Sequence[Example], digests: Sequence[Digests], reasons: Sequence[str | None], start: int
    ) -> bytes:
        """Say of the next examples that they were learned, the first of them at position ``start`` of the model, or why
        not; gives the digests of those that were."""
        known = bytearray()
        for example, own, reason in zip(examples, digests, reasons, strict=True):
            if reason is None:
                known += own.named[:DIGEST_BYTES] + own.content[:DIGEST_BYTES]
                continue
            self.skipped += 1
            if len(self.skipped_named) < MOST_NAMED:
                self.skipped_named.append([example.ref, reason])
        count = len(examples) - sum(reason is not None for reason in reasons)
        if self.spans and sum(self.spans[-1]) == start:
            self.spans[-1][1] += count
        elif count:
            self.spans.append([start, count])
        self.learned += count
        self.position += len(examples)
        return bytes(known)


def prepare_lesson(model: Model, stream: Stream, order: str, seed: int, again: bool = False) -> tuple[Lesson, Stream]:
    """The lesson to go on with, or a new one, and what of the stream belongs to it.

    Examples of earlier lessons are left out, also renamed ones: of a folder that has changed only what is new is
    learned. Where nothing is new the stream comes back empty, with the last lesson. ``again`` makes a new lesson of
    everything.
    """
    fingerprint = stream.fingerprint()
    earlier = [Lesson(**entry) for entry in getattr(model.classifier, "lessons_", [])]
    # Only the last lesson can go on: what others learned since would be learned twice by an older one.
    if earlier and earlier[-1].fingerprint == fingerprint and not earlier[-1].finished:
        lesson = earlier[-1]
        if (order_name(lesson.order), lesson.seed) != (order_name(order), seed):
            raise StreamError(
                f"{stream.source} was begun in the order {lesson.order} with seed {lesson.seed} and stopped at "
                f"{lesson.position} of {lesson.examples}; go on with the same order and seed."
            )
        return lesson, stream if lesson.again else stream.leaving_out(_learned(earlier[:-1]))
    rest = stream if again else stream.leaving_out(_learned(earlier))
    if not rest.examples:
        return earlier[-1], rest
    return Lesson(fingerprint, os.fspath(stream.source), order, seed, len(rest.examples), again=again), rest


def untaught(model: Model, stream: Stream) -> Stream:
    """The examples of a stream that the model was not taught, by the lessons in its file."""
    return stream.leaving_out(_learned([Lesson(**entry) for entry in getattr(model.classifier, "lessons_", [])]))


def _learned(lessons: list[Lesson]) -> set[bytes]:
    known: set[bytes] = set()
    for lesson in lessons:
        packed = base64.b64decode(lesson.digests)
        known.update(packed[i : i + DIGEST_BYTES] for i in range(0, len(packed), DIGEST_BYTES))
    return known


def learned_count(model: Model) -> int:
    """How many examples the model has learned, also those that it has forgotten since: the position of the next one."""
    return model.classifier.learner_.learned_count if hasattr(model.classifier, "learner_") else 0


def lessons_before(model: Model, lesson: Lesson) -> list[dict[str, Any]]:
    """What the model was taught before this lesson; one that goes on is the last of its lessons."""
    lessons: list[dict[str, Any]] = getattr(model.classifier, "lessons_", [])
    return lessons[:-1] if lesson.position else lessons


def teach(
    model: Model,
    stream: Stream,
    lesson: Lesson,
    save: Callable[[], None],
    *,
    cache: FeatureCache | None = None,
    save_every: float = 30.0,
    strict: bool = False,
    progress: Callable[[Lesson], None] = lambda lesson: None,
) -> None:
    """Learn the rest of a lesson. ``stream`` is in the lesson's order already; ``save`` is called every so many
    seconds, at the end, and when the teaching stops for any reason."""
    classifier = model.classifier
    before = lessons_before(model, lesson)
    digests = bytearray(base64.b64decode(lesson.digests))
    saved_at = lesson.position
    last_save = time.monotonic()

    def save_now() -> None:
        nonlocal saved_at, last_save
        if lesson.position > saved_at and hasattr(classifier, "learner_"):
            lesson.digests = base64.b64encode(digests).decode()
            classifier.lessons_ = [*before, asdict(lesson)]
            save()
            saved_at = lesson.position
        last_save = time.monotonic()

    start = lesson.position
    rows = zip(stream.examples[start:], stream.digests[start:], vectors_of(model, stream, start, cache), strict=True)
    try:
        while batch := list(islice(rows, BATCH)):
            examples, own, extracted = zip(*batch, strict=True)
            with interrupt_deferred():  # what was learned and what the lesson says of it change together
                first = learned_count(model)
                digests += lesson.note(examples, own, learn_batch(model, examples, extracted, strict), first)
            progress(lesson)
            if time.monotonic() - last_save >= save_every:
                save_now()
    finally:
        save_now()


def vectors_of(
    model: Model, stream: Stream, start: int = 0, cache: FeatureCache | None = None, readers: int | None = None
) -> Iterator[Extracted]:
    """The vectors of a stream's examples from a position on, or why one has none. ``readers`` is how many threads read
    images; as many as there are cores, but one, where it is None."""
    examples, backbone = stream.examples[start:], model.backbone
    if stream.vectors is not None:
        if backbone is not None:
            raise StreamError(
                f"this model uses the backbone {backbone.name}; vectors of unknown origin in "
                f"{stream.source} cannot be mixed with its own."
            )
        yield from (Extracted(np.asarray(stream.vectors[example.row], np.float32)) for example in examples)
    elif backbone is None:
        raise StreamError(f"this model was taught with vectors, not images; it cannot learn or judge {stream.source}.")
    elif stream.kind == "video":
        side = model.thumbnail_side if isinstance(model, ImageLearner) else 0
        yield from _frame_vectors(backbone, replace(stream, examples=examples), side)
    else:
        regions = ((example.path, example.box) for example in examples if example.path is not None)
        yield from extract(regions, backbone, cache, readers)


def _frame_vectors(backbone: Network, stream: Stream, side: int) -> Iterator[Extracted]:
    """A frame that the file promises and does not give has an error in its place. The others come with a small copy:
    a frame cannot be read again later."""
    decoded, examples = _readable(frames(stream)), stream.examples
    following = next(decoded, None)
    for some in (examples[i : i + NETWORK_BATCH] for i in range(0, len(examples), NETWORK_BATCH)):
        images = {}
        for example in some:
            while following is not None and (following[0].frame or 0) < (example.frame or 0):
                following = next(decoded, None)
            if following is not None and following[0].frame == example.frame:
                images[example.frame] = following[1]
        vectors = dict(zip(images, backbone.features(list(images.values())) if images else [], strict=True))
        for example in some:
            missing = None if example.frame in vectors else ImageError(f"{example.ref}: the frame cannot be decoded.")
            frame = images.get(example.frame)
            yield Extracted(vectors.get(example.frame), missing, None if frame is None else shrunk(frame, side))


def _readable(decoded: Iterator[tuple[Example, Image]]) -> Iterator[tuple[Example, Image]]:
    """Frames up to where the file breaks off."""
    with contextlib.suppress(StreamError):
        yield from decoded


def why_unusable(example: Example, extracted: Extracted) -> ImageError | None:
    """The reason that an example can be neither learned nor judged, if there is one."""
    vector = extracted.vector
    if vector is None:
        return extracted.error or ImageError(f"{example.ref} has no features.")
    return None if has_direction(vector) else ImageError(f"{example.ref}: its features are zero or not finite.")


def learn_batch(
    model: Model, examples: Sequence[Example], extracted: Sequence[Extracted], strict: bool
) -> list[str | None]:
    """Learn what can be learned of some examples; gives for each the reason that it cannot be, or None."""
    errors = [why_unusable(example, own) for example, own in zip(examples, extracted, strict=True)]
    first = next((error for error in errors if error is not None), None)
    if strict and first is not None:
        raise first
    good = [(example, own) for example, own, error in zip(examples, extracted, errors, strict=True) if error is None]
    if good:
        vectors = np.array([own.vector for _, own in good])
        labels = [example.label for example, _ in good]
        refs = [example.ref for example, _ in good]
        groups = [example.group if example.group is not None else example.video for example, _ in good]
        if isinstance(model, ImageLearner):
            images = [example.path if own.small is None else own.small for example, own in good]
            model.learn_vectors(vectors, labels, refs, images, [example.box for example, _ in good], groups)
        else:
            model.partial_fit(vectors, labels, refs=refs, groups=groups)
    return [None if error is None else str(error) for error in errors]
