r"""From a vector's position under the precision to a score: the part that the presets may choose.

Every score of ours is linear in x and linear in one of the two means it holds. Seen from an origin o, with the dot
$(p-o)^T\Lambda(x-o)$ and the length $|p-o|^2_\Lambda$ of a mean p, it is slope times dot minus pull times length. That
is what lets a class's score be taken apart, prototype by prototype and place by place.
"""

from typing import NamedTuple

import numpy as np

from exll.types import Vector

SHORTEST = 1e-12


class Head(NamedTuple):
    """Slopes and pulls of some means."""

    slopes: Vector
    pulls: Vector

    def scores(self, dots: Vector, squared_norms: Vector) -> Vector:
        return self.slopes * dots - self.pulls * squared_norms


def linear_discriminant(squared_norms: Vector) -> Head:
    r"""The paper's score (Eq. 18 and 20), $p^T\Lambda x - \tfrac12 p^T\Lambda p$.

    With one shared precision this orders means by Mahalanobis distance: minus twice the score is $|x-p|_\Lambda^2 -
    |x|_\Lambda^2$.
    """
    return Head(np.ones(len(squared_norms)), np.full(len(squared_norms), 0.5))


def whitened_cosine(squared_norms: Vector, cosine: float, distance: float = 0.0) -> Head:
    r"""``cosine`` times $(p-o)^T\Lambda(x-o)/|p-o|_\Lambda$, plus ``distance`` times the linear discriminant.

    The first is the cosine with the mean times $|x-o|_\Lambda$, which is the same for all means. A mean at the origin
    itself points nowhere: its cosine counts as zero.
    """
    norm = np.sqrt(np.maximum(squared_norms, SHORTEST))
    return Head(
        np.where(squared_norms > SHORTEST, cosine / norm, 0.0) + distance, np.full(len(squared_norms), 0.5 * distance)
    )
