r"""What the model would answer for its own samples had it never learned them, exactly and without learning again.

A sample x of the reservoir, of class k, is left out *alone*, or *with a group*: the samples that came with it, or look
like it. Alone: the mean of its class and its prototype are computed without it, and the covariance loses its residual.
This measures the model on more of the same stream. With a group: class, prototypes and covariance are computed without
x and without the group, as if all others of it lay at its centre. This measures the model in a new place.
The origin follows the mean of the class, and x is seen from there: with few classes, x is a good part of the origin.

Only the dot product of x with a mean is taken without x; the norm of the mean stays that of all its samples. A new
sample would meet the whole mean: its dot product is, on average, that with the mean of the others, but that mean is
noisier and so longer. In classes of five, norms without x would make the model judge itself far too weak. What the
classes have in common (:mod:`exll.learner.glocal.background`) is also that of all samples.

All of it follows from dot products under the precision that are made once, for all samples together.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.background import Background
from exll.learner.glocal.lift import LiftedProducts
from exll.learner.glocal.reservoir import Groups
from exll.learner.glocal.ward import ward_groups
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

    def prototypes_of(self, k: int) -> slice:
        ends = np.append(self.first_prototype[1:], len(self.supports))
        return slice(int(self.first_prototype[k]), int(ends[k]))


@dataclass(frozen=True)
class LeftOut:
    r"""The parts of the scores of some left-out samples, (R, C): in units of $|x|_\Lambda$, all but ``nearness``."""

    towards_class: Matrix  # (mu - o)' Lambda (x - o) / |mu - o|, the cosine times |x - o|
    nearness: Matrix  # the linear discriminant of the class
    towards_prototype: Matrix  # as the first, of the best prototype of the class
    plain_cosines: Matrix  # mu'x / |mu||x|, neither from the origin nor under the precision
    shared: Vector  # what x has in common with all classes together, (R,)
    norms: Vector  # |x - o|, (R,)
    towards_lifted: Matrix  # as the first, in the space of the lift; zero where there is none
    lifted_nearness: Matrix
    lifted_norms: Vector  # zero where the lift says nothing
    truth: Indices  # (R,)
    rows: Indices  # (R,) which samples of the reservoir they are

    def among(self, chosen: NDArray[np.bool_]) -> "LeftOut":
        """Only the chosen ones; ``chosen`` has an entry per sample of the reservoir."""
        rows = chosen[self.rows]
        return LeftOut(**{name: values[rows] for name, values in self.__dict__.items()})

    def with_lift(self, lifted: LiftedProducts | None, groups: "LeftGroups | None" = None) -> "LeftOut":
        """With what the lift adds, for samples that were left out alone or with those groups."""
        if lifted is None:
            return self
        missing, group_of = np.ones(len(self.rows)), None
        if groups is not None:
            missing, group_of = groups.counts[groups.of[self.rows]], groups.of
        towards, nearness, norms = lifted.left_out(self.rows, missing, group_of)
        return replace(self, towards_lifted=towards, lifted_nearness=nearness, lifted_norms=norms)

    def joined(self, other: "LeftOut") -> "LeftOut":
        mine, theirs = self.__dict__, other.__dict__
        return LeftOut(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})


@dataclass(frozen=True)
class LeftGroups:
    """Groups that samples are left out with. A group lies within one class."""

    of: Indices  # (R,) the number of each sample's group, -1 where it is not left out
    counts: Vector  # (G,) samples
    centres: Matrix  # (G, d) from the origin
    gone: NDArray[np.bool_]  # (G, P) the prototypes that would not be there without it

    def among(self, chosen: NDArray[np.bool_]) -> "LeftGroups":
        """Only the chosen samples are left out; ``chosen`` has an entry per sample of the reservoir."""
        return replace(self, of=np.where(chosen, self.of, -1))


class Products:
    """All dot products that leaving out needs, of samples with classes and prototypes."""

    def __init__(
        self, precision: Precision, X: Matrix, truth: Indices, own: Indices, means: Means, origin: Vector
    ) -> None:
        self.means = means
        self.origin = origin
        self.truth = truth
        self.own = own  # the place of each sample's prototype
        self.precision = precision
        self.X = X
        self.x_side, other_side = precision.sides(X)
        self.class_sides = precision.sides(means.classes)
        self.x_squared_norms: Vector = np.vecdot(self.x_side, other_side).astype(np.float64)
        self.x_classes = dots(self.x_side, self.class_sides[1])  # (R, C)
        # Its own rounding must not make a matrix of it that is no longer positive.
        self.classes_classes = dots(*(side.astype(np.float64) for side in self.class_sides))  # (C, C)
        self.counts = means.class_counts[truth].astype(np.float64)  # of their classes
        self.supports = means.supports[own].astype(np.float64)  # of their prototypes

    @cached_property
    def background(self) -> Background:
        return Background(self.classes_classes, self.means.class_counts)

    @cached_property
    def plain_x(self) -> Matrix:
        """(R, d) unit vectors, as they were learned."""
        return self.X + self.origin

    @cached_property
    def plain_cosines(self) -> Matrix:
        """(R, C) of all samples with all classes."""
        classes = self.means.classes + self.origin
        cosines: Matrix = self.plain_x @ classes.T / np.maximum(np.linalg.norm(classes, axis=1), SHORTEST)
        return cosines

    @cached_property
    def prototype_sides(self) -> tuple[Matrix, Matrix]:
        return self.precision.sides(self.means.prototypes)

    @cached_property
    def x_prototypes(self) -> Matrix:
        """(R, P), like all that is computed per sample and prototype as precise as the precision itself."""
        products: Matrix = self.x_side @ self.prototype_sides[1].T
        return products

    @cached_property
    def classes_prototypes(self) -> Matrix:
        products: Matrix = self.class_sides[0] @ self.prototype_sides[1].T  # (C, P)
        return products

    @cached_property
    def prototype_squared_norms(self) -> Vector:
        squared_norms: Vector = np.vecdot(*self.prototype_sides)
        return squared_norms

    def sides_of_centres(self, groups: LeftGroups, some: Indices) -> tuple[Matrix, Matrix]:
        """Of some groups; where these are the prototypes, theirs."""
        if groups.centres is self.means.prototypes:
            left, right = self.prototype_sides
            return left[some], right[some]
        return self.precision.sides(groups.centres[some])


def dots(one: Matrix, other: Matrix) -> Matrix:
    """Of all rows of the one with all rows of the other, in double precision whatever they are multiplied in."""
    products: Matrix = (one @ other.T).astype(np.float64, copy=False)
    return products


def left_out_alone(products: Products, samples: int) -> LeftOut:
    """Of the samples whose class has another sample."""
    p, left = products, _alone(products, samples)
    own, support = p.own[left.usable], p.supports[left.usable]
    alone, rows = support == 1, np.arange(len(own))
    near, squared_norms = left.prototypes(p.x_prototypes[left.usable] - p.classes_prototypes[left.truth])
    # Its own prototype without it lies at p - (x - p) / (s - 1).
    near[rows, own] = (support * near[rows, own] - left.x_squared_norms) / np.where(alone, 1.0, support - 1)
    towards_prototype = _towards(near, squared_norms)
    towards_prototype[rows[alone], own[alone]] = -np.inf
    return left.parts(towards_prototype, p.plain_x[left.usable])


def left_out_with_group(products: Products, samples: int, groups: LeftGroups) -> LeftOut:
    """Of the samples in a group whose class has other samples."""
    left, u, place = _with_group(products, samples, groups)
    towards_prototype = _towards(*left.prototypes((u @ products.prototype_sides[1].T)[place]))
    own = groups.of[left.usable]
    towards_prototype[groups.gone[own]] = -np.inf
    return left.parts(towards_prototype, groups.centres[own] + products.origin)


def cosines_alone(products: Products, samples: int, chosen: NDArray[np.bool_]) -> tuple[Matrix, Indices]:
    """The cosines with the classes, and the truth, of those of the chosen samples that can be left out alone."""
    left = _alone(products, samples)
    cosines, rows = left.cosines(), chosen[left.usable]
    return cosines[rows], left.truth[rows]


def cosines_with_group(products: Products, samples: int, groups: LeftGroups) -> tuple[Matrix, Indices]:
    """The same of those that can be left out with their group."""
    left, _, _ = _with_group(products, samples, groups)
    return left.cosines(), left.truth


def look_alikes(means: Means, own: Indices) -> LeftGroups:
    """The samples of one prototype."""
    counts: Vector = means.supports.astype(np.float64)
    return LeftGroups(own, counts, means.prototypes, np.eye(len(counts), dtype=bool))


def thirds(means: Means, own: Indices, truth: Indices) -> LeftGroups:
    """Every class falls into three groups of prototypes, as Ward's measure parts it: a sample is left out with a third
    of its class, the one that is like it. Where a class was learned in several places, this is one of them."""
    of_prototype = np.arange(len(means.supports))
    for k in np.unique(truth).tolist():
        rows = means.prototypes_of(k)
        of_prototype[rows] = rows.start + ward_groups(means.prototypes[rows], means.supports[rows], 3)
    numbers, of_prototype = np.unique(of_prototype, return_inverse=True)
    order = np.argsort(of_prototype, kind="stable")
    weighted = means.supports[order, None] * means.prototypes[order]
    counts: Vector = np.bincount(of_prototype, weights=means.supports).astype(np.float64)
    firsts = np.searchsorted(of_prototype[order], np.arange(len(numbers)))
    centres = np.add.reduceat(weighted, firsts, axis=0) / counts[:, None]
    return LeftGroups(of_prototype[own], counts, centres, of_prototype == np.arange(len(numbers))[:, None])


def groups_that_came_together(products: Products, groups: Groups, origin: Vector) -> LeftGroups:
    """Groups of samples that came together. A prototype goes with a group if more than half of it does; of every class
    one stays."""
    p, of, counts = products, groups.of, groups.counts
    rows = np.flatnonzero(of >= 0)
    members = np.bincount(of[rows], minlength=len(counts)).astype(np.float64)
    samples_here = np.zeros((len(counts), len(p.means.supports)))
    np.add.at(samples_here, (of[rows], p.own[rows]), 1.0)
    shares = samples_here * (counts / members)[:, None] / p.means.supports
    gone: NDArray[np.bool_] = shares > 0.5
    class_of = np.zeros(len(counts), np.int64)
    class_of[of[rows]] = p.truth[rows]
    for g, k in enumerate(class_of.tolist()):
        own = p.means.prototypes_of(k)
        if gone[g, own].all():
            gone[g, own.start + int(shares[g, own].argmin())] = False
    return LeftGroups(of, counts, groups.centres - origin, gone)


def similarity_to_others(products: Products, class_weight: float, nearness_weight: float) -> Vector:
    """The cosine of every sample with the class that it would be taken for had its own never been learned: what an
    input of another class looks like. The origin is then that of the other classes."""
    p, k, rows = products, products.truth, np.arange(len(products.truth))
    share = p.counts / (p.means.class_counts.sum() - p.counts)  # the origin moves by this times the mean, away from it
    means, squared_norms = p.classes_classes[k], np.diagonal(p.classes_classes)
    moved = (share**2 * squared_norms[k])[:, None]
    x_own = share * p.x_classes[rows, k]
    dots = p.x_classes + x_own[:, None] + share[:, None] * means + moved
    mean_norms = np.maximum(squared_norms + 2.0 * share[:, None] * means + moved, 0.0)
    x_norms = np.sqrt(np.maximum(p.x_squared_norms + 2.0 * x_own + moved[:, 0], SHORTEST))
    towards = _towards(dots, mean_norms)
    scores = class_weight * towards + nearness_weight * (dots - 0.5 * mean_norms)
    scores[rows, k] = -np.inf
    similarity: Vector = towards[rows, scores.argmax(axis=1)] / x_norms
    return similarity


def _alone(p: Products, samples: int) -> "_Left":
    """Those whose class has another sample."""
    usable = np.flatnonzero(p.counts > 1)
    k, x_classes = p.truth[usable], p.x_classes[usable]
    rows = np.arange(len(k))
    u_classes = x_classes - p.classes_classes[k]
    x_u = p.x_squared_norms[usable] - x_classes[rows, k]
    return _Left(p, samples, usable, np.ones(len(k)), u_classes, x_u, x_u - u_classes[rows, k])


def _with_group(p: Products, samples: int, groups: LeftGroups) -> tuple["_Left", Matrix, Indices]:
    """Those whose class has samples beside the group. With them, one side of the way from the class to the group for
    some groups, and the place of each sample's group among these."""
    usable = np.flatnonzero(groups.of >= 0)
    usable = usable[p.counts[usable] > groups.counts[groups.of[usable]]]
    k, own = p.truth[usable], groups.of[usable]
    needed, place = np.unique(own, return_inverse=True)
    of_class = np.empty(len(needed), np.int64)
    of_class[place] = k
    u, r = (
        centres - classes[of_class]
        for centres, classes in zip(p.sides_of_centres(groups, needed), p.class_sides, strict=True)
    )  # (G, d)
    left = _Left(
        p,
        samples,
        usable,
        groups.counts[own],
        u_classes=dots(u, p.class_sides[1])[place],
        x_u=np.vecdot(p.x_side[usable], r[place]).astype(np.float64),
        r_u=np.vecdot(u, r).astype(np.float64)[place],
    )
    return left, u, place


