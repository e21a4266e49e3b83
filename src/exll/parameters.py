"""What the parameters of every learner may be: one table, and one sentence for what is not allowed."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from exll.errors import InputError
from exll.learner.preset import find_preset, preset_names

MOST_GROWTH = 1000
WHOLE_NUMBERS = (int, np.integer)
NUMBERS = (*WHOLE_NUMBERS, float, np.floating)


class Allowed(NamedTuple):
    """What a value must be: in words, and as a test."""

    words: Callable[[], str]
    test: Callable[[Any], bool]


def is_number(value: Any) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def is_whole_number(value: Any) -> bool:
    return isinstance(value, WHOLE_NUMBERS) and not isinstance(value, bool)


def one_of(*choices: Any) -> Allowed:
    *most, last = map(repr, choices)
    kinds = tuple({type(choice) for choice in choices})
    return Allowed(lambda: f"{', '.join(most)} or {last}", lambda value: isinstance(value, kinds) and value in choices)


def between(low: float, high: float) -> Allowed:
    """A number between two others that is neither of them."""
    return Allowed(
        lambda: f"a number between {low:g} and {high:g}", lambda value: is_number(value) and low < value < high
    )


def _whole_or_none(least: int, words: str) -> Allowed:
    return Allowed(lambda: words, lambda value: value is None or (is_whole_number(value) and value >= least))


def _whole_between(low: int, high: int) -> Allowed:
    return Allowed(
        lambda: f"an integer from {low} to {high}", lambda value: is_whole_number(value) and low <= value <= high
    )


TABLE: dict[str, Allowed] = {
    "preset": Allowed(
        lambda: f"one of {', '.join(map(repr, preset_names()))}",
        lambda value: isinstance(value, str) and find_preset(value) is not None,
    ),
    "refresh_growth": Allowed(
        lambda: f"a number from 0 to {MOST_GROWTH}", lambda value: is_number(value) and 0 <= value <= MOST_GROWTH
    ),
    "records": Allowed(
        lambda: "'none', 'refs', 'vectors' or an integer of at least 1",
        lambda value: (
            (is_whole_number(value) and value >= 1) or (isinstance(value, str) and value in ("none", "refs", "vectors"))
        ),
    ),
    "lengths": one_of("auto", "kept", "ignored"),
    "count_pairs": one_of("before", "after", None),
    "pair_weights": one_of("one", "confidence", None),
    "max_prototypes": _whole_or_none(1, "None or an integer of at least 1"),
    "looks": Allowed(
        lambda: "1, 2 or None", lambda value: value is None or (is_whole_number(value) and value in (1, 2))
    ),
    "thumbnails": _whole_between(0, 64),
    "thumbnail_side": _whole_between(16, 512),
    "threads": _whole_or_none(1, "None or an integer of at least 1"),
    "normalise": Allowed(lambda: "True or False", lambda value: isinstance(value, bool | np.bool_)),
    "shrinkage": between(0, 1),
    "learning_rate": between(0, 10),
    "distance": between(0, np.inf),
    "random_state": _whole_or_none(0, "an integer of at least 0, or None"),
    "per_class": Allowed(lambda: "an integer of at least 1", lambda value: is_whole_number(value) and value >= 1),
    "capacity": _whole_or_none(1, "an integer of at least 1, or None to grow with the classes"),
}


def check_parameters(owner: str, values: Mapping[str, Any], more: Mapping[str, Allowed] | None = None) -> None:
    """Whether every value is allowed. ``more`` is for parameters that mean another thing in another learner.

    >>> check_parameters("SLDA", {"shrinkage": 2})
    Traceback (most recent call last):
    exll.errors.InputError: The 'shrinkage' parameter of SLDA must be a number between 0 and 1. Got 2 instead.
    """
    table = TABLE if not more else {**TABLE, **more}
    for name, value in values.items():
        if name in table and not table[name].test(value):
            raise _refused(owner, name, table[name].words(), value)
    preset = find_preset(values["preset"]) if "preset" in values else None
    for name, reason in () if preset is None else preset.refuses.items():
        if values[name] is not None:
            words = f"None with the preset {values['preset']!r}, which {reason}"
            raise _refused(owner, name, words, values[name])


def parameter_names(learner: Any) -> tuple[str, ...]:
    """What ``__init__`` takes; scikit-learn's ``get_params`` would have to be imported for it."""
    code = learner.__init__.__code__
    names: tuple[str, ...] = code.co_varnames[1 : code.co_argcount]
    return names


def _refused(owner: str, name: str, words: str, value: Any) -> InputError:
    return InputError(f"The {name!r} parameter of {owner} must be {words}. Got {value!r} instead.")
