"""Ridge regression to one-hot targets, in one pass."""

from collections.abc import Callable
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import blas

from exll.baselines.base import Baseline
from exll.baselines.feature_maps import FeatureMap
from exll.baselines.moments import MappedScores, MomentsRule, Totals
from exll.baselines.rule import LearningRule, LinearScores
from exll.errors import InputError
from exll.learner.precision import FactoredPrecision
from exll.linalg.lapack import cholesky
from exll.parameters import Allowed, is_number
from exll.types import Matrix, Vector

Penalty = float | Literal["auto"]
PENALTY = Allowed(
    lambda: "'auto' or a number above 0",
    lambda value: (isinstance(value, str) and value == "auto") or (is_number(value) and 0 < value < np.inf),
)
# Of the mean of the diagonal of G. On the development tasks the best ones lay between 0.003 and 0.3.
PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
START = PENALTIES.index(0.1)
WITHOUT_HELD_OUT = 0.3  # few samples want a large one
LEAST_HELD_OUT = 10
LARGEST_WEIGHT = 1e150  # times a vector that is allowed, it is still finite


class LeastSquares(Baseline):
    r"""The weights with the least squared error to one-hot targets.

    $$W = (G + \lambda I)^{-1} H, \qquad G = \sum x x^T, \quad H = \sum x\, e_y^T, \qquad s = W^T x$$

    Sums are kept and the system is solved when it is asked. That is what ACIL's recursive update of W and of the
    inverse gives, in any order and without its rounding errors. A class that comes later has targets of 0 at all
    earlier samples, and its sums show that by themselves.

    ``penalty`` is $\lambda$. ``"auto"`` is the criterion of RanPAC, as a stream: every fifth sample of a class goes
    into held-out sums $G_h, H_h$, W is made from the other sums with penalties from 0.001 to 1 times the mean of the
    diagonal of G, and the one with the least squared error on what was held out,
    $\mathrm{tr}(W^T G_h W) - 2\,\mathrm{tr}(W^T H_h) + n_h$, is taken with all sums. With fewer than ten held-out
    samples it is 0.3 times that mean.

    >>> X = [[3.0, 0.1], [0.1, 2.0], [2.0, 0.3], [0.3, 3.0]]
    >>> LeastSquares().fit(X, ["right", "up", "right", "up"]).predict([[1.0, 0.0], [0.0, 1.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "rls"
    _allowed: ClassVar = {"penalty": PENALTY}

    def __init__(self, penalty: Penalty = "auto", normalise: bool = False) -> None:
        self.penalty = penalty
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return LeastSquaresRule(width, FeatureMap(width), self.penalty)


class LeastSquaresRule(MomentsRule):
    def __init__(self, width: int, feature_map: FeatureMap, penalty: Penalty) -> None:
        super().__init__(width, feature_map, hold_out=penalty == "auto")
        self._penalty = penalty

    def scores(self) -> MappedScores:
        with np.errstate(all="ignore"):  # a forged file may overflow; the weights are looked at
            weights = self._weights()
        if not np.abs(weights).max() <= LARGEST_WEIGHT:
            raise InputError(
                "the weights of least squares became too large to multiply with: its vectors are too small or its "
                "model file was forged; take normalise=True."
            )
        return MappedScores(self._map, LinearScores(weights, np.zeros(len(weights))))

    def _weights(self) -> Matrix:
        """(classes, D)"""
        if not self._folded:
            return self._weights_of_rows()
        learned, *held_out = self._totals()
        if not held_out:
            return solved(learned, float(self._penalty))
        held, scale = held_out[0], float(diagonal(learned.gram).mean())

        def error(penalty: float) -> float:
            weights = solved(learned._replace(gram=learned.gram.copy(order="F")), penalty)
            predicted = blas.dsymm(1.0, held.gram, weights.T, lower=1)  # (D, classes)
            return float(np.vdot(weights.T, predicted) - 2.0 * np.vdot(weights, held.sums))

        penalty = chosen_penalty(scale, int(held.counts.sum()), error)
        learned.gram[:] += held.gram
        learned.sums[:] += held.sums
        return solved(learned, penalty)

    def _weights_of_rows(self) -> Matrix:
        r"""The same from the samples Z themselves, $W = Z^T (Z Z^T + \lambda I)^{-1} E$: with fewer samples than
        features that is the smaller system."""
        (Z, classes), *held_out = self._mapped()
        targets = np.eye(self._class_count)
        if not held_out:
            return combined(Z, targets[classes], float(self._penalty)).T @ Z
        held, held_classes = held_out[0]
        across, products = held @ Z.T, Z @ Z.T
        scale = float(np.trace(products)) / Z.shape[1]

        def error(penalty: float) -> float:
            missed = across @ combined(Z, targets[classes], penalty, products) - targets[held_classes]
            return float(np.vdot(missed, missed))

        penalty = chosen_penalty(scale, len(held), error)
        Z, classes = np.concatenate([Z, held]), np.concatenate([classes, held_classes])
        return combined(Z, targets[classes], penalty).T @ Z


def chosen_penalty(scale: float, held: int, error: Callable[[float], float]) -> float:
    """The one with the least squared error on what was held out: downhill from the middle, since the error falls and
    then rises with the penalty."""
    if scale <= 0.0:
        return 1.0  # nothing but zeros
    if held < LEAST_HELD_OUT:
        return WITHOUT_HELD_OUT * scale
    known = cache(lambda place: error(PENALTIES[place] * scale))
    best = START
    for step in (1, -1):
        while 0 <= best + step < len(PENALTIES) and known(best + step) < known(best):
            best += step
    return PENALTIES[best] * scale


def combined(Z: Matrix, targets: Matrix, penalty: float, products: Matrix | None = None) -> Matrix:
    """How much of each sample the weights of a class hold, (samples, classes)."""
    gram = (Z @ Z.T if products is None else products.copy()).T  # the same matrix, in Fortran order
    return _solved(gram, np.ascontiguousarray(targets.T), penalty).T


def solved(totals: Totals, penalty: float) -> Matrix:
    """The weights, (classes, D); writes over the outer products."""
    return _solved(totals.gram, totals.sums, penalty)


def _solved(gram: Matrix, rows: Matrix, penalty: float) -> Matrix:
    diagonal(gram)[:] += penalty
    try:
        cholesky(gram)
    except ArithmeticError as error:
        raise InputError(
            f"the vectors that were learned are too large for a penalty of {penalty:g}, which is lost in rounding "
            "beside their products; take penalty='auto' or normalise=True, or scale them down."
        ) from error
    return FactoredPrecision(gram).apply(rows)


def diagonal(matrix: Matrix) -> Vector:
    """A view that can be written to, which ``np.diagonal`` is not."""
    return matrix.ravel(order="K")[:: len(matrix) + 1]
