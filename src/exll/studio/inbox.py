"""The Inbox: photos that were asked about and found unusual or unknown wait there to be named. All but ``offer`` runs
in the writer's thread."""

import contextlib
import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from exll.studio.actions import Offered, teach_images
from exll.studio.analysed_image import AnalysedImage
from exll.studio.edits import NOTHING, TAUGHT
from exll.studio.errors import ConflictError, MissingError
from exll.studio.inbox_rows import AskedPhoto
from exll.studio.incoming import MOST_BYTES, MOST_PHOTOS
from exll.studio.near_duplicates import ALMOST_EQUAL
from exll.studio.project import Project
from exll.studio.recent_images import RecentImage
from exll.studio.store import StoredImage
from exll.types import Level

LEAST_CLASSES, LEAST_EXAMPLES = 2, 3  # before so many classes have so many examples, nothing is kept
# By cosine. Of frames of one drawn scene that are five frames apart, 19 in 20 are above it with efficientnet_lite0.
SAME_SCENE = 0.9


@dataclass(frozen=True)
class Named:
    """What became of photos that were named, or marked as nothing."""

    taught: int
    already: int  # taught by somebody else a moment ago
    gone: int  # no longer in the Inbox


class Answer(Protocol):
    """What was said of a photo."""

    label: str
    probability: float
    level: Level
    novelty: float | None


def offer(project: Project, asked: str, answer: Answer, address: str, camera: bool = False) -> None:
    """Hand a photo over once its answer is made. Who asked does not wait for it; where there is too much to do, the
    photo is dropped. Frames of a ``camera`` must differ more from what waits."""
    if answer.level != "usual" and project.inbox and project.incoming.accepts(address):
        alike = SAME_SCENE if camera else ALMOST_EQUAL
        project.live.write_when_idle(partial(_keep, project, asked, answer, alike))


def _keep(project: Project, asked: str, answer: Answer, alike: float) -> None:
    with contextlib.suppress(MissingError):  # so many others were asked about that it left the memory
        recent = project.recent_images.of(asked)
        if project.inbox and not _knows_little(project) and not _teaches_nothing(project, recent.image, alike):
            _add(project, recent, answer)


def _knows_little(project: Project) -> bool:
    """Nearly everything is unusual then."""
    return sum(count >= LEAST_EXAMPLES for count in project.store.counts().values()) < LEAST_CLASSES


def _teaches_nothing(project: Project, image: AnalysedImage, alike: float) -> bool:
    """It is taught already, something that waits looks just like it, or it looks like an example of nothing."""
    if project.store.is_taught(image.digest):
        return True
    waiting = project.store.inbox()
    count, nbytes = len(waiting) + 1, sum(photo.nbytes for photo in waiting) + len(image.content)
    if project.incoming.is_looked_at and (count > MOST_PHOTOS or nbytes > MOST_BYTES):
        return True
    if any(photo.digest == image.digest for photo in waiting):
        return True
    model = project.live.current
    if model.knows_something and model.snapshot.classifier.like_nothing(image.vector[None])[0]:
        return True
    if not waiting:
        return False
    vectors = np.array([photo.vector for photo in waiting])
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(image.vector)
    return bool((vectors @ image.vector >= alike * lengths).any())


def _add(project: Project, recent: RecentImage, answer: Answer) -> None:
    """First the file, then the row: a file without a row is removed at the next start. Its thumbnail is made when
    somebody looks."""
    image = recent.image
    project.pictures.keep(image.digest, image.content)
    photo = AskedPhoto(
        0,
        image.digest,
        image.format,
        len(image.content),
        image.vector,
        recent.name,
        time.time(),
        answer.level,
        answer.label,
        answer.probability,
        answer.novelty,
    )
    project.pictures.remove(project.store.add_to_inbox(photo, MOST_PHOTOS, MOST_BYTES))
    tell_waiting(project)


def name_photos(project: Project, numbers: Collection[int], label: str) -> Named:
    """Teach photos of the Inbox as one class, in one step; with an empty label, as examples of nothing."""
    photos = project.store.inbox_photos(numbers)
    if not photos:
        raise MissingError("these photos are no longer in the Inbox.", "Load the page again.")
    offered = [
        Offered(StoredImage(photo.digest, photo.format, photo.nbytes, photo.vector), photo.name) for photo in photos
    ]
    kind, role = ("teach", TAUGHT) if label else ("nothing", NOTHING)
    results = teach_images(project, offered, label, False, kind, role=role)
    if all(result.status == "conflict" for result in results):
        raise ConflictError(results[0].error, "Load the page again.")
    taught = sum(result.status == "taught" for result in results)
    return Named(taught, len(results) - taught, len(set(numbers)) - len(photos))


def dismiss(project: Project, numbers: Collection[int]) -> int:
    """Remove photos from the Inbox and from the disk; this cannot be undone. Says how many."""
    count, unneeded = project.store.dismiss(numbers)
    project.pictures.remove(unneeded)
    if count:
        tell_waiting(project)
    return count


def tell_waiting(project: Project) -> None:
    project.events.publish("inbox", {"waiting": project.unnamed})
