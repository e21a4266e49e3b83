"""Errors as JSON: ``{"error": sentence, "hint": what to do}``, the sentences of the command line."""

from collections.abc import Callable
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from exll.errors import ExLLError
from exll.studio.errors import StudioError


class ErrorResponse(JSONResponse):
    """Lone surrogates in a client's input cannot be encoded; they become question marks."""

    def __init__(self, error: str, hint: str, status: int, headers: Any = None, **more: Any) -> None:
        super().__init__({"error": error, "hint": hint, **more}, status, headers)

    def render(self, content: Any) -> bytes:
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return super().render(_encodable(content))


def error_response(error: ExLLError, **more: Any) -> Response:
    sentence, headers = " ".join(str(error).split()), {}
    if not isinstance(error, StudioError):
        return ErrorResponse(sentence, "", 422, **more)
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.status == 413:
        headers["Connection"] = "close"  # the rest of the body is not wanted
    return ErrorResponse(sentence, error.hint, error.status, headers, **more)


async def _known_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ExLLError)
    return error_response(error)


async def _invalid_request(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"] if part != "body") or "the request"
    return ErrorResponse(f"{where}: {first['msg']}.", "/api/openapi.json says what is expected.", 422)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:  # no route; a missing example or image has an error of its own
        sentence = f"there is nothing at {request.scope['path']}."
        return ErrorResponse(sentence, "/api/openapi.json says what there is.", 404)
    return ErrorResponse(str(error.detail), "", error.status_code, error.headers)


async def _unexpected_error(_: Request, error: Exception) -> Response:
    return ErrorResponse(f"something went wrong inside ({type(error).__name__}).", "See the log.", 500)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Any]] = {
    ExLLError: _known_error,
    RequestValidationError: _invalid_request,
    HTTPException: _http_error,
    Exception: _unexpected_error,
}


def _encodable(content: Any) -> Any:
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    if isinstance(content, dict):
        return {_encodable(key): _encodable(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_encodable(item) for item in content]
    return content
