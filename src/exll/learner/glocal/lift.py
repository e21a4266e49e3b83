r"""The lift: random features that can separate what no plane separates.

A vector x becomes $z = \max(0, P^T(x - c))$ with fixed random directions P, several for every number of x. Classes are
then means over one covariance again, in a space in which more of them can be told apart. Only a long stream can fill so
large a covariance: the lift begins when the reservoir is full, with the samples in it, which until then are all that
were learned. Their mean, rounded to whole numbers, becomes c and stays: zero for features of networks, and one along
the appended constant where lengths are kept. Models that were taught apart agree on it, so their sums can be added. How
much the lift counts is learned from the stream (:mod:`exll.learner.glocal.judgement`).

Between two kinks z is linear in x, so the score of a class at x is $w(x)^T x + b(x)$ with
$w(x) = \sum_{j: p_j^T(x - c) > 0} w_j p_j$: it can be taken apart by place, exactly, like the scores without the lift.

Sums are kept in single precision: with so large a ridge, more digits would change no answer.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.learner.head import SHORTEST, Head
from exll.learner.precision import FactoredPrecision, Shrinkage, factored_precision
from exll.learner.statistics import Scatter
from exll.linalg.growing_array import GrowingArray
from exll.linalg.threads import one_blas_thread
from exll.types import Indices, Matrix, Tensors, Vector

MOST_FEATURES, FEATURES_PER_NUMBER = 2000, 4
RIDGE = 0.03  # of the mean eigenvalue
LIFTED_TOGETHER = 128  # samples: one product for all of them
LEAST_VARIANCE = 1e-10  # of a feature, within the classes: less than single precision can tell

Singles: TypeAlias = NDArray[Any]  # of float32, where others have doubles


def feature_count(width: int) -> int:
    return min(MOST_FEATURES, FEATURES_PER_NUMBER * width)


@lru_cache(maxsize=4)
def directions(width: int) -> Singles:
    """P, (d, features), in blocks of orthogonal directions, which cover the space as evenly as 1.5 times as many
    directions that are drawn one by one."""
    features = feature_count(width)
    rng = np.random.RandomState(0)  # a sequence that numpy promises never to change
    with one_blas_thread():
        blocks = [_orthogonal(rng.standard_normal((width, width))) for _ in range(0, features, width)]
    P = (sqrt(width) * np.concatenate(blocks, axis=1)[:, :features]).astype(np.float32)
    P.flags.writeable = False
    return P


def _orthogonal(drawn: Matrix) -> Matrix:
    """With signs that do not depend on the library."""
    q, r = np.linalg.qr(drawn)
    orthogonal: Matrix = q * np.where(np.diagonal(r) < 0.0, -1.0, 1.0)
    return orthogonal


def lifted(X: NDArray[np.floating], centre: Singles) -> Singles:
    Z: Singles = (X - centre).astype(np.float32) @ directions(X.shape[1])
    return np.maximum(Z, 0.0, out=Z)


@dataclass(frozen=True)
class LiftedClasses:
    """The classes in the space of the lift, seen from the mean of all. Shares nothing that learning changes."""

    centre: Singles  # (d,) from which vectors are lifted
    counts: Indices  # (C,)
    origin: Singles  # (features,)
    means: Singles  # (C, features) from the origin
    products: Singles  # (C, features) the precision times them
    squared_norms: Vector  # (C,)
    precision: FactoredPrecision

    def dots(self, X: Matrix) -> Matrix:
        r"""$(\mu-o)^T\Lambda(z-o)$, (rows, classes)."""
        dots: Singles = (lifted(X, self.centre) - self.origin) @ self.products.T
        return dots.astype(np.float64)

    def linear_score(self, x: Vector, k: int, head: Head) -> tuple[Vector, float]:
        """The score of class k near x as weights for x, and an offset."""
        P, weights = directions(len(x)), head.slopes[k] * self.products[k].astype(np.float64)
        passing = lifted(x[None, :], self.centre)[0] > 0.0
        for_x: Vector = P[:, passing].astype(np.float64) @ weights[passing]
        offset = -(for_x @ self.centre) - weights @ self.origin - head.pulls[k] * self.squared_norms[k]
        return for_x, float(offset)


class Lift:
    """Means and scatter of the lifted samples."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.begun = False
        self._centre = np.zeros(width, np.float32)
        features = feature_count(width)
        self.scatter = Scatter(features, np.float32)
        self._counts = GrowingArray((), np.int64)
        self._means = GrowingArray((features,), np.float32)
        # Samples that are not lifted yet: one product for many is far quicker than one for each.
        self._waiting = GrowingArray((width,), np.float32)
        self._waiting_classes = GrowingArray((), np.int64)

    def begin(self, mean: Vector) -> None:
        """Of all samples, which are to be learned next."""
        self.begun = True
        self._centre = np.rint(mean).astype(np.float32)

    def learn_all(self, X: NDArray[np.floating], classes: Indices) -> None:
        for x, k in zip(X, classes.tolist(), strict=True):
            self.learn(x, k)

    def learn(self, x: NDArray[np.floating], k: int) -> None:
        self._waiting.append(x)
        self._waiting_classes.append(k)
        if len(self._waiting) == LIFTED_TOGETHER:
            self._lift_waiting()

    def _lift_waiting(self) -> None:
        for residual in self._residuals(self._counts, self._means):
            self.scatter.add(residual)
        self._waiting = GrowingArray((self.width,), np.float32)
        self._waiting_classes = GrowingArray((), np.int64)

    def _residuals(self, counts: GrowingArray, means: GrowingArray) -> Singles:
        """Learn the waiting samples into counts and means; the rows that they add to the scatter."""
        Z = lifted(self._waiting.filled, self._centre)
        for i, k in enumerate(self._waiting_classes.filled.tolist()):
            if k == len(counts):
                counts.append(0)
                means.append(0.0)
            count, mean = int(counts.filled[k]), means.filled[k]
            Z[i] -= mean
            mean += Z[i] / np.float32(count + 1)
            Z[i] *= np.float32(sqrt(count / (count + 1)))
            counts.filled[k] += 1
        return Z

    def classes(self) -> LiftedClasses:
        """As they are now, the waiting samples included."""
        counts = GrowingArray((), np.int64, self._counts.filled)
        means = GrowingArray((self.scatter.width,), np.float32, self._means.filled)
        more = self._residuals(counts, means)
        total = int(counts.filled.sum())
        shares = counts.filled / total
        origin = (shares @ means.filled).astype(np.float32)
        seen = means.filled - origin
        variance = (self.scatter.trace + float(np.vdot(more, more))) / (total * self.scatter.width)
        ridge = max(RIDGE * max(variance, LEAST_VARIANCE), self.scatter.rounding / total)
        precision = factored_precision(self.scatter, total, Shrinkage(1.0, ridge), more)
        products = precision.apply(seen)
        squared_norms = np.vecdot(seen, products).astype(np.float64)
        return LiftedClasses(self._centre, counts.filled, origin, seen, products, squared_norms, precision)

    def merge(self, kept: int, absorbed: int) -> None:
        """As :class:`~exll.learner.part.ClassPart`."""
        if not self.begun:
            return
        self._lift_waiting()
        one, other = (int(self._counts.filled[k]) for k in (kept, absorbed))
        apart = self._means.filled[kept] - self._means.filled[absorbed]
        self.scatter.add(np.float32(sqrt(one * other / (one + other))) * apart)
        self._means.filled[kept] -= np.float32(other / (one + other)) * apart
        self._counts.filled[kept] += other
        self._counts.remove(absorbed)
        self._means.remove(absorbed)

    def forget(self, X: Matrix, k: int) -> None:
        """Samples of a class that has others."""
        self._lift_waiting()
        residuals, mean = lifted(X, self._centre), self._means.filled[k]
        for residual in residuals:
            count = int(self._counts.filled[k])
            residual -= mean
            mean -= residual / np.float32(count - 1)
            residual *= np.float32(sqrt(count / (count - 1)))
            self._counts.filled[k] -= 1
        self.scatter.subtract(residuals)

    def remove_class(self, k: int) -> None:
        """A class of one sample, which adds nothing to the scatter; the later ones move up by one place."""
        if self.begun:
            self._lift_waiting()
            self._counts.remove(k)
            self._means.remove(k)

    def absorb(self, other: "Lift", numbers: Indices) -> bool:
        """The sums of another learner, whose classes have these numbers here. Only sums from one centre can be added:
        whether they were."""
        if not (self.begun and other.begun and np.array_equal(self._centre, other._centre)):
            return False
        for lift in (self, other):
            lift._lift_waiting()
        self.scatter.absorb(other.scatter)
        for index, k in enumerate(numbers.tolist()):
            count, mean = int(other._counts.filled[index]), other._means.filled[index]
            if k == len(self._counts):
                self._counts.append(count)
                self._means.append(mean)
                continue
            before, total = int(self._counts.filled[k]), int(self._counts.filled[k]) + count
            apart = mean - self._means.filled[k]
            self.scatter.add(np.float32(sqrt(before * count / total)) * apart)
            self._means.filled[k] += np.float32(count / total) * apart
            self._counts.filled[k] = total
        return True

    @property
    def nbytes(self) -> int:
        if not self.begun:
            return 0
        kept = (self._counts, self._means, self._waiting, self._waiting_classes)
        return self._centre.nbytes + self.scatter.nbytes + sum(array.nbytes for array in kept)

    def state(self) -> Tensors:
        if not self.begun:
            return {}
        return {
            "centre": self._centre,
            "counts": self._counts.filled,
            "means": self._means.filled,
            "waiting": self._waiting.filled,
            "waiting_classes": self._waiting_classes.filled,
            **self.scatter.state(),
        }

    def restore(self, state: Tensors, class_counts: Indices) -> None:
        """Files from before the lift, and those of short streams, have none."""
        if not state:
            return
        self.begun = True
        self._centre = np.array(state["centre"], np.float32)
        self._counts = GrowingArray((), np.int64, state["counts"])
        self._means = GrowingArray((self.scatter.width,), np.float32, state["means"])
        self._waiting = GrowingArray((self.width,), np.float32, state["waiting"])
        self._waiting_classes = GrowingArray((), np.int64, state["waiting_classes"])
        self.scatter.restore(state)
        counts, waiting = self._counts.filled, self._waiting_classes.filled
        if (
            self._centre.shape != (self.width,)
            or len(counts) != len(self._means)
            or len(waiting) != len(self._waiting)
            or len(waiting) >= LIFTED_TOGETHER
            or counts.min(initial=1) < 1
            or not np.array_equal(_counted(counts, waiting.tolist()), class_counts)
        ):
            raise ValueError("the lift does not hold all samples")


