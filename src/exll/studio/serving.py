"""The server: listens, opens the browser, ends cleanly."""

import contextlib
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from exll.errors import ExLLError
from exll.studio.addresses import EVERY_ADDRESS, local_name, url_of
from exll.studio.app import create_app
from exll.studio.project import Project
from exll.studio.projects import Projects
from exll.studio.tokens import Gate

if TYPE_CHECKING:
    from exll.studio.certificates import Certificate

MOST_CONNECTIONS = 256
SHUTDOWN_SECONDS = 10
BACKLOG = 128


class Server(uvicorn.Server):
    """Requests under way are finished before it ends."""

    def __init__(
        self,
        project: Project,
        host: str,
        token: str | None,
        names: Iterable[str] = (),
        certificate: "Certificate | None" = None,
    ) -> None:
        app = create_app(project, host, token, names, fingerprint=certificate.fingerprint if certificate else None)
        self.gate: Gate | None = app.state.gate
        self.projects: Projects = app.state.projects
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                ssl_certfile=certificate.file if certificate else None,
                ssl_keyfile=certificate.key if certificate else None,
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.projects.end_streams()  # open streams would be waited for
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Before the project is opened, so that an address in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, since asyncio sends at once (TCP_NODELAY) only on sockets that say so: else every answer waits 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would let two listen on one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if host in EVERY_ADDRESS and family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # IPv4 as well, on every system
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise ExLLError(f"the studio cannot listen on {host} port {port}: {reason}. Try another --port.") from error
    return listening


def address_of(host: str, listening: socket.socket, tls: bool = False) -> str:
    """For this machine itself."""
    return url_of(local_name(host), listening.getsockname()[1], tls)


def serve(server: Server, listening: socket.socket) -> None:
    """Until SIGINT or SIGTERM. The server raises either once more when it has ended; whoever called us goes on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        server.run([listening])


def open_browser(address: str) -> None:
    """In a thread of its own: some browsers return only when they are closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
