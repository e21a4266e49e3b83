"""The review: choose the ridge, then learn weights, confidence and what is unusual from samples that are left out.

It has a coarse schedule of its own, a function of the count alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from exll.learner.expected import Expected
from exll.learner.glocal.judgement import (
    Evidence,
    Judgement,
    judge,
    loss_of_ridge,
    probability_of_truth,
    ridges_to_try,
)
from exll.learner.glocal.leaving_out import (
    Means,
    Products,
    cosines_alone,
    cosines_with_group,
    groups_that_came_together,
    left_out_alone,
    left_out_with_group,
    look_alikes,
    similarity_to_others,
    thirds,
)
from exll.learner.glocal.lift import LiftedClasses, LiftedProducts
from exll.learner.glocal.reservoir import Groups, Reservoir
from exll.learner.glocal.temperature import Confidence
from exll.learner.megacloud import MegaClouds
from exll.learner.precision import Precision
from exll.learner.prototypes import Prototypes
from exll.types import Indices, Tensors, Vector

FIRST_REVIEW = 6
GROWTH = ((16, 0.35), (500, 0.2), (2000, 0.35), (inf, 0.7))  # up to so many samples; a young model changes fast
RIDGE_SAMPLES = 512  # enough to choose a ridge by
# A review takes as long as it has products of samples with classes and prototypes. With so many of them, up to 1,500
# classes and prototypes, all 1,024 samples are used; with more, fewer samples.
REVIEW_PRODUCTS, LEAST_SAMPLES = 1_500_000, 256


@dataclass
class Schedule:
    """When the next review is due, and the origin that learning uses, which is as old as its precision."""

    next_review: int
    origin: Vector

    def reviewed_at(self, count: int) -> None:
        share = next(share for until, share in GROWTH if count < until)
        self.next_review = count + max(1, int(count * share))

    def review_within(self, samples: int, count: int) -> None:
        """At the latest so many samples after so many."""
        self.next_review = min(self.next_review, count + samples)

    @property
    def nbytes(self) -> int:
        return self.origin.nbytes + 8

    def state(self) -> Tensors:
        return {"next_review": np.array(self.next_review, np.int64), "origin": self.origin}

    def restore(self, state: Tensors, samples: int) -> None:
        if state["origin"].shape != self.origin.shape:
            raise ValueError("the origin has another width")
        self.next_review, self.origin = int(state["next_review"]), np.array(state["origin"], np.float64)
        if self.next_review <= samples:
            raise ValueError("the next review lies in the past")


@dataclass(frozen=True)
class Reviewed:
    """What a review looks at: a learner as it is now."""

    samples: int
    origin: Vector
    prototypes: Prototypes
    megaclouds: MegaClouds
    reservoir: Reservoir
    precision_with: Callable[[float], Precision]  # of all that was learned until now, shrunk by a ridge
    lifted: Callable[[], LiftedClasses | None]

    def judgement(self, ridge: float, walk: bool = False) -> Judgement | None:
        """With the given ridge or a neighbour of it, or, where it may walk, the best that is found by going from
        neighbour to neighbour; None where no sample can be left out."""
        classes = len(self.megaclouds)
        if classes < 2 or not (self.megaclouds.counts[self.reservoir.classes] > 1).any():
            return None
        groups, few = self.reservoir.groups(classes), self.some(RIDGE_SAMPLES)
        tried: dict[float, Products] = {}
        losses: dict[float, float] = {}
        while True:
            new = [other for other in ridges_to_try(ridge) if other not in tried]
            tried |= {other: self.products(self.precision_with(other), few) for other in new}
            losses |= self._losses(tried, new, groups.among(few))
            best = min(losses, key=losses.__getitem__)
            if best == ridge or not walk:
                break
            ridge = best
        some = self.some(REVIEW_PRODUCTS // (classes + len(self.prototypes)))
        products = self.products(tried[best].precision, some)
        evidence = self._evidence(products, groups.among(some), self._lifted(products, self.lifted()))
        if not len(evidence.with_group.truth):
            return None
        return judge(best, evidence, lambda *weights: similarity_to_others(products, *weights))

    def _losses(self, tried: dict[float, Products], ridges: list[float], groups: Groups) -> dict[float, float]:
        """Of samples that are left out with what came with them, and of photos that are left out with a third of their
        class: the ridge must suit new places, too."""
        any_of_them, n, photos = next(iter(tried.values())), self.samples, groups.photos
        third = thirds(any_of_them.means, any_of_them.own, any_of_them.truth).among(photos)
        together, single = groups_that_came_together(any_of_them, groups, self.origin), self.megaclouds.counts == 1
        losses = {}
        for ridge in ridges:
            p = tried[ridge]
            ways = cosines_alone(p, n, photos), cosines_with_group(p, n, together), cosines_with_group(p, n, third)
            cosines, truths = zip(*ways, strict=True)
            losses[ridge] = loss_of_ridge(ridge, np.concatenate(cosines), np.concatenate(truths), p.X.shape[1], single)
        return losses

    def _lifted(self, products: Products, classes: LiftedClasses | None) -> LiftedProducts | None:
        return None if classes is None else LiftedProducts(classes, products.X + self.origin, products.truth)

    def _evidence(self, products: Products, groups: Groups, lifted: LiftedProducts | None) -> Evidence:
        p, n, photos = products, self.samples, groups.photos
        together, alike = groups_that_came_together(p, groups, self.origin), look_alikes(p.means, p.own).among(photos)
        alone = left_out_alone(p, n).among(photos).with_lift(lifted)
        # What the lift would say of a sample without its whole group is not known, so it says nothing of those.
        with_group = alone.joined(left_out_with_group(p, n, together))
        with_look_alikes = left_out_with_group(p, n, alike).with_lift(lifted, alike)
        return Evidence(
            with_group,
            with_look_alikes,
            groups.seen_once,
            groups.informative,
            p.X.shape[1],
            self.megaclouds.counts == 1,
        )

    def expected(
        self,
        judgement: Judgement,
        confidence: Confidence,
        precision: Precision,
        lifted_classes: LiftedClasses | None,
    ) -> Expected:
        """Photos elsewhere are those that are left out with a third of their class. ``precision`` and the lifted
        classes are those of the answers: a published moment has no statistics of its own."""
        classes = len(self.megaclouds)
        some = self.some(REVIEW_PRODUCTS // (classes + len(self.prototypes)))
        p, groups = self.products(precision, some), self.reservoir.groups(classes).among(some)
        lifted = self._lifted(p, lifted_classes)
        third = thirds(p.means, p.own, p.truth).among(groups.photos & groups.informative)
        together = groups_that_came_together(p, groups, self.origin)
        elsewhere = left_out_with_group(p, self.samples, third).with_lift(lifted, third)
        elsewhere = elsewhere.joined(left_out_with_group(p, self.samples, together))
        alone = left_out_alone(p, self.samples).with_lift(lifted)
        of_alone, _ = probability_of_truth(judgement, confidence, alone)
        of_elsewhere, answers = probability_of_truth(judgement, confidence, elsewhere)
        taken_for = np.zeros((classes, classes), np.int64)
        np.add.at(taken_for, (elsewhere.truth, answers), 1)
        np.fill_diagonal(taken_for, 0)
        return Expected(
            like_these=_mean_by_class(of_alone, alone.truth, classes),
            new_groups=_mean_by_class(of_elsewhere, elsewhere.truth, classes),
            groups=self.reservoir.group_counts(self.megaclouds.counts),
            confused_with=np.where(taken_for.any(axis=1), taken_for.argmax(axis=1), -1),
        )

    def some(self, most: int) -> Indices:
        """At most so many samples of the reservoir, but not fewer than ``LEAST_SAMPLES``."""
        return self.reservoir.some(max(most, LEAST_SAMPLES))

    def products(self, precision: Precision, some: Indices) -> Products:
        """The dot products of some samples of the reservoir."""
        reservoir, ids = self.reservoir, self.prototypes.ids[self._order]
        place_of = np.empty(self.prototypes.next_id, np.int64)
        place_of[ids] = np.arange(len(ids))
        return Products(
            precision,
            reservoir.vectors[some].astype(np.float64) - self.origin,
            reservoir.classes[some],
            place_of[reservoir.prototypes[some]],
            self._means,
            self.origin,
        )

    @cached_property
    def _order(self) -> Indices:
        """Prototypes class by class."""
        return np.argsort(self.prototypes.class_of, kind="stable")

    @cached_property
    def _means(self) -> Means:
        table, order = self.prototypes, self._order
        return Means(
            classes=self.megaclouds.vectors - self.origin,
            class_counts=self.megaclouds.counts,
            prototypes=table.vectors[order] - self.origin,
            supports=table.counts[order],
            first_prototype=np.searchsorted(table.class_of[order], np.arange(len(self.megaclouds))),
        )


def _mean_by_class(values: Vector, classes_of: Indices, classes: int) -> Vector:
    """NaN for a class without values. Few values are drawn towards the mean of all, which counts like two of them."""
    if not len(values):
        return np.full(classes, np.nan)
    counts = np.bincount(classes_of, minlength=classes)
    totals = np.bincount(classes_of, weights=values, minlength=classes) + 2.0 * values.mean()
    means: Vector = np.where(counts > 0, totals / (counts + 2.0), np.nan)
    return means
