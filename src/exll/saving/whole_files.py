"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes, *, flush: bool = True) -> None:
    """Write beside the place, then rename: at every moment the path holds the old content or the new one.

    With ``flush`` the new content is surely on the disk when this returns.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            if flush:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if flush:
        flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """A new name is on the disk only when its folder is."""
    with contextlib.suppress(OSError):  # not every system opens a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
