"""Which requests are answered: those with the right Host (no DNS rebinding), from our own pages (no cross-site
requests), and with the token.

And headers for the browser: run nothing but our own files, guess no types, allow no frame.
"""

import ipaddress
from collections import deque
from collections.abc import Iterable
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exll.studio.addresses import machine_names
from exll.studio.error_responses import error_response
from exll.studio.errors import RefusedError, StudioError, TooOftenError, UnauthorisedError
from exll.studio.tokens import COOKIE, Gate, is_loopback

WRONG_COOKIES_KEPT = 64
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OPEN_PATHS = ("/login", "/enter", "/healthz")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser names no origin when it sends our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
}


class SafeHeaders:
    """On every answer, also on those of the other guards."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


class Guards:
    """Host, then origin, then token. A refusal says what is wrong and nothing else."""

    def __init__(self, app: ASGIApp, host: str, gate: Gate | None, names: Iterable[str] = ()) -> None:
        self.app = app
        self._gate = gate
        self._names = allowed_names(host, names)
        self._any_address = not is_loopback(host)
        self._wrong_cookies: deque[str] = deque(maxlen=WRONG_COOKIES_KEPT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            self._check_host(request.headers)
            self._check_origin(request)
            self._check_token(request)
        except UnauthorisedError as error:
            await _unauthorised(request, error)(scope, receive, send)
        except StudioError as error:
            await error_response(error)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """A page elsewhere can have its own name point to this machine; it cannot have the browser say our name."""
        given = headers.getlist("host")
        name = _name_of(given[0]) if len(given) == 1 else None
        if name is None or not (name in self._names or (self._any_address and _is_address(name))):
            raise RefusedError("this studio does not answer to that host name.", "Use the address it printed at start.")

    def _check_origin(self, request: Request) -> None:
        """Browsers say where a request comes from; what comes from elsewhere may open a page and nothing more."""
        site = request.headers.get("sec-fetch-site", "none")
        origin = request.headers.get("origin")
        changing = request.method not in SAFE_METHODS
        foreign = site not in ("same-origin", "none")
        if origin is not None:
            foreign = foreign or _place_of(origin) != request.headers["host"].lower()
        if foreign and (changing or _path_of(request).startswith("/api")):
            raise RefusedError("this request comes from another site.", "Use the studio's own pages.")

    def _check_token(self, request: Request) -> None:
        path = _path_of(request)
        if self._gate is None or path in OPEN_PATHS or path.startswith("/static/"):
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else ""
        cookie = request.cookies.get(COOKIE, "")
        if self._gate.opens_for_token(given) or self._gate.opens_for_cookie(cookie):
            return
        if given or self._is_guess(cookie, self._gate):
            wait = request.app.state.wrong_logins.take("" if request.client is None else request.client.host)
            if wait:
                raise TooOftenError("too many wrong tokens.", "Try again later, or send the right one.", wait)
        raise UnauthorisedError("this studio asks for its token.", "It was printed when the studio was started.")

    def _is_guess(self, cookie: str, gate: Gate) -> bool:
        """A cookie can be made of a guessed token. A browser that still has the cookie of an old token sends it with
        every request, which is one guess and not many."""
        if len(cookie) != len(gate.cookie) or cookie in self._wrong_cookies:
            return False
        self._wrong_cookies.append(cookie)
        return True


def _path_of(request: Request) -> str:
    """Without putting the whole address together first, as ``request.url`` does."""
    path: str = request.scope["path"]
    return path


def allowed_names(host: str, names: Iterable[str]) -> frozenset[str]:
    own = {"localhost", "127.0.0.1", "::1", host, *names}
    if not is_loopback(host):
        own |= machine_names()
    return frozenset(name.lower() for name in own)


def _place_of(origin: str) -> str | None:
    """Host and port of an Origin header; None where it is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _name_of(host: str) -> str | None:
    """The host of a Host header without its port; None where it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
        return parts.hostname if parts.netloc == host and "@" not in host else None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _unauthorised(request: Request, error: UnauthorisedError) -> Response:
    if request.method == "GET" and not _path_of(request).startswith("/api"):
        return RedirectResponse(_login_for(request), 303)
    response = error_response(error)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _login_for(request: Request) -> str:
    """The login, which leads back to what was asked for."""
    asked = request.scope.get("raw_path", b"").decode("ascii", "replace") or quote(_path_of(request))
    if query := request.scope["query_string"].decode("ascii", "replace"):
        asked = f"{asked}?{query}"
    return "/login" if asked == "/" else f"/login?{urlencode({'next': asked}, safe='/')}"
