"""Teach: one image or many, under one label."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Response, UploadFile
from pydantic import BaseModel, Field

from exll.features.regions import PixelBox
from exll.studio.actions import FileResult, Offered, teach_images
from exll.studio.edits import HELD_OUT, TAUGHT, Edit
from exll.studio.error_responses import error_response
from exll.studio.errors import ConflictError, StudioError, TooLargeError, UndoneError, UnreadableError, UnusableError
from exll.studio.pictures import digest_of
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, BoxField, CurrentProject, LabelField, change, content_of, name_of
from exll.studio.routes.shapes import TaughtFile

MOST_FILES = 500
LONGEST_ID = 64
REFUSALS: dict[str, type[StudioError]] = {
    "conflict": ConflictError,
    "unreadable": UnusableError,
    "too large": TooLargeError,
}

router = APIRouter(prefix="/api", tags=["teach"], responses=PROBLEMS)
OwnId = Annotated[str | None, Form(max_length=LONGEST_ID, pattern="^[A-Za-z0-9_-]+$")]


class TeachAnswer(BaseModel):
    label: str
    taught: int
    results: list[TaughtFile]
    counts: dict[str, int] = Field(description="examples of every class now")
    step: int | None = Field(description="the step that undo takes back; null where nothing was taught")


@router.post("/teach", response_model=TeachAnswer)
async def teach(
    project: CurrentProject,
    label: LabelField,
    box: BoxField,
    files: Annotated[list[UploadFile], File(description="images; one after the other, in this order")],
    two_labels: Annotated[bool, Form(description="also teach images that were taught under another label")] = False,
    group: Annotated[
        OwnId,
        Form(
            description="an id of your choice: requests with the same id, with no other change between them, are one "
            "step to undo"
        ),
    ] = None,
    unless_undone: Annotated[
        bool, Form(description="teach nothing if the step of this group was undone (410)")
    ] = False,
    clip: Annotated[
        OwnId,
        Form(
            description="an id of your choice: photos with the same id are frames of one recording. They say little "
            "about how well another recording is recognised, and the model takes that into account"
        ),
    ] = None,
    hold_out_every: Annotated[
        int, Form(ge=0, le=100, description="n: hold out every n-th photo of the class; 0: none")
    ] = 0,
    held_out: Annotated[bool, Form(description="hold out all of them, for measuring")] = False,
) -> TeachAnswer | Response:
    """Every image that is answered with "taught" is on the disk and learned. The same image is never taught twice under
    one label, and under a second one only with ``two_labels``. What is held out is stored and not learned."""
    if len(files) > MOST_FILES:
        raise UnusableError(f"at most {MOST_FILES} files can be taught at once; got {len(files)}.", "Send fewer.")
    looked = [await _offered(project, file, box, clip) for file in files]
    offered = [offer for offer in looked if isinstance(offer, Offered)]
    role = HELD_OUT if held_out else TAUGHT

    def learn() -> tuple[list[FileResult], Edit | None]:
        if unless_undone and group is not None and project.store.is_undone(group):
            raise UndoneError("the step of this group was undone.", "Teach the photos with another group.")
        learned = teach_images(
            project, offered, label, two_labels, group=group, role=role, hold_out_every=hold_out_every
        )
        return learned, project.store.last_edit() if any(one.status == "taught" for one in learned) else None

    learned, step = await change(project, learn) if offered else ([], None)
    taught = iter(learned)
    results = [TaughtFile.of(next(taught) if isinstance(offer, Offered) else offer) for offer in looked]
    if all(result.status in REFUSALS for result in results):
        return _refused(results)
    counts = await project.reading.run(project.store.counts)
    return TeachAnswer(
        label=label,
        taught=sum(result.status == "taught" for result in results),
        results=results,
        counts=counts,
        step=None if step is None else step.id,
    )


async def _offered(project: Project, file: UploadFile, box: PixelBox | None, clip: str | None) -> Offered | FileResult:
    name = name_of(file)
    try:
        content = await content_of(file)
        return await project.looking.run(_kept, project, content, name, box, clip)
    except TooLargeError as error:
        return FileResult(name, "too large", error=str(error), hint=error.hint)
    except UnreadableError as error:
        return FileResult(name, "unreadable", error=str(error), hint=error.hint)


def _kept(project: Project, content: bytes, name: str, box: PixelBox | None, clip: str | None) -> Offered:
    """On the disk; of a region the whole photo too, so that one can see where it lies."""
    image = project.kept_image(content, box)
    if box is None:
        return Offered(image, name, clip=clip)
    source = digest_of(content)
    project.pictures.keep(source, content)
    return Offered(image, name, ",".join(map(str, box)), source, clip=clip)


def _refused(results: list[TaughtFile]) -> Response:
    """None could be taught: the first one says why."""
    first = results[0]
    kind = REFUSALS["conflict" if any(result.status == "conflict" for result in results) else first.status]
    return error_response(kind(first.error, first.hint), results=[result.model_dump() for result in results])
