"""What ``exll`` offers by name."""

import ast
import builtins
import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import exll
import exll.errors

SOURCE = Path(exll.__file__).parent
ROOMS_OF_THEIR_OWN = ("studio", "bench", "cli")  # with errors and values that no caller of the library meets


def test_every_public_name_is_there() -> None:
    for name in exll.__all__:
        assert getattr(exll, name) is not None
    assert dir(exll) == sorted(exll.__all__)
    assert set(exll.__all__) == {*exll._HOME, "__version__"}
    assert len(set(exll.__all__)) == len(exll.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = exll.Nonsense


@pytest.mark.process
def test_importing_exll_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import exll; print(*sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(printed.split()) - {"typing", "contextlib"} <= {"exll", "exll.version", *own_of_typing()}


def own_of_typing() -> set[str]:
    """What Python itself imports for ``typing``."""
    code = "import sys; before = set(sys.modules); import typing; print(*sorted(set(sys.modules) - before))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def public_functions() -> Iterator[tuple[str, Any]]:
    """Every function, method and property that somebody can reach from the exported names, but for those of the
    learner inside."""
    for name in exll.__all__:
        found = getattr(exll, name)
        if inspect.isfunction(found):
            yield name, found
        if not inspect.isclass(found):
            continue
        for member in dir(found):
            value = inspect.getattr_static(found, member)
            value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if member.startswith("_") or member == "learner_":
                continue
            if inspect.isfunction(value) and value.__module__.startswith("exll"):
                yield f"{name}.{member}", value


def test_every_public_function_has_an_example_that_runs() -> None:
    """Of what one starts with; that they run is tested with all other examples (--doctest-modules)."""
    starts = ("ExLLClassifier", "ImageLearner", "Backbone", "Stream", "load", "open_stream")
    functions = {name: value for name, value in public_functions() if name.split(".")[0] in starts}
    functions |= {name: getattr(exll, name) for name in starts}
    without = {name for name, value in functions.items() if ">>> " not in (value.__doc__ or "")}
    properties = {name for name in functions if isinstance(member_of(name), property | cached_property)}
    assert without - properties == set()
    assert all(functions[name].__doc__ or "Backbone" in name for name in properties)
    assert {"ImageLearner.rules", "ExLLClassifier.fit", "load", "Stream.ordered"} <= set(functions)


def member_of(name: str) -> Any:
    owner, _, member = name.partition(".")
    return inspect.getattr_static(getattr(exll, owner), member) if member else None


def classes_in(annotation: Any) -> Iterator[type]:
    """Our classes that an annotation names, at any depth."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("exll"):
        yield annotation
    for part in typing.get_args(annotation):
        yield from classes_in(part)


def returned_by(function: Any) -> set[type]:
    hints = typing.get_type_hints(function, vars(sys.modules[function.__module__]) | {"Self": typing.Self})
    return set(classes_in(hints.get("return")))


def test_everything_that_is_returned_is_exported() -> None:
    exported = {value for name in exll.__all__ if inspect.isclass(value := getattr(exll, name))}
    missing = {(name, made) for name, function in public_functions() for made in returned_by(function) - exported}
    for value in exported:
        if dataclasses.is_dataclass(value):
            hints = typing.get_type_hints(value)
            missing |= {(value.__name__, made) for hint in hints.values() for made in set(classes_in(hint)) - exported}
    assert not missing


def test_everything_that_is_raised_is_exported() -> None:
    own = {name for name, value in vars(exll.errors).items() if inspect.isclass(value)}
    assert own <= set(exll.__all__)
    raised = set()
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] not in ROOMS_OF_THEIR_OWN:
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.Raise)
                    and isinstance(node.exc, ast.Call)
                    and isinstance(node.exc.func, ast.Name)
                ):
                    raised.add(node.exc.func.id)
    raised.remove("MissingDecoderError")  # becomes an ImageError on its way to the caller
    assert {"InputError", "NothingLearnedError"} <= raised
    assert {name for name in raised if name.endswith("Error") and not hasattr(builtins, name)} <= set(exll.__all__)
