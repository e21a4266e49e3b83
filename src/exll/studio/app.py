"""The web application around a project and the others in its folder."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware import Middleware

from exll.studio.authors import Authors
from exll.studio.error_responses import HANDLERS
from exll.studio.guards import Guards, SafeHeaders
from exll.studio.limits import BodyLimit, RateLimit, wrong_logins
from exll.studio.project import Project
from exll.studio.project_paths import ProjectPaths
from exll.studio.projects import Projects
from exll.studio.routes import (
    ask,
    check,
    classes,
    correct,
    evaluation,
    examples,
    explain,
    history,
    inbox,
    login,
    monitoring,
    pages,
    phone,
    predictions,
    project,
    projects,
    settings,
    teach,
    transfer,
)
from exll.studio.tokens import Gate, check_token
from exll.version import __version__

LOCAL = "127.0.0.1"
ROUTERS = (
    teach,
    ask,
    explain,
    correct,
    predictions,
    classes,
    examples,
    check,
    evaluation,
    project,
    history,
    projects,
    settings,
    inbox,
    transfer,
    monitoring,
    login,
    phone,
    pages,
)


def create_app(
    opened: Project,
    host: str = LOCAL,
    token: str | None = None,
    names: Iterable[str] = (),
    rate: float = 300,
    fingerprint: str | None = None,
) -> FastAPI:
    """``host`` is what the server listens on; other than loopback it needs a token. ``fingerprint`` is that of a
    certificate which browsers will warn of. Whoever opened the project closes it, after the application."""
    check_token(host, token)
    gate = None if token is None else Gate(token)
    all_projects = Projects(opened)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(all_projects.close)

    app = FastAPI(
        title="exll studio",
        summary="Teach, ask, see why, correct.",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        exception_handlers=HANDLERS,
        lifespan=lifespan,
        middleware=[
            Middleware(ProjectPaths, projects=all_projects),
            Middleware(SafeHeaders),
            Middleware(RateLimit, at_once=2 * rate, per_second=rate),
            Middleware(Guards, host=host, gate=gate, names=tuple(names)),
            Middleware(BodyLimit),
            Middleware(Authors),
        ],
    )
    app.state.projects, app.state.gate, app.state.wrong_logins = all_projects, gate, wrong_logins()
    app.state.host, app.state.fingerprint = host, fingerprint
    for routes in ROUTERS:
        app.include_router(routes.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).with_name("static")), name="static")
    return app
