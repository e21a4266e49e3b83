"""Recognise the same data without reading all of it."""

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exll.streams.example import Example, composed

END_BYTES = 4096


class Digests(NamedTuple):
    """Two SHA-256 of an example; either is enough to know it again."""

    named: bytes  # its name relative to the source, what is known of it, and its content
    content: bytes  # its content and its label, whatever the image is called; rows of features have no names


def example_digests(
    kind: str, examples: Sequence[Example], source: Path, vectors: NDArray[np.floating] | None
) -> list[Digests]:
    """What tells each example from others.

    The place of the folder and the dates of the files do not count. A row of features is read whole; of a file only the
    size and both ends, so a change that keeps these goes unseen. A file that cannot be read counts as that.
    """
    prefix = _prefix(kind, source)
    whole = file_identity(source) if kind == "video" else ""
    digests = []
    for example in examples:
        if example.row is not None and vectors is not None:
            content = hashlib.sha256(vectors[example.row].astype("<f4").tobytes()).hexdigest()
        else:
            content = file_identity(example.path) if example.path is not None else whole
        name = composed(example.ref.removeprefix(prefix)).replace(os.sep, "/")
        video = None if kind == "video" else example.video  # a video's own name is where it lies, not what it is
        parts = [name, example.label, example.instance, video, example.frame, example.row, content]
        if example.domain is not None:
            parts.append(example.domain)
        named = _sha256(parts)
        shown = [example.label, example.frame, example.box, content]
        digests.append(Digests(named, named if example.row is not None else _sha256(shown)))
    return digests


def _sha256(parts: list[Any]) -> bytes:
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def fingerprint(kind: str, digests: Sequence[Digests]) -> str:
    """SHA-256 over a stream's examples, in whatever order they come."""
    total = hashlib.sha256(json.dumps([kind, len(digests)]).encode())
    for digest in sorted(digest.named for digest in digests):
        total.update(digest)
    return total.hexdigest()


def _prefix(kind: str, source: Path) -> str:
    """What every ref of the stream begins with, and what changes when the data is moved."""
    if kind in ("video", "features"):
        return source.name
    folder = source if kind in ("folder", "images") else source.parent
    return str(folder / "x")[:-1]  # right for "." and "/" too


def file_identity(path: Path) -> str:
    """The file's size and a hash of its first and last 4096 bytes."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return "no file"
            ends = hashlib.sha256(file.read(END_BYTES))
            file.seek(max(0, status.st_size - END_BYTES))
            ends.update(file.read(END_BYTES))
    except (OSError, ValueError):
        return "no file"
    return f"{status.st_size} {ends.hexdigest()}"


def _open_without_waiting(path: str, flags: int) -> int:
    # A pipe that goes by an image's name would otherwise hold us until someone writes into it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
