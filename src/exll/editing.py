"""Finds the learned samples that a caller wants to forget or to give another label.

Everything is looked up and checked first, with one clear sentence for what is missing; only then the learner changes. A
sample can be taken out of the sums only with its exact vector: from the records, or from the caller.
"""

import base64
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np

from exll.errors import InputError, InputTypeError
from exll.labels import check_labels, kind_of
from exll.learner.exll import ExLL, Learned
from exll.learner.groups import group_number
from exll.learner.records import Record
from exll.linalg.ties import SAME
from exll.stream_classifier import check_groups
from exll.types import Group, Label, Matrix, Vector

LONGER = 1e-6  # by so much may the mean of unit vectors be longer than they are, with room for rounding
DIGESTS_BYTES = 16  # of the two digests of one example in a lesson
SAME_HALF = 1e-6  # as SAME, for vectors that were kept in half precision
ANY = object()  # any ref, or none
NAMED = 3
SHOWN = r"sample [1-9][0-9]*"  # how a sample without a ref is shown
GIVE_AGAIN = (
    "give its examples again, as vectors or images, with their labels, and with their refs where these are remembered"
)

Found: TypeAlias = tuple[int, int, Record]  # the number of its class, the id of its prototype
Chosen: TypeAlias = tuple[Learned, Record | None]


def names_of(names: Any, what: str = "refs") -> list[str]:
    """One name, or a list of them; a path is a name."""
    if isinstance(names, str | os.PathLike):
        return [os.fsdecode(names)]
    if isinstance(names, bytes | dict) or not hasattr(names, "__iter__") or getattr(names, "shape", None) == ():
        raise InputTypeError(f"{what} must be a name or a list of names; got {type(names).__name__}.")
    found = list(names)
    for name in found:
        if not isinstance(name, str | os.PathLike):
            raise InputTypeError(f"{what} must be strings or paths; got {type(name).__name__} {name!r}.")
    if not found:
        raise InputError(f"{what} must name at least one example; got an empty list.")
    return [os.fsdecode(name) for name in found]


def groups_of(groups: Any) -> Sequence[Group]:
    """One group, or a list of them; None is none."""
    if groups is None:
        return []
    one = isinstance(groups, str) or not hasattr(groups, "__iter__")
    named = [groups] if one else list(groups)
    checked = [group for group in check_groups(named, len(named)) or [] if group is not None]
    if not checked:
        raise InputError("groups must name at least one group; got none.")
    return checked


def by_name(learner: ExLL, refs: Sequence[str], groups: Sequence[Group] = ()) -> list[Found]:
    """Every sample with one of these names, and every sample of one of these groups."""
    if groups:
        _check_groups_remembered(learner)
    found = learner.remembered(set(refs), set(groups))
    known = {record.ref for _, _, record in found}
    nameless = {ref for ref in refs if ref not in known and re.fullmatch(SHOWN, ref)}
    if nameless:
        found += [one for one in everything(learner) if one[2].ref is None and one[2].name in nameless]
        known |= {record.name for _, _, record in found}
    missing = [ref for ref in dict.fromkeys(refs) if ref not in known]
    there = {record.group for _, _, record in found}
    strange = [group for group in dict.fromkeys(groups) if group_number(group) not in there]
    if missing or strange:
        raise InputError(_not_there(learner, missing, strange))
    return list({record.position: (k, prototype, record) for k, prototype, record in found}.values())


def selected(
    learner: ExLL,
    refs: Sequence[str] | None = None,
    label: Label | None = None,
    group: Group = None,
    pattern: str | None = None,
) -> list[Found]:
    """The remembered samples that meet all given conditions: one of some names, a class, a group, and a shell pattern
    that the name matches."""
    found = everything(learner) if refs is None else by_name(learner, refs)
    if label is not None:
        k = number_of(learner, label)
        found = [one for one in found if one[0] == k]
    if group is not None:
        _check_groups_remembered(learner)
        found = [one for one in found if one[2].group == group_number(group)]
    if pattern is not None:
        found = [one for one in found if fnmatchcase(one[2].name, pattern)]
    if found:
        return found
    if learner.parameters.records == "none":
        raise InputError(_not_there(learner, (), ()))
    raise InputError("this model remembers no such example; nothing was changed.")


def everything(learner: ExLL) -> list[Found]:
    """All that is remembered, in the order of the stream."""
    with learner.lock:
        found = [one for k in range(learner.class_count) for one in learner.remembered_class(k)]
    return sorted(found, key=lambda one: one[2].position)


def of_class(learner: ExLL, label: Label) -> list[Found]:
    k = number_of(learner, label)
    found = learner.remembered_class(k)
    if len(found) < learner.megacloud(k).count:
        raise InputError(
            f"this model does not keep the vectors of all examples of {label!r}, which it needs to forget the class "
            f"(records={learner.parameters.records!r}); {GIVE_AGAIN}."
        )
    return found


def as_learned(learner: ExLL, found: Sequence[Found]) -> list[Chosen]:
    """What the learner needs to take samples out of its sums, or one clear sentence."""
    _check_vectors(learner, [record for _, _, record in found])
    return [(_learned(k, prototype, record), record) for k, prototype, record in found]


