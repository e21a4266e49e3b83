r"""All that was learned, taken as one: the covariance within the classes plus that between them.

How far x lies from its class says little by itself, since some inputs lie far from everything. What marks an unknown
input is how much farther it lies from its class than from the whole: the relative Mahalanobis distance,
$|x-\mu_k|^2_\Lambda - |x-o|^2_{\Lambda_0}$, where $\Lambda_0^{-1} = \Lambda^{-1} + \sum_k \pi_k m_k m_k^T$ with the
share $\pi_k$ of a class and its mean $m_k$ seen from the origin o. No second precision is needed for it: with the dots
$c_k = m_k^T \Lambda (x-o)$, the Woodbury identity gives
$|x-o|^2_\Lambda - |x-o|^2_{\Lambda_0} = c^T (\mathrm{diag}(1/\pi) + M \Lambda M^T)^{-1} c$, and the distance is that
minus twice the linear discriminant of the class.
"""

import numpy as np

from exll.linalg.lapack import cholesky, solve_factor
from exll.types import Indices, Matrix, Vector


class Background:
    """Made of the dots of the class means with one another, and of their counts."""

    def __init__(self, classes_classes: Matrix, counts: Indices) -> None:
        self._factor = np.asfortranarray(classes_classes + np.diag(counts.sum() / counts))
        cholesky(self._factor)

    def shared(self, dots: Matrix) -> Vector:
        """What some rows have in common with all classes together, from their dots with the class means."""
        roots = np.array(dots.T, order="C")
        solve_factor(self._factor, roots)
        shared: Vector = np.square(roots).sum(axis=0)
        return shared


def relative_distance(shared: Vector, discriminant: Vector, norms: Vector) -> Vector:
    """How much farther rows lie from a class than from all that was learned, as a share of their squared norms: so it
    changes little while the precision of a young model does."""
    distance: Vector = (shared - 2.0 * discriminant) / norms**2
    return distance
