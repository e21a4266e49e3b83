"""Which functions and files a sample passes on its way: how deep the code is, in two numbers.

Four walks, each made twice and traced the second time, so that imports do not count: ``exll learn`` of a folder,
``predict(X, unknown=...)``, one photo taught to a studio by ``POST /api/teach``, and ``exll explain -o``. Counted are
the functions of exll that were entered and the files that they stand in; comprehensions and lambdas belong to the
function around them.

``walk.py`` prints the table, ``--list`` also the functions in the order in which they were entered first. ``--source
OTHER/src`` walks through another checkout.
"""

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIDE = 64


class Tracer:
    """The functions of a package that are entered by any thread, in order."""

    def __init__(self, package: Path) -> None:
        self._root = f"{package}{os.sep}"
        self.entered: dict[tuple[str, str], None] = {}

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._root) and "<" not in code.co_name:
            self.entered.setdefault((code.co_filename.removeprefix(self._root), code.co_qualname))

    @contextmanager
    def tracing(self) -> Iterator[None]:
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.entered}


def photos(folder: Path) -> Path:
    """Two classes of a few photos each."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    for label, colour in (("kiwi", (90, 120, 40)), ("lemon", (230, 210, 60))):
        (folder / label).mkdir(parents=True)
        for n in range(8):
            noise = rng.integers(-40, 40, (SIDE, SIDE, 3))
            Image.fromarray(np.clip(noise + colour, 0, 255).astype(np.uint8)).save(folder / label / f"{n}.png")
    return folder


def command(*arguments: str) -> None:
    """As on the command line, in this process and quietly."""
    from exll.cli.main import app

    with Path(os.devnull).open("w") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            app(list(arguments), standalone_mode=False)
        finally:
            sys.stdout = kept


def learn(home: Path) -> Callable[[], None]:
    folder, count = photos(home / "photos"), iter(range(9))
    return lambda: command("learn", str(folder), "--model", str(home / f"{next(count)}.exll"), "--backbone", "nano")


def predict(home: Path) -> Callable[[], Any]:
    import numpy as np

    from exll import ExLLClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 24)), rng.integers(0, 3, 60)
    classifier = ExLLClassifier().fit(X + 3 * np.eye(24)[y], y)
    return lambda: classifier.predict(X[:1], unknown=-1)


def explain(home: Path) -> Callable[[], None]:
    folder, model = photos(home / "shown"), str(home / "explained.exll")
    command("learn", str(folder), "--model", model, "--backbone", "nano")
    return lambda: command("explain", model, str(folder / "kiwi" / "0.png"), "-o", str(home / "why.html"))


@contextmanager
def teach(home: Path) -> Iterator[Callable[[], None]]:
    """The server has threads of its own, so the tracer is set before it starts."""
    import httpx

    from exll.studio.project import Project
    from exll.studio.serving import Server, address_of, listen

    folder, count = photos(home / "taught"), iter(range(8))
    with Project(home / "project", "nano") as project, listen("127.0.0.1", 0) as listening:
        server = Server(project, "127.0.0.1", None)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        with httpx.Client(base_url=address_of("127.0.0.1", listening), timeout=60) as client:

            def one() -> None:
                image = (folder / "kiwi" / f"{next(count)}.png").read_bytes()
                client.post("/api/teach", data={"label": "kiwi"}, files={"files": ("a.png", image)}).raise_for_status()

            yield one
        server.handle_exit(2, None)
        thread.join()


def walks(package: Path, home: Path) -> Iterator[tuple[str, Tracer]]:
    for name, prepare in (("exll learn", learn), ("predict(unknown=)", predict), ("exll explain -o", explain)):
        walk, tracer = prepare(home), Tracer(package)
        walk()
        with tracer.tracing():
            walk()
        yield name, tracer
    tracer = Tracer(package)
    with tracer.tracing(), teach(home) as taught:
        taught()
        taught()
        tracer.entered.clear()
        taught()
        yield "POST /api/teach", tracer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="also the functions, in the order of their first call")
    parser.add_argument("--source", type=Path, help="the src folder of another checkout")
    options = parser.parse_args()
    if options.source:
        sys.path.insert(0, str(options.source.resolve()))
    import exll

    package = Path(exll.__file__).resolve().parent
    with tempfile.TemporaryDirectory() as home:
        print("| walk | functions | files |\n|---|---|---|")
        for name, tracer in walks(package, Path(home)):
            print(f"| `{name}` | {len(tracer.entered)} | {len(tracer.files)} |")
            if options.list:
                print(*(f"    {file}: {function}" for file, function in tracer.entered), sep="\n")


if __name__ == "__main__":
    main()
