"""Model files: one safetensors file with metadata as JSON and a SHA-256 over all of it. Never pickle.

In the header of safetensors there is one entry, ``exll``: our metadata as JSON. Its ``sha256`` is over the other
metadata and over every tensor's name, dtype, shape and bytes. So a file is either what was saved, or refused. Integers
are written in the smallest signed type that holds them, and read as 64 bits.
"""

import contextlib
import glob
import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from exll.errors import DAMAGED, ModelFileError, ModelFileNotFoundError
from exll.saving.old_names import NEWEST_OLD_FORMAT, with_new_names
from exll.saving.whole_files import replacing, temporary_prefix
from exll.types import Tensors

FORMAT = 10
INTEGERS = (np.int8, np.int16, np.int32, np.int64)
STALE_SECONDS = 3600


@dataclass(frozen=True)
class ModelFile:
    metadata: dict[str, Any]
    tensors: Tensors


def place_for(path: str | os.PathLike[str]) -> Path:
    """Where a model of that path will lie, or one sentence about why it cannot."""
    target = _resolved(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        raise ModelFileError(f"{path} is a device or a pipe, not a file that a model could replace.")
    if target.is_dir():
        raise ModelFileError(f"{path} is a folder; name a file for the model, such as {Path(path) / 'model.exll'}.")
    if target.parent.is_file():
        raise ModelFileError(f"{target.parent} is a file, not a folder that could hold {target.name}.")
    if not target.parent.is_dir():
        raise ModelFileError(f"the folder {target.parent} does not exist; make it first.")
    return target


def write_model(path: str | os.PathLike[str], metadata: dict[str, Any], tensors: Tensors) -> None:
    """Write beside the target, flush to disk, rename: at every moment the path holds the old model or the new one."""
    target = place_for(path)
    metadata = {"format": FORMAT, **metadata}
    tensors = {name: np.asarray(_narrowed(tensor), order="C") for name, tensor in tensors.items()}
    # One entry: safetensors writes several in any order, and the same model should give the same bytes.
    header = {"exll": json.dumps({**metadata, "sha256": _digest(metadata, tensors)}, sort_keys=True)}
    try:
        _remove_stale(target)
        with replacing(target) as temporary:
            mode = _mode_for(target, temporary)
            save_file(tensors, temporary, header)
            temporary.chmod(mode)  # safetensors makes a file that only the owner may read
    except (OSError, SafetensorError) as error:  # safetensors has an error of its own for a full disk
        raise ModelFileError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """The metadata and tensors of a model file, proven to be what was saved."""
    source = _resolved(path)
    if not source.exists():
        raise ModelFileNotFoundError(f"there is no model file at {path}.")
    if source.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file.")
    if not source.is_file():
        raise ModelFileError(f"{path} is a device or a pipe, not a model file.")
    try:
        with safe_open(source, framework="numpy") as file:
            text = (file.metadata() or {}).get("exll")
            if text is None:
                raise ModelFileError(f"{path} is a safetensors file, but not a model of exll.")
            metadata = _metadata(text, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except ModelFileError:
        raise
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (SafetensorError, *DAMAGED) as error:
        raise ModelFileError(f"{path} is not a model file of exll, or it is truncated or damaged.") from error
    if metadata.pop("sha256", None) != _digest(metadata, tensors):
        raise ModelFileError(f"{path} was altered or damaged after it was saved: its checksum does not fit.")
    if metadata["format"] <= NEWEST_OLD_FORMAT:
        tensors = with_new_names(tensors)
    return ModelFile(metadata, {name: _widened(tensor) for name, tensor in tensors.items()})


def _narrowed(tensor: NDArray[Any]) -> NDArray[Any]:
    if tensor.dtype.kind != "i":
        return tensor
    least, most = tensor.min(initial=0), tensor.max(initial=0)
    return tensor.astype(next(kind for kind in INTEGERS if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


def _widened(tensor: NDArray[Any]) -> NDArray[Any]:
    return tensor.astype(np.int64) if tensor.dtype.kind == "i" else tensor


def _metadata(text: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    metadata = json.loads(text)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("format"), int):
        raise ModelFileError(f"{path} does not say which format it has; it is not a model file of exll.")
    if metadata["format"] > FORMAT:
        raise ModelFileError(
            f"{path} has format {metadata['format']}, newer than this exll can read ({FORMAT}); please update exll."
        )
    return metadata


def _digest(metadata: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256()
    text = json.dumps(metadata, sort_keys=True)
    digest.update(f"{len(text.encode())}:{text}".encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape} ".encode())
        digest.update(tensor.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _remove_stale(target: Path) -> None:
    """A save that was killed leaves its temporary file behind; clear those away once they are surely nobody's."""
    for leftover in target.parent.glob(f"{glob.escape(temporary_prefix(target))}*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > STALE_SECONDS:
                leftover.unlink()


def _mode_for(target: Path, trial: Path) -> int:
    """The mode of the file that is replaced, or the one that new files get here."""
    if not target.exists():
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        target = trial
    return target.stat().st_mode & 0o777


def _resolved(path: str | os.PathLike[str]) -> Path:
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)  # noqa: PTH116 - shows a name that is too long or has a NUL, and links in a circle
        return Path(path).resolve()
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{str(path)!r} cannot be the name of a file: {getattr(error, 'strerror', None) or error}."
        ) from error
