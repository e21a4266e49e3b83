"""The pages: one template per page, filled by its script from the API."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates

from exll.explain.page import environment
from exll.studio.limits import MOST_FILE_BYTES, MOST_IMPORT_BYTES
from exll.version import __version__

VIEWS = {
    "teach": "Teach",
    "ask": "Ask",
    "inbox": "Inbox",
    "classes": "Classes",
    "map": "Map",
    "check": "Check",
    "project": "Project",
}

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(env=environment(Path(__file__).parents[1] / "templates"))


@router.get("/")
async def home() -> Response:
    return RedirectResponse("/teach", 307)


def _view(name: str) -> None:
    async def page(request: Request) -> Response:
        return shown(request, f"{name}.html", view=name)

    router.add_api_route(f"/{name}", page, methods=["GET"], name=name)


for view in VIEWS:
    _view(view)


def shown(request: Request, template: str, status: int = 200, **more: object) -> Response:
    state = request.app.state
    context = {
        "views": VIEWS,
        "root": "",
        "version": __version__,
        "project": state.project.name,
        "locked": state.gate is not None,
        "file_bytes": MOST_FILE_BYTES,
        "import_bytes": MOST_IMPORT_BYTES,
    }
    return templates.TemplateResponse(request, template, context | more, status)
