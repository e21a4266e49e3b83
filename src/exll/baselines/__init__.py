"""The learners that ExLL is compared with, by name. Each is imported on first use.

>>> from exll.baselines import baseline
>>> baseline("ncm").fit([[0.0, 1.0], [4.0, 1.0]], ["left", "right"]).predict([[1.0, 1.0]])
array(['left'], dtype='<U5')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from exll.errors import InputError

if TYPE_CHECKING:
    from exll.baselines.base import Baseline
    from exll.baselines.cbcl import CBCL
    from exll.baselines.fecam import FeCAM
    from exll.baselines.fine_tune import FineTune
    from exll.baselines.klda import KLDA
    from exll.baselines.knn import KNN
    from exll.baselines.least_squares import LeastSquares
    from exll.baselines.naive_bayes import NaiveBayes
    from exll.baselines.ncm import NCM
    from exll.baselines.one_vs_rest import SOvR
    from exll.baselines.perceptron import Perceptron
    from exll.baselines.ranpac import RanPAC
    from exll.baselines.rda import StreamingRDA
    from exll.baselines.replay import Replay
    from exll.baselines.slda import SLDA
    from exll.baselines.xdnn import XDNN

__all__ = [
    "CBCL",
    "KLDA",
    "KNN",
    "NAMES",
    "NCM",
    "SLDA",
    "XDNN",
    "FeCAM",
    "FineTune",
    "LeastSquares",
    "NaiveBayes",
    "Perceptron",
    "RanPAC",
    "Replay",
    "SOvR",
    "StreamingRDA",
    "baseline",
    "baseline_class",
]

_HOME = {
    "NCM": "exll.baselines.ncm",
    "SLDA": "exll.baselines.slda",
    "SOvR": "exll.baselines.one_vs_rest",
    "NaiveBayes": "exll.baselines.naive_bayes",
    "Perceptron": "exll.baselines.perceptron",
    "FineTune": "exll.baselines.fine_tune",
    "Replay": "exll.baselines.replay",
    "CBCL": "exll.baselines.cbcl",
    "LeastSquares": "exll.baselines.least_squares",
    "RanPAC": "exll.baselines.ranpac",
    "KLDA": "exll.baselines.klda",
    "FeCAM": "exll.baselines.fecam",
    "StreamingRDA": "exll.baselines.rda",
    "KNN": "exll.baselines.knn",
    "XDNN": "exll.baselines.xdnn",
}
_CLASS_OF = {
    "ncm": "NCM",
    "slda": "SLDA",
    "sovr": "SOvR",
    "naive-bayes": "NaiveBayes",
    "perceptron": "Perceptron",
    "fine-tune": "FineTune",
    "replay": "Replay",
    "cbcl": "CBCL",
    "rls": "LeastSquares",
    "ranpac": "RanPAC",
    "klda": "KLDA",
    "fecam": "FeCAM",
    "rda": "StreamingRDA",
    "knn": "KNN",
    "xdnn": "XDNN",
}
NAMES = tuple(_CLASS_OF)
"""The short names of all baselines, as `exll bench` uses them."""


def baseline_class(name: str) -> "type[Baseline]":
    """The class of a learner, by the name that its model files hold."""
    if name not in _CLASS_OF:
        choices = ", ".join(repr(known) for known in NAMES)
        raise InputError(f"there is no baseline {name!r}; there are {choices}.")
    found: type[Baseline] = __getattr__(_CLASS_OF[name])
    return found


def baseline(name: str, **parameters: Any) -> "Baseline":
    """A new learner by its name; it has learned nothing yet."""
    return baseline_class(name)(**parameters)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'exll.baselines' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
