"""Is it up, and what is new."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from exll.studio.routes.common import PROBLEMS, CurrentProject
from exll.studio.routes.shapes import Health
from exll.version import __version__

router = APIRouter(tags=["news"])


@router.get("/healthz")
async def health() -> Health:
    return Health(status="ok", version=__version__)


@router.get("/api/events", response_class=StreamingResponse, responses=PROBLEMS)
async def events(project: CurrentProject) -> StreamingResponse:
    """Server-sent events: hello, changed (with the counts and the step that undo would take back), rebuilding, rebuilt,
    importing; missed asks a slow page to look anew."""
    return StreamingResponse(project.events.subscribe(), media_type="text/event-stream")
