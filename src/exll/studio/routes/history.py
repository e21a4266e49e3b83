"""History: every step with undo and redo, and named versions to return to."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, Field

from exll.studio.actions import add_version, redo, remove_version, restore_version, undo
from exll.studio.class_names import clean_label
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, change, changed
from exll.studio.routes.shapes import (
    REBUILDING,
    Changed,
    EditShape,
    LabelText,
    Number,
    UndoneShape,
)
from exll.studio.store import LARGEST_ID
from exll.studio.versions import Version

router = APIRouter(prefix="/api", tags=["history"], responses=PROBLEMS)
VersionNumber = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class Step(BaseModel):
    """The step that is meant: if another step was made in between, nothing is done."""

    step: Number | None = None


class UndoAnswer(BaseModel):
    undone: UndoneShape
    next: EditShape | None = Field(description="what undo would take back next")
    redo: EditShape | None
    rebuilding: bool = Field(description=REBUILDING)


class RedoAnswer(BaseModel):
    redone: EditShape
    next: EditShape | None = Field(description="what redo would make again next")
    undo: EditShape | None
    rebuilding: bool = Field(description=REBUILDING)


class StepShape(EditShape):
    undone: bool


class HistoryAnswer(BaseModel):
    steps: list[StepShape] = Field(description="the newest first")
    next: int | None = Field(description="pass as 'before' for more; null at the end")


class VersionsAnswer(BaseModel):
    versions: list[Version] = Field(description="the newest first")


class VersionName(BaseModel):
    name: LabelText


@router.post("/undo")
async def undo_last(project: CurrentProject, wanted: Annotated[Step | None, Body()] = None) -> UndoAnswer:
    """Take back the newest step, whoever made it: teaching (all of a group), correcting, relabelling, holding out,
    deleting, renaming, merging, keeping or returning to a version."""
    step = None if wanted is None else wanted.step
    undone = await change(project, lambda: undo(project, step))
    following, again = await project.reading.run(_ends, project)
    return UndoAnswer(
        undone=UndoneShape(**undone.to_dict()), next=following, redo=again, rebuilding=project.live.rebuilding
    )


@router.post("/redo")
async def redo_last(project: CurrentProject, wanted: Annotated[Step | None, Body()] = None) -> RedoAnswer:
    """Redo the step that was undone last. After a new step, nothing can be redone."""
    step = None if wanted is None else wanted.step
    redone = await change(project, lambda: redo(project, step))
    last, following = await project.reading.run(_ends, project)
    return RedoAnswer(redone=EditShape.of(redone), next=following, undo=last, rebuilding=project.live.rebuilding)


@router.get("/history")
async def steps(
    project: CurrentProject,
    before: Annotated[int, Query(ge=1, le=LARGEST_ID)] = LARGEST_ID,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
) -> HistoryAnswer:
    """Every step that can be undone or redone, a page at a time."""
    found = await project.reading.run(project.store.history, before, limit + 1)
    shown = [StepShape(**edit.to_dict(), undone=edit.undone) for edit in found[:limit]]
    return HistoryAnswer(steps=shown, next=shown[-1].id if len(found) > limit else None)


@router.get("/versions")
async def versions(project: CurrentProject) -> VersionsAnswer:
    found = await project.reading.run(project.store.versions)
    return VersionsAnswer(versions=found)


@router.post("/versions")
async def name_version(project: CurrentProject, wanted: VersionName) -> Version:
    """Save the present state of the project under a name, so that one can return to it."""
    name = clean_label(wanted.name)
    return await change(project, lambda: add_version(project, name))


@router.post("/versions/{number}/restore")
async def restore(project: CurrentProject, number: VersionNumber) -> Changed:
    """Return to a version: every example is as it was then. This is one step, which can be undone."""
    return await changed(project, lambda: restore_version(project, number))


@router.post("/versions/{number}/delete")
async def delete_version(project: CurrentProject, number: VersionNumber) -> VersionsAnswer:
    """Remove a version from the list; the examples stay as they are."""
    await change(project, lambda: remove_version(project, number))
    return await versions(project)


def _ends(project: Project) -> tuple[EditShape | None, EditShape | None]:
    """What undo and what redo would do next."""
    last, following = project.store.last_edit(), project.store.next_redo()
    return (
        None if last is None else EditShape.of(last),
        None if following is None else EditShape.of(following),
    )
