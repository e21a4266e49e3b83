r"""Clips: stretches of the stream in which one sample follows from the one before, as frames of a video do.

The frames of one clip say little about the next clip: a frame that is left out alone still has its neighbours in the
model. So the model must know which samples came together. Where nobody tells it (``groups=``), it looks for two things:

- No step is long. The square of the distance between two unrelated samples of a class is twice the variance $s^2$
  within the classes, on average. A clip ends where the class changes, or with a step whose square is above ``CUT``
  times $2 s^2$, with the larger of the variances within all classes and within its own class.
- Neighbours are nearer to each other than the samples of the clip are on the whole. In photos in any order, also in
  those of a class that varies little, the mean squared step is twice the variance of the stretch (von Neumann's
  ratio is 1). In videos it is 0.1 to 0.8 of that, also where only every fifth frame was learned.

Only clips of at least ``SHORTEST_CLIP`` samples count as clips in what follows; shorter ones are photos. An object that
is held quite still, before a camera with noise, is taken for photos.
"""

import numpy as np

from exll.linalg.ties import SAME
from exll.types import Tensors, Vector

CUT = 1.2
SMOOTH = 0.85  # the mean squared step of a clip, in units of twice its variance, is below this
SHORTEST_CLIP = 5


class CurrentClip:
    """The clip that the stream is in. It keeps the last sample and two sums: of samples, of squared steps."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._last = np.zeros(width, np.float32)
        self.class_number = -1
        self.start = 0  # the position in the stream of its first sample
        self.length = 0
        self.span = 0  # positions, also of samples that were forgotten
        self._sum = np.zeros(width)
        self._squared_steps = 0.0

    @property
    def mean(self) -> Vector:
        return self._sum / max(self.length, 1)

    @property
    def is_clip(self) -> bool:
        """Whether what was seen so far is a clip, and not photos."""
        if self.length < SHORTEST_CLIP:
            return False
        mean = self.mean
        variance = (1.0 - float(mean @ mean)) * self.length / (self.length - 1)  # of unit vectors
        ratio = min(SMOOTH, 1.0 - 2.0 / float(np.sqrt(self.length * self._width)))  # it may be below 1 by chance
        return self._squared_steps / (self.length - 1) < 2.0 * ratio * variance

    def goes_on(self, x: Vector, k: int, variance: float) -> bool:
        """Whether the next sample, of class k, belongs to the same clip; ``variance`` is that within the classes, or
        within its own if that is larger."""
        return k == self.class_number and self._squared_step(x) <= 2.0 * CUT * variance

    def begin(self, position: int, k: int) -> None:
        self.class_number, self.start, self.length, self.span = k, position, 0, 0
        self._sum, self._squared_steps = np.zeros(self._width), 0.0

    def learn(self, x: Vector) -> None:
        if self.length:
            self._squared_steps += self._squared_step(x)
        self.length += 1
        self.span += 1
        self._sum += x
        self._last = x.astype(np.float32)

    def end(self) -> None:
        """Whatever comes next begins another clip; there is none until then, and nothing of it is kept."""
        self.class_number, self.length, self.span = -1, 0, 0
        self._sum, self._last = np.zeros(self._width), np.zeros(self._width, np.float32)

    def holds(self, x: Vector, k: int, position: int | None) -> bool:
        """Whether the sample of class k at that position came in it; without a position, whether it is its last."""
        return k == self.class_number and (self.is_last(x) if position is None else position >= self.start)

    def forget(self, x: Vector) -> None:
        """One of its samples is forgotten. Its steps stay as they were."""
        self.length -= 1
        self._sum -= x

    def is_last(self, x: Vector) -> bool:
        return self._squared_step(x) < SAME

    def remove_class(self, k: int) -> None:
        """The later classes move up by one place."""
        if self.class_number == k:
            self.end()
        elif self.class_number > k:
            self.class_number -= 1

    def _squared_step(self, x: Vector) -> float:
        step = x - self._last
        return float(step @ step)

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        if self.class_number == absorbed:
            self.class_number = kept
        elif self.class_number > absorbed:
            self.class_number -= 1

    def state(self) -> Tensors:
        now = np.array([self.class_number, self.start, self.length, self.span], np.int64)
        steps = np.array(self._squared_steps)
        return {"clip": now, "clip_sum": self._sum, "clip_squared_steps": steps, "clip_last": self._last}

    def restore(self, state: Tensors, samples: int, classes: int) -> None:
        self.class_number, self.start, self.length, *span = map(int, state["clip"])
        self.span = span[0] if span else self.length
        self._sum = np.array(state["clip_sum"], np.float64)
        # Files up to format 5 did not keep the steps: what they took for a clip stays one.
        self._squared_steps = float(state.get("clip_squared_steps", 0.0))
        self._last = np.array(state["clip_last"], np.float32)
        if {self._sum.shape, self._last.shape} != {(self._width,)}:
            raise ValueError("the last sample has another width")
        if not -1 <= self.class_number < classes:
            raise ValueError("the last sample belongs to no class")
        if min(self.start, self.length) < 0 or self.length > self.span or self.start + self.span > samples:
            raise ValueError("the last clip is not within the stream")
        if not 0 <= self._squared_steps < np.inf:
            raise ValueError("the steps of the last clip are impossible")
