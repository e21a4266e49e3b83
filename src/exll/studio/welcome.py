"""What is said when the studio is open to others: where they find it, and how they come in."""

import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exll.studio.addresses import local_name, reachable, url_of
from exll.studio.routes.phone import link_of
from exll.studio.tokens import Gate

if TYPE_CHECKING:
    from exll.studio.certificates import Certificate


def places(host: str, port: int, tls: bool) -> str:
    """Where it is open: what a phone can use comes first, then what this machine itself uses."""
    here = url_of(local_name(host), port, tls)
    others = [url_of(name, port, tls) for name in reachable(host, bridges=False)]
    return f"{others[0]} and on this machine at {here}" if others and others[0] != here else here


def welcome(host: str, port: int, gate: Gate, certificate: "Certificate | None", with_link: bool) -> Iterator[str]:
    """``with_link``: a line with a one-time link, and where somebody sits before it, its QR code."""
    places = [url_of(name, port, certificate is not None) for name in reachable(host)]
    if not places:
        yield "this machine has no address that others can reach; join a network and start again"
        return
    yield f"other machines reach it at {', '.join(places)}"
    if certificate is None:
        yield "without TLS a phone's browser gives its camera to no page; leave --no-tls out, or use a proxy with TLS"
    elif certificate.fingerprint is not None:
        yield "browsers warn, since the studio made its certificate itself; go on if its SHA-256 fingerprint is"
        yield f"  {certificate.fingerprint}"
    if with_link:
        link = link_of(places[0], gate.codes.make())
        yield f"to let a phone in without the token, once and within 10 minutes: {link}"
        if sys.stdout.isatty():
            yield _drawn(link)


def _drawn(link: str) -> str:
    import segno

    drawing = io.StringIO()
    compact = (sys.stdout.encoding or "").lower().startswith("utf")  # half blocks; else colours
    segno.make_qr(link).terminal(drawing, border=2, compact=compact)
    return drawing.getvalue()
