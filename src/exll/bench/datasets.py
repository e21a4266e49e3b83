"""Data sets by name, or data at a path."""

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exll.errors import BenchError
from exll.streams.dataset import Dataset
from exll.streams.feature_file import read_rows, rows_of
from exll.streams.fsiol import fsiol
from exll.streams.gtsrb import gtsrb
from exll.streams.household.videos import Household
from exll.streams.openloris import openloris
from exll.streams.pacs import pacs
from exll.streams.places import places365, places_lt
from exll.streams.stream import Stream, open_stream

ON_DISK: dict[str, Callable[..., Dataset]] = {
    "openloris": openloris,
    "places365": places365,
    "places-lt": places_lt,
    "fsiol": fsiol,
    "pacs": pacs,
    "gtsrb": gtsrb,
}
RENDERED: dict[str, Callable[[Household], Dataset]] = {
    "household": Household.dataset,
    "household-lt": Household.long_tailed,
    "household-stills": Household.stills,
}
NAMES = (*RENDERED, *ON_DISK)


def open_dataset(name: str, root: str | None = None, options: dict[str, Any] | None = None) -> Dataset:
    """The data set of that name; ``root`` says where one on disk is, ``options`` how it is drawn or read.

    Else ``name`` is a path: a features file (its train and test splits, or all its rows with no test part), or a folder
    with ``train`` and ``test`` (or ``val``) in it, or with one sub-folder per class.
    """
    options = options or {}
    if name in RENDERED:
        _check_options(name, options, Household)
        return RENDERED[name](Household(**options))
    if name in ON_DISK:
        _check_options(name, options, ON_DISK[name])
        if root is None:
            raise BenchError(f'say where {name} is: root = "/path/to/{name}".')
        return ON_DISK[name](Path(root), **options)
    if not os.path.exists(name):  # noqa: PTH110 (Path.exists raises on a name too long)
        raise BenchError(f"there is no data set {name!r}; there are: {', '.join(NAMES)}, or give a path that exists.")
    if Path(name).suffix.lower() == ".npz":
        _check_options(name, options, _features)
        return _features(Path(name), **options)
    _check_options(name, options, _folder)
    return _folder(Path(name))


def _check_options(name: str, options: dict[str, Any], of: Callable[..., Any]) -> None:
    known = [option for option in inspect.signature(of).parameters if option not in ("root", "path")]
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise BenchError(f"{name} has no option {option!r}; {has}.")


def _features(path: Path, learn: str = "train") -> Dataset:
    """A features file, read once for both parts. ``learn`` is the split to learn; "test" is asked."""
    examples, splits, vectors = read_rows(path)
    if any(splits):
        parts = [Stream("features", rows_of(part, examples, splits, path), path, vectors) for part in (learn, "test")]
        return Dataset(path.stem, parts[0], parts[1])
    if learn != "train":
        raise BenchError(f"{path} is not divided into splits, so there is no {learn!r} to learn; leave 'learn' out.")
    return Dataset(path.stem, Stream("features", examples, path, vectors), None)


def _folder(path: Path) -> Dataset:
    for test in ("test", "val"):
        if (path / "train").is_dir() and (path / test).is_dir():
            return Dataset(path.name, open_stream(path / "train"), open_stream(path / test))
    return Dataset(path.name, open_stream(path), None)
