"""An explainable lifelong stream learner.

The data goes through these packages in this order::

    image -> features/ -> streams/ -> learner/ (or baselines/) -> explain/ -> bench/ | studio/ | cli/

Start reading at :mod:`exll.learner.exll`, which all presets share. :mod:`exll.learner.paper.learner` follows the
equations of the paper, :mod:`exll.learner.glocal.learner` is the default.

Names are imported on first use, so ``import exll`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from exll.version import __version__

if TYPE_CHECKING:
    from exll.baselines.base import Baseline
    from exll.cluster.run import learn_on_cluster
    from exll.errors import (
        BackboneError,
        BenchError,
        ClusterError,
        ExLLError,
        ImageError,
        InputError,
        InputTypeError,
        LearningInterruptedError,
        ModelFileError,
        ModelFileNotFoundError,
        NothingLearnedError,
        OtherBackboneError,
        SingularError,
        StreamError,
    )
    from exll.estimator import ExLLClassifier
    from exll.explain.case import Case
    from exll.explain.contributions import Contribution, Without
    from exll.explain.evaluation import Calibration, ClassCounts, Confusion, Counts, Evaluation, Mistake
    from exll.explain.evidence_map import EvidenceMap
    from exll.explain.explanation import Evidence, Explanation, Remembered
    from exll.explain.progress import Progress
    from exll.explain.rules import Condition, Rule
    from exll.explain.suspects import Contradiction, Suspect, Suspects
    from exll.features.backbone import OnnxBackbone, Seen, View
    from exll.features.own_backbone import Backbone
    from exll.learner.inference import Combination
    from exll.learner.megacloud import MegaCloud
    from exll.learner.records import Record
    from exll.loading import load
    from exll.merging import Conflict, conflicts, merge
    from exll.prediction import Prediction
    from exll.streams.example import Example
    from exll.streams.stream import Stream, open_images, open_stream
    from exll.vision import ImageLearner

_NAMES_IN = {
    "exll.baselines.base": ("Baseline",),
    "exll.errors": (
        "BackboneError",
        "BenchError",
        "ClusterError",
        "ExLLError",
        "ImageError",
        "InputError",
        "InputTypeError",
        "LearningInterruptedError",
        "ModelFileError",
        "ModelFileNotFoundError",
        "NothingLearnedError",
        "OtherBackboneError",
        "SingularError",
        "StreamError",
    ),
    "exll.estimator": ("ExLLClassifier",),
    "exll.cluster.run": ("learn_on_cluster",),
    "exll.prediction": ("Prediction",),
    "exll.explain.case": ("Case",),
    "exll.explain.contributions": ("Contribution", "Without"),
    "exll.explain.evaluation": ("Calibration", "ClassCounts", "Confusion", "Counts", "Evaluation", "Mistake"),
    "exll.explain.evidence_map": ("EvidenceMap",),
    "exll.explain.explanation": ("Evidence", "Explanation", "Remembered"),
    "exll.explain.progress": ("Progress",),
    "exll.explain.rules": ("Condition", "Rule"),
    "exll.explain.suspects": ("Contradiction", "Suspect", "Suspects"),
    "exll.features.backbone": ("OnnxBackbone", "Seen", "View"),
    "exll.features.own_backbone": ("Backbone",),
    "exll.learner.inference": ("Combination",),
    "exll.learner.megacloud": ("MegaCloud",),
    "exll.learner.records": ("Record",),
    "exll.loading": ("load",),
    "exll.merging": ("Conflict", "conflicts", "merge"),
    "exll.streams.example": ("Example",),
    "exll.streams.stream": ("Stream", "open_images", "open_stream"),
    "exll.vision": ("ImageLearner",),
}
_HOME = {name: module for module, names in _NAMES_IN.items() for name in names}

__all__ = [  # noqa: RUF022 - what one starts with, what is returned, what is raised
    "ExLLClassifier",
    "ImageLearner",
    "load",
    "learn_on_cluster",
    "merge",
    "conflicts",
    "Backbone",
    "Baseline",
    "Example",
    "OnnxBackbone",
    "Stream",
    "open_images",
    "open_stream",
    "Calibration",
    "Case",
    "ClassCounts",
    "Combination",
    "Condition",
    "Conflict",
    "Confusion",
    "Contradiction",
    "Contribution",
    "Counts",
    "Evaluation",
    "Evidence",
    "EvidenceMap",
    "Explanation",
    "MegaCloud",
    "Mistake",
    "Prediction",
    "Progress",
    "Record",
    "Remembered",
    "Rule",
    "Seen",
    "Suspect",
    "Suspects",
    "View",
    "Without",
    "BackboneError",
    "BenchError",
    "ClusterError",
    "ExLLError",
    "ImageError",
    "InputError",
    "InputTypeError",
    "LearningInterruptedError",
    "ModelFileError",
    "ModelFileNotFoundError",
    "NothingLearnedError",
    "OtherBackboneError",
    "SingularError",
    "StreamError",
    "__version__",
]


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
