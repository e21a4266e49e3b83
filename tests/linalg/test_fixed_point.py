import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exll.linalg.fixed_point import LARGEST, decoded, decoded_roughly, encoded
from exll.types import Matrix

seeds = st.integers(0, 10_000)


def unit_rows(seed: int, rows: int = 20, width: int = 7) -> Matrix:
    X = np.random.default_rng(seed).normal(size=(rows, width))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


@given(seeds)
def test_what_is_decoded_is_off_by_half_a_step_of_its_scale_at_most(seed: int) -> None:
    X = unit_rows(seed)
    codes, scales = encoded(X)
    assert codes.dtype == np.int32
    assert (np.abs(decoded(codes, scales) - X) <= 0.5 * scales[:, None] * (1 + 1e-6)).all()
    np.testing.assert_allclose(decoded(codes, scales), X, rtol=0, atol=2.4e-10)


@given(seeds)
def test_the_largest_number_of_a_row_has_the_largest_code_and_signs_stay(seed: int) -> None:
    X = unit_rows(seed)
    codes, _ = encoded(X)
    assert (np.abs(codes.astype(np.int64)).max(axis=1) == LARGEST).all()
    np.testing.assert_array_equal(np.sign(codes), np.sign(X))
    np.testing.assert_array_equal(encoded(-X)[0], -codes)


@given(seeds)
def test_encoding_what_was_decoded_changes_nothing(seed: int) -> None:
    codes, scales = encoded(unit_rows(seed))
    again, scales_again = encoded(decoded(codes, scales))
    np.testing.assert_array_equal(again, codes)
    np.testing.assert_allclose(scales_again, scales, rtol=1e-15)


@given(seeds, st.integers(1, 19))
def test_a_row_has_the_same_code_whatever_stands_around_it(seed: int, cut: int) -> None:
    X = unit_rows(seed)
    codes, scales = encoded(X)
    part, own = encoded(X[cut:])
    np.testing.assert_array_equal(part, codes[cut:])
    np.testing.assert_array_equal(own, scales[cut:])


@given(seeds)
def test_roughly_is_to_single_precision(seed: int) -> None:
    codes, scales = encoded(unit_rows(seed))
    rough = decoded_roughly(codes, scales)
    assert rough.dtype == np.float32
    np.testing.assert_allclose(rough.astype(np.float64), decoded(codes, scales), rtol=2e-7, atol=0)


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.empty((0, 4)), np.eye(4), -np.eye(4)])
def test_zeros_no_rows_and_single_numbers_come_back_as_they_were(X: Matrix) -> None:
    np.testing.assert_array_equal(decoded(*encoded(X)), X)


def test_it_is_far_more_exact_than_single_precision() -> None:
    X = unit_rows(0, rows=500, width=300)
    off = np.abs(decoded(*encoded(X)) - X).mean()
    single = np.abs(X.astype(np.float32) - X).mean()
    assert off < single / 4
