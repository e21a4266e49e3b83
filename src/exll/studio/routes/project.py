"""The project as a whole: facts, storage, the model as a file, images in and out, undo."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from exll.explain.rules_page import page
from exll.studio.limits import MOST_BODY_BYTES, MOST_FILE_BYTES, MOST_IMPORT_BYTES
from exll.studio.project import Project
from exll.studio.routes.archive import export_images, export_model, import_images
from exll.studio.routes.common import PROBLEMS, CurrentProject, change
from exll.studio.routes.shapes import EditShape, ImportAnswer, ProjectAnswer, PurgeAnswer, Storage, UndoAnswer
from exll.studio.routes.teach import MOST_FILES
from exll.studio.seeing import MOST_PIXELS
from exll.studio.stored_thumbnails import StoredThumbnails
from exll.studio.teaching import purge, undo
from exll.version import __version__

router = APIRouter(prefix="/api", tags=["project"], responses=PROBLEMS)


@router.get("/project")
async def facts(project: CurrentProject) -> ProjectAnswer:
    return await project.reading.run(_facts, project)


@router.get("/project/model", response_class=FileResponse)
async def model(project: CurrentProject) -> FileResponse:
    """The model as an .exll file, for ``exll predict`` and ``exll.load``. With the zip of images unpacked beside it,
    ``exll explain`` and ``exll rules`` show them."""
    name = f"{project.name}.exll"
    return await _download(project, lambda path: export_model(project, path), name, "application/octet-stream")


@router.get("/project/images", response_class=FileResponse)
async def images(project: CurrentProject) -> FileResponse:
    """All images that are taught now, as a zip with one folder a class; ``import`` and ``exll learn`` read it."""
    return await _download(project, lambda path: export_images(project, path), "images.zip", "application/zip")


@router.get("/project/report", response_class=FileResponse)
async def report(project: CurrentProject) -> FileResponse:
    """The rules of the model with their pictures, as one HTML file to keep or to send."""
    eye = project.live.current.taught()

    def write(path: Path) -> None:
        path.write_text(page(eye.rules(), project.name, StoredThumbnails(project)), encoding="utf-8")

    return await _download(project, write, f"{project.name}.html", "text/html")


@router.post("/project/import")
async def import_zip(
    project: CurrentProject, file: Annotated[UploadFile, File(description="a zip with one folder of images a class")]
) -> ImportAnswer:
    """Teach every image of a zip under the name of its folder; the event 'importing' tells how far it is."""
    return await project.studying.run(import_images, project, file.file)


@router.post("/project/purge")
async def purge_deleted(project: CurrentProject) -> PurgeAnswer:
    """Remove deleted examples and their images for good; nothing before can be undone then."""
    return PurgeAnswer(images=await change(project, lambda: purge(project)))


@router.post("/undo")
async def undo_last(project: CurrentProject) -> UndoAnswer:
    """Take back the last step: teaching (all of a group), correcting, relabelling, deleting, renaming or merging."""
    undone = await change(project, lambda: undo(project))
    following = await project.reading.run(project.store.last_edit)
    return UndoAnswer(
        undone=EditShape.of(undone),
        next=None if following is None else EditShape.of(following),
        rebuilding=project.live.rebuilding,
    )


def _facts(project: Project) -> ProjectAnswer:
    counts, model, edit = project.store.counts(), project.live.current, project.store.last_edit()
    classifier = model.eye.classifier if model.knows_something else None
    return ProjectAnswer(
        name=project.name,
        preset=project.preset,
        backbone=project.backbone.name,
        width=project.backbone.width,
        version=__version__,
        classes=len(counts),
        examples=sum(counts.values()),
        prototypes=0 if classifier is None else classifier.n_prototypes_,
        model_bytes=0 if classifier is None else classifier.nbytes_,
        storage=Storage(
            images=project.pictures.nbytes(),
            database=sum(path.stat().st_size for path in project.folder.glob("studio.db*")),
            models=project.snapshots.nbytes(),
        ),
        undo=None if edit is None else EditShape.of(edit),
        rebuilding=project.live.rebuilding,
        limits={
            "file_bytes": MOST_FILE_BYTES,
            "request_bytes": MOST_BODY_BYTES,
            "import_bytes": MOST_IMPORT_BYTES,
            "files": MOST_FILES,
            "pixels": MOST_PIXELS,
        },
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
