"""Arrays from an ``.npz`` file that anybody may have made: what its headers claim is compared with what is there."""

import math
import zipfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from exll.errors import StreamError
from exll.features.image import printable

# A member that unpacks to more than this many bytes must not be much smaller when packed: features hardly shrink.
LARGE_MEMBER, MOST_SHRUNK = 256_000_000, 100
ENCRYPTED = 1
# Vectors of more bytes than this are read from the disk row by row, where they are stored as they are.
MAPPED = 64_000_000
LOCAL_HEADER, NAME_AND_EXTRA = 30, slice(26, 30)  # bytes before a member's name; where the lengths of both stand
LONGEST_NAME, LONGEST_REASON = 80, 160


def read_arrays(
    source: Path, keys: Collection[str], required: Collection[str], mapped: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """The arrays of these names that the file holds, or a StreamError in one sentence.

    Large arrays in ``mapped`` stay on the disk until somebody looks at their rows, unless they are compressed.
    """
    try:
        if source.exists() and not source.is_file():  # a pipe would wait forever
            raise ValueError("it is not a file")
        with zipfile.ZipFile(source) as archive:
            members = _members(archive, source)
            missing = [key for key in required if key not in members]
            if missing:
                raise StreamError(
                    f"{source} must hold the arrays X (vectors) and y (labels); it has no {' and no '.join(missing)}. "
                    f"It holds: {', '.join(printable(name, LONGEST_NAME) for name in list(members)[:8]) or 'nothing'}."
                )
            return {key: _array(archive, members[key], key, source, key in mapped) for key in keys if key in members}
    except StreamError:
        raise
    except MemoryError as error:
        raise StreamError(f"{source} needs more memory than there is.") from error
    except Exception as error:  # zipfile, zlib and numpy fail in many ways on damaged data
        reason = printable(" ".join(str(error).split()) or type(error).__name__, LONGEST_REASON)
        raise StreamError(f"{source} is not an .npz file that can be read: {reason}".rstrip(".") + ".") from error


def _members(archive: zipfile.ZipFile, source: Path) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in members:
            raise StreamError(f"{source} must hold every array once; it holds {printable(name, LONGEST_NAME)!r} twice.")
        if ".." in PurePosixPath(name).parts or name.startswith("/"):
            raise StreamError(f"{source} must hold plain names; it holds {printable(name, LONGEST_NAME)!r}.")
        members[name] = member
    return members


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, key: str, source: Path, mapped: bool) -> NDArray[Any]:
    if member.flag_bits & ENCRYPTED:
        raise StreamError(f"{source}: {key} is encrypted. Save the arrays without a password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StreamError(f"{source}: {key} is packed in a way that numpy does not use. Save it with numpy.savez.")
    packed = min(member.compress_size, source.stat().st_size)
    if member.file_size > max(LARGE_MEMBER, MOST_SHRUNK * packed):
        raise StreamError(
            f"{source}: {key} would unpack from {packed:,} to {member.file_size:,} bytes, more than {MOST_SHRUNK} "
            f"times its size. Save it with numpy.savez."
        )
    with archive.open(member) as file:
        version = npy.read_magic(file)
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if read_header is None:
            raise ValueError(f"{key} is of a format {version} that is not known")
        shape, by_columns, dtype = read_header(file)
        header = file.tell()
    if dtype.hasobject:
        raise StreamError(
            f"{source}: {key} holds Python objects, which are not loaded. Save it as numbers or as strings "
            f"({key}.astype(str))."
        )
    claimed, held = math.prod(shape) * dtype.itemsize, member.file_size - header
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or claimed > held:
        raise StreamError(f"{source}: {key} claims to be {dtype} of the shape {shape}; it holds {held:,} bytes.")
    if mapped and member.compress_type == zipfile.ZIP_STORED and claimed > MAPPED and not by_columns:
        return np.memmap(source, dtype, "r", _start(member, source) + header, shape)
    with archive.open(member) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array


def _start(member: zipfile.ZipInfo, source: Path) -> int:
    """Where in the file the content of a member begins."""
    with source.open("rb") as file:
        file.seek(member.header_offset)
        lengths = np.frombuffer(file.read(LOCAL_HEADER)[NAME_AND_EXTRA], "<u2")
    return member.header_offset + LOCAL_HEADER + int(lengths.sum(dtype=np.int64))
