"""The eight baselines, computed afresh from the whole history where they can be, in plain loops where they cannot.

Every oracle learns ``(x, k)`` with k in the order of first sight, and gives one score per class.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
EPSILON = 1e-4


def first_largest(values: list[float]) -> int:
    top = max(values)
    return next(i for i, value in enumerate(values) if value >= top - 1e-9 * max(1.0, abs(top)))


@dataclass
class History:
    stream: list[Vector] = field(default_factory=list)
    truths: list[int] = field(default_factory=list)

    def learn(self, x: Vector, k: int) -> None:
        self.stream.append(x.copy())
        self.truths.append(k)

    @property
    def classes(self) -> int:
        return len(set(self.truths))

    def of_class(self, k: int, first: int | None = None) -> list[Vector]:
        """The vectors of a class among the first so many of the stream."""
        return [x for x, truth in zip(self.stream[:first], self.truths[:first], strict=True) if truth == k]


class NCMOracle(History):
    def scores(self, x: Vector) -> list[float]:
        return [-float(np.sum((x - np.mean(self.of_class(k), axis=0)) ** 2)) for k in range(self.classes)]


class SLDAOracle(History):
    def covariance(self) -> NDArray[np.float64]:
        width = len(self.stream[0])
        sigma = np.zeros((width, width))
        for t, (x, k) in enumerate(zip(self.stream, self.truths, strict=True)):
            before = self.of_class(k, first=t)
            mu = np.mean(before, axis=0) if before else np.zeros(width)
            delta = np.outer(x - mu, x - mu) * t / (t + 1)
            sigma = (t * sigma + delta) / (t + 1)
        return sigma

    def all_scores(self, X: NDArray[np.float64]) -> list[list[float]]:
        sigma = self.covariance()
        precision = np.linalg.inv((1 - EPSILON) * sigma + EPSILON * np.eye(len(sigma)))
        means = [np.mean(self.of_class(k), axis=0) for k in range(self.classes)]
        return [[float(x @ precision @ mu - 0.5 * mu @ precision @ mu) for mu in means] for x in X]


class CentredSLDAOracle(SLDAOracle):
    def covariance(self) -> NDArray[np.float64]:
        """Within the classes, in one go."""
        means = [np.mean(self.of_class(k), axis=0) for k in range(self.classes)]
        residuals = np.array([x - means[k] for x, k in zip(self.stream, self.truths, strict=True)])
        return np.asarray(residuals.T @ residuals / len(residuals))


class SOvROracle(History):
    def scores(self, x: Vector) -> list[float]:
        scores = []
        for k in range(self.classes):
            others = [other for other, truth in zip(self.stream, self.truths, strict=True) if truth != k]
            y = float(x @ np.mean(self.of_class(k), axis=0))
            n = float(x @ np.mean(others, axis=0)) if others else 0.0
            scores.append(y / (y + n))
        return scores


@dataclass
class NaiveBayesOracle(History):
    hayes: bool = False

    def scores(self, x: Vector) -> list[float]:
        scores = []
        for k in range(self.classes):
            mu = np.mean(self.of_class(k), axis=0)
            variance = (1 - EPSILON) * np.var(self.of_class(k), axis=0) + EPSILON
            if self.hayes:
                scores.append(float(np.sum(x * mu / variance) - 0.5 * np.sum(mu * mu / variance)))
            else:
                scores.append(float(-0.5 * np.sum((x - mu) ** 2 / variance) - 0.5 * np.sum(np.log(variance))))
        return scores


@dataclass
class PerceptronOracle:
    weights: list[Vector] = field(default_factory=list)

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self.weights):
            self.weights.append(x.copy())
            return
        answer = first_largest(self.scores(x))
        if answer != k:
            self.weights[k] = self.weights[k] + x
            self.weights[answer] = self.weights[answer] - x

    def scores(self, x: Vector) -> list[float]:
        return [float(np.dot(w, x)) for w in self.weights]


@dataclass
class FineTuneOracle:
    """Weights and biases apart, one class after the other."""

    generator: np.random.Generator
    learning_rate: float = 0.001
    weights: list[Vector] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    weight_speeds: list[Vector] = field(default_factory=list)
    bias_speeds: list[float] = field(default_factory=list)

    def learn(self, x: Vector, k: int) -> None:
        self.meet(x, k)
        self.step([(x, k)])

    def meet(self, x: Vector, k: int) -> None:
        if k == len(self.weights):
            self.weights.append(self.generator.normal(0, 0.01, len(x)))
            self.biases.append(0.0)
            self.weight_speeds.append(np.zeros(len(x)))
            self.bias_speeds.append(0.0)

    def step(self, batch: list[tuple[Vector, int]]) -> None:
        odds = []
        for x, _ in batch:
            logits = self.scores(x)
            exponentials = [np.exp(logit - max(logits)) for logit in logits]
            odds.append([e / sum(exponentials) for e in exponentials])
        for j in range(len(self.weights)):
            errors = [p[j] - (k == j) for p, (_, k) in zip(odds, batch, strict=True)]
            slope = sum(e * x for e, (x, _) in zip(errors, batch, strict=True)) / len(batch)
            self.weight_speeds[j] = 0.9 * self.weight_speeds[j] + slope + 1e-5 * self.weights[j]
            self.bias_speeds[j] = 0.9 * self.bias_speeds[j] + sum(errors) / len(batch) + 1e-5 * self.biases[j]
        for j in range(len(self.weights)):
            self.weights[j] = self.weights[j] - self.learning_rate * self.weight_speeds[j]
            self.biases[j] = self.biases[j] - self.learning_rate * self.bias_speeds[j]

    def scores(self, x: Vector) -> list[float]:
        return [float(np.dot(w, x) + b) for w, b in zip(self.weights, self.biases, strict=True)]


@dataclass
class ReplayOracle(FineTuneOracle):
    per_class: int = 20
    capacity: int | None = None
    kept: list[tuple[Vector, int]] = field(default_factory=list)

    def learn(self, x: Vector, k: int) -> None:
        self.meet(x, k)
        rehearsed = self.kept
        if len(self.kept) > 50:
            rehearsed = [self.kept[place] for place in self.generator.choice(len(self.kept), 50, replace=False)]
        self.step([(x, k), *rehearsed])
        room = self.per_class * len(self.weights) if self.capacity is None else self.capacity
        if len(self.kept) < room:
            self.kept.append((x, k))
            return
        held = [truth for _, truth in self.kept]
        largest = max(range(len(self.weights)), key=held.count)
        places = [place for place, truth in enumerate(held) if truth == largest]
        self.kept[places[self.generator.integers(len(places))]] = (x, k)


@dataclass
class CBCLOracle:
    distance: float
    members: list[list[list[Vector]]] = field(default_factory=list)  # per class, per centroid

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self.members):
            self.members.append([])
        own = self.members[k]
        distances = [float(np.linalg.norm(x - np.mean(cluster, axis=0))) for cluster in own]
        if own and min(distances) <= self.distance:
            own[distances.index(min(distances))].append(x)
        else:
            own.append([x])

    def scores(self, x: Vector) -> list[float]:
        return [
            max(-float(np.sum((x - np.mean(cluster, axis=0)) ** 2)) for cluster in clusters)
            for clusters in self.members
        ]
