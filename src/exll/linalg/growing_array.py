"""Arrays that grow at the end without being copied for every row."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LEAST_ROOM = 4  # for rows to come, whenever it grows


class GrowingArray:
    """Rows of one shape and dtype; ``filled`` is a view of those in use.

    >>> numbers = GrowingArray((), np.int64)
    >>> numbers.append(7)
    >>> numbers.append(8)
    >>> numbers.filled
    array([7, 8])
    """

    def __init__(self, row_shape: tuple[int, ...], dtype: DTypeLike, filled: NDArray[Any] | None = None) -> None:
        start = np.empty((0, *row_shape), dtype) if filled is None else np.array(filled, dtype)
        if start.shape[1:] != row_shape:
            raise ValueError(f"rows must have shape {row_shape}; got {start.shape[1:]}")
        self._room: NDArray[Any] = start
        self.filled: NDArray[Any] = self._room

    @classmethod
    def holding(cls, rows: NDArray[Any]) -> "GrowingArray":
        """These rows themselves and no copy of them."""
        array = object.__new__(cls)
        array.__setstate__((rows,))
        return array

    def __len__(self) -> int:
        return len(self.filled)

    @property
    def room(self) -> int:
        """How many more rows fit without a copy."""
        return len(self._room) - len(self.filled)

    def append(self, row: Any) -> None:
        size = len(self.filled)
        if size == len(self._room):
            self.reserve(1)
        self._room[size] = row
        self.filled = self._room[: size + 1]

    def extend(self, rows: NDArray[Any]) -> None:
        self.reserve(len(rows))
        size = len(self.filled)
        self._room[size : size + len(rows)] = rows
        self.filled = self._room[: size + len(rows)]

    def reserve(self, extra: int) -> None:
        """Make room now, so that the next ``extra`` rows cannot run out of memory."""
        size = len(self.filled)
        if extra <= self.room:
            return
        larger = np.empty((max(size + extra, size + size // 2 + LEAST_ROOM), *self._room.shape[1:]), self._room.dtype)
        larger[:size] = self.filled
        self._room = larger
        self.filled = larger[:size]

    def shared(self) -> "GrowingArray":
        """The rows of now without a copy of them, for arrays that are only appended to."""
        return GrowingArray.holding(self.filled)

    def remove(self, index: int) -> None:
        size = len(self.filled)
        self._room[index : size - 1] = self._room[index + 1 : size].copy()
        self.filled = self._room[: size - 1]

    def remove_rows(self, rows: list[int]) -> None:
        self._room = self.filled = np.delete(self.filled, rows, axis=0)

    def remove_unordered(self, index: int) -> None:
        """The last row takes its place."""
        size = len(self.filled)
        self._room[index] = self._room[size - 1]
        self._room[size - 1] = 0
        self.filled = self._room[: size - 1]

    def __deepcopy__(self, memo: dict[int, Any]) -> "GrowingArray":
        return GrowingArray.holding(self.filled.copy())

    def __getstate__(self) -> tuple[NDArray[Any]]:
        return (self.filled.copy(),)

    def __setstate__(self, state: tuple[NDArray[Any]]) -> None:
        self._room = self.filled = state[0]

    @property
    def nbytes(self) -> int:
        return self.filled.nbytes
