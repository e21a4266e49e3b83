"""An explainable lifelong stream learner.

The way of the data, which is also the layout::

    image -> features/ -> streams/ -> learner/ (or baselines/) -> explain/ -> bench/ | studio/ | cli/

Start reading at :mod:`exll.learner.exll`, which follows the paper's numbered steps. Names are imported on first use, so
``import exll`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from exll.version import __version__

if TYPE_CHECKING:
    from exll.errors import ExLLError, ModelFileError
    from exll.estimator import ExLLClassifier, load

__all__ = ["ExLLClassifier", "ExLLError", "ModelFileError", "__version__", "load"]

_HOME = {
    "ExLLClassifier": "exll.estimator",
    "load": "exll.estimator",
    "ExLLError": "exll.errors",
    "ModelFileError": "exll.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'exll' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
