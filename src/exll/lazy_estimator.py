"""``LazyEstimator``: scikit-learn's base classes, added only when they are needed.

Importing scikit-learn costs more than everything else that one answer needs (benchmarks/startup.py), and an answer
needs nothing of it. So a classifier begins with the small base class below. As soon as somebody asks a classifier for
something that only an estimator has (``get_params``, tags, ``score``), as all of scikit-learn does first, that base is
replaced by ``ClassifierMixin`` and ``BaseEstimator`` themselves, in all classifiers at once. ``exll.ExLLClassifier`` is
an estimator from the start.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

BASE_MODULE = "sklearn.base"
_lock = threading.RLock()


class LazyEstimator:
    """The base class of a classifier until scikit-learn's are needed; afterwards no class has it any more."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if BASE_MODULE in sys.modules:
            replace_base()

    def __getattr__(self, name: str) -> Any:
        """Look in scikit-learn for what is not here: ``get_params``, ``score``, ``set_fit_request`` and the like."""
        if name.endswith("_") and not name.startswith("_"):  # an attribute that only learning sets
            return object.__getattribute__(self, name)  # raises again, with the sentence of a property where it is one
        if name.startswith("__") and not name.startswith("__sklearn"):  # what copy and pickle look for
            raise AttributeError(name)
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
