"""The pages: one template per page, filled by its script from the API."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates

from exll.errors import ExLLError
from exll.explain.page import environment
from exll.features.looks import side_needed
from exll.studio.limits import MOST_FILE_BYTES, MOST_IMPORT_BYTES
from exll.studio.routes.requests import current_project, project_name
from exll.version import __version__

VIEWS = {
    "workbench": "Workbench",
    "inbox": "Inbox",
    "classes": "Classes",
    "sort": "Sort",
    "map": "Map",
    "check": "Check",
    "evaluation": "Evaluation",
    "history": "History",
    "export": "Export",
    "project": "Project",
}

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(env=environment(Path(__file__).parents[1] / "templates"))


@router.get("/")
@router.get("/teach")  # where older links lead
@router.get("/ask")
async def home(request: Request) -> Response:
    return RedirectResponse(f"{request.scope['exll.root']}/workbench", 307)


def _view(name: str) -> None:
    async def page(request: Request) -> Response:
        try:
            project = await current_project(request)
        except ExLLError as error:
            return _not_opened(request, error)
        side = side_needed(project.backbone.looks, project.backbone.preprocessing)
        return shown(request, f"{name}.html", view=name, key=project.key, side=side)

    router.add_api_route(f"/{name}", page, methods=["GET"], name=name)


for view in VIEWS:
    _view(view)


def _not_opened(request: Request, error: ExLLError) -> Response:
    sentence = str(error)
    return shown(
        request,
        "not_opened.html",
        getattr(error, "status", 422),
        sentence=sentence[:1].upper() + sentence[1:],
        hint=getattr(error, "hint", ""),
    )


def shown(request: Request, template: str, status: int = 200, **more: object) -> Response:
    state = request.app.state
    context = {
        "views": VIEWS,
        "root": request.scope["exll.root"],
        "version": __version__,
        "project": state.projects.title(project_name(request)),
        "locked": state.gate is not None,
        "file_bytes": MOST_FILE_BYTES,
        "import_bytes": MOST_IMPORT_BYTES,
    }
    return templates.TemplateResponse(request, template, context | more, status)
