"""``exll``: collects the commands and turns the library's errors into one line on stderr.

Commands import what they need inside themselves, so that ``--help`` stays instant.
"""

import io
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from exll.cli import backbone
from exll.cli.calibrate import calibrate
from exll.cli.completion import VARIABLE, answer_the_shell, completion
from exll.cli.demo import demo
from exll.cli.doctor import doctor
from exll.cli.edit import forget, relabel, rename
from exll.cli.evaluate import evaluate
from exll.cli.explain import explain
from exll.cli.info import info
from exll.cli.later import later
from exll.cli.learn import learn
from exll.cli.map import map_command
from exll.cli.merge import merge
from exll.cli.predict import predict
from exll.cli.progress import progress
from exll.cli.rules import rules
from exll.cli.studio import studio
from exll.cli.suspects import suspects
from exll.version import __version__

app = typer.Typer(
    name="exll",
    help="A learner that explains its answers. It learns one example at a time and keeps what it has learned.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text: twice as quick to show
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (  # each summary fits a line of a narrow terminal
    ("demo", demo, "Learn drawn objects, and explain answers on pages."),
    ("learn", learn, "Teach a model with photos, a table, a video or features."),
    ("predict", predict, "Say what images show."),
    ("evaluate", evaluate, "Count right answers on labelled data."),
    ("calibrate", calibrate, "Adjust the confidence to a new place."),
    ("explain", explain, "Explain the answer for an image."),
    ("rules", rules, "Show the rules of a model."),
    ("progress", progress, "Say which classes need more examples."),
    ("suspects", suspects, "List examples that may have a wrong label."),
    ("forget", forget, "Forget examples, as if they were never taught."),
    ("relabel", relabel, "Give examples another label."),
    ("rename", rename, "Give a class another label."),
    ("merge", merge, "Make one model from several."),
    ("info", info, "Show what a model file holds."),
    ("studio", studio, "Teach, ask and correct in the browser."),
    ("map", map_command, "Draw which groups of examples look alike."),
    ("doctor", doctor, "Say what is missing or broken here."),
    ("completion", completion, "Print a shell script for Tab completion."),
)
for name, command, summary in COMMANDS:
    app.command(name, short_help=summary)(command)
app.add_typer(later("exll.cli.bench", "Compare learners with the paper's protocols."), name="bench")
app.add_typer(backbone.app, name="backbone")


_wanted = {"debug": False}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"exll {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    _wanted["debug"] = debug


def _printable(text: str) -> str:
    """One line that every terminal can show."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode()


def run() -> None:
    """The entry point. Exit codes: 0 done, 1 data or model at fault, 2 usage, 130 interrupted."""
    # Before numpy is loaded: its threads would wait for each other longer than the small matrices here take.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files may hold any bytes, and a terminal any encoding
            stream.reconfigure(errors="backslashreplace")
    if VARIABLE in os.environ:
        answer_the_shell()
    from exll.errors import ExLLError

    try:
        app()
    except (ExLLError, OSError) as error:
        if _wanted["debug"]:
            raise
        typer.echo(f"exll: {_printable(str(error))}", err=True)
        sys.exit(1)
    except Exception as error:
        if _wanted["debug"]:
            raise
        reason = f"{type(error).__name__}: {_printable(str(error))}"
        typer.echo(f"exll: internal error ({reason}); exll --debug shows where.", err=True)
        sys.exit(1)
