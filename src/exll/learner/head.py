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

    def scores(self, dots: Vector, lengths: Vector) -> Vector:
        return self.slopes * dots - self.pulls * lengths


def linear_discriminant(lengths: Vector) -> Head:
    r"""The paper's score (Eq. 18 and 20), $p^T\Lambda x - \tfrac12 p^T\Lambda p$.

    With one shared precision this orders means by Mahalanobis distance: minus twice the score is $|x-p|_\Lambda^2 -
    |x|_\Lambda^2$.
    """
    return Head(np.ones(len(lengths)), np.full(len(lengths), 0.5))


def whitened_cosine(lengths: Vector, cosine: float, distance: float = 0.0) -> Head:
    r"""``cosine`` times $(p-o)^T\Lambda(x-o)/|p-o|_\Lambda$, plus ``distance`` times the linear discriminant.

    The first is the cosine with the mean times $|x-o|_\Lambda$, which is the same for all means. A mean at the origin
    itself points nowhere: its cosine counts as zero.
    """
    reach = np.sqrt(np.maximum(lengths, SHORTEST))
    return Head(np.where(lengths > SHORTEST, cosine / reach, 0.0) + distance, np.full(len(lengths), 0.5 * distance))
