"""A link that lets one more device in, without typing the token."""

import io
import time
from typing import cast
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from exll.studio.addresses import reachable, url_of
from exll.studio.errors import ConflictError
from exll.studio.one_time_codes import VALID_SECONDS
from exll.studio.return_path import return_path
from exll.studio.routes.requests import PROBLEMS
from exll.studio.tokens import Gate, is_loopback

router = APIRouter(prefix="/api", tags=["project"], responses=PROBLEMS)


class PhoneRequest(BaseModel):
    next: str = Field("/", max_length=1000, description="the page to open, as a path of this server")


class PhoneAnswer(BaseModel):
    link: str = Field(description="opens the studio on one device, once; it does not hold the token")
    qr_svg: str = Field(description="the link as a QR code, an SVG image")
    expires_at: float = Field(description="seconds since 1970")
    seconds: int = Field(description="how long the link is valid from now on")


@router.post("/phone")
async def let_a_phone_in(request: Request, wanted: PhoneRequest) -> PhoneAnswer:
    """Make a one-time link. It needs a studio with a token that other machines can reach."""
    gate = cast(Gate | None, request.app.state.gate)
    if gate is None:
        raise ConflictError(
            "this studio has no token, so only this machine may use it.", "Start it with: exll studio --host 0.0.0.0"
        )
    link = link_of(_place(request), gate.codes.make(return_path(wanted.next)))
    now = time.time()
    return PhoneAnswer(link=link, qr_svg=_drawn(link), expires_at=now + VALID_SECONDS, seconds=VALID_SECONDS)


def link_of(place: str, code: str) -> str:
    return f"{place}enter#{code}"


def _place(request: Request) -> str:
    """The address in the browser, where others can use it too: it may be that of a proxy."""
    origin = request.headers.get("origin", "")
    if origin and not is_loopback(urlsplit(origin).hostname or ""):
        return f"{origin}/"
    found = reachable(request.app.state.host)
    if not found:
        raise ConflictError(
            "no other machine can reach this studio.", "Start it with --host 0.0.0.0, and join a network."
        )
    return url_of(found[0], request.scope["server"][1], request.url.scheme == "https")


def _drawn(link: str) -> str:
    """Dark on light in every colour scheme: not every phone reads it the other way round."""
    import segno

    drawing = io.BytesIO()
    segno.make_qr(link).save(drawing, kind="svg", light="#fff", dark="#000", xmldecl=False, omitsize=True)
    return drawing.getvalue().decode()
