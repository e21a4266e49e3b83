"""What a person does to a project: teach, correct, relabel, delete, rename, undo. Each runs in the writer's thread."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.estimator import Prediction
from exll.explain.wording import counted
from exll.studio.edits import KEEP, Undone
from exll.studio.errors import ConflictError, MissingError
from exll.studio.project import Project
from exll.studio.store import StoredExample, StoredImage

MOST_NAMED = 3
CONFLICT_HINT = "Relabel that example, or say that the image may have two labels."


Status: TypeAlias = Literal["taught", "already", "conflict", "unreadable", "too large"]


@dataclass(frozen=True)
class Offered:
    """An image on the disk already, to be taught."""

    image: StoredImage
    name: str


@dataclass(frozen=True)
class FileResult:
    """What became of one file: taught, ``already`` taught under this label, in ``conflict`` with another label,
    unreadable, or with more bytes than are accepted."""

    file: str
    status: Status
    example: StoredExample | None = None
    taught_as: Sequence[StoredExample] = ()
    error: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Belief:
    """What the model thinks of one image, and how probable it finds one label."""

    prediction: Prediction | None
    probability: float


def teach_images(
    project: Project,
    offered: Sequence[Offered],
    label: str,
    two_labels: bool,
    kind: str = "teach",
    group: str | None = None,
) -> list[FileResult]:
    """Commit, then learn. An image that was taught already is not taught again. What is taught with one
    ``group``, with nothing else in between, is one step to undo."""
    known = _known(project, offered, label, two_labels)
    fresh = [offer for offer, result in zip(offered, known, strict=True) if result is None]
    if not all(project.pictures.has(offer.image.digest) for offer in fresh):
        raise ConflictError("the image was removed for good a moment ago.", "Send it again.")
    added: list[StoredExample] = []
    if fresh:
        taught = [(offer.image, label, offer.name) for offer in fresh]
        added = project.store.add(taught, kind, _taught_sentence, group)
        project.live.follow()
        _tell(project, kind, label)
    taught_now = iter(FileResult(example.name, "taught", example) for example in added)
    return [result or next(taught_now) for result in known]


def _known(project: Project, offered: Sequence[Offered], label: str, two_labels: bool) -> list[FileResult | None]:
    """None for what is to be taught. Of equal images in one request only the first is."""
    results: list[FileResult | None] = []
    digests: set[str] = set()
    for offer in offered:
        known = project.store.taught_as(offer.image.digest)
        if offer.image.digest in digests or any(example.label == label for example in known):
            results.append(FileResult(offer.name, "already", taught_as=known))
        elif known and not two_labels:
            results.append(FileResult(offer.name, "conflict", None, known, _conflict_sentence(known), CONFLICT_HINT))
        else:
            results.append(None)
        digests.add(offer.image.digest)
    return results


def _conflict_sentence(known: Sequence[StoredExample]) -> str:
    labels = ", ".join(f'"{label}"' for label in dict.fromkeys(example.label for example in known))
    return f"this image was taught as {labels} already."


def _taught_sentence(counts: Mapping[str, int]) -> str:
    """One drop may hold the folders of many classes."""
    *others, last = [f'"{label}"' for label in counts]
    names = f"{', '.join(others)} and {last}" if others else last
    of_what = names if len(counts) <= MOST_NAMED else counted(len(counts), "class")
    return f"Taught {counted(sum(counts.values()), 'example')} of {of_what}."


def correct(project: Project, offer: Offered, label: str, two_labels: bool) -> tuple[FileResult, Belief, Belief]:
    """Teach one image once, with what the model thought of it before and thinks now."""
    before = belief(project, offer.image.vector, label)
    (result,) = teach_images(project, [offer], label, two_labels, "correct")
    return result, before, belief(project, offer.image.vector, label)


def belief(project: Project, vector: NDArray[np.float32], label: str) -> Belief:
    model = project.live.current
    if not model.knows_something:
        return Belief(None, 0.0)
    classifier = model.snapshot.classifier
    labels = classifier.classes_.tolist()
    probability = float(classifier.predict_proba(vector[None])[0, labels.index(label)]) if label in labels else 0.0
    (prediction,) = classifier.answers(vector[None], false_alarms=project.false_alarms)
    return Belief(prediction, min(1.0, probability))


def relabel(project: Project, numbers: Collection[int], label: str) -> int:
    return _edited(project, "relabel", f'Moved {counted(len(numbers), "example")} to "{label}".', numbers, label)


def delete(project: Project, numbers: Collection[int]) -> int:
    return _edited(project, "delete", f"Deleted {counted(len(numbers), 'example')}.", numbers, None)


def keep(project: Project, numbers: Collection[int]) -> int:
    """Say that examples are right as they are."""

    def sentence(count: int) -> str:
        return f"Kept {counted(count, 'example')} as {'it is' if count == 1 else 'they are'}."

    kept = project.store.keep(numbers, sentence)
    if kept:
        _tell(project, KEEP, None)
    return kept


def rename_class(project: Project, old: str, new: str) -> int:
    _check_class(project, old)
    if new != old and new in project.store.counts():
        raise ConflictError(f'the class "{new}" exists already.', "Merge the two, or choose another name.")
    return _edited(project, "rename", f'Renamed "{old}" to "{new}".', _numbers_of(project, old), new)


def merge_class(project: Project, old: str, into: str) -> int:
    """Both must be classes: a name that is misspelt would rename one."""
    _check_class(project, old)
    _check_class(project, into, "Merge into a class that exists; to give a class another name, rename it.")
    return _edited(project, "merge", f'Merged "{old}" into "{into}".', _numbers_of(project, old), into)


def delete_class(project: Project, label: str) -> int:
    _check_class(project, label)
    return _edited(project, "delete class", f'Deleted the class "{label}".', _numbers_of(project, label), None)


def undo(project: Project) -> Undone:
    """Take back the newest step of all, whoever made it."""
    edit, changes = project.store.undo()
    if edit.changes_model:
        project.live.edit(changes)
    project.last_undone = undone = Undone(edit, time.time())
    _tell(project, "undo", None, undone=undone.to_dict())
    return undone


def purge(project: Project) -> int:
    """Remove deleted examples for good; says how many images left the disk."""
    if project.live.rebuilding:
        raise ConflictError("the model is being rebuilt and may still show deleted examples.", "Wait a moment.")
    digests = project.store.purge()
    project.pictures.remove(digests)
    project.live.remove_old_checkpoints()
    _tell(project, "purge", None)
    return len(digests)


def set_false_alarms(project: Project, share: float) -> None:
    """How strict answers are from now on; the model stays as it is."""
    project.store.set_metadata("false_alarms", repr(share))
    project.events.publish("settings", {"false_alarms": share})


def _check_class(project: Project, label: str, hint: str = "") -> None:
    if label not in project.store.counts():
        raise MissingError(f'there is no class "{label}".', hint)


def _numbers_of(project: Project, label: str) -> list[int]:
    return [example.id for example in project.store.examples(label, 2**63 - 1, -1)]


def _edited(project: Project, kind: str, sentence: str, numbers: Collection[int], label: str | None) -> int:
    changes = project.store.edit(kind, sentence, numbers, label)
    if changes:
        project.live.edit(changes)
        _tell(project, kind, label)
    return len(changes)


def _tell(project: Project, kind: str, label: str | None, **more: Any) -> None:
    counts, edit = project.store.counts(), project.store.last_edit()
    project.events.publish(
        "changed",
        {
            "kind": kind,
            "label": label,
            "counts": counts,
            "examples": sum(counts.values()),
            "undo": None if edit is None else edit.to_dict(),
            **more,
        },
    )
