"""The web application around a project."""

from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from exll.errors import ExLLError
from exll.studio.answers import Plain, refusal
from exll.studio.guards import Guards, SafeHeaders
from exll.studio.limits import BodyLimit, RateLimit
from exll.studio.project import Project
from exll.studio.routes import ask, check, classes, examples, news, pages, project, teach
from exll.studio.tokens import Gate, check_token
from exll.version import __version__

LOCAL = "127.0.0.1"
ROUTERS = (teach, ask, classes, examples, check, project, news, pages)


def create_app(
    opened: Project, host: str = LOCAL, token: str | None = None, names: Iterable[str] = (), rate: float = 300
) -> FastAPI:
    """``host`` is what the server listens on; other than loopback it needs a token. Whoever opened the project closes
    it, after the application."""
    check_token(host, token)
    gate = None if token is None else Gate(token)
    app = FastAPI(
        title="exll studio",
        summary="Teach, ask, see why, correct.",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        middleware=[
            Middleware(SafeHeaders),
            Middleware(RateLimit, at_once=2 * rate, per_second=rate),
            Middleware(Guards, host=host, gate=gate, names=tuple(names)),
            Middleware(BodyLimit),
        ],
    )
    app.state.project, app.state.gate = opened, gate
    for routes in ROUTERS:
        app.include_router(routes.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).with_name("static")), name="static")
    app.add_exception_handler(ExLLError, _known_error)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unknown_error)
    return app


async def _known_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ExLLError)
    return refusal(error)


async def _not_understood(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"] if part != "body") or "the request"
    return Plain({"error": f"{where}: {first['msg']}.", "hint": "/api/openapi.json says what is expected."}, 422)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:  # of routes: what is missing behind one has its own sentence
        hint = "/api/openapi.json says what there is."
        return Plain({"error": f"there is nothing at {request.scope['path']}.", "hint": hint}, 404)
    return Plain({"error": str(error.detail), "hint": ""}, error.status_code, error.headers)


async def _unknown_error(_: Request, error: Exception) -> Response:
    return Plain({"error": f"something went wrong inside ({type(error).__name__}).", "hint": "See the log."}, 500)
