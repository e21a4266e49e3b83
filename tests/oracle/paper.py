"""The paper's equations, computed afresh from the whole history at every sample, in plain loops.

Nothing here is updated in place: a mean is the mean of the vectors that made it, a covariance is a sum over the
stream, a precision is an inverse. Decisions are those of docs/decisions.md.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
EPSILON = 1e-4
TOLERANCE = 1e-9
START_RADIUS = np.sqrt(2 - 2 * np.cos(np.pi / 6))


def nearly_equal(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def first_largest(values: list[float]) -> int:
    top = max(values)
    return next(i for i, value in enumerate(values) if nearly_equal(value, top))


@dataclass
class Cloud:
    members: list[int]  # indices into the stream
    radius: float = START_RADIUS


@dataclass
class OraclePaper:
    """Learns with Lambda refreshed at every sample (``refresh_growth=0``). Phi is counted before a sample is learned or
    after it, and a sample counts as one or by the confidence of its two answers."""

    count_after: bool = False
    by_confidence: bool = False
    stream: list[Vector] = field(default_factory=list)
    truths: list[int] = field(default_factory=list)  # class numbers in the order of first sight
    clouds: list[list[Cloud]] = field(default_factory=list)  # per class
    edges: list[dict[tuple[int, int], int]] = field(default_factory=list)  # per class, both directions
    phi: list[tuple[int, int, int]] = field(default_factory=list)  # (global, local, truth)
    weights: list[float] = field(default_factory=list)  # of every entry of phi
    assignments: list[tuple[int, int]] = field(default_factory=list)  # (class, cloud)
    precisions: dict[int, NDArray[np.float64]] = field(default_factory=dict)  # by the length of the stream

    def covariance(self) -> NDArray[np.float64]:
        """Eq. 4, with the means of Eq. 2."""
        history = np.array(self.stream)
        means = np.cumsum(history, axis=0) / np.arange(1, len(history) + 1)[:, None]
        xi = np.outer(history[0], history[0])
        for v in (history - means)[1:]:
            xi = xi + v[:, None] * v
        return np.asarray(xi / len(history))

    def precision(self) -> NDArray[np.float64]:
        """Eq. 17; the same until the next sample, so it is computed once for each."""
        count = len(self.stream)
        if count not in self.precisions:
            xi = self.covariance()
            self.precisions[count] = np.asarray(np.linalg.inv((1 - EPSILON) * xi + EPSILON * np.eye(len(xi))))
        return self.precisions[count]

    def precision_for_counting(self, x: Vector) -> NDArray[np.float64]:
        """What Phi is counted with, before x is learned or after."""
        return self.precision()

    def precision_for_placing(self, x: Vector) -> NDArray[np.float64]:
        """What the nearest prototypes are found with, x being in the history already."""
        return self.precision()

    def class_mean(self, k: int) -> Vector:
        """Eq. 5 and 7."""
        own = [x for x, truth in zip(self.stream, self.truths, strict=True) if truth == k]
        return np.asarray(np.mean(own, axis=0))

    def centre(self, cloud: Cloud) -> Vector:
        """The first line of Eq. 6, 13 and 14."""
        return np.asarray(np.mean([self.stream[i] for i in cloud.members], axis=0))

    def densities(self, k: int, vectors: list[Vector]) -> list[float]:
        """Eq. 9 with sigma from Eq. 8."""
        own = [x for x, truth in zip(self.stream, self.truths, strict=True) if truth == k]
        mu = self.class_mean(k)
        sigma = np.mean([x @ x for x in own])
        return [float(1 / (1 + (vector - mu) @ (vector - mu) + sigma - mu @ mu)) for vector in vectors]

    def local_scores(self, x: Vector, precision: NDArray[np.float64]) -> list[float]:
        """Eq. 18, the best prototype of every class."""
        scores = []
        for clouds in self.clouds:
            own = []
            for cloud in clouds:
                p = self.centre(cloud)
                own.append(float((precision @ p) @ x - 0.5 * p @ precision @ p))
            scores.append(max(own))
        return scores

    def global_scores(self, x: Vector, precision: NDArray[np.float64]) -> list[float]:
        """Eq. 20."""
        scores = []
        for k in range(len(self.clouds)):
            mu = self.class_mean(k)
            scores.append(float((precision @ mu) @ x - 0.5 * mu @ precision @ mu))
        return scores

    def count(self, x: Vector, k: int, precision: NDArray[np.float64]) -> None:
        """Eq. 22."""
        both = self.global_scores(x, precision), self.local_scores(x, precision)
        global_label, local_label = (first_largest(scores) for scores in both)
        self.phi.append((global_label, local_label, k))
        likely = [max(self.posterior(scores)) for scores in both]
        self.weights.append(float(np.mean(likely)) if self.by_confidence else 1.0)

    def learn(self, x: Vector, k: int) -> None:
        if self.clouds and not self.count_after:
            self.count(x, k, self.precision_for_counting(x))
        self.stream.append(x)
        self.truths.append(k)
        self._place(x, k, self.precision_for_placing(x))
        if self.count_after:
            self.count(x, k, self.precision_for_counting(x))

    def _place(self, x: Vector, k: int, precision: NDArray[np.float64]) -> None:
        index = len(self.stream) - 1
        if k == len(self.clouds):
            self.clouds.append([Cloud([index])])
            self.edges.append({})
            self.assignments.append((k, 0))
            return
        clouds = self.clouds[k]
        centres = [self.centre(cloud) for cloud in clouds]
        closeness = [-float((x - p) @ precision @ (x - p)) for p in centres]
        nearest = first_largest(closeness)  # Eq. 10
        second = None
        if len(clouds) > 1:  # Eq. 11
            others = [j for j in range(len(clouds)) if j != nearest]
            second = others[first_largest([closeness[j] for j in others])]
        own, *densities = self.densities(k, [x, *centres])
        denser = own > max(densities) and not nearly_equal(own, max(densities))
        sparser = own < min(densities) and not nearly_equal(own, min(densities))
        if denser or sparser:  # Eq. 12 and 13
            clouds.append(Cloud([index]))
            self._connect(k, len(clouds) - 1, nearest)
            self.assignments.append((k, len(clouds) - 1))
            return
        cloud = clouds[nearest]  # Eq. 14
        cloud.members.append(index)
        p = self.centre(cloud)
        cloud.radius = float(np.sqrt((cloud.radius**2 + (1 - p @ p)) / 2))
        if second is not None:
            self._connect(k, nearest, second)
        self.assignments.append((k, nearest))

    def _connect(self, k: int, one: int, other: int) -> None:
        for pair in ((one, other), (other, one)):
            self.edges[k][pair] = self.edges[k].get(pair, 0) + 1

    def posterior(self, scores: list[float]) -> Vector:
        """Eq. 19 and 21."""
        shifted = np.exp(np.array(scores) - max(scores))
        return np.asarray(shifted / shifted.sum())

    def weight(self, global_label: int, local_label: int, k: int) -> float:
        """An entry of Phi."""
        counted = zip(self.phi, self.weights, strict=True)
        return float(sum(weight for entry, weight in counted if entry == (global_label, local_label, k)))

    def predict(self, x: Vector) -> tuple[int, int, int]:
        """Global, local and fused label."""
        precision = self.precision()
        global_scores, local_scores = self.global_scores(x, precision), self.local_scores(x, precision)
        global_label, local_label = first_largest(global_scores), first_largest(local_scores)
        counts = [self.weight(global_label, local_label, k) for k in range(len(self.clouds))]
        if sum(counts) > 0:  # Eq. 23
            return global_label, local_label, first_largest(counts)
        if global_label == local_label:
            return global_label, local_label, global_label
        global_odds, local_odds = log_odds(global_scores, global_label), log_odds(local_scores, local_label)
        if nearly_equal(global_odds, local_odds):
            return global_label, local_label, min(global_label, local_label)
        return global_label, local_label, global_label if global_odds > local_odds else local_label


def log_odds(scores: list[float], label: int) -> float:
    """How much larger the posterior of ``label`` is than all others together, without rounding to 1."""
    top = max(score for k, score in enumerate(scores) if k != label)
    others = sum(np.exp(score - top) for k, score in enumerate(scores) if k != label)
    return float(scores[label] - top - np.log(others))
