"""Errors as JSON: ``{"error": sentence, "hint": what to do}``, the sentences of the command line."""

from typing import Any

from starlette.responses import JSONResponse, Response

from exll.errors import ExLLError, ImageError
from exll.features.formats import FORMATS
from exll.studio.errors import StudioError

IMAGE_HINT = f"Send an image in one of the formats {', '.join(FORMATS)}."


class Plain(JSONResponse):
    """JSON that every text survives: lone surrogates of a stranger's input become question marks."""

    def render(self, content: Any) -> bytes:
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return super().render(_encodable(content))


def refusal(error: ExLLError, **more: Any) -> Response:
    headers = {}
    if isinstance(error, StudioError) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if status_of(error) == 413:
        headers["Connection"] = "close"  # the rest of the body is not wanted
    return Plain({"error": sentence(error), "hint": hint(error), **more}, status_of(error), headers)


def status_of(error: ExLLError) -> int:
    return error.status if isinstance(error, StudioError) else 422


def sentence(error: ExLLError) -> str:
    return " ".join(str(error).split())


def hint(error: ExLLError) -> str:
    if isinstance(error, StudioError):
        return error.hint
    return IMAGE_HINT if isinstance(error, ImageError) else ""


def _encodable(content: Any) -> Any:
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    if isinstance(content, dict):
        return {_encodable(key): _encodable(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_encodable(item) for item in content]
    return content
