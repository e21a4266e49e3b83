"""What routes share: the project behind a request, changes in the writer's thread, and files as they come in."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Form, Request, UploadFile

from exll.errors import InputError
from exll.explain.wording import file_name
from exll.features.regions import PixelBox, parse_box
from exll.studio.asked import Asked
from exll.studio.errors import TooLargeError, UnusableError
from exll.studio.labels import clean_label
from exll.studio.limits import MOST_FILE_BYTES
from exll.studio.project import Project
from exll.studio.routes.shapes import Problem
from exll.studio.seeing import see

Result = TypeVar("Result")

LONGEST_FORM_TEXT = 1000
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "A request that cannot be understood"},
    401: {"model": Problem, "description": "No token, or not the right one"},
    403: {"model": Problem, "description": "From another site, or for another host"},
    404: {"model": Problem, "description": "Nothing of that name or number"},
    409: {"model": Problem, "description": "Not as things stand"},
    413: {"model": Problem, "description": "Too large"},
    422: {"model": Problem, "description": "Understood, but not fit for what was asked"},
    429: {"model": Problem, "description": "Too often; see Retry-After"},
    503: {"model": Problem, "description": "Not now; see Retry-After"},
}


async def _project(request: Request) -> Project:
    return cast(Project, request.app.state.project)


async def _label(label: Annotated[str, Form(max_length=LONGEST_FORM_TEXT)]) -> str:
    return clean_label(label)


async def _box(
    box: Annotated[
        str | None,
        Form(max_length=LONGEST_FORM_TEXT, description="the region to look at: left,top,right,bottom in pixels"),
    ] = None,
) -> PixelBox | None:
    try:
        return None if box is None else parse_box(box)
    except InputError as error:
        raise UnusableError(str(error), "Send a box like 10,20,110,90, or none.") from error


BoxField = Annotated[PixelBox | None, Depends(_box)]
CurrentProject = Annotated[Project, Depends(_project)]
LabelField = Annotated[str, Depends(_label)]


async def change(project: Project, work: Callable[[], Result]) -> Result:
    """One after the other, with all other changes."""
    return await asyncio.wrap_future(project.live.write(work))


async def content_of(file: UploadFile) -> bytes:
    if file.size is not None and file.size > MOST_FILE_BYTES:
        raise TooLargeError(f"an image may have at most {MOST_FILE_BYTES // 1_000_000} MB.", "Make it smaller.")
    return await file.read()


def name_of(file: UploadFile) -> str:
    """For the eyes only."""
    return file_name(file.filename or "")


async def about_image(
    project: Project,
    file: UploadFile | None,
    asked: str | None,
    box: PixelBox | None,
    answer: Callable[[Project, Asked], Result],
) -> Result:
    """Answer about an image that is sent along, or that was asked about a moment ago. In one go: handing work from
    thread to thread costs more than some answers."""
    if (file is None) == (asked is None):
        raise UnusableError("send either the image as 'file' or the id of one asked about before as 'asked'.")
    if file is None:
        assert asked is not None
        if box is not None:
            raise UnusableError("a box is for an image that is sent along.", "Send the image again as 'file'.")
        with project.asked.answering():
            return await project.looking.run(answer, project, project.asked.of(asked))
    content, name = await content_of(file), name_of(file)

    def look_and_answer() -> Result:
        image = Asked(name, see(content, project.backbone, box))
        project.asked.keep(image)
        return answer(project, image)

    with project.asked.answering():
        return await project.looking.run(look_and_answer)
