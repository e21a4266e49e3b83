"""What can go wrong here: a sentence, a hint what to do, and the HTTP status."""

import math

from exll.errors import ExLLError, ImageError


class StudioError(ExLLError):
    """A request that cannot be granted; nothing was changed."""

    status = 400
    retry_after: int | None = None

    def __init__(self, error: str, hint: str = "") -> None:
        super().__init__(error)
        self.hint = hint


class RefusedError(StudioError):
    """From another site, or for another host."""

    status = 403


class UnauthorisedError(StudioError):
    """No token, or not the right one."""

    status = 401


class MissingError(StudioError):
    """There is nothing of that name or number."""

    status = 404


class ConflictError(StudioError):
    """Not possible in the present state."""

    status = 409


class UndoneError(StudioError):
    """For more of a step that was undone."""

    status = 410


class TooLargeError(StudioError):
    """More bytes than are accepted."""

    status = 413


class UnusableError(StudioError):
    """Understood, but cannot be used."""

    status = 422


class UnreadableError(UnusableError, ImageError):
    """A file that is no image we can read, or too large an image."""


class TooOftenError(StudioError):
    """More requests than are answered."""

    status = 429

    def __init__(self, error: str, hint: str, wait: float) -> None:
        super().__init__(error, hint)
        self.retry_after = math.ceil(wait)


class BusyError(StudioError):
    """Too much work is waiting already."""

    status = 503
    retry_after = 1
