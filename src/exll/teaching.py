"""Teaching a model a whole stream, so that a power cut loses at most one interval and the next call goes on where it
stood.

A model's file remembers its *lessons*: which data (by fingerprint), in which order, how far. Learning goes in batches
that are cut by position in the stream alone, and a save happens between two batches: going on gives the very model
that an uninterrupted run gives.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

import numpy as np

from exll.errors import ImageError, StreamError
from exll.estimator import ExLLClassifier
from exll.features.backbone import BATCH as NETWORK_BATCH
from exll.features.cache import FeatureCache
from exll.features.extract import Extracted, extract
from exll.learner.interrupts import interrupt_deferred
from exll.streams.example import Example
from exll.streams.stream import Stream
from exll.streams.video import frames
from exll.vision import ImageLearner

BATCH = 64
MOST_NAMED = 1000

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

    @property
    def finished(self) -> bool:
        return self.position >= self.examples

    def skip(self, example: Example, reason: str) -> None:
        self.skipped += 1
        if len(self.skipped_named) < MOST_NAMED:
            self.skipped_named.append([example.ref, reason])


def find_lesson(model: Model, stream: Stream, order: str, seed: int) -> Lesson | None:
    """The lesson on this very data that the model had last, finished or not."""
    fingerprint = stream.fingerprint()
    lessons = getattr(_classifier(model), "lessons_", [])
    for facts in reversed(lessons):
        if facts["fingerprint"] == fingerprint:
            lesson = Lesson(**facts)
            if not lesson.finished and (lesson.order, lesson.seed) != (order, seed):
                raise StreamError(
                    f"{stream.source} was begun in the order {lesson.order} with seed {lesson.seed} and stopped at "
                    f"{lesson.position} of {lesson.examples}; go on with the same order and seed."
                )
            return lesson
    return None


def new_lesson(stream: Stream, order: str, seed: int) -> Lesson:
    return Lesson(stream.fingerprint(), os.fspath(stream.source), order, seed, len(stream.examples))


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
    seconds, at the end, and when the teaching breaks off for whatever reason."""
    classifier = _classifier(model)
    earlier = [facts for facts in getattr(classifier, "lessons_", []) if not _same(facts, lesson)]
    saved_at = lesson.position
    last_save = time.monotonic()

    def save_now() -> None:
        nonlocal saved_at, last_save
        if lesson.position > saved_at and hasattr(classifier, "learner_"):
            classifier.lessons_ = [*earlier, asdict(lesson)]
            save()
            saved_at = lesson.position
        last_save = time.monotonic()

    rows = zip(stream.examples[lesson.position :], vectors_of(model, stream, lesson.position, cache), strict=True)
    try:
        while batch := list(islice(rows, BATCH)):
            with interrupt_deferred():  # what was learned and what the lesson says of it change together
                _learn_batch(model, batch, lesson, strict)
            progress(lesson)
            if time.monotonic() - last_save >= save_every:
                save_now()
    finally:
        save_now()


def vectors_of(model: Model, stream: Stream, start: int = 0, cache: FeatureCache | None = None) -> Iterator[Extracted]:
    """The vectors of a stream's examples from a position on, or why one has none."""
    examples = stream.examples[start:]
    if stream.kind == "features":
        assert stream.vectors is not None
        for example in examples:
            yield Extracted(stream.vectors[example.row])
        return
    if isinstance(model, ExLLClassifier):
        raise StreamError(f"this model was taught with vectors, not images; it cannot learn or judge {stream.source}.")
    if stream.kind == "video":
        decoded = islice(frames(stream), start, None)
        while some := [image for _, image in islice(decoded, NETWORK_BATCH)]:
            yield from (Extracted(vector) for vector in model.backbone.features(some))
        return
    yield from extract((example.path for example in examples if example.path is not None), model.backbone, cache)


def _learn_batch(model: Model, batch: list[tuple[Example, Extracted]], lesson: Lesson, strict: bool) -> None:
    good = []
    for example, extracted in batch:
        error = extracted.error
        if extracted.vector is not None and not _usable(extracted.vector):
            error = ImageError(f"{example.ref}: its features are zero or not finite.")
        if error is None and extracted.vector is not None:
            good.append((example, extracted.vector))
        elif strict:
            raise error or ImageError(f"{example.ref} has no features.")
        else:
            lesson.skip(example, str(error))
    if good:
        vectors = np.array([vector for _, vector in good])
        labels = [example.label for example, _ in good]
        refs = [example.ref for example, _ in good]
        if isinstance(model, ImageLearner):
            model.learn_vectors(vectors, labels, refs)
        else:
            model.partial_fit(vectors, labels, refs=refs)
    lesson.position += len(batch)
    lesson.learned += len(good)


def _usable(vector: np.ndarray) -> bool:
    return bool(np.isfinite(vector).all() and vector.any())


def _classifier(model: Model) -> ExLLClassifier:
    return model.classifier if isinstance(model, ImageLearner) else model


def _same(facts: dict[str, object], lesson: Lesson) -> bool:
    return facts["fingerprint"] == lesson.fingerprint and facts["position"] != facts["examples"]
