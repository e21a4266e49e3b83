"""Examples that are almost equal: a photo saved twice, or frames of a camera that follow one another."""

import numpy as np

from exll.types import Matrix

# Measured with the network "nano". Of frames of the drawn household that follow one another, 99 in 100 are above it;
# of photos of the GroceryStore data set, 9 in 100 have another one of their class above it, and look it.
# With efficientnet_lite0 frames of one clip have 0.99; of 2,485 grocery photos 0.2% reach it with a photo of another
# shop, and 6% reach 0.96: other piles of the same fruit.
ALMOST_EQUAL = 0.98
CHUNK_ROWS = 512


def near_duplicates(vectors: Matrix, almost_equal: float = ALMOST_EQUAL) -> list[list[int]]:
    """Groups of two or more rows, each almost equal (by cosine) to the first of its group, in the order of the rows.

    Not chains: the first and the last frame of a slow clip may differ much, though neighbours never do. So keeping one
    of each group keeps something almost equal to every row.

    >>> near_duplicates(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.01], [0.5, 0.5]]))
    [[0, 2]]
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    free = np.ones(len(units), bool)
    groups = []
    for start in range(0, len(units), CHUNK_ROWS):
        alike = units[start : start + CHUNK_ROWS] @ units[start:].T >= almost_equal
        for row in range(len(alike)):
            if not free[start + row]:
                continue
            rows = start + np.flatnonzero(alike[row] & free[start:])
            rows = rows[rows > start + row]
            if len(rows):
                free[rows] = False
                groups.append([start + row, *rows.tolist()])
    return groups
