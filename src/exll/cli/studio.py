"""``exll studio``: teach, ask, see why and correct in the browser."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from exll.cli.common import BackboneOption, check_preset

NEEDED = ("fastapi", "uvicorn", "jinja2", "python_multipart")


def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The project's folder; it is created if missing.")
    ] = Path("studio"),
    host: Annotated[
        str, typer.Option(help="The address to listen on; other than loopback, a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 means any free one.")] = 8765,
    backbone: BackboneOption = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=check_preset,
            help="Which learner; with another one than before, all examples are relearned.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One more host name to accept.", show_default=False)
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the studio in the browser.

    Pages to teach with photos or a webcam, to see what the model thinks and why, and to correct it.
    """
    from exll.errors import InputError
    from exll.installing import install_command

    if any(find_spec(name) is None for name in NEEDED):
        raise InputError(f"the studio needs more packages; install them with: {install_command('studio')}")

    from exll.studio.tokens import check_token, is_loopback, token_for

    token, is_new = token_for(host)
    check_token(host, token)
    typer.echo(f"opening the project {folder} ...", err=True)  # the rest takes seconds on a small machine

    from exll.studio.project import Project
    from exll.studio.serving import Server, address_of, listen, open_browser, serve

    with listen(host, port) as listening, Project(folder, backbone, preset) as project:
        address = address_of(host, listening)
        server = Server(project, host, token, allow_host or ())
        typer.echo(f"the studio of {project.name} is open at {address} (Ctrl-C ends it)")
        if is_new:
            typer.echo(f"its token, shown only now: {token}")
        if not no_browser and is_loopback(host):
            open_browser(address)
        serve(server, listening)
    typer.echo("the studio is closed; everything that was taught is saved")
