"""xDNN: prototypes of every class, placed by density."""

from math import cos, pi
from typing import ClassVar, Literal

import numpy as np

from exll.baselines.base import Baseline
from exll.baselines.cbcl import CBCLRule
from exll.baselines.rule import LearningRule
from exll.learner.counted_means import CountedMeans
from exll.linalg.growing_array import GrowingArray
from exll.linalg.ties import first_of_largest, surpasses
from exll.parameters import one_of
from exll.types import Tensors, Vector

REACH = 2.0 * (1.0 - cos(pi / 6.0))  # squared, of a new prototype: between unit vectors 30 degrees apart


class XDNN(Baseline):
    r"""Every class has its mean, and prototypes that are means of what joined them. Score $-\min_p |x - p|^2$ over the
    prototypes of a class.

    The density of a vector in its class, $1 / (1 + |x - \mu|^2 / (X - |\mu|^2))$, falls as its distance from the mean
    grows. A sample that is denser than all prototypes of its class, or less dense than all, becomes a new one; and so
    does one beyond the reach of the prototype that it would join. That prototype is the farthest with
    ``variant="published"``, as in the program that the authors published, and the nearest with ``"mended"``, as in
    their text. The squared reach starts at $2 - 2\cos 30°$ and moves half-way to the spread $X_p - |p|^2$ of its
    prototype whenever one joins. It is made for unit vectors: of raw ones nearly all become prototypes.

    The published program also doubles a prototype that is joined, by a slip of brackets, and asks by the Minkowski
    distance of order 6. Here both are as in the text.

    >>> X = [[1.0, 0.1], [0.1, 1.0], [1.0, 0.2], [0.2, 1.0]]
    >>> XDNN(normalise=True).fit(X, ["right", "up", "right", "up"]).predict([[9.0, 1.0], [1.0, 9.0]])
    array(['right', 'up'], dtype='<U5')
    """

    name = "xdnn"
    _allowed: ClassVar = {"variant": one_of("published", "mended")}

    def __init__(self, variant: Literal["published", "mended"] = "published", normalise: bool = False) -> None:
        self.variant = variant
        self.normalise = normalise

    def _new_rule(self, width: int) -> LearningRule:
        return XDNNRule(width, joins_farthest=self.variant == "published")


class XDNNRule(CBCLRule):
    def __init__(self, width: int, joins_farthest: bool) -> None:
        super().__init__(width, 0.0)
        self._sign = 1.0 if joins_farthest else -1.0
        self._means = CountedMeans(width)  # of the classes
        self._reaches: list[GrowingArray] = []  # of the prototypes of every class
        self._lengths: list[GrowingArray] = []  # mean squared ones, of what joined each

    def learn(self, x: Vector, k: int) -> None:
        length = float(x @ x)
        if k == len(self._classes):
            self._means.add(x)
            self._classes.append(CountedMeans(self._width))
            self._reaches.append(GrowingArray((), np.float64))
            self._lengths.append(GrowingArray((), np.float64))
            self._add(x, k, length)
            return
        self._means.join(k, x)
        prototypes, mean = self._classes[k], self._means.vectors[k]
        steps, away = x - prototypes.vectors, prototypes.vectors - mean
        distances, from_mean = np.vecdot(steps, steps), np.vecdot(away, away)
        own = float((x - mean) @ (x - mean))
        chosen = first_of_largest(self._sign * distances)
        reaches, lengths = self._reaches[k].filled, self._lengths[k].filled
        if (
            surpasses(own, float(from_mean.max()))
            or surpasses(float(from_mean.min()), own)
            or surpasses(float(distances[chosen]), float(reaches[chosen]))
        ):
            self._add(x, k, length)
            return
        prototypes.join(chosen, x)
        lengths[chosen] += (length - lengths[chosen]) / prototypes.counts[chosen]
        centre = prototypes.vectors[chosen]
        reaches[chosen] = 0.5 * reaches[chosen] + 0.5 * max(0.0, lengths[chosen] - float(centre @ centre))

    def _add(self, x: Vector, k: int, length: float) -> None:
        self._classes[k].add(x)
        self._reaches[k].append(REACH)
        self._lengths[k].append(length)

    @property
    def n_parameters(self) -> int:
        return super().n_parameters + self._means.vectors.size

    def state(self) -> Tensors:
        return {
            **super().state(),
            "means": self._means.vectors,
            "reaches": np.concatenate([reaches.filled for reaches in self._reaches]),
            "lengths": np.concatenate([lengths.filled for lengths in self._lengths]),
        }

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        super().restore(state, classes, samples)
        counts = np.array([prototypes.counts.sum() for prototypes in self._classes], np.int64)
        self._means = CountedMeans(self._width, state["means"], counts)
        reaches, lengths = (np.array(state[name], np.float64) for name in ("reaches", "lengths"))
        if not len(self._means.vectors) == classes or not reaches.shape == lengths.shape == state["counts"].shape:
            raise ValueError("means and classes, or prototypes and their reaches, differ in number")
        if (reaches < 0).any() or (lengths < 0).any():
            raise ValueError("a reach or a length is negative")
        stops = np.cumsum(state["sizes"])[:-1]
        self._reaches = [GrowingArray((), np.float64, part) for part in np.split(reaches, stops)]
        self._lengths = [GrowingArray((), np.float64, part) for part in np.split(lengths, stops)]
