"""The results file: one line of JSON for each finished cell, so that a killed run can continue."""

import base64
import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exll.errors import BenchError

NAME = "results.jsonl"
GRID = "grid.json"


class ResultsFile:
    """Lines are written whole and reach the disk before the next cell counts as begun."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """The results by key; of two with one key the later. An incomplete last line is not a result."""
        if not self.path.exists():
            return {}
        lines = self.path.read_bytes().split(b"\n")
        return dict(self._parsed(number, line) for number, line in enumerate(lines[:-1], start=1))

    @contextlib.contextmanager
    def writing(self) -> Iterator["Writer"]:
        """For the one run that adds to the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            _lock(file.fileno(), self.path)
            file.seek(0)
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)  # half a line, left by a run that was killed
            yield Writer(file.fileno())

    def _parsed(self, number: int, line: bytes) -> tuple[str, dict[str, Any]]:
        try:
            entry = json.loads(line)
            if "voices" in entry:  # the name of "variants" in older results
                entry["variants"] = entry.pop("voices")
            return entry["key"], entry
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(f"{self.path}, line {number} is not a result; was the file changed by hand?") from error


class Writer:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def add(self, entry: dict[str, Any]) -> None:
        line = memoryview(json.dumps(entry).encode() + b"\n")
        while line:
            line = line[os.write(self._descriptor, line) :]
        os.fsync(self._descriptor)


@dataclass(frozen=True)
class Grid:
    """The plan of the last run in a folder: the same file may hold results of other plans."""

    title: str
    command: str
    keys: list[str]

    def write(self, folder: Path) -> None:
        making = folder / f".{GRID}.part"
        making.write_text(json.dumps(asdict(self)), encoding="utf-8")
        making.replace(folder / GRID)

    @classmethod
    def read(cls, folder: Path) -> "Grid | None":
        try:
            return cls(**json.loads((folder / GRID).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two runs into one file are the user's to avoid
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BenchError(f"another run is writing to {path}; wait for it or choose another folder.") from error


def packed(values: ArrayLike) -> str:
    """Yes and no, or numbers from 0 on, as a short text for a line of JSON: 2,485 answers take about 400 characters.

    >>> numbers_of(packed([3, 3, 7])).tolist(), bits_of(packed([True, False]), 2).tolist()
    ([3, 3, 7], [True, False])
    """
    array = np.asarray(values)
    content = np.packbits(array).tobytes() if array.dtype == np.bool_ else array.astype("<u4").tobytes()
    return base64.b64encode(zlib.compress(content, 9)).decode()


def bits_of(text: str, count: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(_content(text), np.uint8), count=count).astype(np.bool_)


def numbers_of(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(_content(text), "<u4")


def _content(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
