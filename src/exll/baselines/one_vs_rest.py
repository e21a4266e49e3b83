"""SOvR: streaming one-versus-rest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.class_means import ClassMeansRule
from exll.baselines.rule import LearningRule
from exll.types import Indices, Matrix

SMALLEST_SUM = 1e-300


class SOvR(Baseline):
    r"""Streaming one-versus-rest: the share of a class in the likeness to it and to all others.

    $$s_k = \frac{y}{y + n}, \quad y = x^T\mu_k, \quad n = x^T\bar\mu_{\neq k}$$

    with $\bar\mu_{\neq k}$ the mean of all samples of the other classes. It is made for vectors without negative
    entries, such as pooled activations; with others the share is still taken, but means little. The order of the stream
    does not matter.

    >>> SOvR().fit([[3.0, 1.0], [1.0, 3.0]], ["wide", "tall"]).predict([[2.0, 1.0]])
    array(['wide'], dtype='<U4')
    """

    name = "sovr"

    def __init__(self, normalise: bool = False) -> None:
        self.normalise = normalise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where vectors have negative entries
        return tags

    def _new_rule(self, width: int) -> LearningRule:
        return SOvRRule(width)


@dataclass(frozen=True)
class ShareOfLikeness:
    means: Matrix  # (classes, d)
    counts: Indices  # (classes,)

    def __call__(self, X: Matrix) -> Matrix:
        own: Matrix = X @ self.means.T
        sums = own * self.counts
        others = self.counts.sum() - self.counts
        rest = (sums.sum(axis=1, keepdims=True) - sums) / np.maximum(others, 1) * (others > 0)
        whole = own + rest
        shares: Matrix = np.divide(own, whole, out=np.zeros_like(own), where=np.abs(whole) > SMALLEST_SUM)
        return shares


class SOvRRule(ClassMeansRule):
    def scores(self) -> ShareOfLikeness:
        return ShareOfLikeness(self._means.vectors.copy(), self._means.counts.copy())
