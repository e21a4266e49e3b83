"""A learning curve: a fresh model learns the taught photos again and is asked about the held-out ones now and then.

In the order of teaching, the last point is the model that answers, asked about all held-out photos: it is the score of
the evaluation. With one photo of each class in turn it is a fresh model like all others: what is learned depends on the
order, and the curve says what more photos bring.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from exll.studio.edits import HELD_OUT, NOTHING, TAUGHT
from exll.studio.errors import ConflictError
from exll.studio.evaluation import Evaluations, answered, key_of, measured
from exll.studio.model import Model
from exll.studio.project import Project
from exll.studio.store import Row

Order: TypeAlias = Literal["taught", "in turn"]

POINTS = 10
FIRST = 10  # photos
CHUNK = 32
MOST_LEARNED, MOST_ASKED = 5_000, 2_500  # photos; of more, every so-many-th, so that it takes seconds


@dataclass(frozen=True)
class Point:
    """After so many photos of so many classes: how many of the held-out photos that were asked about were right."""

    learned: int
    classes: int
    right: int
    asked: int


@dataclass(frozen=True)
class Curve:
    """``every`` and ``asked_every``: of how many photos one was learned, and one asked about, before the last point."""

    points: Sequence[Point]
    every: int
    asked_every: int


def curve(project: Project, found: Evaluations, order: Order, left: threading.Event) -> Curve:
    """``left`` is set when nobody waits for it any more."""
    held_out, share = project.store.rows_of_role(HELD_OUT), project.false_alarms

    def make() -> Curve:
        known = [row for row in held_out if row.label in found.classes]
        if not known:
            raise ConflictError("no photos are held out.", "Hold some out first.")
        taught = project.store.rows_of_role(TAUGHT)
        rows, every = _some(_in_turn(taught) if order == "in turn" else taught, MOST_LEARNED)
        asked, asked_every = _some(known, MOST_ASKED)
        points = list(_points(project, rows, asked, order, share, left))
        if order == "taught" and (now := [one for one in measured(project, found) if one.truth in found.classes]):
            points.append(Point(len(taught), len(found.classes), sum(one.right for one in now), len(now)))
        return Curve(points, every, asked_every)

    return found.remembered(order, (share, key_of(held_out)), make)


def _points(
    project: Project, rows: Sequence[Row], asked: Sequence[Row], order: Order, share: float, left: threading.Event
) -> Iterator[Point]:
    model = Model(project.backbone, project.preset, 0)
    model.learn(project.store.rows_of_role(NOTHING))  # what is unknown because of them is so from the start
    classifier = model.learner.classifier
    ends = sizes(rows, order)
    for start, end in pairwise([0, *(ends[:-1] if order == "taught" else ends)]):
        for first in range(start, end, CHUNK):
            if left.is_set() or project.closing.is_set():
                raise ConflictError("nobody waits for the learning curve any more.")
            with project.live.patiently():
                model.learn(rows[first : min(end, first + CHUNK)])
        answers = answered(project, classifier, asked, share)
        right = sum(said.known and said.label == row.label for said, row in zip(answers, asked, strict=True))
        yield Point(end, len(classifier.classes_), right, len(asked))
        project.events.publish("evaluation", {"order": order, "learned": end, "examples": len(rows)})


def sizes(rows: Sequence[Row], order: Order) -> list[int]:
    """After how many photos to ask: each about so many times as many as the last. In turn every class has its first one
    before that."""
    first = len({row.label for row in rows}) if order == "in turn" else FIRST
    found = np.geomspace(min(first, len(rows)), len(rows), POINTS).round().astype(int)
    return sorted({int(size) for size in found})


def _in_turn(rows: Sequence[Row]) -> list[Row]:
    """The first photo of every class, then the second of every class, and so on."""
    seen: dict[str, int] = {}
    places = []
    for row in rows:
        places.append(seen.get(row.label, 0))
        seen[row.label] = places[-1] + 1
    return [rows[i] for i in sorted(range(len(rows)), key=places.__getitem__)]


def _some(rows: Sequence[Row], most: int) -> tuple[list[Row], int]:
    every = -(-len(rows) // most)
    return list(rows[::every]), every
