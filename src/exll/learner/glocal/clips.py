r"""Takes: stretches of the stream in which one sample follows from the one before, as frames of a video do.

What the frames of one film say of each other says little of the next film: left out alone, a frame has its
neighbours to vouch for it. So the model must know which samples came together. Nobody tells it; but in a video the step
from one sample to the next is far shorter than the way between two samples of a class that have nothing to do with each
other. Such a way squared is twice the variance $s^2$ within the classes, on average. In shuffled photos of real data
sets a step squared is $2 s^2$ in the middle and rarely below half of that; in videos it is 0.15 to 0.36 of it.

A take ends where the class changes, or with a step whose square is above ``CUT`` times $2 s^2$, with the larger of the
variances within all classes and within its own; a long take is a film. Of a thing held still both variances are the
noise of the camera: a step below ``SAME``, beside samples of length 1, is none at all. With more noise than that such a
film is taken for photos, as they come from a camera that never moves, before which one part after the other is laid.
"""

import numpy as np

from exll.types import Tensors, Vector

CUT, SAME = 0.85, 0.008
SWEEP = 1.3  # so much longer may a step be in the midst of a film, where the view sweeps
SHORTEST_FILM = 6  # samples; so many photos of a class seldom resemble each other one after the other by chance


def longest_step(within: float, within_class: float) -> float:
    """Squared, from one sample of a take to the next, by the variances of what was learned."""
    return max(2.0 * CUT * max(within, within_class), SAME)


class Takes:
    """Follows the stream; all that it remembers is the last sample and the take that it belongs to."""

    def __init__(self, width: int) -> None:
        self._last = np.zeros(width, np.float32)
        self._class = -1
        self.start = 0  # the place in the stream of its first sample
        self.length = 0
        self._sum = np.zeros(width)

    @property
    def mean(self) -> Vector:
        return self._sum / max(self.length, 1)

    def goes_on(self, x: Vector, k: int, longest: float) -> bool:
        """Whether the next sample belongs to the same take."""
        if k != self._class:
            return False
        step = x - self._last
        return float(step @ step) <= (longest if self.length < SHORTEST_FILM else SWEEP * longest)

    def begin(self, position: int, k: int) -> None:
        self._class, self.start, self.length = k, position, 0
        self._sum = np.zeros_like(self._sum)

    def add(self, x: Vector) -> None:
        self.length += 1
        self._sum += x
        self._last = x.astype(np.float32)

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        if self._class == absorbed:
            self._class = kept
        elif self._class > absorbed:
            self._class -= 1

    def state(self) -> Tensors:
        now = np.array([self._class, self.start, self.length], np.int64)
        return {"take": now, "take_sum": self._sum, "take_last": self._last}

    def restore(self, state: Tensors, width: int, samples: int, classes: int) -> None:
        self._class, self.start, self.length = map(int, state["take"])
        self._sum = np.array(state["take_sum"], np.float64)
        self._last = np.array(state["take_last"], np.float32)
        if {self._sum.shape, self._last.shape} != {(width,)} or not -1 <= self._class < classes:
            raise ValueError("the last sample is none")
        if min(self.start, self.length) < 0 or self.start + self.length > samples:
            raise ValueError("the last take is none")
