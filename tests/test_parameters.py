"""One table says what the parameters of every learner may be."""

from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier, ImageLearner, InputError
from exll.baselines import NAMES, baseline_class
from exll.parameters import TABLE, check_parameters, parameter_names

CLASSIFIERS: list[Any] = [ExLLClassifier, *map(baseline_class, NAMES)]


@pytest.mark.parametrize("learner", [*CLASSIFIERS, ImageLearner])
def test_every_parameter_of_every_learner_is_in_the_table(learner: Any) -> None:
    own = getattr(learner, "_allowed", {})
    assert set(parameter_names(learner)) - {"backbone"} <= {*TABLE, *own}


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_what_init_takes_is_what_scikit_learn_finds(learner: Any) -> None:
    assert set(parameter_names(learner)) == set(learner().get_params())


def test_every_row_of_the_table_is_used() -> None:
    used = {
        name
        for learner in (*CLASSIFIERS, ImageLearner)
        for name in parameter_names(learner)
        if name not in getattr(learner, "_allowed", {})
    }
    assert set(TABLE) == used - {"backbone"}


@pytest.mark.parametrize("name", TABLE)
def test_what_no_parameter_may_be_is_refused_by_its_name(name: str) -> None:
    for value in ("?", -1, float("nan"), [1], object()):
        with pytest.raises(InputError, match=f"^The {name!r} parameter of Mine must be .* Got .* instead\\.$"):
            check_parameters("Mine", {name: value})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": "papers"}, "'preset' parameter of ImageLearner must be one of 'glocal', 'paper'. Got 'papers'"),
        ({"records": 0}, "'records' parameter of ImageLearner"),
        ({"looks": 3}, "'looks' parameter of ImageLearner must be 1, 2 or None. Got 3 instead."),
        ({"threads": 0}, "'threads' parameter of ImageLearner must be None or an integer of at least 1. Got 0"),
        ({"preset": "paper", "max_prototypes": 3}, "must be None with the preset 'paper', which "),
        (
            {"count_pairs": "after"},
            "'count_pairs' .* must be None with the preset 'glocal', which has no table of pairs",
        ),
        (
            {"preset": "paper", "pair_weights": 2},
            "'pair_weights' .* must be 'one', 'confidence' or None. Got 2 instead.",
        ),
    ],
)
def test_an_image_learner_checks_its_parameters_before_it_opens_a_network(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ImageLearner("no such network", **parameters)


def test_numbers_of_numpy_are_numbers() -> None:
    check_parameters("Mine", {"records": np.int64(3), "refresh_growth": np.float32(0.5), "normalise": np.bool_(True)})
