"""``exll studio``: teach, ask, see why and correct in the browser."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import BackboneOption, check_preset

if TYPE_CHECKING:
    from exll.studio.certificates import Certificate

NEEDED = ("fastapi", "uvicorn", "jinja2", "python_multipart", "segno", "cryptography", "ifaddr")


def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The project's folder; it is created if missing.")
    ] = Path("studio"),
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; 0.0.0.0 lets phones and other machines in, with a token and over TLS."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 means any free one.")] = 8765,
    backbone: BackboneOption = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=check_preset,
            help="The preset of the learner; if it is another one than before, all examples are learned again.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another host name to accept.", show_default=False)
    ] = None,
    tls: Annotated[
        bool | None,
        typer.Option(
            "--tls/--no-tls",
            help="Whether to serve https [default: yes, unless the host is loopback].",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own certificate (PEM); without it, one is made here.", show_default=False
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key of your own certificate (PEM).", show_default=False)
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the studio in the browser.

    It has pages to teach with photos or a webcam, to see answers and their reasons, and to correct the model.
    """
    from exll.errors import InputError
    from exll.installing import install_command

    if any(find_spec(name) is None for name in NEEDED):
        raise InputError(f"the studio needs more packages; install them with: {install_command('studio')}")

    import sys

    from exll.studio.tokens import check_token, is_loopback, token_for

    token, is_new = token_for(host)
    check_token(host, token)
    used = _certificate(host, tls, certificate, key, allow_host or [])

    def tell(words: str) -> None:
        typer.echo(words, err=True)

    tell(f"opening the project {folder} ...")  # the rest takes seconds on a small machine

    from exll.studio.project import Project
    from exll.studio.serving import Server, address_of, listen, open_browser, serve
    from exll.studio.welcome import places, welcome

    with listen(host, port) as listening, Project(folder, backbone, preset, tell) as project:
        address = address_of(host, listening, used is not None)
        where = places(host, listening.getsockname()[1], used is not None)
        server = Server(project, host, token, allow_host or (), used)
        typer.echo(f"the studio of {project.name} is open at {where} (Ctrl-C ends it)")
        if is_new:
            typer.echo(f"its token, shown only now: {token}")
        if not is_loopback(host) and server.gate is not None:
            # Where nobody sits, a log would keep the link: only where it keeps the token anyway.
            with_link = is_new or sys.stdout.isatty()
            for line in welcome(host, listening.getsockname()[1], server.gate, used, with_link):
                typer.echo(line)
        if not no_browser and is_loopback(host):
            open_browser(address)
        serve(server, listening)
    typer.echo("the studio is closed; everything that was taught is saved")


def _certificate(
    host: str, tls: bool | None, file: Path | None, key: Path | None, names: list[str]
) -> "Certificate | None":
    """Open to others, with TLS unless it is switched off."""
    from exll.errors import InputError
    from exll.studio.tokens import is_loopback

    if (file is None) != (key is None):
        raise InputError("a certificate needs its key: give --certificate FILE and --key FILE together.")
    if file is not None and tls is False:
        raise InputError("--certificate is for TLS, and --no-tls switches it off; leave one of them out.")
    if file is None and not (tls or (tls is None and not is_loopback(host))):
        return None

    from exll.studio.addresses import certified_names
    from exll.studio.certificates import given_certificate, own_certificate

    if file is not None and key is not None:
        return given_certificate(file, key)
    return own_certificate(certified_names(host, names))
