"""NCM: the nearest class mean."""

from exll.baselines.base import Baseline
from exll.baselines.class_means import ClassMeansRule
from exll.baselines.rule import LearningRule, NearnessScores


class NCM(Baseline):
    r"""Nearest class mean: score $-|x - \mu_k|^2$ with running means.

    The order of the stream does not matter.

    >>> NCM().fit([[0.0, 0.0], [2.0, 0.0], [9.0, 0.0]], ["near", "near", "far"]).predict([[4.0, 0.0], [6.0, 0.0]])
    array(['near', 'far'], dtype='<U4')
    """

    name = "ncm"

    def __init__(self, normalise: bool = False) -> None:
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return NCMRule(width)


class NCMRule(ClassMeansRule):
    def scores(self) -> NearnessScores:
        return NearnessScores.of(self._means.vectors)
