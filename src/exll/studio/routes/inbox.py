"""The Inbox: photos that were asked about and found unusual or unknown. Name, mark or dismiss them."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from exll.studio.class_names import clean_label
from exll.studio.edits import NOTHING
from exll.studio.errors import MissingError
from exll.studio.inbox import dismiss, name_photos
from exll.studio.inbox_groups import Group, JudgedPhoto, sort_photos
from exll.studio.inbox_rows import AskedPhoto
from exll.studio.incoming import MOST_BYTES, MOST_PHOTOS
from exll.studio.pictures import for_browsers
from exll.studio.project import Project
from exll.studio.routes.examples import FOR_EVER
from exll.studio.routes.requests import PROBLEMS, CurrentProject, change
from exll.studio.routes.shapes import REBUILDING, ExampleShape, LabelText, Number, PredictionShape
from exll.studio.store import LARGEST_ID
from exll.types import Level

MOST_SHOWN = 500  # examples of nothing
MOST_PHOTOS_AT_ONCE = 2 * MOST_PHOTOS

router = APIRouter(prefix="/api/inbox", tags=["inbox"], responses=PROBLEMS)
PhotoNumber = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class InboxPhoto(BaseModel):
    id: int
    name: str = Field(description="the file's name as it was sent; only to be shown")
    asked_at: float = Field(description="seconds since 1970")
    image: str = Field(description="address of the image")
    thumbnail: str = Field(description="address of a small WebP")
    prediction: PredictionShape | None = Field(description="what the model says now; null while nothing is taught")
    is_nothing: bool = Field(description="whether it looks like a photo that was marked as none of the classes")

    @classmethod
    def of(cls, judged: JudgedPhoto) -> "InboxPhoto":
        photo, now = judged.photo, judged.now
        return cls(
            id=photo.id,
            name=photo.name,
            asked_at=photo.asked_at,
            image=f"/api/inbox/{photo.id}/image",
            thumbnail=f"/api/inbox/{photo.id}/thumbnail",
            prediction=None if now is None else PredictionShape.of(now),
            is_nothing=judged.is_nothing,
        )


class Guess(BaseModel):
    label: str
    probability: float = Field(description="the mean over the photos of the group")


class InboxGroup(BaseModel):
    """Photos that look alike."""

    photos: list[InboxPhoto]
    guesses: list[Guess] = Field(description="the most probable classes, the best first")
    level: Level = Field(description="of most of the photos")
    worth: float = Field(description="the groups are ordered by this: the novelty of their centre, times their size")

    @classmethod
    def of(cls, group: Group) -> "InboxGroup":
        return cls(
            photos=[InboxPhoto.of(photo) for photo in group.photos],
            guesses=[Guess(label=label, probability=probability) for label, probability in group.guesses],
            level=group.level,
            worth=group.worth,
        )


class InboxAnswer(BaseModel):
    keep: bool = Field(description="whether more photos are kept; 'inbox' of /api/project/settings")
    waiting: int = Field(description="photos in the Inbox, including those that would teach nothing new")
    bytes: int
    most: int
    most_bytes: int
    groups: list[InboxGroup] = Field(description="the groups that would teach most come first")
    known: list[InboxPhoto] = Field(description="those that would teach nothing new")
    nothing: list[ExampleShape] = Field(description="photos that were marked as none of the classes, the newest first")
    nothing_count: int


class Photos(BaseModel):
    ids: list[Number] = Field(min_length=1, max_length=MOST_PHOTOS_AT_ONCE)


class NamedPhotos(Photos):
    label: LabelText


class NamedAnswer(BaseModel):
    taught: int
    already: int = Field(description="taught by somebody else a moment ago")
    gone: int = Field(description="no longer in the Inbox")
    step: int | None = Field(description="the step that undo takes back; null where nothing was taught")
    rebuilding: bool = Field(description=REBUILDING)


class DismissAnswer(BaseModel):
    dismissed: int


@router.get("")
async def inbox(project: CurrentProject) -> InboxAnswer:
    """The photos in the Inbox, with the model's present answers."""
    project.incoming.look()
    return await project.reading.run(_inbox, project)


@router.post("/teach")
async def teach_photos(project: CurrentProject, wanted: NamedPhotos) -> NamedAnswer:
    """Teach photos as one class. This is one step; after undo, the photos are in the Inbox again."""
    label, numbers = clean_label(wanted.label), set(wanted.ids)
    return await change(project, lambda: _named(project, numbers, label))


@router.post("/nothing")
async def mark_as_nothing(project: CurrentProject, wanted: Photos) -> NamedAnswer:
    """Say that photos are none of the classes: what looks more like them than like any class is unknown from then on.
    This is one step, which can be undone."""
    numbers = set(wanted.ids)
    return await change(project, lambda: _named(project, numbers, ""))


@router.post("/dismiss")
async def dismiss_photos(project: CurrentProject, wanted: Photos) -> DismissAnswer:
    """Remove photos from the Inbox and from the disk. This cannot be undone."""
    numbers = set(wanted.ids)
    return DismissAnswer(dismissed=await change(project, lambda: dismiss(project, numbers)))


@router.get("/{number}/thumbnail", response_class=Response)
async def thumbnail(project: CurrentProject, number: PhotoNumber) -> Response:
    """A WebP of at most 256 pixels."""

    def find() -> bytes:
        return project.pictures.thumbnail(_photo(project, number).digest)

    return Response(await project.reading.run(find), media_type="image/webp", headers=FOR_EVER)


@router.get("/{number}/image", response_class=Response)
async def image(project: CurrentProject, number: PhotoNumber) -> Response:
    """The file as it was asked about; as WebP if some browsers cannot show its format."""

    def find() -> tuple[bytes, str]:
        photo = _photo(project, number)
        return for_browsers(project.pictures.image(photo.digest), photo.format)

    content, media_type = await project.looking.run(find)
    return Response(content, media_type=media_type, headers=FOR_EVER)


def _inbox(project: Project) -> InboxAnswer:
    waiting, model = project.store.inbox(), project.live.current
    classifier = model.snapshot.classifier if model.knows_something else None
    found = sort_photos(waiting, classifier, project.false_alarms)
    project.incoming.known = frozenset(judged.photo.id for judged in found.known)
    return InboxAnswer(
        keep=project.inbox,
        waiting=len(waiting),
        bytes=sum(photo.nbytes for photo in waiting),
        most=MOST_PHOTOS,
        most_bytes=MOST_BYTES,
        groups=[InboxGroup.of(group) for group in found.groups],
        known=[InboxPhoto.of(photo) for photo in found.known],
        nothing=[ExampleShape.of(e) for e in project.store.examples(None, LARGEST_ID, MOST_SHOWN, NOTHING)],
        nothing_count=project.store.counts(NOTHING).get("", 0),
    )


def _named(project: Project, numbers: set[int], label: str) -> NamedAnswer:
    named = name_photos(project, numbers, label)
    step = project.store.last_edit() if named.taught else None
    return NamedAnswer(**vars(named), step=None if step is None else step.id, rebuilding=project.live.rebuilding)


def _photo(project: Project, number: int) -> AskedPhoto:
    for photo in project.store.inbox_photos([number]):
        return photo
    raise MissingError(f"there is no photo {number} in the Inbox.", "It may have been dismissed.")
