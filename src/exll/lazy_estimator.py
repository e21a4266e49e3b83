"""``LazyEstimator``: scikit-learn's base classes, taken on only once scikit-learn is imported.

Importing scikit-learn costs more than everything else that one answer needs (benchmarks/startup.py), and an answer
needs nothing of it. So a classifier begins with the small base class below. As soon as anybody imports scikit-learn, or
asks a classifier for something that only an estimator has, that base is replaced by ``ClassifierMixin`` and
``BaseEstimator`` themselves, in all classifiers at once. Whoever uses scikit-learn therefore always meets real
estimators.
"""

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

BASE_MODULE = "sklearn.base"
_lock = threading.RLock()


class LazyEstimator:
    """The base class of a classifier until scikit-learn is imported; afterwards no class has it any more."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if BASE_MODULE in sys.modules:
            replace_base()

    def __getattr__(self, name: str) -> Any:
        """Look in scikit-learn for what is not here: ``get_params``, ``score``, ``set_fit_request`` and the like."""
        if name.endswith("_") and not name.startswith("_"):  # an attribute that only learning sets
            return object.__getattribute__(self, name)  # raises again, with the sentence of a property where it is one
        replace_base()
        return getattr(self, name)

    def __repr__(self) -> str:
        replace_base()
        return repr(self)

    def __dir__(self) -> Iterable[str]:
        replace_base()
        return dir(self)

    def __sklearn_tags__(self) -> Any:
        """For a subclass that changes the tags of its base."""
        replace_base()
        from sklearn.base import ClassifierMixin

        return ClassifierMixin.__sklearn_tags__(self)


def replace_base() -> None:
    """Make every classifier an estimator now; imports scikit-learn if nobody has."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    with _lock:
        for cls in LazyEstimator.__subclasses__():
            cls.__bases__ = (ClassifierMixin, BaseEstimator)
            for each in _with_subclasses(cls):
                super(cls, each).__init_subclass__()  # adds set_fit_request and the like


def _with_subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from _with_subclasses(subclass)


class _BaseImport(MetaPathFinder):
    """Notices that somebody imports scikit-learn's base classes, and replaces ours right afterwards."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != BASE_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)  # by the other finders
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_replace(module: ModuleType) -> None:
            load(module)
            replace_base()

        spec.loader.exec_module = load_and_replace  # type: ignore[method-assign]
        return spec


if BASE_MODULE not in sys.modules:
    sys.meta_path.insert(0, _BaseImport())
