"""The preset ``paper``: the steps of ExLL by its equations, with the decisions of docs/decisions.md. With
``refresh_growth=0`` they are followed to the letter; with the default the precision that learning uses lags (E2)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from exll.errors import InputError
from exll.learner.block import Block, MovingProducts
from exll.learner.exll import BLOCK_ROWS, ExLL, Learned, Parameters, Placed, part_of
from exll.learner.head import linear_discriminant
from exll.learner.lagging import LaggingPrecision
from exll.learner.megacloud import MegaClouds
from exll.learner.paper.fusion import PairwiseFusion, SampleScores
from exll.learner.paper.inference import PaperInference
from exll.learner.part import Part
from exll.learner.precision import KeptPrecision, Shrinkage
from exll.learner.prototypes import Members, Prototypes, density_condition
from exll.learner.statistics import total_residual
from exll.linalg.fixed_point import decoded
from exll.linalg.ties import first_of_largest
from exll.types import Indices, Matrix, Tensors, Vector

REPLAYED = (
    "_statistics",
    "_prototypes",
    "_megaclouds",
    "_precision",
    "_history",
    "_records",
    "_fusion",
    "_labels",
)
SHRINKAGE = Shrinkage.towards_identity(1e-4)  # epsilon of Eq. 17


class PaperBlock(Block):
    """Rows with their products with every prototype and every class. After the last row stands the sum of all samples
    so far, which grows with every row that is learned."""

    def __init__(
        self, X: Matrix, total: Vector, precision: KeptPrecision, prototypes: Prototypes, megaclouds: MegaClouds
    ) -> None:
        super().__init__(X, precision, more=total[None, :])
        self.prototypes = MovingProducts(self, prototypes, precision)
        self.megaclouds = MovingProducts(self, megaclouds, precision)

    def add_to_total(self, row: int) -> None:
        total = self.prototypes.of_row(-1)
        total += self.prototypes.of_row(row)
        self.cross[-1] += self.cross[row]
        self.cross[:, -1] += self.cross[:, row]

    def gain_of_own_sample(self, row: int, count: int, prototypes: Indices) -> Vector:
        r"""By how much half the squared distance from x to some prototypes shrinks once x itself is in the covariance
        of so many samples.

        A lagging precision lacks the sample that is being placed, while Eq. 4, 10 and 11 have it in. Without it, local
        inference on grocery81 loses 2 to 3 points (docs/decisions.md, E2). With $v = x - \hat\mu_i$,
        $u = \Lambda v$ and $\kappa = i/(1-\epsilon)$, Sherman and Morrison give
        $\tfrac12 ((x-p)^T u)^2 / (\kappa + v^T u)$: all of it follows from products with x and with the sum.
        """
        cross = self.cross
        own = float(cross[row, row] - cross[row, -1] / count)
        leverage = own - float(cross[row, -1] - cross[-1, -1] / count) / count
        step = own - self.prototypes.of_row(row)[prototypes] + self.prototypes.of_row(-1)[prototypes] / count
        gain: Vector = 0.5 * step * step / (count / SHRINKAGE.scale + leverage)
        return gain


class PaperLearner(ExLL):
    """Eq. 2 to 14 while learning, 17 to 23 when asked."""

    description = "The equations of the published method, to compare with the paper."
    residual = staticmethod(total_residual)
    editable = True
    refuses: ClassVar[Mapping[str, str]] = {"max_prototypes": "never merges prototypes"}

    def __init__(self, width: int, parameters: Parameters) -> None:
        super().__init__(width, parameters)
        self._fusion = PairwiseFusion(parameters.pair_weights or "one")
        self._counts_after = parameters.count_pairs == "after"

    def _new_precision(self) -> LaggingPrecision:
        return LaggingPrecision(self.width, SHRINKAGE, self.parameters.refresh_growth)

    def _block(self, X: Matrix) -> PaperBlock:
        return PaperBlock(X, self._statistics.total, self._precision.current, self._prototypes, self._megaclouds)

    def _answer(self, block: Block, row: int, k: int) -> int:
        """Eq. 18 to 23 before x is learned, and Eq. 22 where pairs are counted then (docs/decisions.md, 9)."""
        assert isinstance(block, PaperBlock)
        scores = self._scores(block, row)
        answer = self._fusion.answer(scores)
        if not self._counts_after:
            self._fusion.learn(scores, k)
        return answer

    def _scores(self, block: PaperBlock, row: int) -> SampleScores:
        """Eq. 18 and 20 of a row with the means and the precision of this moment."""
        return SampleScores(
            class_scores=block.megaclouds.of_row(row) - 0.5 * self._megaclouds.squared_norms,
            prototype_scores=block.prototypes.of_row(row) - 0.5 * self._prototypes.squared_norms,
            class_of=self._prototypes.class_of,
        )

    def _refresh(self) -> None:
        """Eq. 17."""
        self._prototypes.unmeasure()
        self._megaclouds.unmeasure()
        self._precision.refresh(self._statistics, SHRINKAGE)

    def _place(self, block: Block, row: int, k: int) -> Placed:
        """Eq. 5 to 14, and Eq. 22 where pairs are counted after."""
        assert isinstance(block, PaperBlock)
        if self._precision.refreshed_at != self.sample_count:
            block.add_to_total(row)
        known = k < len(self._megaclouds)
        placed = self._learn_known_class(block, row, k) if known else self._learn_new_class(block, row, k)
        if self._counts_after:
            self._fusion.learn(self._scores(block, row), k)
        return placed

    def _learn_new_class(self, block: PaperBlock, row: int, k: int) -> Placed:
        """Eq. 5 and 6."""
        block.megaclouds.add(row)
        self._megaclouds.open()
        return self._open_cloud(block, row, k)

    def _learn_known_class(self, block: PaperBlock, row: int, k: int) -> Placed:
        """Eq. 7 to 14."""
        block.megaclouds.move(row, k)
        members = self._prototypes.members(self._megaclouds.members(k))
        nearest, second_nearest = self._two_nearest(block, row, members)
        ids = self._prototypes.ids
        if density_condition(block.X[row], self._megaclouds.vectors[k], members):
            placed = self._open_cloud(block, row, k)
            self._megaclouds.connect(k, placed.id, int(ids[nearest]))
            return placed
        block.prototypes.move(row, nearest)
        self._prototypes.settle(nearest)
        if second_nearest is not None:  # a lone prototype has no edge (docs/decisions.md, 7)
            self._megaclouds.connect(k, int(ids[nearest]), int(ids[second_nearest]))
        return Placed(nearest, int(ids[nearest]), False)

    def _open_cloud(self, block: PaperBlock, row: int, k: int) -> Placed:
        """Eq. 6 and 13; g_k grows once (docs/decisions.md, 5)."""
        place = block.prototypes.add(row)
        self._megaclouds.adopt(k, place)
        return Placed(place, self._prototypes.open(k), True)

    def _two_nearest(self, block: PaperBlock, row: int, members: Members) -> tuple[int, int | None]:
        r"""Eq. 10 and 11 with $\Lambda$ for the division (docs/decisions.md, 2), as half the distance."""
        rows = members.rows
        if len(rows) == 1:
            return int(rows[0]), None
        closeness = block.prototypes.of_row(row)[rows] - 0.5 * self._prototypes.squared_norms[rows]
        if self._precision.refreshed_at != self.sample_count:
            closeness += block.gain_of_own_sample(row, self.sample_count, rows)
        first = first_of_largest(closeness)
        closeness[first] = -np.inf
        return int(rows[first]), int(rows[first_of_largest(closeness)])

    def _make_answers(self) -> PaperInference:
        precision = self._precision.exact(self._statistics, SHRINKAGE)
        return PaperInference.of(
            self.parameters.preset,
            self._labels,
            self._prototypes,
            self._megaclouds,
            precision,
            np.zeros(self.width),
            heads=(linear_discriminant, linear_discriminant),
            fusion=self._fusion.frozen(),
        )

    def _check_forgettable(self, samples: Sequence[Learned]) -> None:
        known = all(sample.position is not None for sample in samples)
        if self.parameters.records != "vectors" or self._records.inexact or not known:
            raise InputError(
                'what the preset "paper" learns depends on all that came before, so it forgets by learning the rest '
                'again; that needs records="vectors" from the first example on.'
            )

    def _forget(self, samples: Sequence[Learned]) -> None:
        """The covariance of Eq. 4, the prototypes and the counts of pairs depend on the order of all samples: what
        is left is learned again."""
        known, gone = self._records.all_vectors(), {sample.position for sample in samples}
        assert known is not None
        rows = np.array([i for i, place in enumerate(known.positions.tolist()) if place not in gone], np.int64)
        class_of = dict(zip(self._prototypes.ids.tolist(), self._prototypes.class_of.tolist(), strict=True))
        left = PaperLearner(self.width, self.parameters)
        for some in np.split(rows, range(BLOCK_ROWS, len(rows), BLOCK_ROWS)):
            records = [record for _, record in self._records.at(known.positions[some].tolist())]
            left._learn_all(
                decoded(known.codes[some], known.scales[some]),
                [self._labels[class_of[prototype]] for prototype in known.prototypes[some].tolist()],
                [record.ref for record in records],
                [record.group for record in records],
            )
        left._records.renumber(known.positions[rows])
        left._statistics.learned = self._statistics.learned
        for name in REPLAYED:
            setattr(self, name, getattr(left, name))
        self._outdated = False

    def _absorb(self, other: "PaperLearner", numbers: Indices) -> None:
        """As if all of the other's samples had come after these, and each had been judged as it was: the counts of
        pairs add up. The covariance is the one about the mean of all."""
        one, two = self.sample_count, other.sample_count
        if one:
            apart = other._statistics.mean - self._statistics.mean
            self._statistics.scatter.add(np.sqrt(one * two / (one + two)) * apart)
        self._absorb_shared(other, numbers)
        self._fusion.absorb(other._fusion, numbers)

    def _renew(self) -> None:
        if self._outdated:
            self._refresh()
            self._outdated = False

    def _parts(self) -> dict[str, Part]:
        return {**super()._parts(), "fusion": self._fusion}

    def _restore_own(self, state: Tensors) -> None:
        self._fusion.restore(part_of("fusion", state), self.class_count, self.sample_count)
