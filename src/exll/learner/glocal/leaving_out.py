r"""What the model would answer for its own samples had it never learned them, exactly and without learning again.

A sample x of the reservoir, of class k, is left out in three ways. *Alone*: the mean of its class and its prototype are
computed without it, and the covariance loses one residual, which changes the precision by rank one (Sherman and
Morrison). This measures the model on more of the same stream. *With its prototype*: class, prototypes and covariance
are computed without all that lies near x, as if it lay at the centre of the prototype. This measures the model on a
side of the class that it has never seen. *With its clip* (:mod:`exll.learner.glocal.clips`): in the same way without
all of the clip that x belongs to. This measures the model on another clip.
The origin follows the mean of the class, and x is seen from there: with few classes, x is a good part of the origin.

Only the dot product of x with a mean is taken without x; the norm of the mean stays that of all its samples. A new
sample would meet the whole mean: its dot product is, on average, that with the mean of the others, but that mean is
noisier and so longer. In classes of five, norms without x would make the model judge itself far too weak. What the
classes have in common (:mod:`exll.learner.glocal.background`) is also that of all samples.

All of it follows from dot products under the precision that are made once, for all samples together.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.background import Background
from exll.learner.glocal.reservoir import Clips
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
class LeftOut:
    r"""The parts of the scores of some left-out samples, (R, C): in units of $|x|_\Lambda$, all but ``nearness``."""

    towards_class: Matrix  # (mu - o)' Lambda (x - o) / |mu - o|, the cosine times |x - o|
    nearness: Matrix  # the linear discriminant of the class
    towards_prototype: Matrix  # as the first, of the best prototype of the class
    shared: Vector  # what x has in common with all classes together, (R,)
    norms: Vector  # |x - o|, (R,)
    truth: Indices  # (R,)
    rows: Indices  # (R,) which samples of the reservoir they are

    def among(self, chosen: NDArray[np.bool_]) -> "LeftOut":
        """Only the chosen ones; ``chosen`` has an entry per sample of the reservoir."""
        rows = chosen[self.rows]
        return LeftOut(**{name: values[rows] for name, values in self.__dict__.items()})

    def joined(self, other: "LeftOut") -> "LeftOut":
        mine, theirs = self.__dict__, other.__dict__
        return LeftOut(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})


class Products:
    """All dot products that leaving out needs, of samples with classes and prototypes."""

    def __init__(self, precision: Precision, X: Matrix, truth: Indices, own: Indices, means: Means) -> None:
        self.means = means
        self.truth = truth
        self.own = own  # the place of each sample's prototype
        self.precision = precision
        self.X = X
        self.class_products = precision.apply(means.classes)
        self.x_squared_norms = precision.squared_norms(X)
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

    def own_class_prototypes(self, truth: Indices) -> Matrix:
        """The dots of the mean of each sample's class with all prototypes, (R, P)."""
        classes, own = np.unique(truth, return_inverse=True)
        dots: Matrix = self.class_products[classes] @ self.means.prototypes.T
        return dots[own]

    @cached_property
    def prototype_squared_norms(self) -> Vector:
        squared_norms: Vector = np.vecdot(self.means.prototypes, self.prototype_products)
        return squared_norms


def cosines_alone(products: Products, samples: int) -> tuple[Matrix, Indices]:
    """The cosines with the classes, and the truth, of the samples that can be left out alone."""
    left = _alone(products, samples)
    norms = np.sqrt(np.maximum(left.x_squared_norms, SHORTEST))
    return _towards(left.dots, left.squared_norms) / norms[:, None], left.truth


def left_out_alone(products: Products, samples: int) -> LeftOut:
    """Of the samples whose class has another sample."""
    p, left = products, _alone(products, samples)
    own, support = p.own[left.usable], p.supports[left.usable]
    alone, rows = support == 1, np.arange(len(own))
    dots, squared_norms = left.prototypes(p.x_prototypes[left.usable] - p.own_class_prototypes(left.truth))
    # Its own prototype without it lies at p - (x - p) / (s - 1).
    dots[rows, own] = (support * dots[rows, own] - left.x_squared_norms) / np.where(alone, 1.0, support - 1)
    towards_prototype = _towards(dots, squared_norms)
    towards_prototype[rows[alone], own[alone]] = -np.inf
    return left.parts(towards_prototype)


