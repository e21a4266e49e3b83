"""What the preset glocal answers and what it would answer without a sample, from the whole history, in plain loops.

Which samples make up a prototype, and the numbers of the judgement, are given; all else is computed from the samples:
a mean is the mean of the vectors that made it, a covariance a sum over the stream, a precision an inverse.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """What speaks for each class at one x, what x has in common with all of them, and how long x is."""

    towards_class: Vector
    nearness: Vector
    towards_prototype: Vector
    plain_cosines: Vector
    shared: float
    norms: float


@dataclass(frozen=True)
class OracleGlocal:
    stream: Matrix
    truths: list[int]  # class numbers in the order of first sight
    clouds: list[int]  # the prototype of every sample
    ridge: float  # of the mean eigenvalue

    @cached_property
    def classes(self) -> range:
        return range(max(self.truths) + 1)

    def samples_of(self, k: int) -> list[int]:
        return [i for i, truth in enumerate(self.truths) if truth == k]

    def clouds_of(self, k: int) -> list[int]:
        return sorted({self.clouds[i] for i in self.samples_of(k)})

    def members_of(self, cloud: int) -> list[int]:
        return [i for i, other in enumerate(self.clouds) if other == cloud]

    def mean(self, samples: list[int]) -> Vector:
        return np.asarray(self.stream[samples].mean(axis=0))

    @cached_property
    def origin(self) -> Vector:
        return np.asarray(self.stream.mean(axis=0)) if len(self.classes) > 1 else np.zeros(self.stream.shape[1])

    def scatter(self, groups: list[list[int]]) -> Matrix:
        """Of samples around the means of their groups."""
        width = self.stream.shape[1]
        total = np.zeros((width, width))
        for samples in groups:
            mean = self.mean(samples)
            for i in samples:
                v = self.stream[i] - mean
                total = total + np.outer(v, v)
        return total

    def precision(self, scatter: Matrix) -> Matrix:
        """The count and the ridge are those of the whole stream, whatever the scatter was taken without."""
        count, width = self.stream.shape
        ridge = max(self.ridge * np.trace(self.whole_scatter) / (count * width), 1e-14)
        return np.asarray(np.linalg.inv(scatter / count + ridge * np.eye(width)))

    @cached_property
    def whole_scatter(self) -> Matrix:
        return self.scatter([self.samples_of(k) for k in self.classes])

    @cached_property
    def whole_precision(self) -> Matrix:
        return self.precision(self.whole_scatter)

    def parts(self, x: Vector) -> Parts:
        """With all that was learned."""
        return self._parts(x, self.whole_precision, {}, {}, set(), self.origin)

    def relative_distance(self, x: Vector, k: int) -> float:
        """Of x from class k, less that from the origin under the covariance within and between the classes."""
        within, seen = self.whole_precision, x - self.origin
        covariance = np.linalg.inv(within)
        for c in self.classes:
            own = self.samples_of(c)
            mean = self.mean(own) - self.origin
            covariance = covariance + len(own) / len(self.truths) * np.outer(mean, mean)
        apart = x - self.mean(self.samples_of(k))
        return float((apart @ within @ apart - seen @ np.linalg.inv(covariance) @ seen) / (seen @ within @ seen))

    def parts_without(self, i: int) -> Parts:
        """Class mean, prototype, covariance and, by its class's mean, the origin without sample i. Lengths are those of
        the whole means, from the whole origin."""
        k, cloud = self.truths[i], self.clouds[i]
        groups = [[j for j in self.samples_of(c) if j != i] for c in self.classes]
        others = [j for j in self.members_of(cloud) if j != i]
        prototypes = {cloud: self.mean(others)} if others else {}
        return self._parts(
            self.stream[i],
            self.precision(self.scatter(groups)),
            {k: self.mean(groups[k])},
            prototypes,
            set() if others else {cloud},
            self._origin_of(groups),
        )

    def parts_without_group(self, i: int, group: list[int], gone: set[int]) -> Parts:
        """As if a group that sample i is in had never been in the class, nor the prototypes ``gone``. How the others of
        the group lie around their own mean stays in the covariance; sample i is nowhere in it."""
        groups = [[j for j in self.samples_of(c) if j not in group] for c in self.classes]
        rest = [j for j in group if j != i]
        precision = self.precision(self.scatter([*groups, *([rest] if rest else [])]))
        k = self.truths[i]
        return self._parts(self.stream[i], precision, {k: self.mean(groups[k])}, {}, gone, self._origin_of(groups))

    def clouds_that_go_with(self, group: list[int]) -> set[int]:
        """The prototypes that are of the group by more than half; the one with the smallest share of it stays in any
        case."""
        shares = {
            cloud: sum(j in group for j in self.members_of(cloud)) / len(self.members_of(cloud))
            for cloud in self.clouds_of(self.truths[group[0]])
        }
        gone = {cloud for cloud, share in shares.items() if share > 0.5}
        return gone - {min(shares, key=shares.__getitem__)} if gone == set(shares) else gone

    def thirds(self, k: int) -> list[list[int]]:
        """The prototypes of a class in three groups: the two whose union adds least to the sum of squares become one,
        until no more than three are left."""
        groups = [[cloud] for cloud in self.clouds_of(k)]
        while len(groups) > 3:
            pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
            a, b = min(pairs, key=lambda pair: self._added_by_joining(groups[pair[0]], groups[pair[1]]))
            groups[b] += groups.pop(a)
        return groups

    def _added_by_joining(self, one: list[int], other: list[int]) -> float:
        halves = [[j for cloud in clouds for j in self.members_of(cloud)] for clouds in (one, other)]
        apart, joined = (np.trace(self.scatter(groups)) for groups in (halves, [halves[0] + halves[1]]))
        return float(joined - apart)

    def similarity_to_others(self, i: int, class_weight: float, nearness_weight: float) -> float:
        """The cosine of sample i with the class that it would be taken for, had its own never been learned."""
        own, precision = self.truths[i], self.whole_precision
        origin = self.mean([j for j, k in enumerate(self.truths) if k != own])
        seen, cosines, scores = self.stream[i] - origin, [], []
        for k in self.classes:
            if k != own:
                mean = self.mean(self.samples_of(k)) - origin
                dot, squared = mean @ precision @ seen, mean @ precision @ mean
                towards = dot / np.sqrt(squared) if squared > 1e-12 else 0.0
                cosines.append(towards / np.sqrt(seen @ precision @ seen))
                scores.append(class_weight * towards + nearness_weight * (dot - 0.5 * squared))
        return float(cosines[int(np.argmax(scores))])

    def _origin_of(self, groups: list[list[int]]) -> Vector:
        """The mean of the classes' means, each with its share of the whole stream."""
        shares = [len(self.samples_of(k)) / len(self.truths) for k in self.classes]
        return np.asarray(sum(share * self.mean(group) for share, group in zip(shares, groups, strict=True)))

    def _parts(
        self,
        x: Vector,
        precision: Matrix,
        classes_without: dict[int, Vector],
        prototypes_without: dict[int, Vector],
        gone: set[int],
        origin: Vector,
    ) -> Parts:
        seen = x - origin
        towards, nearness, local, plain, dots = [], [], [], [], []
        for k in self.classes:
            mean = self.mean(self.samples_of(k))
            dot = (classes_without.get(k, mean) - origin) @ precision @ seen
            length = (mean - self.origin) @ precision @ (mean - self.origin)
            dots.append(dot)
            towards.append(dot / np.sqrt(length))
            nearness.append(dot - 0.5 * length)
            plain.append(classes_without.get(k, mean) @ x / np.sqrt(mean @ mean))
            cosines = []
            for cloud in self.clouds_of(k):
                centre = self.mean(self.members_of(cloud))
                dot = (prototypes_without.get(cloud, centre) - origin) @ precision @ seen
                if cloud not in gone:
                    cosines.append(dot / np.sqrt((centre - self.origin) @ precision @ (centre - self.origin)))
            local.append(max(cosines))
        norm = float(np.sqrt(seen @ precision @ seen))
        return Parts(
            np.array(towards), np.array(nearness), np.array(local), np.array(plain), self._shared(np.array(dots)), norm
        )

    def _shared(self, dots: Vector) -> float:
        """The classes are those of the whole stream, whatever the dots were taken without."""
        means = np.array([self.mean(self.samples_of(k)) - self.origin for k in self.classes])
        shares = np.array([len(self.samples_of(k)) / len(self.truths) for k in self.classes])
        return float(dots @ np.linalg.inv(np.diag(1 / shares) + means @ self.whole_precision @ means.T) @ dots)
