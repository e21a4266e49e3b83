r"""What the model would say of its own examples had it never learned them, exactly and without learning again.

A witness x of class k is left out in three ways. *Alone*: its class's mean and its prototype are computed without it,
and the covariance loses one residual, which changes the precision by rank one (Sherman and Morrison). That is how the
model fares on more of the same stream. *With its prototype*: class, prototypes and covariance are taken without all
that lies near x, as if it lay at the prototype's centre. That is how it fares on a side of the class that it has never
seen. *With its film* (:mod:`exll.learner.glocal.clips`): in the same way without all that was filmed in one go with x.
That is how it fares on another film.
The origin follows its class's mean, and x is seen from there: where there are few classes, x is a good part of it.

Only the dot product of x with a mean is taken without x; the mean's length stays that of all its samples. A new sample
would meet the whole mean: its dot product is, on average, that with the mean of the others, but that mean is noisier
and so longer. In classes of five, lengths without x would make the model judge itself far too weak. What the classes
have in common (:mod:`exll.learner.glocal.background`) is that of all samples, too.

All of it follows from dot products under the precision that are made once, for all witnesses together.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.background import Background
from exll.learner.glocal.reservoir import Films
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


@dataclass(frozen=True)
class Evidence:
    r"""What speaks for each class at each witness, (R, C): in units of $|x|_\Lambda$, all but ``nearness``."""

    towards_class: Matrix  # (mu - o)' Lambda (x - o) / |mu - o|, the cosine times |x - o|
    nearness: Matrix  # the linear discriminant of the class
    towards_prototype: Matrix  # as the first, of the best prototype of the class
    shared: Vector  # what x has in common with all classes together, (R,)
    reach: Vector  # |x - o|, (R,)
    truth: Indices  # (R,)
    witnesses: Indices  # (R,) which they are

    def among(self, chosen: NDArray[np.bool_]) -> "Evidence":
        """Of some of all witnesses."""
        rows = chosen[self.witnesses]
        return Evidence(**{name: values[rows] for name, values in self.__dict__.items()})

    def joined(self, other: "Evidence") -> "Evidence":
        mine, theirs = self.__dict__, other.__dict__
        return Evidence(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})


class Products:
    """All dot products that leaving out needs, of witnesses with classes and prototypes."""

    def __init__(self, precision: Precision, X: Matrix, truth: Indices, own: Indices, means: Means) -> None:
        self.means = means
        self.truth = truth
        self.own = own  # the place of each witness's prototype
        self.precision = precision
        self.X = X
        self.class_products = precision.apply(means.classes)
        self.lengths_x = precision.lengths(X)
        self.x_classes = X @ self.class_products.T  # (R, C)
        self.classes_classes = means.classes @ self.class_products.T  # (C, C)
        self.counts = means.class_counts[truth].astype(np.float64)  # of their classes
        self.supports = means.supports[own].astype(np.float64)  # of their prototypes

    @cached_property
    def background(self) -> Background:
        return Background(self.classes_classes, self.means.class_counts)

    @cached_property
    def prototype_products(self) -> Matrix:
        return self.precision.apply(self.means.prototypes)

    @cached_property
    def x_prototypes(self) -> Matrix:
        x_prototypes: Matrix = self.X @ self.prototype_products.T  # (R, P)
        return x_prototypes

    @cached_property
    def classes_prototypes(self) -> Matrix:
        classes_prototypes: Matrix = self.class_products @ self.means.prototypes.T  # (C, P)
        return classes_prototypes

    @cached_property
    def prototype_lengths(self) -> Vector:
        lengths: Vector = np.vecdot(self.means.prototypes, self.prototype_products)
        return lengths


def cosines_alone(products: Products, samples: int) -> tuple[Matrix, Indices]:
    """The cosines with the classes, and the truth, of the witnesses that can be left out alone."""
    left = _alone(products, samples)
    reach = np.sqrt(np.maximum(left.squared_reach, SHORTEST))
    return _towards(left.dots, left.lengths) / reach[:, None], left.truth


def left_out_alone(products: Products, samples: int) -> Evidence:
    """Of the witnesses whose class has another sample."""
    p, left = products, _alone(products, samples)
    own, support = p.own[left.usable], p.supports[left.usable]
    alone, rows = support == 1, np.arange(len(own))
    dots, lengths = left.prototypes(p.x_prototypes[left.usable] - p.classes_prototypes[left.truth])
    # Its own prototype without it lies at p - (x - p) / (s - 1).
    dots[rows, own] = (support * dots[rows, own] - left.squared_reach) / np.where(alone, 1.0, support - 1)
    towards_prototype = _towards(dots, lengths)
    towards_prototype[rows[alone], own[alone]] = -np.inf
    return left.evidence(towards_prototype)


def _alone(p: Products, samples: int) -> "_Left":
    """Those whose class has another sample."""
    usable = np.flatnonzero(p.counts > 1)
    k, x_classes = p.truth[usable], p.x_classes[usable]
    rows = np.arange(len(k))
    u_classes = x_classes - p.classes_classes[k]
    x_u = p.lengths_x[usable] - x_classes[rows, k]
    return _Left(p, samples, usable, np.ones(len(k)), u_classes, x_u, x_u - u_classes[rows, k])


def left_out_with_prototype(products: Products, samples: int) -> Evidence:
    """Of the witnesses whose class has another prototype."""
    p = products
    usable = np.flatnonzero(p.counts > p.supports)
    k, own = p.truth[usable], p.own[usable]
    u = p.prototype_products[own] - p.class_products[k]  # (R, d)
    left = _Left(
        p,
        samples,
        usable,
        p.supports[usable],
        u_classes=u @ p.means.classes.T,
        x_u=p.x_prototypes[usable, own] - p.x_classes[usable, k],
        r_u=np.vecdot(u, p.means.prototypes[own] - p.means.classes[k]),
    )
    towards_prototype = _towards(*left.prototypes(u @ p.means.prototypes.T))
    towards_prototype[np.arange(len(own)), own] = -np.inf
    return left.evidence(towards_prototype)


def left_out_with_film(products: Products, samples: int, films: Films, origin: Vector) -> Evidence:
    """Of the witnesses in a film whose class has others. A prototype goes where most of it does."""
    p = products
    usable = np.flatnonzero(films.telling & (films.of >= 0))
    usable = usable[p.counts[usable] > films.counts[films.of[usable]]]
    k, own = p.truth[usable], films.of[usable]
    centres = films.centres - origin
    u = p.precision.apply(centres)[own] - p.class_products[k]  # (R, d)
    left = _Left(
        p,
        samples,
        usable,
        films.counts[own].astype(np.float64),
        u_classes=u @ p.means.classes.T,
        x_u=np.vecdot(p.X[usable], u),
        r_u=np.vecdot(u, centres[own] - p.means.classes[k]),
    )
    towards_prototype = _towards(*left.prototypes(u @ p.means.prototypes.T))
    towards_prototype[_gone(p, films)[own]] = -np.inf
    return left.evidence(towards_prototype)


def _gone(p: Products, films: Films) -> NDArray[np.bool_]:
    """Which prototypes would not be there without a film, (G, P). Of every class one stays."""
    filmed = np.flatnonzero(films.of >= 0)
    witnesses = np.zeros((len(films.counts), len(p.means.supports)))
    np.add.at(witnesses, (films.of[filmed], p.own[filmed]), 1.0)
    samples = witnesses * (films.counts / witnesses.sum(axis=1))[:, None]
    shares = samples / p.means.supports
    gone: NDArray[np.bool_] = shares > 0.5
    class_of = np.zeros(len(films.counts), np.int64)
    class_of[films.of[filmed]] = p.truth[filmed]
    ends = np.append(p.means.first_prototype[1:], len(p.means.supports))
    for g, k in enumerate(class_of.tolist()):
        own = slice(p.means.first_prototype[k], ends[k])
        if gone[g, own].all():
            gone[g, own.start + int(shares[g, own].argmin())] = False
    return gone


class _Left:
    r"""The model without ``missing`` samples of each witness's class, which lie at r from the class's mean: at x, or at
    the centre of its prototype or film.

    The mean then moves by $-r$ times missing / (n - missing), and the origin by the class's share of that, $-wr$ with
    w = missing n / ((n - missing) N). With the same w the covariance loses r: with $u = \Lambda r$ Sherman and
    Morrison give $\Lambda + g\,u u^T$ with $g = w/(1 - w\,r^T u)$; times r, that is $u/(1 - w\,r^T u)$. All of it is
    met only inside dot products.
    """

    def __init__(
        self, p: Products, samples: int, usable: Indices, missing: Vector, u_classes: Matrix, x_u: Vector, r_u: Vector
    ) -> None:
        self.products, self.usable, self.truth = p, usable, p.truth[usable]
        step = missing / (p.counts[usable] - missing)
        weight = step * p.counts[usable] / samples
        kept = np.maximum(1.0 - weight * r_u, SHORTEST)
        gain, x_r = weight / kept, x_u + weight * r_u  # the second: x from the moved origin, with r
        self._gain, self._x_u, self._x_r = gain[:, None], x_u[:, None], x_r[:, None]
        self.dots = self._dots(p.x_classes[usable], u_classes)
        self.dots[np.arange(len(usable)), self.truth] -= step * x_r / kept
        self.lengths = np.diagonal(p.classes_classes) + self._gain * u_classes**2
        self.squared_reach = p.lengths_x[usable] + gain * (x_u**2 + x_u + x_r)

    def _dots(self, x_means: Matrix, u_means: Matrix) -> Matrix:
        """Of x with some means, both seen from the moved origin."""
        dots: Matrix = (self._gain * (self._x_u + 1.0)) * u_means
        dots += x_means
        dots += self._gain * self._x_r
        return dots

    def prototypes(self, u_prototypes: Matrix) -> tuple[Matrix, Matrix]:
        """Dots with the prototypes and their lengths."""
        p = self.products
        return self._dots(p.x_prototypes[self.usable], u_prototypes), p.prototype_lengths + self._gain * u_prototypes**2

    def evidence(self, towards_prototype: Matrix) -> Evidence:
        return Evidence(
            towards_class=_towards(self.dots, self.lengths),
            nearness=self.dots - 0.5 * self.lengths,
            towards_prototype=np.maximum.reduceat(towards_prototype, self.products.means.first_prototype, axis=1),
            shared=self.products.background.shared(self.dots),
            reach=np.sqrt(np.maximum(self.squared_reach, SHORTEST)),
            truth=self.truth,
            witnesses=self.usable,
        )


def _towards(dots: Matrix, lengths: Matrix | Vector) -> Matrix:
    return np.where(lengths > SHORTEST, dots / np.sqrt(np.maximum(lengths, SHORTEST)), 0.0)