class _Left:
    r"""The model without ``missing`` samples of the class of each sample, whose centre lies at r from the mean of the
    class: at x where it is left out alone.

    The mean then moves by $-r$ times missing / (n - missing), and the origin by the class's share of that, $-wr$ with
    w = missing n / ((n - missing) N). The covariance loses $w\,r r^T$, and where others are missing too, the residual
    of x from their centre, $a\,e e^T$ with $e = x - r - \mu$ and a = missing / ((missing - 1) N). By Woodbury's
    identity the precision is then $\Lambda + \Lambda(g_{ee}\,ee^T + g_{er}(er^T + re^T) + g_{rr}\,rr^T)\Lambda$. All
    of it is met only inside dot products; with $u = \Lambda r$ given, those with e follow.
    """

    def __init__(
        self, p: Products, samples: int, usable: Indices, missing: Vector, u_classes: Matrix, x_u: Vector, r_u: Vector
    ) -> None:
        self.products, self.usable, self.truth = p, usable, p.truth[usable]
        rows, own = np.arange(len(usable)), p.classes_classes[self.truth]
        self._step = step = missing / (p.counts[usable] - missing)
        w = step * p.counts[usable] / samples
        a = np.where(missing > 1, missing / np.maximum(missing - 1, SHORTEST), 0.0) / samples
        x_squared, x_own, own_u = (
            p.x_squared_norms[usable],
            p.x_classes[usable, self.truth],
            u_classes[rows, self.truth],
        )
        x_e = x_squared - x_u - x_own
        e_u = x_u - r_u - own_u
        e_e = x_e - e_u - (x_own - own_u - own[rows, self.truth])
        kept_e, kept_r = 1.0 - a * e_e, 1.0 - w * r_u
        determinant = np.maximum(kept_e * kept_r - a * w * e_u**2, SHORTEST)
        self._g_ee, self._g_er, self._g_rr = (
            a * kept_r / determinant,
            a * w * e_u / determinant,
            w * kept_e / determinant,
        )
        # x and all means are seen from the moved origin.
        seen_e, seen_r = x_e + w * e_u, x_u + w * r_u
        self._e_factor = self._g_ee * seen_e + self._g_er * seen_r
        self._r_factor = self._g_er * seen_e + self._g_rr * seen_r
        self._w = w
        self._constant = w * seen_r + w * (self._e_factor * e_u + self._r_factor * r_u)
        self._with_others = bool((missing > 1).any())
        e_classes = self._e_means(p.x_classes[usable], own, u_classes)
        self.dots = self._dots(p.x_classes[usable], u_classes, e_classes)
        self.dots[rows, self.truth] -= step * (seen_r + self._e_factor * e_u + self._r_factor * r_u)
        self.squared_norms = self._norms(np.diagonal(p.classes_classes), u_classes, e_classes)
        self.x_squared_norms = x_squared + w * (x_u + seen_r) + self._e_factor * seen_e + self._r_factor * seen_r

    def _dots(self, x_means: Matrix, u_means: Matrix, e_means: Matrix | None) -> Matrix:
        """Of x with some means, both seen from the moved origin."""
        dots: Matrix = _column(self._w + self._r_factor, u_means) * u_means
        dots += x_means
        if e_means is not None:
            dots += _column(self._e_factor, e_means) * e_means
        dots += _column(self._constant, dots)
        return dots

    def _norms(self, squared_norms: Vector, u_means: Matrix, e_means: Matrix | None) -> Matrix:
        """Of some means, seen from the origin of all."""
        norms: Matrix = u_means * u_means
        norms *= _column(self._g_rr, norms)
        norms += squared_norms
        if e_means is not None:
            more = _column(self._g_ee, e_means) * e_means
            more += _column(2.0 * self._g_er, u_means) * u_means
            more *= e_means
            norms += more
        return norms

    def _e_means(self, x_means: Matrix, own_means: Matrix, u_means: Matrix) -> Matrix | None:
        """None where every sample is left out alone: then e is zero."""
        return x_means - own_means - u_means if self._with_others else None

    def prototypes(self, u_prototypes: Matrix) -> tuple[Matrix, Matrix]:
        """Dots with the prototypes and their squared norms."""
        p, x_prototypes = self.products, self.products.x_prototypes[self.usable]
        e_prototypes = self._e_means(x_prototypes, p.classes_prototypes[self.truth], u_prototypes)
        return self._dots(x_prototypes, u_prototypes, e_prototypes), self._norms(
            p.prototype_squared_norms, u_prototypes, e_prototypes
        )

    def cosines(self) -> Matrix:
        norms = np.sqrt(np.maximum(self.x_squared_norms, SHORTEST))
        return _towards(self.dots, self.squared_norms) / norms[:, None]

    def plain_cosines(self, centres: Matrix) -> Matrix:
        """With the means of the classes; ``centres`` is where the missing samples lie, (R, d)."""
        p, rows = self.products, np.arange(len(self.usable))
        cosines = p.plain_cosines[self.usable]
        own = p.means.classes[self.truth] + p.origin
        away = np.vecdot(p.plain_x[self.usable], centres - own) / np.maximum(np.linalg.norm(own, axis=1), SHORTEST)
        cosines[rows, self.truth] -= self._step * away
        return cosines

    def parts(self, towards_prototype: Matrix, centres: Matrix) -> LeftOut:
        return LeftOut(
            towards_class=_towards(self.dots, self.squared_norms),
            nearness=self.dots - 0.5 * self.squared_norms,
            towards_prototype=np.maximum.reduceat(
                towards_prototype, self.products.means.first_prototype, axis=1
            ).astype(np.float64),
            plain_cosines=self.plain_cosines(centres),
            shared=self.products.background.shared(self.dots),
            norms=np.sqrt(np.maximum(self.x_squared_norms, SHORTEST)),
            towards_lifted=np.zeros_like(self.dots),
            lifted_nearness=np.zeros_like(self.dots),
            lifted_norms=np.zeros(len(self.usable)),
            truth=self.truth,
            rows=self.usable,
        )


def _column(values: Vector, like: Matrix) -> Matrix:
    return values.astype(like.dtype)[:, None]


def _towards(dots: Matrix, squared_norms: Matrix | Vector) -> Matrix:
    return np.where(squared_norms > SHORTEST, dots / np.sqrt(np.maximum(squared_norms, SHORTEST)), 0.0)
