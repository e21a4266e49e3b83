r"""Examples of nothing: vectors of which somebody said that they belong to none of the classes.

They take no part in learning: means, scatter, prototypes and probabilities stay as they are. Only inputs are compared
with them. An input is unknown if one of them is more like it than every prototype is, by the score that local inference
ranks prototypes by. For this comparison, everything is seen from the mean of all samples and all examples of nothing,
as if these were samples, too: else all that is far from the samples of a young model would look alike. So an example of
nothing and a prototype of one sample are treated alike. Of equals the prototype wins.

$$\max_u s(u, x) > \max_p s(p, x), \qquad o = \frac{n\hat\mu + \sum_u u}{n + m}$$

With the score of Eq. 18 (preset "paper") the origin does not matter: it compares Mahalanobis distances. A prototype of
many samples has an advantage, since a mean is nearer to new inputs than a single sample is. Without it too many known
inputs are lost (docs/editing.md).
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from exll.learner.exll import ExLL
from exll.learner.head import Head
from exll.learner.inference import Inference
from exll.linalg.ties import TOLERANCE
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Indices, Level, Matrix, Tensors, Vector

PREFIX = "unknown."


@dataclass(frozen=True, eq=False)
class ExamplesOfNothing:
    """Raw vectors with their names, the oldest first. It never changes: more of them make another one."""

    rows: Matrix
    refs: tuple[str, ...]

    @classmethod
    def none(cls) -> Self:
        return cls(np.empty((0, 0)), ())

    def __len__(self) -> int:
        return len(self.refs)

    def and_also(self, rows: NDArray[np.floating], refs: Sequence[str | None]) -> Self:
        """With more of them. One without a name gets one that follows from its vector."""
        more = np.array(rows, np.float64)
        named = [_name_of(row) if ref is None else ref for row, ref in zip(more, refs, strict=True)]
        return type(self)(np.concatenate([self.rows, more]) if len(self) else more, (*self.refs, *named))

    def without(self, refs: Collection[str]) -> Self:
        kept = [i for i, ref in enumerate(self.refs) if ref not in refs]
        return type(self)(self.rows[kept], tuple(self.refs[i] for i in kept)) if kept else self.none()

    def renamed(self, new_ref: Callable[[str], str]) -> Self:
        return type(self)(self.rows, tuple(map(new_ref, self.refs)))

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + sum(len(encode(ref)) for ref in self.refs)

    def state(self) -> Tensors:
        """Arrays for a file; none where there are no examples."""
        if not len(self):
            return {}
        return {f"{PREFIX}rows": self.rows, **strings_to_tensors(f"{PREFIX}refs", list(self.refs))}

    @classmethod
    def restored(cls, state: Tensors, width: int) -> Self:
        """From a file's arrays, of which others are left alone; raises one of ``DAMAGED`` where they do not fit."""
        if not any(name.startswith(PREFIX) for name in state):
            return cls.none()
        rows, refs = np.array(state[f"{PREFIX}rows"], np.float64), strings_from_tensors(f"{PREFIX}refs", state)
        if rows.shape != (len(refs), width) or not refs:
            raise ValueError("the examples of nothing have another width, or another number of names")
        return cls(rows, tuple(refs))


def _name_of(row: Vector) -> str:
    return f"nothing {hashlib.sha256(row.tobytes()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Comparison:
    """Prototypes, and after them examples of nothing, ready to be compared with inputs."""

    prototype_count: int
    origin: Vector
    products: Matrix  # the precision times each of them, from the origin
    squared_norms: Vector
    head: Head

    @classmethod
    def of(cls, inference: Inference, X: Matrix) -> Self:
        """``X`` holds the unit vectors of the examples of nothing."""
        count = len(inference.prototype_ids)
        of_nothing = X - inference.origin
        total = inference.class_counts @ inference.means[count:] + of_nothing.sum(axis=0)
        shift = total / (inference.class_counts.sum() + len(X))
        applied = inference.precision.apply(np.concatenate([of_nothing, shift[None, :]]))
        means = np.concatenate([inference.means[:count], of_nothing]) - shift
        products = np.concatenate([inference.products[:count], applied[:-1]]) - applied[-1]
        squared_norms = np.vecdot(means, products)
        head = inference.prototype_head(squared_norms)
        return cls(count, inference.origin + shift, products, squared_norms, head)

    def nearer(self, X: Matrix) -> list[Indices]:
        """For every row the numbers of the examples of nothing that are more like it than every prototype is, the
        nearest first."""
        scores = self.head.scores((X - self.origin) @ self.products.T, self.squared_norms)
        best = scores[:, : self.prototype_count].max(axis=1)
        of_nothing = scores[:, self.prototype_count :]
        above = of_nothing > (best + TOLERANCE * np.maximum(1.0, np.abs(best)))[:, None]
        order = np.argsort(-of_nothing, axis=1, kind="stable")
        return [ranked[: int(count)] for ranked, count in zip(order, above.sum(axis=1), strict=True)]


@dataclass(frozen=True)
class Unlike:
    """Says of inputs which examples of nothing make them unknown."""

    learner: ExLL
    comparison: Comparison
    refs: tuple[str, ...]

    def names(self, X: Matrix) -> list[tuple[str, ...]]:
        """For every row the names of the examples of nothing that are more like it than every prototype is, the nearest
        first. There are none for a vector that was taught, as far as the learner remembers vectors."""
        nearer = self.comparison.nearer(X)
        return [
            () if len(numbers) and self.learner.remembers(x) else tuple(self.refs[i] for i in numbers)
            for x, numbers in zip(X, nearer, strict=True)
        ]

    def levels(self, X: Matrix, levels: Sequence[Level]) -> list[Level]:
        """Those that are given, but for rows that are unknown by this."""
        return ["unknown" if names else level for names, level in zip(self.names(X), levels, strict=True)]
