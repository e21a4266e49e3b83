"""Who makes a step: an id that a page or program sends along, so that one can tell its own steps from others'."""

import re
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "x-exll-client"
USABLE = re.compile(r"[A-Za-z0-9_-]{1,64}")

author: ContextVar[str | None] = ContextVar("author", default=None)


class Authors:
    """Remembers, for as long as a request is answered, who sent it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get(HEADER, "")
            author.set(given if USABLE.fullmatch(given) else None)
        await self.app(scope, receive, send)
