"""Strings as arrays, for a model file."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.types import Tensors


def strings_to_tensors(name: str, strings: list[str]) -> Tensors:
    """Strings as UTF-8 bytes with offsets: any number of them fits, where a file's header would not."""
    encoded = [encode(string) for string in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return {f"{name}.utf8": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.offsets": offsets}


def strings_from_tensors(name: str, state: dict[str, NDArray[Any]]) -> list[str]:
    content, offsets = state[f"{name}.utf8"].tobytes(), state[f"{name}.offsets"].tolist()
    if offsets[0] != 0 or offsets[-1] != len(content) or offsets != sorted(offsets):
        raise ValueError(f"the offsets of {name} do not fit")
    return [content[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(offsets)]


def encode(string: str) -> bytes:
    # File names that are no UTF-8 reach Python as lone surrogates; they are refs like any other.
    return string.encode("utf-8", "surrogatepass")
