r"""What the model would say of its own examples had it never learned them, exactly and without learning again.

A witness x of class k is left out in two ways. *Alone*: its class's mean and its prototype are computed without it, and
the covariance loses one residual, which changes the precision by rank one (Sherman and Morrison). That is how the model
fares on more of the same stream. *With its prototype*: class, prototypes and covariance are taken without all that lies
near x, as if it lay at the prototype's centre. That is how it fares on a side of the class that it has never seen.

Only the dot product of x with a mean is taken without x; the mean's length stays that of all its samples. A new sample
would meet the whole mean: its dot product is, on average, that with the mean of the others, but that mean is noisier
and so longer. In classes of five, lengths without x would make the model judge itself far too weak. What the classes
have in common (:mod:`exll.learner.background`) is that of all samples, too.

All of it follows from dot products under the precision that are made once, for all witnesses together.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exll.learner.background import Background
from exll.learner.head import SHORTEST
from exll.learner.precision import Precision
from exll.types import Indices, Matrix, Vector


@dataclass(frozen=True)
class Means:
    """Classes and their prototypes, class by class, seen from the origin."""

    classes: Matrix  # (C, d)
    class_counts: Indices
    prototypes: Matrix  # (P, d)
    supports: Indices
    first_prototype: Indices  # (C,) where each class starts

    @property
    def class_of(self) -> Indices:
        return np.repeat(np.arange(len(self.classes)), np.diff(self.first_prototype, append=len(self.supports)))


@dataclass(frozen=True)
class Evidence:
    r"""What speaks for each class at each witness, (R, C): in units of $|x|_\Lambda$, all but ``nearness``."""

    towards_class: Matrix  # (mu - o)' Lambda (x - o) / |mu - o|, the cosine times |x - o|
    nearness: Matrix  # the linear discriminant of the class
    towards_prototype: Matrix  # as the first, of the best prototype of the class
    shared: Vector  # what x has in common with all classes together, (R,)
    reach: Vector  # |x - o|, (R,)
    truth: Indices  # (R,)

    def some(self, rows: Indices) -> "Evidence":
        return Evidence(
            self.towards_class[rows],
            self.nearness[rows],
            self.towards_prototype[rows],
            self.shared[rows],
            self.reach[rows],
            self.truth[rows],
        )


class Products:
    """All dot products that leaving out needs, of witnesses with classes and prototypes."""

    def __init__(self, precision: Precision, X: Matrix, truth: Indices, own: Indices, means: Means) -> None:
        self.means = means
        self.truth = truth
        self.own = own  # the place of each witness's prototype
        self._precision = precision
        self._X = X
        self.class_products = precision.apply(means.classes)
        self.lengths_x = np.vecdot(X, precision.apply(X))
        self.x_classes = X @ self.class_products.T  # (R, C)
        self.classes_classes = means.classes @ self.class_products.T  # (C, C)
        self.counts = means.class_counts[truth].astype(np.float64)  # of their classes
        self.supports = means.supports[own].astype(np.float64)  # of their prototypes

    @cached_property
    def background(self) -> Background:
        return Background(self.classes_classes, self.means.class_counts)

    @cached_property
    def prototype_products(self) -> Matrix:
        return self._precision.apply(self.means.prototypes)

    @cached_property
    def x_prototypes(self) -> Matrix:
        x_prototypes: Matrix = self._X @ self.prototype_products.T  # (R, P)
        return x_prototypes

    @cached_property
    def prototype_lengths(self) -> Vector:
        lengths: Vector = np.vecdot(self.means.prototypes, self.prototype_products)
        return lengths


def cosines_alone(products: Products, samples: int) -> tuple[Matrix, Indices]:
    """The cosines with the classes, and the truth, of the witnesses that can be left out alone."""
    usable, left = _alone(products, samples)
    dots, lengths, reach = left.classes(products, usable, 1.0 / (products.counts[usable] - 1))
    return _towards(dots, lengths) / np.sqrt(np.maximum(reach, SHORTEST))[:, None], products.truth[usable]


def _alone(p: Products, samples: int) -> tuple[Indices, "_Left"]:
    """Those whose class has another sample; its mean lies at mu, and without x at mu - (x - mu) / (n - 1)."""
    usable = np.flatnonzero(p.counts > 1)
    k, n, x_classes = p.truth[usable], p.counts[usable], p.x_classes[usable]
    u_classes = x_classes - p.classes_classes[k]
    x_u = p.lengths_x[usable] - x_classes[np.arange(len(k)), k]
    residual = x_u - u_classes[np.arange(len(k)), k]
    return usable, _Left(u_classes, x_u, residual, n / ((n - 1) * samples))


def left_out_alone(products: Products, samples: int) -> Evidence:
    """Of the witnesses whose class has another sample."""
    p = products
    usable, left = _alone(p, samples)
    k, own, support = p.truth[usable], p.own[usable], p.supports[usable]
    rows = np.arange(len(usable))
    dots, lengths, reach = left.classes(p, usable, 1.0 / (p.counts[usable] - 1))
    u_prototypes = p.x_prototypes[usable] - (p.class_products @ p.means.prototypes.T)[k]
    local_dots, local_lengths = left.prototypes(p, usable, u_prototypes)
    alone = support == 1
    local_dots[rows, own] = (support * local_dots[rows, own] - reach) / np.where(alone, 1.0, support - 1)
    towards_prototype = _towards(local_dots, local_lengths)
    towards_prototype[rows[alone], own[alone]] = -np.inf
    return _evidence(dots, lengths, towards_prototype, reach, k, p)


def left_out_with_prototype(products: Products, samples: int) -> Evidence:
    """Of the witnesses whose class has another prototype."""
    p = products
    usable = np.flatnonzero(p.counts > p.supports)
    k, own, n, support = p.truth[usable], p.own[usable], p.counts[usable], p.supports[usable]
    rows = np.arange(len(usable))
    u = p.prototype_products[own] - p.class_products[k]  # (R, d)
    left = _Left(
        u_classes=u @ p.means.classes.T,
        x_u=p.x_prototypes[usable, own] - p.x_classes[usable, k],
        residual=np.vecdot(u, p.means.prototypes[own] - p.means.classes[k]),
        weight=support * n / ((n - support) * samples),
    )
    dots, lengths, reach = left.classes(p, usable, support / (n - support))
    towards_prototype = _towards(*left.prototypes(p, usable, u @ p.means.prototypes.T))
    towards_prototype[rows, own] = -np.inf
    return _evidence(dots, lengths, towards_prototype, reach, k, p)


class _Left:
    r"""The precision after a residual r was taken out of the covariance, met only inside dot products.

    With $u = \Lambda r$ and the residual's weight w, Sherman and Morrison give $\Lambda + g\,u u^T$ with
    $g = w/(1 - w\,r^T u)$; times r, that is $u/(1 - w\,r^T u)$.
    """

    def __init__(self, u_classes: Matrix, x_u: Vector, residual: Vector, weight: Vector) -> None:
        self._u_classes = u_classes  # (R, C)
        self._x_u = x_u
        self._rest = np.maximum(1.0 - weight * residual, SHORTEST)  # residual: r' u
        self._gain = (weight / self._rest)[:, None]

    def classes(self, p: Products, usable: Indices, step: Vector) -> tuple[Matrix, Matrix, Vector]:
        """Dots with the classes, their lengths and that of x; the true class's mean moves by ``step`` times -r."""
        dots = p.x_classes[usable] + self._gain * self._x_u[:, None] * self._u_classes
        dots[np.arange(len(usable)), p.truth[usable]] -= step * self._x_u / self._rest
        lengths = np.diagonal(p.classes_classes) + self._gain * self._u_classes**2
        return dots, lengths, p.lengths_x[usable] + self._gain[:, 0] * self._x_u**2

    def prototypes(self, p: Products, usable: Indices, u_prototypes: Matrix) -> tuple[Matrix, Matrix]:
        """Dots with the prototypes and their lengths."""
        dots = p.x_prototypes[usable] + self._gain * self._x_u[:, None] * u_prototypes
        return dots, p.prototype_lengths + self._gain * u_prototypes**2


def _evidence(
    dots: Matrix, lengths: Matrix, towards_prototype: Matrix, squared_reach: Vector, truth: Indices, p: Products
) -> Evidence:
    return Evidence(
        towards_class=_towards(dots, lengths),
        nearness=dots - 0.5 * lengths,
        towards_prototype=np.maximum.reduceat(towards_prototype, p.means.first_prototype, axis=1),
        shared=p.background.shared(dots),
        reach=np.sqrt(np.maximum(squared_reach, SHORTEST)),
        truth=truth,
    )


def _towards(dots: Matrix, lengths: Matrix | Vector) -> Matrix:
    return np.where(lengths > SHORTEST, dots / np.sqrt(np.maximum(lengths, SHORTEST)), 0.0)
