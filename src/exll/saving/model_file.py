"""Model files: one safetensors file with small facts as JSON and a SHA-256 over all of it. Never pickle.

The metadata has one entry, ``exll``: the facts as JSON, among them ``sha256`` over the other facts and over every
tensor's name, dtype, shape and bytes. So a file is either what was saved, or refused. Integers are written in the
smallest signed type that holds them, and read as 64 bits.
"""

import contextlib
import glob
import hashlib
import json
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from exll.errors import ModelFileError, ModelFileNotFoundError
from exll.types import Tensors

FORMAT = 4
INTEGERS = (np.int8, np.int16, np.int32, np.int64)
STALE_SECONDS = 3600


@dataclass(frozen=True)
class ModelFile:
    facts: dict[str, Any]
    tensors: Tensors


def place_for(path: str | os.PathLike[str]) -> Path:
    """Where a model of that path will lie, or one sentence about why it cannot."""
    target = _resolved(path)
    if target.is_dir():
        raise ModelFileError(f"{path} is a folder; name a file for the model, such as {Path(path) / 'model.exll'}.")
    if target.parent.is_file():
        raise ModelFileError(f"{target.parent} is a file, not a folder that could hold {target.name}.")
    if not target.parent.is_dir():
        raise ModelFileError(f"the folder {target.parent} does not exist; make it first.")
    return target


def write_model(path: str | os.PathLike[str], facts: dict[str, Any], tensors: Tensors) -> None:
    """Write beside the target, flush to disk, rename: at every moment the path holds the old model or the new one."""
    target = place_for(path)
    facts = {"format": FORMAT, **facts}
    tensors = {name: np.asarray(_narrowed(tensor), order="C") for name, tensor in tensors.items()}
    # One entry: safetensors writes several in any order, and the same model should give the same bytes.
    metadata = {"exll": json.dumps({**facts, "sha256": _digest(facts, tensors)}, sort_keys=True)}
    temporary = target.with_name(f"{_temporary_prefix(target)}{secrets.token_hex(4)}.tmp")
    try:
        _remove_stale(target)
        mode = _mode_for(target, temporary)
        save_file(tensors, temporary, metadata)
        temporary.chmod(mode)  # safetensors makes a file of its own, for the owner's eyes only
        _flush(temporary)
        temporary.replace(target)
        _flush(target.parent)
    except (OSError, SafetensorError) as error:  # safetensors has an error of its own for a full disk
        temporary.unlink(missing_ok=True)
        raise ModelFileError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """The facts and tensors of a model file, proven to be what was saved."""
    source = _resolved(path)
    if not source.exists():
        raise ModelFileNotFoundError(f"there is no model file at {path}.")
    if source.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file.")
    try:
        with safe_open(source, framework="numpy") as file:
            metadata = file.metadata() or {}
            text = metadata.get("exll")
            if text is None:
                raise ModelFileError(f"{path} is a safetensors file, but not a model of exll.")
            facts = _facts(text, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except ModelFileError:
        raise
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (
        SafetensorError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        ArithmeticError,
        MemoryError,
        RecursionError,
    ) as error:
        raise ModelFileError(f"{path} is no model file of exll, or is truncated or damaged.") from error
    if facts.pop("sha256", None) != _digest(facts, tensors):
        raise ModelFileError(f"{path} was altered or damaged after it was saved: its checksum does not fit.")
    return ModelFile(facts, {name: _widened(tensor) for name, tensor in tensors.items()})


def _narrowed(tensor: NDArray[Any]) -> NDArray[Any]:
    if tensor.dtype.kind != "i":
        return tensor
    least, most = tensor.min(initial=0), tensor.max(initial=0)
    return tensor.astype(next(kind for kind in INTEGERS if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


def _widened(tensor: NDArray[Any]) -> NDArray[Any]:
    return tensor.astype(np.int64) if tensor.dtype.kind == "i" else tensor


def _facts(text: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    facts = json.loads(text)
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise ModelFileError(f"{path} does not say which format it has; it is no model file of exll.")
    if facts["format"] > FORMAT:
        raise ModelFileError(
            f"{path} has format {facts['format']}, newer than this exll can read ({FORMAT}); please update exll."
        )
    return facts


def _digest(facts: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256()
    text = json.dumps(facts, sort_keys=True)
    digest.update(f"{len(text.encode())}:{text}".encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape} ".encode())
        digest.update(tensor.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _temporary_prefix(target: Path) -> str:
    return f".{target.name}.saving-"


def _remove_stale(target: Path) -> None:
    """A save that was killed leaves its temporary file behind; clear those away once they are surely nobody's."""
    for leftover in target.parent.glob(f"{glob.escape(_temporary_prefix(target))}*.tmp"):
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
        resolved = Path(path).resolve()
        resolved.exists()  # a name too long, or with a NUL in it, shows here
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path!r} is no possible file name: {error}.") from error
    return resolved


def _flush(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # a folder cannot be opened everywhere; the file itself was flushed
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
