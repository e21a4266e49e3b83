r"""Clips: stretches of the stream in which one sample follows from the one before, as frames of a video do.

The frames of one clip say little about the next clip: a frame that is left out alone still has its neighbours in the
model. So the model must know which samples came together. Nobody tells it; but in a video the step from one sample to
the next is far shorter than the distance between two unrelated samples of a class. That distance squared is twice the
variance $s^2$ within the classes, on average. In shuffled photos of real data sets a squared step is about $2 s^2$ and
rarely below half of that; in videos it is 0.15 to 0.36 of it.

A clip ends where the class changes, or with a step whose square is above ``CUT`` times $2 s^2$, with the larger of the
variances within all classes and within its own class. If an object is held still, both variances are the noise of the
camera: a step below ``SAME`` between unit vectors never ends a clip. With more noise than that, such a clip is taken
for photos, like those of a fixed camera that sees one part after the other.

Only clips of at least ``SHORTEST_CLIP`` samples count as clips in what follows; shorter ones are photos.
"""

import numpy as np

from exll.types import Tensors, Vector

CUT, SAME = 0.85, 0.008
SWEEP = 1.3  # a step may be longer by this factor inside a clip, where the camera pans
SHORTEST_CLIP = 6  # so many photos of a class seldom resemble each other one after the other by chance


def longest_step(within: float, within_class: float) -> float:
    """Squared, from one sample of a clip to the next, by the variances of what was learned."""
    return max(2.0 * CUT * max(within, within_class), SAME)


class CurrentClip:
    """The clip that the stream is in: it keeps the last sample, and the sum of the samples of the clip."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._last = np.zeros(width, np.float32)
        self._class = -1
        self.start = 0  # the position in the stream of its first sample
        self.length = 0
        self._sum = np.zeros(width)

    @property
    def mean(self) -> Vector:
        return self._sum / max(self.length, 1)

    def goes_on(self, x: Vector, k: int, longest: float) -> bool:
        """Whether the next sample belongs to the same clip."""
        if k != self._class:
            return False
        step = x - self._last
        return float(step @ step) <= (longest if self.length < SHORTEST_CLIP else SWEEP * longest)

    def begin(self, position: int, k: int) -> None:
        self._class, self.start, self.length = k, position, 0
        self._sum = np.zeros_like(self._sum)

    def learn(self, x: Vector) -> None:
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
        return {"clip": now, "clip_sum": self._sum, "clip_last": self._last}

    def restore(self, state: Tensors, samples: int, classes: int) -> None:
        self._class, self.start, self.length = map(int, state["clip"])
        self._sum = np.array(state["clip_sum"], np.float64)
        self._last = np.array(state["clip_last"], np.float32)
        if {self._sum.shape, self._last.shape} != {(self._width,)}:
            raise ValueError("the last sample has another width")
        if not -1 <= self._class < classes:
            raise ValueError("the last sample belongs to no class")
        if min(self.start, self.length) < 0 or self.start + self.length > samples:
            raise ValueError("the last clip is not within the stream")
