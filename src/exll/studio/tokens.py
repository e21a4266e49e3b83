"""The token that other machines need to open the studio."""

import hashlib
import hmac
import ipaddress
import os
import secrets

from exll.errors import InputError
from exll.studio.one_time_codes import OneTimeCodes

VARIABLE = "EXLL_STUDIO_TOKEN"
COOKIE = "exll_studio"
SHORTEST = 16
LOOPBACK_NAMES = ("localhost",)


def is_loopback(host: str) -> bool:
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_for(host: str) -> tuple[str | None, bool]:
    """The token to ask for, and whether it was made just now and has to be shown. None: this machine only, no token."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return (None, False) if is_loopback(host) else (secrets.token_urlsafe(24), True)
    return (given or None), False


def check_token(host: str, token: str | None) -> None:
    """Refuse to open to others without a token that cannot be guessed."""
    if token is None:
        if not is_loopback(host):
            raise InputError(
                f"other machines can reach {host}, so a token is needed; leave {VARIABLE} unset to have one made, or "
                f"set it to at least {SHORTEST} characters."
            )
        return
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"a token must have at least {SHORTEST} ASCII characters without spaces; got {len(token)}.")


class Gate:
    """Knows the right token; compares in constant time. The cookie is derived from it and does not hold it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self.cookie = hmac.new(self._token, b"exll studio", hashlib.sha256).hexdigest()
        self.codes = OneTimeCodes()

    def opens_for_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def opens_for_cookie(self, cookie: str) -> bool:
        return hmac.compare_digest(cookie.encode("utf-8", "replace"), self.cookie.encode())
