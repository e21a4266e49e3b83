"""The search for weights: the least log-loss of scores that are sums of parts."""

import numpy as np

from exll.linalg.softmax import softmax_rows
from exll.types import Indices, Matrix, Vector


def fit_weights(
    parts: list[Matrix],
    truth: Indices,
    sample_weight: Vector,
    start: Vector,
    widths: Vector,
    least: tuple[float, ...] = (0.0,),
    given: Matrix | None = None,
) -> tuple[Vector, float]:
    """Weights of the parts, none below the ``least``, with the least log-loss, and that loss; ``given`` are scores to
    add them to. The problem is convex."""
    from scipy.optimize import minimize  # a fifth of a second, which answers need not wait for

    rows = np.arange(len(truth))
    given = np.zeros_like(parts[0]) if given is None else given
    true_parts = np.array([sample_weight @ part[rows, truth] for part in parts])
    true_given = float(sample_weight @ given[rows, truth])

    def loss(weights: Vector) -> tuple[float, Vector]:
        scores = given + weights[0] * parts[0]
        for weight, part in zip(weights[1:], parts[1:], strict=True):
            scores = scores + weight * part
        likely, total = softmax_rows(scores)
        likely *= sample_weight[:, None]
        slopes = np.array([np.vdot(likely, part) for part in parts]) - true_parts
        prior = weights / widths
        explained = true_given + weights @ true_parts
        return float(sample_weight @ total - explained + 0.5 * prior @ prior), slopes + prior / widths

    found = minimize(loss, start, jac=True, bounds=[(bound, None) for bound in least], method="L-BFGS-B")
    return np.asarray(found.x), float(found.fun)
