"""Reading a zip that anybody may have made: so many bytes in all, and one kind of error for all that is damaged."""

import lzma
import struct
import zipfile
import zlib
from types import TracebackType
from typing import BinaryIO

from exll.studio.errors import UnreadableError, UnusableError
from exll.studio.limits import MOST_IMPORT_BYTES

MOST_UNPACKED_BYTES = 4 * MOST_IMPORT_BYTES
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    NotImplementedError,  # a way of packing
    RuntimeError,  # a password
    EOFError,
    OSError,  # of bz2, or a place outside of the file
    ValueError,
)


class ZipReader:
    def __init__(self, file: BinaryIO) -> None:
        self._left = MOST_UNPACKED_BYTES
        try:
            self._archive = zipfile.ZipFile(file)
        except DAMAGED as error:
            raise _unreadable(error) from error

    def __enter__(self) -> "ZipReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._archive.close()

    def files(self) -> list[zipfile.ZipInfo]:
        return [info for info in self._archive.infolist() if not info.is_dir()]

    def read(self, info: zipfile.ZipInfo, most: int) -> bytes:
        """At most ``most`` bytes and one more, for the caller to see that there are more: the size in the header may be
        wrong."""
        try:
            with self._archive.open(info) as file:
                content = file.read(most + 1)
        except DAMAGED as error:
            raise _unreadable(error) from error
        self._left -= len(content)
        if self._left < 0:
            raise UnusableError(
                f"a zip may hold at most {MOST_UNPACKED_BYTES // 1_000_000:,} MB unpacked; this one holds more.",
                "Split it into several zips.",
            )
        return content


def _unreadable(error: Exception) -> UnreadableError:
    return UnreadableError(f"the zip cannot be read here: {error}.", "Create it again, without a password.")
