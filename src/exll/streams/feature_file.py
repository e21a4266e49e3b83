"""An ``.npz`` of features: vectors that a backbone has made before, so that no image is needed."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.errors import StreamError
from exll.features.image import printable
from exll.streams.example import Example, composed
from exll.streams.npz import read_arrays

REQUIRED = ("X", "y")
PER_ROW = ("y", "split", "instance", "video", "frame", "path", "domain")
KEYS = ("X", "class_names", "domain_names", *PER_ROW)
NOT_APPLICABLE = ("", "-1")
LONGEST_NAME, MOST_NAMES = 80, 20
NUMBERED_SPLITS = {"0": "train", "1": "val", "2": "test"}

Arrays = dict[str, NDArray[Any]]


def read_features(source: Path, split: str | None = None) -> tuple[list[Example], NDArray[np.floating]]:
    """An example for each row (of that split, if one is named), and the vectors of all rows, in float32; those of a
    large file that stay on the disk, as they are there."""
    examples, splits, vectors = read_rows(source)
    if split is not None:
        examples = rows_of(split, examples, splits, source)
    return examples, vectors if isinstance(vectors, np.memmap) else vectors.astype(np.float32, copy=False)


def read_vectors(source: Path) -> NDArray[np.floating]:
    """The vectors of all rows and nothing else of the file."""
    return _vectors(read_arrays(source, ("X",), ("X",), mapped=("X",))["X"], source)


def read_rows(source: Path) -> tuple[list[Example], list[str | None], NDArray[np.floating]]:
    """An example for each row, the name of its split, and the vectors; those in half precision stay so.

    ``X`` holds the vectors and ``y`` the labels, or places in ``class_names`` where that is there. ``split`` (names, or
    0, 1, 2 for train, val, test), ``instance``, ``video``, ``frame``, ``path`` and ``domain`` (names, or places in
    ``domain_names``) are optional; -1 is "not applicable".
    """
    arrays = read_arrays(source, KEYS, REQUIRED, mapped=("X",))
    vectors = _vectors(arrays["X"], source)
    for key in PER_ROW:
        if key in arrays and arrays[key].shape != (len(vectors),):
            raise StreamError(
                f"{source}: {key} must hold one value for each of the {len(vectors)} rows of X; "
                f"its shape is {arrays[key].shape}."
            )
    labels = _labels(arrays, source)
    refs, instances, videos = (
        _optional(arrays, key, len(vectors), source) for key in ("path", "instance", "video")
    )  # for each row a name or None
    frames = _frames(arrays, len(vectors), source)
    domains = _domains(arrays, len(vectors), source)
    examples = [
        Example(
            refs[row] or f"{source.name}#{row}",
            labels[row],
            instance=instances[row],
            video=videos[row],
            frame=frames[row],
            row=row,
            domain=domains[row],
        )
        for row in range(len(vectors))
    ]
    splits = [name and NUMBERED_SPLITS.get(name, name) for name in _optional(arrays, "split", len(vectors), source)]
    return examples, splits, vectors


def rows_of(split: str, examples: list[Example], splits: list[str | None], source: Path) -> list[Example]:
    """The examples of one split."""
    chosen = [example for example, name in zip(examples, splits, strict=True) if name == split]
    if not chosen:
        known = sorted({printable(name, LONGEST_NAME) for name in splits if name})
        raise StreamError(
            f"{source} has no split {split!r}; "
            + (f"it has {', '.join(known[:MOST_NAMES])}." if known else "its rows are not divided into splits.")
        )
    return chosen


def _vectors(X: NDArray[Any], source: Path) -> NDArray[np.floating]:
    if X.ndim != 2 or X.dtype.kind not in "fiu":
        raise StreamError(
            f"{source}: X must be a 2-D array of numbers, one vector per row; it is {X.ndim}-D of {X.dtype}."
        )
    if 0 in X.shape:
        raise StreamError(f"{source}: X must hold at least one vector; its shape is {X.shape}.")
    if isinstance(X, np.memmap) and X.dtype in (np.float16, np.float32):
        return X
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes inf, which the learner refuses by its row
        return np.ascontiguousarray(X, X.dtype if X.dtype == np.float16 else np.float32)


def _labels(arrays: Arrays, source: Path) -> list[str]:
    y = arrays["y"]
    if "class_names" in arrays:
        labels = _named(y, "y", arrays["class_names"], "class_names", source)
    else:
        labels = _names(y, "y", source)
    if "" in labels:
        raise StreamError(f"{source}: y must hold a label for every row; that of row {labels.index('')} is empty.")
    return labels


def _named(places: NDArray[Any], key: str, names: NDArray[Any], key_of_names: str, source: Path) -> list[str]:
    """The names at these places."""
    known = _names(names, key_of_names, source)
    if places.dtype.kind not in "iu":
        raise StreamError(
            f"{source}: {key} must hold whole numbers, places in {key_of_names}; it holds {places.dtype}."
        )
    outside = np.flatnonzero((places < 0) | (places >= len(known)))
    if len(outside):
        raise StreamError(
            f"{source}: {key} must hold places in {key_of_names}, 0 to {len(known) - 1}; row {outside[0]} holds "
            f"{places[outside[0]]}."
        )
    return [known[place] for place in places.tolist()]


def _names(array: NDArray[Any], key: str, source: Path) -> list[str]:
    """The values as strings; whole numbers are names too."""
    kind = array.dtype.kind
    if kind == "U":  # stored as numbers, which numpy takes for characters unchecked
        codes = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).view(np.uint32)
        if (codes > sys.maxunicode).any():
            raise StreamError(f"{source}: {key} must hold strings; it holds numbers that are no characters.")
    values = array.tolist()
    if array.ndim == 1 and kind == "U":
        return [composed(value) for value in values]
    if array.ndim == 1 and kind == "S":
        return [composed(value.decode("utf-8", "surrogateescape")) for value in values]
    if array.ndim == 1 and (kind in "biu" or (kind == "f" and all(value.is_integer() for value in values))):
        return [str(value) if kind == "b" else str(int(value)) for value in values]
    raise StreamError(
        f"{source}: {key} must be a 1-D array of strings or whole numbers; it is {array.ndim}-D of {array.dtype}."
    )


def _optional(arrays: Arrays, key: str, rows: int, source: Path) -> list[str | None]:
    if key not in arrays:
        return [None] * rows
    return [None if name in NOT_APPLICABLE else name for name in _names(arrays[key], key, source)]


def _frames(arrays: Arrays, rows: int, source: Path) -> list[int | None]:
    if "frame" not in arrays:
        return [None] * rows
    frames = arrays["frame"]
    if frames.dtype.kind not in "iu":
        raise StreamError(f"{source}: frame must hold whole numbers; it holds {frames.dtype}.")
    return [None if frame == -1 else frame for frame in frames.tolist()]


def _domains(arrays: Arrays, rows: int, source: Path) -> list[str | None]:
    if "domain" not in arrays or "domain_names" not in arrays:
        return _optional(arrays, "domain", rows, source)
    known = arrays["domain"] != -1
    named = iter(_named(arrays["domain"][known], "domain", arrays["domain_names"], "domain_names", source))
    return [next(named) if has_one else None for has_one in known.tolist()]
