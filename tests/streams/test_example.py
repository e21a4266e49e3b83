import dataclasses
import unicodedata

import pytest

from exll.streams.example import Example, composed


def test_an_example_cannot_be_changed() -> None:
    example = Example("mug/1.jpg", "mug")
    with pytest.raises(dataclasses.FrozenInstanceError):
        example.label = "cup"  # type: ignore[misc]


def test_both_spellings_of_a_name_compose_to_one() -> None:
    assert composed(unicodedata.normalize("NFD", "Käse")) == "Käse"


def test_a_name_that_is_not_utf_8_composes_to_itself() -> None:
    assert composed("\udcff.jpg") == "\udcff.jpg"
