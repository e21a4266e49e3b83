"""Whether the studio runs, and events for open pages."""

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from exll.studio.routes.requests import PROBLEMS, CurrentProject
from exll.version import __version__

router = APIRouter(tags=["monitoring"])


class Health(BaseModel):
    status: Literal["ok"]
    version: str


@router.get("/healthz")
async def health() -> Health:
    return Health(status="ok", version=__version__)


@router.get("/api/events", response_class=StreamingResponse, responses=PROBLEMS)
async def events(project: CurrentProject) -> StreamingResponse:
    """Server-sent events: hello; changed (with the counts, the step that undo would take back and, after an undo, the
    undone step; answers already include the change); rebuilding (answers do not include it yet) and rebuilt; importing;
    reading (with another network); reopening; settings; versions; evaluation; inbox. The event missed tells a slow page
    to load everything again."""
    return StreamingResponse(project.events.subscribe(), media_type="text/event-stream")
