"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

LONGEST_NAME = 200  # bytes of a name; most file systems allow 255, and a temporary name is longer by 29


@contextlib.contextmanager
def replacing(path: Path, *, flush: bool = True) -> Iterator[Path]:
    """A path beside the given one to write to. It replaces the given one when the block ends, and is removed when the
    block raises: at every moment the path holds the old content or the new one.

    With ``flush`` the new content is surely on the disk when this returns.
    """
    temporary = path.with_name(f"{temporary_prefix(path)}{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        if flush:
            _flush(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if flush:
        flush_folder(path.parent)


def write_whole(path: Path, content: bytes, *, flush: bool = True) -> None:
    """Write one file, whole or not at all."""
    with replacing(path, flush=flush) as temporary, temporary.open("xb") as file:
        file.write(content)


def temporary_prefix(path: Path) -> str:
    """How the names of temporary files for a path begin. A long name is cut: what is added must fit, too."""
    return f".{os.fsdecode(os.fsencode(path.name)[:LONGEST_NAME])}.saving-"


def flush_folder(folder: Path) -> None:
    """A new name is on the disk only when its folder is."""
    with contextlib.suppress(OSError):  # not every system opens a folder
        _flush(folder)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
