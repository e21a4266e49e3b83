"""How the model does on photos that are held out: what it answers, and which are almost equal to taught ones.

An answer is right where it names the true class, also as "maybe". An unknown answer is wrong here; ``exll evaluate``
counts its nearest class all the same.
"""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from exll.estimator import ExLLClassifier, Prediction
from exll.studio.actions import hold_out
from exll.studio.edits import HELD_OUT, TAUGHT
from exll.studio.errors import ConflictError
from exll.studio.near_duplicates import ALMOST_EQUAL
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, Row

Made = TypeVar("Made")
Name: TypeAlias = Literal["answers", "taught", "in turn"]  # the last two are orders of a learning curve

CHUNK = 128  # photos at a time: who waits for an answer goes before, and no matrix of all with all is made
Z = 1.959963984540054  # of a normal distribution, 95% lie within


@dataclass(frozen=True)
class Measured:
    """What was said of one photo that is held out, and a taught photo of its class that is almost equal to it."""

    number: int
    truth: str
    prediction: Prediction
    near_duplicate_of: int | None

    @property
    def answer(self) -> str | None:
        """None: unknown."""
        return str(self.prediction.label) if self.prediction.known else None

    @property
    def right(self) -> bool:
        return self.answer == self.truth


class Evaluations:
    """What was found out about a model as it is, to be asked for again."""

    def __init__(self, classifier: ExLLClassifier) -> None:
        self.classifier = classifier
        self.classes = [str(label) for label in classifier.classes_]
        self._locks = {name: threading.Lock() for name in get_args(Name)}  # nobody waits for another's work
        self._made: dict[Name, tuple[object, object]] = {}

    def remembered(self, name: Name, key: object, make: Callable[[], Made]) -> Made:
        """Made once for as long as ``key`` is the same."""
        with self._locks[name]:
            if name not in self._made or self._made[name][0] != key:
                self._made[name] = key, make()
            return cast(Made, self._made[name][1])


def evaluations(project: Project) -> Evaluations | None:
    """Of the model as it is now, if it knows anything."""
    model = project.live.current
    return model.remembered("evaluations", Evaluations) if model.knows_something else None


def measured(project: Project, found: Evaluations) -> list[Measured]:
    """What the model says of every photo that is held out, by the order of teaching."""
    rows, share = project.store.rows_of_role(HELD_OUT), project.false_alarms

    def measure() -> list[Measured]:
        answers = answered(project, found.classifier, rows, share)
        near = near_duplicates_among(rows, project.store.rows_of_role(TAUGHT))
        return [Measured(row.id, row.label, said, near.get(row.id)) for row, said in zip(rows, answers, strict=True)]

    return found.remembered("answers", (share, key_of(rows)), measure)


def key_of(rows: Iterable[Row]) -> tuple[tuple[int, str], ...]:
    return tuple((row.id, row.label) for row in rows)


def answered(project: Project, classifier: ExLLClassifier, rows: Sequence[Row], share: float) -> list[Prediction]:
    answers: list[Prediction] = []
    for start in range(0, len(rows), CHUNK):
        vectors = np.array([row.vector for row in rows[start : start + CHUNK]])
        with project.live.patiently():
            answers += classifier.answers(vectors, false_alarms=share)
    return answers


def near_duplicates_among(held_out: Sequence[Row], taught: Sequence[Row]) -> dict[int, int]:
    """From a photo to the taught one of its class that is almost equal to it, as frames of one clip are."""
    found: dict[int, int] = {}
    for label in dict.fromkeys(row.label for row in held_out):
        own, others = ([row for row in rows if row.label == label] for rows in (held_out, taught))
        if not others:
            continue
        units = _units(others)
        for start in range(0, len(own), CHUNK):
            some = own[start : start + CHUNK]
            cosines = _units(some) @ units.T  # (some, others)
            for row, nearest, cosine in zip(some, cosines.argmax(axis=1), cosines.max(axis=1), strict=True):
                if cosine >= ALMOST_EQUAL:
                    found[row.id] = others[nearest].id
    return found


def _units(rows: Sequence[Row]) -> NDArray[np.float32]:
    vectors = np.array([row.vector for row in rows])
    units: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return units


def wilson(right: int, examples: int) -> tuple[float, float]:
    """The interval that holds the true share in 95% of all cases, by Wilson's score.

    >>> [round(share, 3) for share in wilson(9, 10)]
    [0.596, 0.982]
    """
    share, spread = right / examples, Z**2 / examples
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / examples + spread / (4 * examples))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def hold_share_out(project: Project, every: int, newest: bool) -> int:
    """Hold out every so-many-th photo of each class, counted as in teaching; or as many of the newest of each, so that
    clips are not split. Says how many changed."""
    by_class: dict[str, list[int]] = {}
    for example in reversed(project.store.examples(None, LARGEST_ID, -1)):
        by_class.setdefault(example.label, []).append(example.id)
    chosen = {
        number
        for numbers in by_class.values()
        for number in (numbers[len(numbers) - len(numbers) // every :] if newest else numbers[every - 1 :: every])
    }
    if not chosen:
        raise ConflictError(f"no class has {every} photos yet.", "Teach more photos, or drop a folder of other photos.")
    return hold_out(project, chosen - set(_held_out(project)), held_out=True)


def learn_again(project: Project) -> int:
    """Learn all that is held out. Says how many there were."""
    return hold_out(project, _held_out(project), held_out=False)


def _held_out(project: Project) -> list[int]:
    return [example.id for example in project.store.examples(None, LARGEST_ID, -1, HELD_OUT)]
