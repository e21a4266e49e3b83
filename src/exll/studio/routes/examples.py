"""Examples: what was taught, with its pictures; relabelling and deleting in bulk."""

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from exll.features.formats import HEAD_BYTES, image_format
from exll.studio.actions import delete, hold_out, relabel
from exll.studio.class_names import clean_label
from exll.studio.errors import MissingError
from exll.studio.near_duplicates import near_duplicates
from exll.studio.pictures import for_browsers
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, changed
from exll.studio.routes.shapes import Changed, ExampleShape, LabelText, Numbers
from exll.studio.store import LARGEST_ID

FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}  # an example never changes its image

router = APIRouter(prefix="/api/examples", tags=["examples"], responses=PROBLEMS)
ExampleNumber = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class Relabel(Numbers):
    label: LabelText


class HoldOut(Numbers):
    held_out: bool = True


class ExamplesAnswer(BaseModel):
    examples: list[ExampleShape]
    next: int | None = Field(description="pass as 'before' for more; null at the end")


class DuplicatesAnswer(BaseModel):
    groups: list[list[int]] = Field(description="numbers of examples; each is almost equal to the first of its group")


@router.get("")
async def examples(
    project: CurrentProject,
    label: Annotated[str | None, Query(max_length=1000)] = None,
    before: Annotated[int, Query(ge=1, le=LARGEST_ID)] = LARGEST_ID,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
) -> ExamplesAnswer:
    """The newest first, a page at a time."""
    found = await project.reading.run(project.store.examples, label, before, limit + 1)
    shown = found[:limit]
    more = shown[-1].id if len(found) > limit else None
    return ExamplesAnswer(examples=[ExampleShape.of(example) for example in shown], next=more)


@router.get("/duplicates")
async def duplicates(
    project: CurrentProject, label: Annotated[str, Query(min_length=1, max_length=1000)]
) -> DuplicatesAnswer:
    """Examples of a class that are almost equal, such as frames of a camera that follow one another."""
    return await project.studying.run(_duplicates, project, label)


@router.post("/relabel")
async def relabel_examples(project: CurrentProject, wanted: Relabel) -> Changed:
    """Give examples another label. When the answer comes, the model is as if they never had the old one."""
    label, numbers = clean_label(wanted.label), set(wanted.ids)
    return await changed(project, lambda: relabel(project, numbers, label))


@router.post("/delete")
async def delete_examples(project: CurrentProject, wanted: Numbers) -> Changed:
    """Delete examples. When the answer comes, the model is as if it never saw them. Undo brings them back."""
    numbers = set(wanted.ids)
    return await changed(project, lambda: delete(project, numbers))


@router.post("/hold-out")
async def hold_examples_out(project: CurrentProject, wanted: HoldOut) -> Changed:
    """Hold examples out, so that the model can be measured with them; or, with ``held_out`` false, learn them."""
    numbers = set(wanted.ids)
    return await changed(project, lambda: hold_out(project, numbers, wanted.held_out))


@router.get("/{number}")
async def example(project: CurrentProject, number: ExampleNumber) -> ExampleShape:
    return ExampleShape.of(await project.reading.run(project.store.example, number))


@router.get("/{number}/thumbnail", response_class=Response)
async def thumbnail(project: CurrentProject, number: ExampleNumber) -> Response:
    """A WebP of at most 256 pixels."""

    def find() -> bytes:
        return project.pictures.thumbnail(project.store.example(number).digest)

    return Response(await project.reading.run(find), media_type="image/webp", headers=FOR_EVER)


@router.get("/{number}/image", response_class=Response)
async def image(project: CurrentProject, number: ExampleNumber) -> Response:
    """The file as it was taught; as WebP if some browsers cannot show its format."""
    content, media_type = await project.looking.run(_image, project, number)
    return Response(content, media_type=media_type, headers=FOR_EVER)


@router.get("/{number}/whole", response_class=Response)
async def whole(project: CurrentProject, number: ExampleNumber) -> Response:
    """The photo that an example is a region of."""
    content, media_type = await project.looking.run(_whole, project, number)
    return Response(content, media_type=media_type, headers=FOR_EVER)


def _whole(project: Project, number: int) -> tuple[bytes, str]:
    source = project.store.example(number).source
    if source is None:
        raise MissingError(f"example {number} is a photo of its own.")
    content = project.pictures.image(source)
    return for_browsers(content, image_format(content[:HEAD_BYTES]))


def _image(project: Project, number: int) -> tuple[bytes, str]:
    digest = project.store.example(number).digest
    content, known = project.pictures.image(digest), project.store.image(digest)
    return for_browsers(content, None if known is None else known.format)


def _duplicates(project: Project, label: str) -> DuplicatesAnswer:
    rows = project.store.rows_of(example.id for example in project.store.examples(label, LARGEST_ID, -1))
    if not rows:
        return DuplicatesAnswer(groups=[])
    found = near_duplicates(np.array([row.vector for row in rows]))
    return DuplicatesAnswer(groups=[[rows[i].id for i in group] for group in found])
