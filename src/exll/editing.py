"""What is to be forgotten, or to get another label: from what a caller names to samples that were learned.

Everything is looked up and checked first, with one clear sentence for what is not there; only then does the learner
change. A sample can be taken out of the sums only by its very vector: from the records, or from the caller.
"""

import base64
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from exll.errors import InputError, InputTypeError
from exll.learner.exll import ExLL, Learned
from exll.learner.records import Record
from exll.types import Group, Label, Matrix, Vector

SAME = 1e-10  # the squared distance of a unit vector from itself, with room for rounding
LONGER = 1e-6  # by so much may the mean of unit vectors be longer than they are, with room for rounding
DIGEST_BYTES = 16  # of one example in a lesson
NAMED = 3


def names_of(names: Any, what: str) -> list[str]:
    """One name, or a list of them."""
    if isinstance(names, str):
        return [names]
    if isinstance(names, bytes) or not hasattr(names, "__iter__"):
        raise InputTypeError(f"{what} must be a name or a list of names; got {type(names).__name__}.")
    return [str(name) for name in names]


def by_name(learner: ExLL, refs: Sequence[str], groups: Sequence[Group]) -> list[tuple[Learned, Record]]:
    """Every sample with one of these refs, and every sample of one of these groups."""
    found = learner.remembered(set(refs), set(groups))
    known = {record.ref for _, _, record in found}
    missing = [ref for ref in dict.fromkeys(refs) if ref not in known]
    if missing or not found:
        raise InputError(_not_there(learner, missing, groups))
    _check_vectors(learner, [record for _, _, record in found])
    return [(_learned(k, prototype, record), record) for k, prototype, record in found]


def of_class(learner: ExLL, label: Label) -> list[tuple[Learned, Record]]:
    k = _number_of(learner, label)
    found = learner.remembered_class(k)
    if len(found) < learner.megacloud(k).count:
        raise InputError(
            f"this model does not keep the vectors of all examples of {label!r}, which it needs to forget the class "
            f'(records="{learner.parameters.records}"); forget its examples by giving them again: '
            "forget(X=..., y=..., refs=...)."
        )
    _check_vectors(learner, [record for _, _, record in found])
    return [(_learned(k, prototype, record), record) for k, prototype, record in found]


def by_vector(
    learner: ExLL, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None] | None
) -> list[tuple[Learned, Record | None]]:
    """Unit vectors that were learned with these labels, and these refs where the model remembers refs."""
    if refs is None and learner.parameters.records == "refs":
        raise InputError('this model remembers the name of every example (records="refs"); give refs, too.')
    remembered: dict[Label, _OfClass] = {}
    for label, count in Counter(labels).items():
        remembered[label] = own = _OfClass(learner, _number_of(learner, label))
        if count > own.count:
            raise InputError(f"{count} examples of {label!r} cannot be forgotten; {own.count} were learned.")
    every = learner.parameters.records in ("refs", "vectors")
    found: list[tuple[Learned, Record | None]] = []
    for row, (x, label) in enumerate(zip(X, labels, strict=True)):
        sample, record = remembered[label].take(x, None if refs is None else refs[row])
        if (record is None and every) or not remembered[label].can_hold(x):
            raise InputError(f"row {row} was not learned as {label!r}; nothing was forgotten.")
        found.append((sample, record))
    return found


class _OfClass:
    """The remembered samples of a class, each of which is taken once."""

    def __init__(self, learner: ExLL, k: int) -> None:
        self._k = k
        self._cloud = learner.megacloud(k)
        self._samples = learner.remembered_class(k)
        self._free = np.ones(len(self._samples), bool)
        vectors = [record.vector for _, _, record in self._samples if record.vector is not None]
        self._vectors = np.array(vectors) if vectors else None

    @property
    def count(self) -> int:
        return self._cloud.count

    def take(self, x: Vector, ref: str | None) -> tuple[Learned, Record | None]:
        """By its ref where one is given, and by its vector where that is kept."""
        fits = self._free.copy()
        if self._vectors is not None:
            fits &= np.square(self._vectors - x).sum(axis=1) < SAME
        if ref is not None:
            fits &= np.array([record.ref == ref for _, _, record in self._samples], bool)
        if not fits.any():
            return Learned(x, self._k), None
        place = int(fits.argmax())
        self._free[place] = False
        _, prototype, record = self._samples[place]
        return Learned(x, self._k, prototype, record.position, record.group), record

    def can_hold(self, x: Vector) -> bool:
        """Whether the mean of the others could be one of unit vectors: where nothing is kept, all that can be seen."""
        mean, count = self._cloud.mean, self._cloud.count
        if count == 1:
            return float(np.square(x - mean).sum()) < SAME
        return float(np.linalg.norm(mean + (mean - x) / (count - 1))) <= 1.0 + LONGER


def without_digests(lessons: Sequence[dict[str, Any]], positions: Collection[int]) -> list[dict[str, Any]]:
    """Lessons that no longer know the examples at these positions: a folder may teach them again."""
    gone, edited = set(positions), []
    for lesson in lessons:
        packed = base64.b64decode(lesson.get("digests", ""))
        places = [place for start, count in lesson.get("spans", []) for place in range(start, start + count)]
        if len(places) * DIGEST_BYTES == len(packed) and not gone.isdisjoint(places):
            kept = [i for i, place in enumerate(places) if place not in gone]
            packed = b"".join(packed[i * DIGEST_BYTES : (i + 1) * DIGEST_BYTES] for i in kept)
            lesson = {
                **lesson,
                "digests": base64.b64encode(packed).decode(),
                "spans": _spans([places[i] for i in kept]),
            }
        edited.append(lesson)
    return edited


def _spans(places: Sequence[int]) -> list[list[int]]:
    """Start and length of every stretch without a gap."""
    spans: list[list[int]] = []
    for place in places:
        if spans and sum(spans[-1]) == place:
            spans[-1][1] += 1
        else:
            spans.append([place, 1])
    return spans


def _learned(k: int, prototype: int, record: Record) -> Learned:
    assert record.vector is not None
    return Learned(record.vector, k, prototype, record.position, record.group)


def _number_of(learner: ExLL, label: Label) -> int:
    if label not in learner.labels:
        raise InputError(f"there is no class {label!r}.")
    return learner.labels.index(label)


def _check_vectors(learner: ExLL, records: Sequence[Record]) -> None:
    if any(record.codes is None for record in records):
        raise InputError(
            f'this model keeps no vectors (records="{learner.parameters.records}"), so an example can be forgotten '
            "only by giving it again: forget(X=..., y=..., refs=...)."
        )
    if any(record.position < learner.inexact for record in records):
        raise InputError(
            "this model was begun by an exll that kept vectors in half precision, so examples of that time can be "
            "forgotten only by giving them again: forget(X=..., y=..., refs=...)."
        )


def _not_there(learner: ExLL, missing: Sequence[str], groups: Sequence[Group]) -> str:
    records = learner.parameters.records
    if records == "none":
        return 'this model remembers no names (records="none"); give the examples again: forget(X=..., y=...).'
    if not missing:
        return f"no remembered example was learned with the group {', '.join(map(repr, groups))}."
    some = ", ".join(map(repr, missing[:NAMED])) + (", ..." if len(missing) > NAMED else "")
    only = f" It remembers {records} examples per prototype." if isinstance(records, int) else ""
    return f"this model remembers no example named {some}; nothing was forgotten.{only}"
