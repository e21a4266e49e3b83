"""Logging in with the token or a one-time link, and logging out."""

import math
from typing import Annotated, cast

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from exll.explain.wording import counted
from exll.studio.limits import Buckets
from exll.studio.return_path import return_path
from exll.studio.routes.pages import shown
from exll.studio.tokens import COOKIE, Gate

COOKIE_SECONDS = 30 * 24 * 3600
LONGEST_FIELD = 1000
TOO_OLD = "This link was used already, or it is older than 10 minutes."

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login_page(request: Request, next: str = "/") -> Response:
    return shown(request, "login.html", problem="", next=return_path(next))


@router.post("/login")
async def login(
    request: Request, token: Annotated[str, Form(max_length=LONGEST_FIELD)], next: Annotated[str, Form()] = "/"
) -> Response:
    """The right token is accepted at any time, however many wrong ones came before: nobody can lock others out."""
    gate, page = _gate(request), return_path(next)
    if gate is not None and not gate.opens_for_token(token.strip()):
        return _wrong(request, "login.html", "This token is wrong.", next=page)
    return _let_in(request, gate, page)


@router.get("/enter")
async def enter_page(request: Request) -> Response:
    """Only shows a button: programs that look at links before people do (previews, prefetching) use nothing up. The
    code stands behind a #, which browsers do not send; the page's script does."""
    return shown(request, "enter.html", problem="")


@router.post("/enter")
async def enter(request: Request, code: Annotated[str, Form(max_length=LONGEST_FIELD)] = "") -> Response:
    """The right code opens once, as the token does."""
    gate = _gate(request)
    page = "/" if gate is None else gate.codes.use(code)
    if page is None:
        return _wrong(request, "enter.html", TOO_OLD)
    return _let_in(request, gate, page)


@router.post("/logout")
async def logout() -> Response:
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _gate(request: Request) -> Gate | None:
    return cast(Gate | None, request.app.state.gate)


def _let_in(request: Request, gate: Gate | None, page: str) -> Response:
    response = RedirectResponse(page, 303)
    if gate is not None:
        # Behind a proxy with TLS we hear plain http, but the browser says where its page is from.
        secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
        response.set_cookie(COOKIE, gate.cookie, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    return response


def _wrong(request: Request, template: str, problem: str, **more: object) -> Response:
    wrong_logins = cast(Buckets, request.app.state.wrong_logins)
    wait = math.ceil(wrong_logins.take("" if request.client is None else request.client.host))
    if not wait:
        return shown(request, template, 401, problem=problem, **more)
    sentence = f"Too many wrong attempts. Try again in {counted(wait, 'second')}."
    response = shown(request, template, 429, problem=sentence, **more)
    response.headers["Retry-After"] = str(wait)
    return response
