import numpy as np

from exll.linalg.ties import first_of_largest, first_of_largest_rows, raise_winner, surpasses


def test_equal_within_rounding_goes_to_the_first() -> None:
    assert first_of_largest(np.array([1.0, 1.0 + 1e-12, 0.9])) == 0
    assert first_of_largest(np.array([1.0, 1.0 + 1e-7, 0.9])) == 1


def test_the_tolerance_grows_with_large_scores_and_not_below_one() -> None:
    assert first_of_largest(np.array([9000.0, 9000.0 + 5e-6])) == 0  # relative: 6e-10
    assert first_of_largest(np.array([-9000.0 - 5e-6, -9000.0])) == 0
    assert first_of_largest(np.array([0.0, 5e-10])) == 0  # absolute below 1: rounding of larger terms
    assert first_of_largest(np.array([0.0, 2e-9])) == 1


def test_rows_decide_like_single_vectors() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-3, 5, (200, 1))
    values[:, 3] = values[:, 1] * (1 + 1e-13)
    assert first_of_largest_rows(values).tolist() == [first_of_largest(row) for row in values]


def test_surpassing_needs_more_than_rounding() -> None:
    assert surpasses(2.0 + 1e-6, 2.0)
    assert not surpasses(2.0 + 1e-10, 2.0)
    assert not surpasses(1.0, 2.0)


def test_a_winner_by_rounding_is_the_largest_and_the_sum_stays() -> None:
    posteriors = np.array([[0.2, 0.4, 0.4], [0.3, 0.3 + 1e-4, 0.4 - 1e-4], [0.5, 0.3, 0.2]])
    raise_winner(posteriors, labels := np.array([2, 0, 0]))
    assert posteriors.argmax(axis=1).tolist() == labels.tolist()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(posteriors[1], [0.4 - 1e-4, 0.3 + 1e-4, 0.3], rtol=1e-15)
    assert posteriors[2].tolist() == [0.5, 0.3, 0.2]
