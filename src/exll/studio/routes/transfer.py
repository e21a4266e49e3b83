"""In and out of a project: the model as a file, the photos as a zip, a report."""

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from exll.explain.rules_page import page
from exll.studio.dataset_export import export_dataset, export_manifest, export_model
from exll.studio.dataset_import import import_dataset
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject
from exll.studio.routes.shapes import TaughtFile
from exll.studio.stored_thumbnails import StoredThumbnails

router = APIRouter(prefix="/api/project", tags=["project"], responses=PROBLEMS)


class ImportAnswer(BaseModel):
    taught: int = Field(description="photos that were learned")
    held_out: int
    nothing: int = Field(description="photos that were marked as none of the classes")
    already: int
    conflicts: int
    unreadable: int
    passed_over: int
    problems: list[TaughtFile]
    stopped: bool = Field(description="cancelled or undone while it ran; the rest of the zip was not read")
    undone: bool = Field(description="what it had taught was taken back while it ran")


class CancelAnswer(BaseModel):
    running: bool = Field(description="whether there was an import to cancel")


@router.get("/model", response_class=FileResponse)
async def model(project: CurrentProject) -> FileResponse:
    """The model as an .exll file, for ``exll predict`` and ``exll.load``. With the dataset unpacked beside it,
    ``exll explain`` and ``exll rules`` show all photos."""
    name = f"{project.name}.exll"
    return await _download(project, lambda path: export_model(project, path), name, "application/octet-stream")


@router.get("/images", response_class=FileResponse)
async def dataset(project: CurrentProject) -> FileResponse:
    """All photos, with held-out ones and examples of nothing, as a zip with one folder per class and a manifest
    (docs/studio.md). ``import`` reads the zip, and ``exll learn`` reads the unpacked folder."""
    name = f"{project.name}-photos.zip"
    return await _download(project, lambda path: export_dataset(project, path), name, "application/zip")


@router.get("/manifest", response_class=FileResponse)
async def manifest(project: CurrentProject) -> FileResponse:
    """The manifest of the dataset alone: file, label, role, name, time, box, source and clip of every photo, as CSV."""
    name = f"{project.name}-photos.csv"
    return await _download(project, lambda path: export_manifest(project, path), name, "text/csv")


@router.get("/report", response_class=FileResponse)
async def report(project: CurrentProject) -> FileResponse:
    """The rules of the model with their pictures, as one HTML file to keep or to send."""
    learner = project.live.current.taught()

    def write(path: Path) -> None:
        path.write_text(page(learner.rules(), project.name, StoredThumbnails(project)), encoding="utf-8")

    return await _download(project, write, f"{project.name}.html", "text/html")


@router.post("/import")
async def import_zip(
    project: CurrentProject,
    file: Annotated[
        UploadFile, File(description="a zip with one folder of photos per class; a manifest.csv in it may say more")
    ],
) -> ImportAnswer:
    """Teach every photo of a zip under the name of its folder, or as its manifest says. The event 'importing' reports
    the progress. The whole import is one step to undo."""
    stop = threading.Event()
    project.imports.add(stop)  # before its turn comes: it can be cancelled while it waits
    try:
        imported = await project.studying.run(import_dataset, project, file.file, stop)
    finally:
        project.imports.discard(stop)
    return ImportAnswer(
        taught=imported.taught,
        held_out=imported.held_out,
        nothing=imported.nothing,
        already=imported.already,
        conflicts=imported.conflicts,
        unreadable=imported.unreadable,
        passed_over=imported.passed_over,
        problems=[TaughtFile.of(result) for result in imported.problems],
        stopped=imported.stopped,
        undone=imported.undone,
    )


@router.post("/import/cancel")
async def cancel_import(project: CurrentProject) -> CancelAnswer:
    """Stop the running imports. What they have taught stays, as one step that can be undone."""
    running = [*project.imports]
    for stop in running:
        stop.set()
    return CancelAnswer(running=bool(running))


async def _download(project: Project, write: Callable[[Path], None], name: str, media_type: str) -> FileResponse:
    """A file made for this answer alone, and removed after it."""

    def make() -> Path:
        handle, made = tempfile.mkstemp()
        os.close(handle)
        try:
            write(Path(made))
        except BaseException:
            Path(made).unlink()
            raise
        return Path(made)

    path = await project.studying.run(make)
    done = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, media_type=media_type, filename=name, background=done)
