"""Logging in and out with the token."""

from typing import Annotated, cast

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from exll.studio.routes.pages import shown
from exll.studio.tokens import COOKIE, Gate

COOKIE_SECONDS = 30 * 24 * 3600

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login_page(request: Request) -> Response:
    return shown(request, "login.html", wrong=False)


@router.post("/login")
async def login(request: Request, token: Annotated[str, Form(max_length=1000)]) -> Response:
    gate = cast(Gate | None, request.app.state.gate)
    if gate is not None and not gate.opens_for_token(token.strip()):
        return shown(request, "login.html", 401, wrong=True)
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
