"""From scores to probabilities: the scores are multiplied by an inverse temperature that falls with novelty."""

from typing import Protocol

import numpy as np

from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Vector

SLOPE, SLOPE_WIDTH = 0.5, 0.5  # more novel inputs get a lower confidence
INTERCEPT_WIDTH = 2.0  # in a few samples there is little to learn of how far to trust the scores
LEAST_NOVELTY, MOST_NOVELTY = -3.0, 10.0  # beyond these it makes no further difference to confidence
INTERCEPTS, SLOPES = (-6.0, 3.0), (-1.0, 3.0)  # bounds of the two numbers of the inverse temperature


class Confidence(Protocol):
    """What probabilities are made with."""

    def inverse_temperature(self, novelty: Vector) -> Vector: ...


def inverse_temperature(intercept: float, slope: float, novelty: Vector) -> Vector:
    factor: Vector = np.exp(intercept - slope * bounded(novelty))
    return factor


def bounded(novelty: Vector) -> Vector:
    return np.clip(novelty, LEAST_NOVELTY, MOST_NOVELTY)


def fit_temperature(scores: Matrix, novelty: Vector, truth: Indices) -> tuple[float, float]:
    """Intercept and slope of the logarithm of the inverse temperature."""
    from scipy.optimize import minimize

    rows, usual = np.arange(len(truth)), -bounded(novelty)

    def loss(numbers: Vector) -> tuple[float, Vector]:
        intercept, slope = numbers
        factor = np.exp(intercept + slope * usual)
        scaled = factor[:, None] * scores
        likely, total = softmax_rows(scaled)
        change = factor * (np.vecdot(likely, scores) - scores[rows, truth])
        off, far = (slope - SLOPE) / SLOPE_WIDTH, intercept / INTERCEPT_WIDTH
        slopes = np.array([change.sum() + far / INTERCEPT_WIDTH, change @ usual + off / SLOPE_WIDTH])
        return float((total - scaled[rows, truth]).sum() + 0.5 * (off**2 + far**2)), slopes

    found = minimize(loss, np.array([0.0, SLOPE]), jac=True, bounds=[INTERCEPTS, SLOPES], method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])
