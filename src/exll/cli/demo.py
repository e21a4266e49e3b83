"""``exll demo``: teaches drawings of household objects, asks about others, also of a kind that it was never taught, and
explains three answers on pages; with nothing to download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import check_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from exll.cli.demo_page import Answered
    from exll.streams.example import Example
    from exll.streams.household.videos import Household
    from exll.vision import ImageLearner

SIZE = 224  # pixels of a drawing's side
EVERY = 4  # of twelve drawings of an object: one among clutter, one in bad light, one half hidden
BATCH = 8
# One of the kinds that are noticed most: 12 of its 27 drawings are called unknown (seeds 0 to 2). With each kind left
# out in turn it is 64 of 324, and none of the balls. The page and the terminal say so.
TAUGHT_LATER = "banana"
INDENT = "   "


def demo(
    seed: Annotated[int, typer.Option(min=0, help="The seed of the drawings.")] = 0,
    out: Annotated[
        Path, typer.Option(help="The folder for the model, its pictures and its pages.", file_okay=False)
    ] = Path("exll-demo"),
    browser: Annotated[bool, typer.Option(help="Open the first page in a browser, where there is a desktop.")] = True,
) -> None:
    """Teach drawings of household objects, each shown once, ask about others, and explain the answers on web pages.

    One kind of object is asked about twice: before it is taught and afterwards.
    """
    from rich.console import Console

    from exll.cli.demo_page import best, counts, first_page, most_novel, worst
    from exll.cli.rules import write_page as write_rules
    from exll.errors import InputError
    from exll.streams.household.videos import Household
    from exll.vision import ImageLearner

    check_folder(out)
    console, model = Console(highlight=False), out / "household.exll"
    if out.is_dir() and any(out.iterdir()) and not model.exists():
        raise InputError(f"{out} holds other files; name a new folder with --out.")
    console.print(
        "[bold]exll[/] learns to recognise things from pictures with labels. This demo uses drawings of household "
        "objects, so no photos have to be downloaded; with your own it works the same.\n"
    )
    home = Household(seed, frames=1, test_frames=1, size=SIZE)
    data = home.dataset()
    assert data.test is not None
    taught, later = _parted(data.train.examples[::EVERY])
    asked, new = _parted(data.test.examples[::EVERY])
    kinds = len({example.label for example in taught})

    _step(console, 1, f"Teaching {len(taught)} drawings of {kinds} kinds of object, kind by kind, each shown once.")
    learner = ImageLearner()
    names, vectors = _seen(home, taught, learner, out / "taught", console)
    learner.learn_vectors(vectors, [example.label for example in taught], names)

    _step(console, 2, f"Asking about {len(asked)} other drawings of these objects, in other places and light.")
    names_asked, vectors_asked = _seen(home, asked, learner, out / "asked", console)
    answers = _answered(learner, names_asked, asked, vectors_asked)
    console.print(f"{INDENT}{counts(answers)}\n")

    _step(console, 3, f"Asking about {len(new)} drawings of a {TAUGHT_LATER}, a kind that it was never taught.")
    names_new, vectors_new = _seen(home, new, learner, out / "asked", console)
    before = _answered(learner, names_new, new, vectors_new)
    console.print(f"{INDENT}{counts(before)}")
    console.print(f"{INDENT}(A {TAUGHT_LATER} is easy to notice. Over all kinds, about one new drawing in five is.)\n")
    pages = {"right": best(answers), "wrong": worst(answers), "new": most_novel(before)}
    for page, one in pages.items():
        if one is not None:
            _explained(learner, out, page, one)

    _step(console, 4, f"Teaching {len(later)} drawings of a {TAUGHT_LATER}, and asking again.")
    names_later, vectors_later = _seen(home, later, learner, out / "taught", console)
    learner.learn_vectors(vectors_later, [example.label for example in later], names_later)
    after = _answered(learner, names_new, new, vectors_new)
    others_after = _answered(learner, names_asked, asked, vectors_asked)
    console.print(f"{INDENT}The {TAUGHT_LATER}: {counts(after)}\n{INDENT}The other kinds: {counts(others_after)}\n")

    learner.save(model)
    write_rules(learner.rules(), model, learner.classifier, out / "rules.html")
    commands = _next_commands(model, out)
    first = out / "index.html"
    first.write_text(
        first_page(out, names, answers, before, after, others_after, pages, commands, TAUGHT_LATER), encoding="utf-8"
    )
    address = first.resolve().as_uri()
    opened = browser and _has_desktop(console) and _opened(address)
    console.print(f"[bold]{'Opened in your browser' if opened else 'Open this page in a browser'}:[/]")
    console.print(f"{INDENT}{address}", markup=False, soft_wrap=True)
    console.print(f"{INDENT}It shows what was taught and answered, and leads to the pages that say why.\n")
    console.print("[bold]To try next:[/]")
    for what, command in commands:
        console.print(f"{INDENT}{what}:\n{INDENT * 2}{command}", markup=False, soft_wrap=True)


def _parted(examples: "list[Example]") -> "tuple[list[Example], list[Example]]":
    """Those that are taught or asked about first, and those of the kind that comes later."""
    first = [example for example in examples if example.label != TAUGHT_LATER]
    return first, [example for example in examples if example.label == TAUGHT_LATER]


def _step(console: "Console", number: int, words: str) -> None:
    console.print(f"[bold]{number}.[/] {words}")


def _seen(
    home: "Household", examples: "list[Example]", learner: "ImageLearner", folder: Path, console: "Console"
) -> "tuple[list[str], NDArray[np.float32]]":
    """Draw examples into a folder per kind; their names beside the model, and what the network makes of the files."""
    import numpy as np
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    paths = [
        folder / str(example.label) / f"{'-'.join(example.ref.split('/')[1:]).split('#')[0]}.jpg"
        for example in examples
    ]
    vectors = []
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("drawings", total=len(examples))
        for start in range(0, len(examples), BATCH):
            batch = slice(start, start + BATCH)
            for path, example in zip(paths[batch], examples[batch], strict=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                home.picture(example).save(path, quality=95, subsampling=0)
            vectors.append(learner.vectors([*paths[batch]]))
            progress.update(task, advance=len(paths[batch]))
    return [path.relative_to(folder.parent).as_posix() for path in paths], np.concatenate(vectors)


def _answered(
    learner: "ImageLearner", names: list[str], examples: "list[Example]", vectors: "NDArray[np.float32]"
) -> "list[Answered]":
    from exll.cli.demo_page import Answered

    answers = learner.predict_vectors(vectors)
    return [Answered(*one) for one in zip(names, [str(example.label) for example in examples], answers, strict=True)]


def _explained(learner: "ImageLearner", out: Path, page: str, one: "Answered") -> None:
    from exll.cli.explain import write_page

    write_page(learner, out / one.name, out / "household.exll", out / f"{page}.html", truth=one.truth)


def _next_commands(model: Path, out: Path) -> list[tuple[str, str]]:
    """What they do, and how they are typed here: exll need not be on the path of the terminal."""
    import os
    import shutil
    import sys
    from importlib.util import find_spec
    from shlex import quote

    from exll.installing import install_command

    there = Path(sys.executable).parent
    near = there.relative_to(Path.cwd()) if there.is_relative_to(Path.cwd()) else there
    programs = "" if shutil.which("exll") else f"{near}{os.sep}"
    install = f"{programs}{install_command('studio')}"
    return [
        ("Teach your own photos, a folder with one sub-folder per kind", f"{programs}exll learn FOLDER -m things.exll"),
        ("Ask about a photo, with the reasons on a page", f"{programs}exll explain things.exll PHOTO -o why.html"),
        (
            "See how often the model of this demo is right",
            f"{programs}exll evaluate {quote(str(model))} {quote(str(out / 'asked'))}",
        ),
        *([] if find_spec("fastapi") else [("Install the studio, to teach and ask in the browser", install)]),
        ("Start the studio, to teach and ask in the browser", f"{programs}exll studio my-things"),
        ("See all commands", f"{programs}exll --help"),
    ]


def _has_desktop(console: "Console") -> bool:
    """Somebody looks on, and a browser could open a window."""
    import os
    import sys

    windows = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    return console.is_terminal and windows


def _opened(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)
