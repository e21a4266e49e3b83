import pytest

import exll


def test_every_public_name_is_there_and_there_are_at_most_ten() -> None:
    assert len(exll.__all__) <= 10
    for name in exll.__all__:
        assert getattr(exll, name) is not None
    assert dir(exll) == exll.__all__


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = exll.Nonsense
