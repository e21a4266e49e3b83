"""In and out of a project: the model as a file, images as a zip, a report."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.background import BackgroundTask

from exll.explain.rules_page import page
from exll.studio.archive import export_images, export_model, import_images
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject
from exll.studio.routes.shapes import TaughtFile
from exll.studio.stored_thumbnails import StoredThumbnails

router = APIRouter(prefix="/api/project", tags=["project"], responses=PROBLEMS)


class ImportAnswer(BaseModel):
    taught: int
    already: int
    conflicts: int
    unreadable: int
    passed_over: int
    problems: list[TaughtFile]


@router.get("/model", response_class=FileResponse)
async def model(project: CurrentProject) -> FileResponse:
    """The model as an .exll file, for ``exll predict`` and ``exll.load``. With the zip of images unpacked beside it,
    ``exll explain`` and ``exll rules`` show them."""
    name = f"{project.name}.exll"
    return await _download(project, lambda path: export_model(project, path), name, "application/octet-stream")


@router.get("/images", response_class=FileResponse)
async def images(project: CurrentProject) -> FileResponse:
    """All images that are taught now, as a zip with one folder per class; ``import`` and ``exll learn`` read it."""
    return await _download(project, lambda path: export_images(project, path), "images.zip", "application/zip")


@router.get("/report", response_class=FileResponse)
async def report(project: CurrentProject) -> FileResponse:
    """The rules of the model with their pictures, as one HTML file to keep or to send."""
    learner = project.live.current.taught()

    def write(path: Path) -> None:
        path.write_text(page(learner.rules(), project.name, StoredThumbnails(project)), encoding="utf-8")

    return await _download(project, write, f"{project.name}.html", "text/html")


@router.post("/import")
async def import_zip(
    project: CurrentProject, file: Annotated[UploadFile, File(description="a zip with one folder of images per class")]
) -> ImportAnswer:
    """Teach every image of a zip under the name of its folder; the event 'importing' tells how far it is."""
    imported = await project.studying.run(import_images, project, file.file)
    return ImportAnswer(
        taught=imported.taught,
        already=imported.already,
        conflicts=imported.conflicts,
        unreadable=imported.unreadable,
        passed_over=imported.passed_over,
        problems=[TaughtFile.of(result) for result in imported.problems],
    )


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
