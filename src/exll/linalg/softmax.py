"""Softmax of rows and the logarithm of its denominator, in one pass, for the cases that occur here."""

import numpy as np

from exll.types import Matrix, Vector


def softmax_rows(scores: Matrix) -> tuple[Matrix, Vector]:
    """Probabilities, (rows, classes), and the logarithm of the sum of exponentials of every row.

    >>> softmax_rows(np.array([[0.0, np.log(3.0)]]))
    (array([[0.25, 0.75]]), array([1.38629436]))
    """
    top = scores.max(axis=1, keepdims=True)
    likely = np.exp(scores - top)
    total = likely.sum(axis=1, keepdims=True)
    likely /= total
    return likely, (top + np.log(total))[:, 0]
