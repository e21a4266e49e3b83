"""An explainable lifelong stream learner.

The way of the data, which is also the layout::

    image -> features/ -> streams/ -> learner/ (or baselines/) -> explain/ -> bench/ | studio/ | cli/

Start reading at :mod:`exll.learner.exll`, which all presets share. :mod:`exll.learner.paper.learner` follows the
equations of the paper, :mod:`exll.learner.glocal.learner` is the default.

Names are imported on first use, so ``import exll`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from exll.version import __version__

if TYPE_CHECKING:
    from exll.errors import ExLLError, ModelFileError
    from exll.estimator import ExLLClassifier
    from exll.features.backbone import Backbone
    from exll.loading import load
    from exll.vision import ImageLearner

__all__ = ["Backbone", "ExLLClassifier", "ExLLError", "ImageLearner", "ModelFileError", "__version__", "load"]

_HOME = {
    "Backbone": "exll.features.backbone",
    "ExLLClassifier": "exll.estimator",
    "ImageLearner": "exll.vision",
    "load": "exll.loading",
    "ExLLError": "exll.errors",
    "ModelFileError": "exll.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'exll' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOME[name]), name)
    if name == "ExLLClassifier":
        import_module("exll.lazy_estimator").replace_base()  # the class itself, not only its objects
    return found


def __dir__() -> list[str]:
    return __all__