def _counted(counts: Indices, waiting: list[int]) -> list[int]:
    """Samples per class, the waiting ones included; a class that is new among them must be the next one."""
    counted: list[int] = counts.tolist()
    for k in waiting:
        if not 0 <= k <= len(counted):
            raise ValueError("a sample of the lift is of no class")
        if k == len(counted):
            counted.append(0)
        counted[k] += 1
    return counted


class LiftedProducts:
    """The dot products that leaving out needs, of samples with the classes (:mod:`.leaving_out`)."""

    def __init__(self, classes: LiftedClasses, X: Matrix, truth: Indices) -> None:
        self._classes, self._truth = classes, truth
        self._rows = classes.precision.whitened(
            lifted(X, classes.centre) - classes.origin
        )  # plain dots of them are those of z
        self._squared_norms = np.vecdot(self._rows, self._rows).astype(np.float64)
        whitened_means = classes.precision.whitened(classes.means)
        self._dots = (self._rows @ whitened_means.T).astype(np.float64)  # (R, C)
        self._classes_classes = (whitened_means @ whitened_means.T).astype(np.float64)

    def left_out(
        self, rows: Indices, missing: Vector, group_of: Indices | None = None
    ) -> tuple[Matrix, Matrix, Vector]:
        r"""What the parts of the scores of some rows would be had they not been learned, nor the ``missing`` samples of
        their groups: the cosine with every class times the norm of z, the linear discriminant, and that norm.

        ``group_of`` has a number for every sample here; without it each is left out alone. The centre of a group is
        that of its samples here. The class loses them all; the covariance loses z alone, $w\,u u^T$ with
        $u = z - \mu_k$ and w = n / ((n - 1) N), which is all there is to lose where z is left out alone.
        """
        k, at, own = self._truth[rows], np.arange(len(rows)), self._classes_classes
        n, total = self._classes.counts[k].astype(np.float64), float(self._classes.counts.sum())
        dots, squared = self._dots[rows], self._squared_norms[rows]
        u_classes = dots - own[k]
        z_u = squared - dots[at, k]
        u_u = np.maximum(z_u - u_classes[at, k], 0.0)
        w = np.where(n > 1, n / np.maximum(n - 1.0, 1.0), 0.0) / total
        least = RIDGE / (self._rows.shape[1] + RIDGE)  # what the ridge leaves where only z varied
        gain = w / np.maximum(1.0 - w * u_u, least)
        z_centre, own_centre = self._with_centres(rows, group_of, k)
        step = missing / np.maximum(n - missing, 1.0)
        lost = z_centre - dots[at, k] + gain * z_u * (z_centre - own_centre - u_classes[at, k])
        dots = dots + (gain * z_u)[:, None] * u_classes
        dots[at, k] -= step * lost
        norms = np.maximum(np.diagonal(own) + gain[:, None] * u_classes**2, SHORTEST)
        return dots / np.sqrt(norms), dots - 0.5 * norms, np.sqrt(np.maximum(squared + gain * z_u**2, SHORTEST))

    def _with_centres(self, rows: Indices, group_of: Indices | None, k: Indices) -> tuple[Vector, Vector]:
        """The dots of every row, and of the mean of its class, with the centre of its group: itself where it is
        alone."""
        if group_of is None or not len(rows):
            return self._squared_norms[rows], self._dots[rows, k]
        numbers, place = np.unique(group_of[rows], return_inverse=True)
        members = np.flatnonzero(np.isin(group_of, numbers))
        members = members[np.argsort(group_of[members], kind="stable")]
        firsts = np.searchsorted(group_of[members], numbers)
        sizes = np.diff(firsts, append=len(members))[:, None]
        centres = np.add.reduceat(self._rows[members], firsts, axis=0) / sizes.astype(np.float32)
        towards = np.add.reduceat(self._dots[members], firsts, axis=0) / sizes
        return np.vecdot(self._rows[rows], centres[place]).astype(np.float64), towards[place, k]
