"""Logging in and out with the token."""

import math
from typing import Annotated, cast

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from exll.explain.wording import counted
from exll.studio.limits import Buckets
from exll.studio.routes.pages import shown
from exll.studio.tokens import COOKIE, Gate

COOKIE_SECONDS = 30 * 24 * 3600

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login_page(request: Request) -> Response:
    return shown(request, "login.html", problem="")


@router.post("/login")
async def login(request: Request, token: Annotated[str, Form(max_length=1000)]) -> Response:
    """The right token is accepted at any time, however many wrong ones came before: nobody can lock others out."""
    gate = cast(Gate | None, request.app.state.gate)
    if gate is not None and not gate.opens_for_token(token.strip()):
        return _wrong(request)
    response = RedirectResponse("/", 303)
    if gate is not None:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, gate.cookie, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    return response


def _wrong(request: Request) -> Response:
    wrong_logins = cast(Buckets, request.app.state.wrong_logins)
    wait = math.ceil(wrong_logins.take("" if request.client is None else request.client.host))
    if not wait:
        return shown(request, "login.html", 401, problem="This token is wrong.")
    sentence = f"Too many wrong tokens. Try again in {counted(wait, 'second')}."
    response = shown(request, "login.html", 429, problem=sentence)
    response.headers["Retry-After"] = str(wait)
    return response


@router.post("/logout")
async def logout() -> Response:
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