def _alone(p: Products, samples: int) -> "_Left":
    """Those whose class has another sample."""
    usable = np.flatnonzero(p.counts > 1)
    k, x_classes = p.truth[usable], p.x_classes[usable]
    rows = np.arange(len(k))
    u_classes = x_classes - p.classes_classes[k]
    x_u = p.x_squared_norms[usable] - x_classes[rows, k]
    return _Left(p, samples, usable, np.ones(len(k)), u_classes, x_u, x_u - u_classes[rows, k])


def left_out_with_prototype(products: Products, samples: int) -> LeftOut:
    """Of the samples whose class has another prototype."""
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
    return left.parts(towards_prototype)


def left_out_with_clip(products: Products, samples: int, clips: Clips, origin: Vector) -> LeftOut:
    """Of the samples in a clip whose class has other samples. A prototype goes where most of it does."""
    p = products
    usable = np.flatnonzero(clips.informative & (clips.of >= 0))
    usable = usable[p.counts[usable] > clips.counts[clips.of[usable]]]
    k, own = p.truth[usable], clips.of[usable]
    centres = clips.centres - origin
    u = p.precision.apply(centres)[own] - p.class_products[k]  # (R, d)
    left = _Left(
        p,
        samples,
        usable,
        clips.counts[own].astype(np.float64),
        u_classes=u @ p.means.classes.T,
        x_u=np.vecdot(p.X[usable], u),
        r_u=np.vecdot(u, centres[own] - p.means.classes[k]),
    )
    towards_prototype = _towards(*left.prototypes(u @ p.means.prototypes.T))
    towards_prototype[_gone(p, clips)[own]] = -np.inf
    return left.parts(towards_prototype)


def _gone(p: Products, clips: Clips) -> NDArray[np.bool_]:
    """Which prototypes would not be there without a clip, (G, P). Of every class one stays."""
    in_clip = np.flatnonzero(clips.of >= 0)
    samples_here = np.zeros((len(clips.counts), len(p.means.supports)))
    np.add.at(samples_here, (clips.of[in_clip], p.own[in_clip]), 1.0)
    samples = samples_here * (clips.counts / samples_here.sum(axis=1))[:, None]
    shares = samples / p.means.supports
    gone: NDArray[np.bool_] = shares > 0.5
    class_of = np.zeros(len(clips.counts), np.int64)
    class_of[clips.of[in_clip]] = p.truth[in_clip]
    ends = np.append(p.means.first_prototype[1:], len(p.means.supports))
    for g, k in enumerate(class_of.tolist()):
        own = slice(p.means.first_prototype[k], ends[k])
        if gone[g, own].all():
            gone[g, own.start + int(shares[g, own].argmin())] = False
    return gone


class _Left:
    r"""The model without ``missing`` samples of the class of each sample, which lie at r from the mean of the class: at
    x, or at the centre of its prototype or clip.

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
        self.squared_norms = np.diagonal(p.classes_classes) + self._gain * u_classes**2
        self.x_squared_norms = p.x_squared_norms[usable] + gain * (x_u**2 + x_u + x_r)

    def _dots(self, x_means: Matrix, u_means: Matrix) -> Matrix:
        """Of x with some means, both seen from the moved origin."""
        dots: Matrix = (self._gain * (self._x_u + 1.0)) * u_means
        dots += x_means
        dots += self._gain * self._x_r
        return dots

    def prototypes(self, u_prototypes: Matrix) -> tuple[Matrix, Matrix]:
        """Dots with the prototypes and their squared norms."""
        p = self.products
        return self._dots(
            p.x_prototypes[self.usable], u_prototypes
        ), p.prototype_squared_norms + self._gain * u_prototypes**2

    def parts(self, towards_prototype: Matrix) -> LeftOut:
        return LeftOut(
            towards_class=_towards(self.dots, self.squared_norms),
            nearness=self.dots - 0.5 * self.squared_norms,
            towards_prototype=np.maximum.reduceat(towards_prototype, self.products.means.first_prototype, axis=1),
            shared=self.products.background.shared(self.dots),
            norms=np.sqrt(np.maximum(self.x_squared_norms, SHORTEST)),
            truth=self.truth,
            rows=self.usable,
        )


def _towards(dots: Matrix, squared_norms: Matrix | Vector) -> Matrix:
    return np.where(squared_norms > SHORTEST, dots / np.sqrt(np.maximum(squared_norms, SHORTEST)), 0.0)
