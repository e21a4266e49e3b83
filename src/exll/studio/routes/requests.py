"""Reading requests: the project, form fields and files, and changes in the writer's thread."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Form, Request, UploadFile

from exll.errors import InputError
from exll.explain.wording import file_name
from exll.features.regions import PixelBox, parse_box
from exll.studio.class_names import clean_label
from exll.studio.errors import TooLargeError, UnusableError
from exll.studio.limits import MOST_FILE_BYTES
from exll.studio.project import Project
from exll.studio.projects import Projects
from exll.studio.routes.shapes import Changed, Problem

Result = TypeVar("Result")

LONGEST_FORM_TEXT = 1000
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "A request that cannot be understood"},
    401: {"model": Problem, "description": "No token, or not the right one"},
    403: {"model": Problem, "description": "From another site, or for another host"},
    404: {"model": Problem, "description": "Nothing of that name or number"},
    409: {"model": Problem, "description": "Not possible in the present state"},
    410: {"model": Problem, "description": "Belongs to a step that was undone"},
    413: {"model": Problem, "description": "Too large"},
    422: {"model": Problem, "description": "Understood, but cannot be used"},
    429: {"model": Problem, "description": "Too many requests; see Retry-After"},
    503: {"model": Problem, "description": "Busy; see Retry-After"},
}


async def projects_of(request: Request) -> Projects:
    return cast(Projects, request.app.state.projects)


def project_name(request: Request) -> str:
    """As the address says it (:mod:`exll.studio.project_paths`)."""
    return cast(str, request.scope["exll.project"])


async def current_project(request: Request) -> Project:
    name = project_name(request)
    project = await (await projects_of(request)).use(name)
    request.scope["exll.used"].append(name)
    return project


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


async def _false_alarms(
    project: Annotated[Project, Depends(current_project)],
    false_alarms: Annotated[
        float | None,
        Form(
            gt=0,
            lt=1,
            description="how strict: the share of known things that may be called unusual or unknown; without it, "
            "the project's setting",
        ),
    ] = None,
) -> float:
    return project.false_alarms if false_alarms is None else false_alarms


BoxField = Annotated[PixelBox | None, Depends(_box)]
AllProjects = Annotated[Projects, Depends(projects_of)]
CurrentProject = Annotated[Project, Depends(current_project)]
ProjectName = Annotated[str, Depends(project_name)]
FalseAlarmsField = Annotated[float, Depends(_false_alarms)]
LabelField = Annotated[str, Depends(_label)]


async def change(project: Project, work: Callable[[], Result]) -> Result:
    """One after the other, with all other changes."""
    return await asyncio.wrap_future(project.live.write(work))


async def changed(project: Project, work: Callable[[], int]) -> Changed:
    """The same for a step that says how many examples it changed."""

    def make() -> Changed:
        count = work()
        step = project.store.last_edit() if count else None
        return Changed(changed=count, step=None if step is None else step.id, rebuilding=project.live.rebuilding)

    return await change(project, make)


async def content_of(file: UploadFile) -> bytes:
    if file.size is not None and file.size > MOST_FILE_BYTES:
        size, most = file.size / 1_000_000, MOST_FILE_BYTES // 1_000_000
        raise TooLargeError(f"this file has {size:,.1f} MB; a photo may have at most {most} MB.", "Make it smaller.")
    return await file.read()


def name_of(file: UploadFile) -> str:
    """To be shown only, never a path."""
    return file_name(file.filename or "")
