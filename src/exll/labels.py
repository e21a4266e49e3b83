"""Labels at the public edge: strings, integers or booleans, one kind per model. Whole floats count as integers."""

import numbers
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.errors import InputError
from exll.types import Label

LabelKind: TypeAlias = Literal["string", "integer", "boolean"]

_DTYPES: dict[LabelKind, Any] = {"string": np.str_, "integer": np.int64, "boolean": np.bool_}
_INT64 = np.iinfo(np.int64)


def check_labels(y: Any, name: str = "y") -> tuple[list[Label], LabelKind]:
    """The labels as plain Python values and their kind, or one clear sentence."""
    if y is None:
        raise InputError("this learner requires y to be passed, but the target y is None.")
    if isinstance(y, list | tuple) and not any(_is_sequence(label) for label in y):
        values: list[Any] = list(y)  # np.asarray would turn [1, "a"] into strings without a word
    else:
        try:
            array = np.asarray(y)
            values = (array if array.ndim == 1 else _as_column(array)).tolist()
        except ValueError as error:
            raise InputError(
                f"{name} must be a list or array with one label per row: {error}".split("\n")[0]
            ) from error
        if array.dtype.kind in "mM":
            raise InputError(f"Unknown label type: {name} must hold strings, integers or booleans; got {array.dtype}.")
    kinds = {_kind_of(value, name) for value in values}
    if len(kinds) > 1:
        raise InputError(f"{name} must hold labels of one kind; got {' and '.join(sorted(kinds))} together.")
    kind: LabelKind = kinds.pop() if kinds else "string"
    return [_plain(value, kind) for value in values], kind


def label_array(labels: Sequence[Label], kind: LabelKind) -> NDArray[Any]:
    """Labels as an array of the dtype that ``classes_`` and predictions have."""
    return np.array(labels, _DTYPES[kind])


def kind_of(label: Label) -> LabelKind:
    """The kind of a label that was checked before."""
    return "boolean" if isinstance(label, bool) else "string" if isinstance(label, str) else "integer"


def _kind_of(value: Any, name: str) -> LabelKind:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, str):
        if "\0" in value:
            raise InputError(f"{name} must hold labels without NUL characters; got {value!r}.")
        return "string"
    real = isinstance(value, numbers.Real) and not isinstance(value, np.timedelta64)  # which numpy takes for an integer
    if real and (isinstance(value, numbers.Integral) or float(value).is_integer()):
        if not _INT64.min <= int(value) <= _INT64.max:
            raise InputError(f"{name} must hold integers of at most 64 bits; got {value}.")
        return "integer"
    if real:
        raise InputError(
            f"Unknown label type: {name} must hold strings, integers or booleans; got continuous {value!r}."
        )
    raise InputError(
        f"Unknown label type: {name} must hold strings, integers or booleans; got {type(value).__name__} {value!r}."
    )


def _plain(value: Any, kind: LabelKind) -> Label:
    if kind == "boolean":
        return bool(value)
    return str(value) if kind == "string" else int(value)


def _as_column(array: NDArray[Any]) -> NDArray[Any]:
    from sklearn.utils.validation import column_or_1d

    column: NDArray[Any] = column_or_1d(array, warn=True)
    return column


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)
