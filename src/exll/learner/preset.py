"""A preset is a choice of parts. A new one is a new value here, and, where a part is new, one file for it."""

from collections.abc import Callable
from dataclasses import dataclass

from exll.learner.fusion import Fusion, PairwiseFusion
from exll.learner.head import Head, LinearDiscriminant
from exll.learner.prototypes import CloudRule, density_condition
from exll.learner.statistics import Residual, total_residual


@dataclass(frozen=True)
class Preset:
    residual: Residual  # what a sample adds to the scatter
    shrinkage: float  # epsilon of Eq. 17
    cloud_rule: CloudRule  # when a sample opens a new prototype
    head: Head  # from vectors to scores
    new_fusion: Callable[[], Fusion]  # how local and global are made one


PRESETS: dict[str, Preset] = {
    "paper": Preset(
        residual=total_residual,
        shrinkage=1e-4,
        cloud_rule=density_condition,
        head=LinearDiscriminant(),
        new_fusion=PairwiseFusion,
    ),
}