def by_vector(learner: ExLL, X: Matrix, labels: Sequence[Label], refs: Sequence[str | None] | None) -> list[Chosen]:
    """Unit vectors that were learned with these labels, and these refs where the model remembers refs."""
    if refs is None and learner.parameters.records == "refs":
        raise InputError('this model remembers the name of every example (records="refs"); give their refs, too.')
    remembered: dict[Label, _OfClass] = {}
    for label, count in Counter(labels).items():
        remembered[label] = own = _OfClass(learner, number_of(learner, label))
        if count > own.count:
            raise InputError(f"{count} examples of {label!r} cannot be forgotten; {own.count} were learned.")
    every = learner.parameters.records in ("refs", "vectors")
    found: list[Chosen] = []
    for row, (x, label) in enumerate(zip(X, labels, strict=True)):
        sample, record = remembered[label].take(x, ANY if refs is None else refs[row])
        if (record is None and every) or not remembered[label].can_hold(x):
            raise InputError(f"row {row} was not learned as {label!r}; nothing was changed.")
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
        self._same = [SAME_HALF if record.position < learner.inexact else SAME for _, _, record in self._samples]

    @property
    def count(self) -> int:
        return self._cloud.count

    def take(self, x: Vector, ref: Any) -> tuple[Learned, Record | None]:
        """By its ref, unless it may have any, and by its vector where that is kept."""
        fits = self._free.copy()
        if self._vectors is not None:
            fits &= np.square(self._vectors - x).sum(axis=1) < self._same
        if ref is not ANY:
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
    gone = set(positions)
    return with_places(lessons, lambda place: None if place in gone else place)


def with_places(lessons: Sequence[dict[str, Any]], new_place: Callable[[int], int | None]) -> list[dict[str, Any]]:
    """Lessons whose examples have other positions in the stream now; those without a position are removed."""
    return [_with_places(lesson, new_place) for lesson in lessons]


def _with_places(lesson: dict[str, Any], new_place: Callable[[int], int | None]) -> dict[str, Any]:
    packed = base64.b64decode(lesson.get("digests", ""))
    places = [place for start, count in lesson.get("spans", []) for place in range(start, start + count)]
    if not places or len(places) * DIGESTS_BYTES != len(packed):  # of before, when places were not kept
        return lesson
    kept, digests = [], bytearray()
    for i, place in enumerate(map(new_place, places)):
        if place is not None:
            kept.append(place)
            digests += packed[i * DIGESTS_BYTES : (i + 1) * DIGESTS_BYTES]
    return {**lesson, "digests": base64.b64encode(digests).decode(), "spans": _spans(kept)}


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


def number_of(learner: ExLL, label: Any) -> int:
    """The number of a class; True is not the class 1."""
    if isinstance(label, list | tuple | np.ndarray):
        raise InputTypeError(f"only one class can be named at a time; got {type(label).__name__}.")
    (label,), kind = check_labels([label], "the label")
    labels = learner.labels
    if label not in labels or kind != kind_of(labels[0]):
        raise InputError(f"there is no class {label!r}.")
    return labels.index(label)


def _check_vectors(learner: ExLL, records: Sequence[Record]) -> None:
    if any(record.codes is None for record in records):
        raise InputError(
            f"this model keeps no vectors (records={learner.parameters.records!r}), so it cannot change what it has "
            f"learned by name; to forget, {GIVE_AGAIN}."
        )
    if any(record.position < learner.inexact for record in records):
        raise InputError(
            "this model was begun by an exll that kept vectors in half precision, so it cannot change what it learned "
            f"then by name; to forget, {GIVE_AGAIN}."
        )


def _check_groups_remembered(learner: ExLL) -> None:
    records = learner.parameters.records
    if isinstance(records, int):
        raise InputError(
            f"this model remembers only {records} examples per prototype, and not which others were of a group; "
            f"{GIVE_AGAIN}."
        )


def _not_there(learner: ExLL, missing: Sequence[str], groups: Sequence[Group]) -> str:
    records = learner.parameters.records
    if records == "none":
        return f"this model remembers no names (records='none'); to forget, {GIVE_AGAIN}."
    if not missing:
        return f"this model remembers no example of the group {_some(groups)}; nothing was changed."
    only = f" It remembers {records} examples per prototype." if isinstance(records, int) else ""
    return (
        f"this model remembers no example named {_some(missing)}; nothing was changed.{only}{_ending(learner, missing)}"
    )


def _ending(learner: ExLL, missing: Sequence[str]) -> str:
    """Names that end with what was given, such as a path of which only the file was named."""
    last = missing[0].replace("\\", "/").rpartition("/")[2]
    known = [record.name for k in learner.supports for record in learner.records(k)]
    found = [name for name in known if name.replace("\\", "/").rpartition("/")[2] == last]
    return f" Did you mean {_some(found)}?" if found else ""


def _some(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names[:NAMED])) + (", ..." if len(names) > NAMED else "")
