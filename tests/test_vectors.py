import numpy as np
import pytest

from exll.errors import InputError
from exll.vectors import CHUNK_ROWS, check_raw_rows, check_rows, normalise, unit_chunks


def test_chunks_are_the_whole_input_normalised() -> None:
    X = np.random.default_rng(0).normal(size=(CHUNK_ROWS * 2 + 3, 5)).astype(np.float32)
    parts = {rows.start: unit for rows, unit in unit_chunks(X)}
    assert sorted(parts) == [0, CHUNK_ROWS, 2 * CHUNK_ROWS]
    np.testing.assert_array_equal(np.concatenate(list(parts.values())), normalise(X))
    np.testing.assert_allclose(np.linalg.norm(normalise(X), axis=1), 1)


def test_a_bad_row_is_named_by_its_number_in_the_whole_input() -> None:
    X = np.ones((CHUNK_ROWS + 10, 3))
    X[CHUNK_ROWS + 7, 1] = np.nan
    with pytest.raises(InputError, match=f"row {CHUNK_ROWS + 7} "):
        check_rows(X)
    with pytest.raises(InputError, match=f"row {CHUNK_ROWS + 7} "):
        check_raw_rows(X)
