"""Examples of nothing, in plain loops."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def nearer_than_every_prototype(
    x: Vector, samples: list[Vector], prototypes: list[Vector], nothing: list[Vector], precision: Vector, cosines: bool
) -> list[int]:
    """The examples of nothing that are more like x than every prototype is, the nearest first."""
    origin = np.mean([*samples, *nothing], axis=0)

    def likeness(point: Vector) -> float:
        a, b = point - origin, x - origin
        dot, own, other = (float(left @ precision @ right) for left, right in ((a, b), (a, a), (b, b)))
        return dot / np.sqrt(own * other) if cosines else -0.5 * float((x - point) @ precision @ (x - point))

    best = max(likeness(prototype) for prototype in prototypes)
    found = [(likeness(example), i) for i, example in enumerate(nothing) if likeness(example) > best]
    return [i for _, i in sorted(found, key=lambda pair: (-pair[0], pair[1]))]
