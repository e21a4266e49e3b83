"""The project as a whole: what it holds, its settings, and removing deleted examples for good."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from exll.studio.actions import purge
from exll.studio.analysed_image import MOST_PIXELS
from exll.studio.inbox_groups import judge
from exll.studio.limits import MOST_BODY_BYTES, MOST_FILE_BYTES, MOST_IMPORT_BYTES
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, change
from exll.studio.routes.shapes import CLASSES, EXAMPLES, HELD_OUT_PHOTOS, REBUILDING, EditShape, UndoneShape
from exll.studio.routes.teach import MOST_FILES
from exll.version import __version__

router = APIRouter(prefix="/api", tags=["project"], responses=PROBLEMS)


class Storage(BaseModel):
    """Bytes on the disk."""

    images: int
    database: int
    models: int


class ProjectAnswer(BaseModel):
    name: str
    preset: str
    backbone: str
    width: int
    version: str
    classes: int = Field(description=CLASSES)
    examples: int = Field(description=EXAMPLES)
    held_out: int = Field(description=HELD_OUT_PHOTOS)
    waiting: int = Field(description="photos in the Inbox that need a name")
    prototypes: int
    model_bytes: int
    storage: Storage
    undo: EditShape | None = Field(description="the step that undo would take back: the newest, whoever made it")
    redo: EditShape | None = Field(description="the step that redo would make again")
    undone: UndoneShape | None = Field(description="the step that was undone last since the studio was started")
    rebuilding: bool = Field(description=REBUILDING)
    false_alarms: float = Field(
        description="how strict: the share of known things that may be called unusual or unknown"
    )
    says_unknown: bool = Field(description="whether the preset judges what is unusual or unknown")
    limits: dict[str, int]


class PurgeAnswer(BaseModel):
    images: int = Field(description="how many images were removed from the disk")


@router.get("/project")
async def overview(project: CurrentProject) -> ProjectAnswer:
    return await project.reading.run(_overview, project)


@router.post("/project/purge")
async def purge_deleted(project: CurrentProject) -> PurgeAnswer:
    """Remove deleted examples and their images for good. Earlier steps can then no longer be undone."""
    return PurgeAnswer(images=await change(project, lambda: purge(project)))


def _overview(project: Project) -> ProjectAnswer:
    totals, model, edit = project.store.totals(), project.live.current, project.store.last_edit()
    classifier = model.snapshot.classifier if model.knows_something else None
    undone, redo = project.last_undone, project.store.next_redo()
    judged = judge(project.store.inbox(), classifier, project.false_alarms)
    project.incoming.known = frozenset(found.photo.id for found in judged if found.teaches_nothing)
    return ProjectAnswer(
        name=project.name,
        preset=project.preset,
        backbone=project.backbone.name,
        width=project.backbone.width,
        version=__version__,
        **vars(totals),
        waiting=project.unnamed,
        prototypes=0 if classifier is None else classifier.n_prototypes_,
        model_bytes=0 if classifier is None else classifier.nbytes_,
        storage=Storage(
            images=project.pictures.nbytes(),
            database=sum(path.stat().st_size for path in project.folder.glob("studio.db*")),
            models=project.checkpoints.nbytes(),
        ),
        undo=None if edit is None else EditShape.of(edit),
        redo=None if redo is None else EditShape.of(redo),
        undone=None if undone is None else UndoneShape(**undone.to_dict()),
        rebuilding=project.live.rebuilding,
        false_alarms=project.false_alarms,
        says_unknown=classifier is None or classifier.learner_.inference().says_unknown,
        limits={
            "file_bytes": MOST_FILE_BYTES,
            "request_bytes": MOST_BODY_BYTES,
            "import_bytes": MOST_IMPORT_BYTES,
            "files": MOST_FILES,
            "pixels": MOST_PIXELS,
        },
    )
