"""What a person does to a project: teach, correct, relabel, hold out, delete, rename, undo, return to a version. Each
runs in the writer's thread."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.estimator import Prediction
from exll.explain.wording import counted
from exll.studio.authors import author
from exll.studio.edits import HELD_OUT, KEEP, NOTHING, TAUGHT, Change, Edit, Role, Taught, Undone
from exll.studio.errors import ConflictError, MissingError
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, NewExample, StoredExample, StoredImage
from exll.studio.versions import Version

MOST_NAMED = 3
CONFLICT_HINT = "Relabel that example, or say that the photo may have two labels."


Status: TypeAlias = Literal["taught", "moved", "already", "conflict", "unreadable", "too large"]


@dataclass(frozen=True)
class Offered:
    """An image on the disk already, to be taught; with ``box``, a region of the photo ``source``."""

    image: StoredImage
    name: str
    box: str | None = None
    source: str | None = None
    taught_at: float | None = None  # now, where it was not taught elsewhere before
    clip: str | None = None  # the recording that it is a frame of


@dataclass(frozen=True)
class FileResult:
    """What became of one file: taught, ``moved`` here from another label, ``already`` taught under this label, in
    ``conflict`` with another label, unreadable, or with more bytes than are accepted."""

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
    role: Role = TAUGHT,
    hold_out_every: int = 0,
) -> list[FileResult]:
    """Commit, then learn. An image that was taught already is not taught again. What is taught with one ``group`` is
    one step to undo. With ``hold_out_every`` every so-many-th photo of the class is held out."""
    known = _known(project, offered, label, two_labels)
    fresh = [offer for offer, result in zip(offered, known, strict=True) if result is None]
    needed = [digest for offer in fresh for digest in (offer.image.digest, offer.source) if digest is not None]
    if not all(map(project.pictures.has, needed)):
        raise ConflictError("this photo was removed for good a moment ago.", "Send it again.")
    added: list[StoredExample] = []
    if fresh:
        first = 1 + sum(project.store.counts(of_role).get(label, 0) for of_role in (TAUGHT, HELD_OUT))
        roles = [HELD_OUT if hold_out_every and (first + i) % hold_out_every == 0 else role for i in range(len(fresh))]
        taught = [
            NewExample(offer.image, label, offer.name, of_role, offer.box, offer.source, offer.taught_at, offer.clip)
            for offer, of_role in zip(fresh, roles, strict=True)
        ]
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
    labels = dict.fromkeys(example.label for example in known)
    if labels == {"": None}:
        return "this photo was marked as none of the classes."
    return f"this photo was taught as {', '.join(_quoted(label) for label in labels if label)} already."


def _taught_sentence(taught: Sequence[Taught]) -> str:
    """One drop may hold the folders of many classes, and one zip photos of every role."""
    learned, held_out, nothing = (
        sum(some.count for some in taught if some.role == role) for role in (TAUGHT, HELD_OUT, NOTHING)
    )
    labels = list(dict.fromkeys(_quoted(some.label) for some in taught if some.label))
    of_what = f" of {counted(len(labels), 'class') if len(labels) > MOST_NAMED else _listed(labels)}"
    done = [f"taught {counted(learned, 'photo')}{of_what}"] if learned else []
    if held_out:
        done.append(f"held out {held_out:,}" if learned else f"held out {counted(held_out, 'photo')}{of_what}")
    if nothing:
        done.append(f"marked {counted(nothing, 'photo')} as none of the classes")
    words = _listed(done)
    return f"{words[0].upper()}{words[1:]}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _quoted(label: str) -> str:
    return f'"{label}"'


def correct(
    project: Project, offer: Offered, label: str, two_labels: bool, move: bool = False
) -> tuple[FileResult, Belief, Belief]:
    """Teach one image once, with what the model thought of it before and thinks now. With ``move`` an image of another
    class is moved to this one."""
    before = belief(project, offer.image.vector, label)
    (result,) = teach_images(project, [offer], label, two_labels, "correct")
    if result.status == "conflict" and move:
        relabel(project, [example.id for example in result.taught_as], label)
        result = FileResult(offer.name, "moved", next(iter(project.store.taught_as(offer.image.digest)), None))
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
    return _relabelled(
        project, "relabel", lambda count: f'Moved {counted(count, "photo")} to "{label}".', numbers, label
    )


def hold_out(project: Project, numbers: Collection[int], held_out: bool) -> int:
    """Hold examples out, so that the model can be measured with them; or have them learned."""

    def sentence(count: int) -> str:
        photos = counted(count, "photo")
        return f"Held out {photos}." if held_out else f"Taught {photos} that had been held out."

    kind, role = ("hold out", HELD_OUT) if held_out else ("teach", TAUGHT)
    return _followed(project, project.store.set_role(kind, sentence, numbers, role), kind, None)


def delete(project: Project, numbers: Collection[int]) -> int:
    changes = project.store.delete("delete", lambda count: f"Deleted {counted(count, 'photo')}.", numbers)
    return _followed(project, changes, "delete", None)


def keep(project: Project, numbers: Collection[int]) -> int:
    """Say that examples are right as they are."""

    def sentence(count: int) -> str:
        return f"Kept {counted(count, 'photo')} as {'it is' if count == 1 else 'they are'}."

    kept = project.store.keep(numbers, sentence)
    if kept:
        _tell(project, KEEP, None)
    return kept


def rename_class(project: Project, old: str, new: str) -> int:
    _check_class(project, old)
    if new != old and new in _classes(project):
        raise ConflictError(f'the class "{new}" exists already.', "Merge the two, or choose another name.")
    return _relabelled(project, "rename", lambda _: f'Renamed "{old}" to "{new}".', _numbers_of(project, old), new)


def merge_class(project: Project, old: str, into: str) -> int:
    """Both must be classes: a name that is misspelt would rename one."""
    _check_class(project, old)
    _check_class(project, into, "Merge into a class that exists; to give a class another name, rename it.")
    return _relabelled(project, "merge", lambda _: f'Merged "{old}" into "{into}".', _numbers_of(project, old), into)


def delete_class(project: Project, label: str) -> int:
    _check_class(project, label)
    numbers = _numbers_of(project, label)
    changes = project.store.delete("delete class", lambda _: f'Deleted the class "{label}".', numbers)
    return _followed(project, changes, "delete class", None)


def undo(project: Project, step: int | None = None) -> Undone:
    """Take back the newest step of all, whoever made it; ``step`` is the one that the person saw."""
    _check_step(project.store.last_edit(), step)
    edit, changes = project.store.undo()
    if changes:
        project.live.edit(changes)
    project.last_undone = undone = Undone(edit, time.time(), author.get())
    _tell(project, "undo", None, undone=undone.to_dict())
    return undone


def redo(project: Project, step: int | None = None) -> Edit:
    """Make the step again that was undone last."""
    _check_step(project.store.next_redo(), step)
    edit, changes = project.store.redo()
    if changes:
        project.live.edit(changes)
    _tell(project, "redo", None, redone=edit.to_dict())
    return edit


def _check_step(edit: Edit | None, step: int | None) -> None:
    if edit is not None and step is not None and edit.id != step:
        raise ConflictError(
            f"another step was made in the meantime. The last step is now: {edit.sentence}",
            "Look at it before you undo it.",
        )


def add_version(project: Project, name: str) -> Version:
    added = project.store.add_version(name)
    project.events.publish("versions", {})
    return added


def remove_version(project: Project, number: int) -> None:
    project.store.remove_version(number)
    project.events.publish("versions", {})


def restore_version(project: Project, number: int) -> int:
    changes = project.store.restore(number, lambda version: f'Returned to the version "{version.name}".')
    return _followed(project, changes, "restore", None)


def purge(project: Project) -> int:
    """Remove deleted examples for good; says how many images left the disk."""
    if project.live.rebuilding:
        raise ConflictError(
            "the model is still learning the last change and may show deleted photos.", "Wait a moment."
        )
    digests = project.store.purge()
    project.pictures.remove(digests)
    project.live.remove_old_checkpoints()
    _tell(project, "purge", None)
    return len(digests)


def _check_class(project: Project, label: str, hint: str = "") -> None:
    if label not in _classes(project):
        raise MissingError(f'there is no class "{label}".', hint)


def _classes(project: Project) -> set[str]:
    """Also those of which all photos are held out."""
    return {*project.store.counts(), *project.store.counts(HELD_OUT)}


def _numbers_of(project: Project, label: str) -> list[int]:
    return [example.id for example in project.store.examples(label, LARGEST_ID, -1)]


def _relabelled(
    project: Project, kind: str, wording: Callable[[int], str], numbers: Collection[int], label: str
) -> int:
    return _followed(project, project.store.relabel(kind, wording, numbers, label), kind, label)


def _followed(project: Project, changes: Sequence[Change], kind: str, label: str | None) -> int:
    """Have the model follow a step; says how many examples it changed."""
    noticed = [change for change in changes if change.before != change.after]
    if noticed:
        project.live.edit(noticed)
    if changes:
        _tell(project, kind, label)
    return len(changes)


def _tell(project: Project, kind: str, label: str | None, **more: Any) -> None:
    edit, undone = project.store.last_edit(), project.store.next_redo()
    project.events.publish(
        "changed",
        {
            "kind": kind,
            "label": label,
            "counts": project.store.counts(),
            **vars(project.store.totals()),
            "undo": None if edit is None else edit.to_dict(),
            "redo": None if undone is None else undone.to_dict(),
            "waiting": project.unnamed,
            "made_by": author.get(),
            **more,
        },
    )
