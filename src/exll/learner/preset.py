"""A preset is a learner: how it steps, what it asks. A new one is a file beside paper.py and glocal.py, and a line
here."""

from collections.abc import Sequence

from exll.learner.exll import ExLL, Parameters
from exll.learner.glocal import GlocalLearner
from exll.learner.paper import PaperLearner
from exll.types import Label, Tensors

PRESETS: dict[str, type[ExLL]] = {"glocal": GlocalLearner, "paper": PaperLearner}
DEFAULT_PRESET = "glocal"


def new_learner(width: int, parameters: Parameters) -> ExLL:
    return PRESETS[parameters.preset](width, parameters)


def learner_from_state(labels: Sequence[Label], width: int, parameters: Parameters, state: Tensors) -> ExLL:
    """Raises KeyError, ValueError or the like where the arrays do not make a whole model."""
    learner = new_learner(width, parameters)
    learner.restore(labels, state)
    return learner
