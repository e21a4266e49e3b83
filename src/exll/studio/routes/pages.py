"""The pages: a shell each, filled by their scripts from the API; and the way in."""

from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.templating import Jinja2Templates

from exll.explain.page import environment
from exll.studio.tokens import COOKIE, Gate
from exll.version import __version__

VIEWS = {
    "teach": "Teach",
    "ask": "Ask",
    "classes": "Classes",
    "map": "Map",
    "check": "Check",
    "project": "Project",
}
COOKIE_SECONDS = 30 * 24 * 3600

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(env=environment(Path(__file__).parents[1] / "templates"))


@router.get("/")
async def home() -> Response:
    return RedirectResponse("/teach", 307)


@router.get("/login")
async def login_page(request: Request) -> Response:
    return _shown(request, "login.html", wrong=False)


@router.post("/login")
async def login(request: Request, token: Annotated[str, Form(max_length=1000)]) -> Response:
    gate = cast(Gate | None, request.app.state.gate)
    if gate is not None and not gate.opens_for_token(token.strip()):
        return _shown(request, "login.html", 401, wrong=True)
    response = RedirectResponse("/", 303)
    if gate is not None:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, gate.cookie, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    return response


@router.post("/logout")
async def logout() -> Response:
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _view(name: str) -> None:
    async def page(request: Request) -> Response:
        return _shown(request, f"{name}.html", view=name)

    router.add_api_route(f"/{name}", page, methods=["GET"], name=name)


for view in VIEWS:
    _view(view)


def _shown(request: Request, template: str, status: int = 200, **facts: object) -> Response:
    state = request.app.state
    context = {"views": VIEWS, "version": __version__, "project": state.project.name, "locked": state.gate is not None}
    return templates.TemplateResponse(request, template, context | facts, status)
