"""From a vector's position under the precision to a score: the part that the presets may choose."""

from typing import Protocol

from exll.types import Matrix, Vector


class Head(Protocol):
    r"""A score that is linear in x for a fixed mean p, written with $p^T\Lambda x$ (a dot) and $p^T\Lambda p$ (a
    length)."""

    def scores(self, dots: Vector, lengths: Vector) -> Vector:
        """Scores while learning, from dots and lengths that are at hand."""
        ...

    def linear(self, weights: Matrix, lengths: Vector) -> tuple[Matrix, Vector]:
        r"""Scores when asked, as weights and biases, from $\Lambda p$ (rows) and lengths."""
        ...


class LinearDiscriminant:
    r"""The paper's score (Eq. 18 and 20): $W = \Lambda p$ and $b = -\tfrac12 p^T W$.

    With one shared precision this orders means by Mahalanobis distance: $-2 (W^T x + b) = |x-p|_\Lambda^2 -
    |x|_\Lambda^2$.
    """

    def scores(self, dots: Vector, lengths: Vector) -> Vector:
        return dots - 0.5 * lengths

    def linear(self, weights: Matrix, lengths: Vector) -> tuple[Matrix, Vector]:
        return weights, -0.5 * lengths
