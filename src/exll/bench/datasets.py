"""Data sets by name, or whatever lies at a path."""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exll.errors import BenchError, StreamError
from exll.streams.dataset import Dataset
from exll.streams.fsiol import fsiol
from exll.streams.household.videos import Household
from exll.streams.openloris import openloris
from exll.streams.places import places365, places_lt
from exll.streams.stream import Stream, open_stream

ON_DISK: dict[str, Callable[[Path], Dataset]] = {
    "openloris": openloris,
    "places365": places365,
    "places-lt": places_lt,
    "fsiol": fsiol,
}
RENDERED: dict[str, Callable[[Household], Dataset]] = {
    "household": Household.dataset,
    "household-lt": Household.long_tailed,
    "household-stills": Household.stills,
}
NAMES = (*RENDERED, *ON_DISK)


def open_dataset(name: str, root: str | None = None, options: dict[str, Any] | None = None) -> Dataset:
    """The data set of that name; ``root`` says where one on disk lies, ``options`` how one is drawn.

    Else ``name`` is a path: a features file (its train and test splits, or all its rows with no test part), or a folder
    with ``train`` and ``test`` (or ``val``) in it, or with one sub-folder per class.
    """
    options = options or {}
    if name in RENDERED:
        return RENDERED[name](_household(name, options))
    if options:
        raise BenchError(f"options are for {', '.join(RENDERED)} only; {name} was given {', '.join(options)}.")
    if name in ON_DISK:
        if root is None:
            raise BenchError(f'say where {name} lies: root = "/path/to/{name}".')
        return ON_DISK[name](Path(root))
    if not os.path.exists(name):  # noqa: PTH110 (Path.exists raises on a name too long)
        raise BenchError(f"there is no data set {name!r}; there are: {', '.join(NAMES)}, or give a path that exists.")
    return _at_path(Path(name))


def _household(name: str, options: dict[str, Any]) -> Household:
    known = list(inspect.signature(Household).parameters)
    for option in options:
        if option not in known:
            raise BenchError(f"{name} has no option {option!r}; it has {', '.join(known)}.")
    return Household(**options)


def _at_path(path: Path) -> Dataset:
    if path.suffix.lower() == ".npz":
        return Dataset(path.stem, *_splits(path))
    for test in ("test", "val"):
        if (path / "train").is_dir() and (path / test).is_dir():
            return Dataset(path.name, open_stream(path / "train"), open_stream(path / test))
    return Dataset(path.name, open_stream(path), None)


def _splits(path: Path) -> tuple[Stream, Stream | None]:
    try:
        return open_stream(f"{path}:train"), open_stream(f"{path}:test")
    except StreamError as error:
        if not re.search("not divided into splits", str(error)):
            raise
    return open_stream(path), None
