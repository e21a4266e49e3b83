r"""How raw vectors become the unit vectors that a learner sees: by Eq. 1 alone, or so that their lengths count.

Eq. 1 divides every vector by its length, and what the length says is lost. Features of networks lose little by that; a
few measurements lose much, and nearly everything where they lie far from zero. Where lengths are *kept*, every feature
is seen from its mean and in units of its standard deviation among the first samples of the stream. Then a constant is
appended, ``CONSTANT`` times the typical length of what stands before it, and only then Eq. 1 follows. Among such
samples this map is nearly linear.

Mean and units are those of the first ``FIRST`` samples, or of as many as there are: until then the raw rows are kept,
and the learner is made anew of them whenever more come. So the model depends on the sequence of samples alone.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from exll.learner.exll import ExLL, Parameters
from exll.learner.preset import new_learner
from exll.saving.strings import encode, strings_from_tensors, strings_to_tensors
from exll.types import Group, Label, Lengths, Matrix, Tensors, Vector
from exll.vectors import LARGEST_RAW, check_raw_rows, check_rows, normalise, raw_chunks, unit_chunks

FIRST = 16  # samples; more do not make better units, and those of one class do as well (docs/results.md)
CONSTANT = 8.0
LEAST_CONSTANT = 1e-4  # of a unit vector in half precision; it is smaller only very far away
NARROW = 64  # numbers: vectors of so many and more are taken for features of a network
PREFIX = "scaling."
CONSTANT_FEATURE = 1e-12  # of the largest number of a feature: a smaller standard deviation is rounding
LEAST_UNIT = 1e-200  # numbers of up to LARGEST_RAW divided by it are finite


def keeps_lengths(lengths: Lengths, preset: str, width: int) -> bool:
    """What "auto" means: narrow vectors keep their lengths, but for the paper's preset, which follows Eq. 1.

    >>> keeps_lengths("auto", "glocal", 4), keeps_lengths("auto", "glocal", 576), keeps_lengths("auto", "paper", 4)
    (True, False, False)
    """
    return lengths == "kept" or (lengths == "auto" and preset != "paper" and width < NARROW)


def new_scaling(lengths: Lengths, preset: str, width: int) -> "Directions":
    """Before the first sample."""
    return Scaling.of(First(np.empty((0, width)))) if keeps_lengths(lengths, preset, width) else Directions()


class First(NamedTuple):
    """The first samples as they came."""

    rows: Matrix
    labels: tuple[Label, ...] = ()
    refs: tuple[str | None, ...] = ()
    groups: tuple[Group, ...] = ()

    def some(self, kept: Sequence[int]) -> "First":
        """Those at some places."""
        labels, refs, groups = (tuple(column[i] for i in kept) for column in (self.labels, self.refs, self.groups))
        return First(self.rows[list(kept)], labels, refs, groups)  # type: ignore[arg-type]


class Directions:
    """Lengths are ignored: Eq. 1 alone."""

    first: First | None = None  # the samples that the scaling is made of, as long as more are to come
    appended = 0  # numbers beside those of the raw vector

    @property
    def nbytes(self) -> int:
        return 0

    @property
    def wanted(self) -> int:
        """How many more samples the scaling is to be made of."""
        return 0 if self.first is None else FIRST - len(self.first.rows)

    def check(self, rows: NDArray[np.floating]) -> None:
        check_rows(rows)

    def chunks(self, rows: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
        """Checked rows as unit vectors, some at a time."""
        return unit_chunks(rows)

    def spread(self, unit_vectors: Matrix) -> Matrix:
        """Vectors of about length 1 that differ as much as they can, for those who need no unit vectors."""
        return unit_vectors

    def renamed(self, old: Label, new: Label) -> Self:
        return self

    def state(self, labels: Sequence[Label]) -> Tensors:
        return {}


class Scaling(Directions):
    """Lengths are kept. It never changes: more of the first samples make another one.

    >>> scaling = Scaling.of(First(np.array([[1.0, 100.0], [3.0, 100.5]])))
    >>> [(rows, unit_vectors)] = scaling.chunks(np.array([[2.0, 100.25], [3.0, 100.25]]))
    >>> unit_vectors.round(2)
    array([[0.  , 0.  , 1.  ],
           [0.09, 0.  , 1.  ]])
    """

    appended = 1

    def __init__(self, mean: Vector, unit: Vector, first: First | None = None) -> None:
        self._mean, self._unit, self.first = mean, unit, first

    @classmethod
    def of(cls, first: First) -> Self:
        return cls(*_mean_and_unit(first.rows), first if len(first.rows) < FIRST else None)

    def check(self, rows: NDArray[np.floating]) -> None:
        check_raw_rows(rows)

    def chunks(self, rows: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
        for some, raw in raw_chunks(rows):
            scaled = np.empty((len(raw), raw.shape[1] + 1))
            scaled[:, :-1] = (raw - self._mean) / self._unit
            scaled[:, -1] = CONSTANT * np.sqrt(raw.shape[1])
            yield some, normalise(scaled)

    def spread(self, unit_vectors: Matrix) -> Matrix:
        """The features alone, in units, divided by their typical length."""
        constants = np.maximum(unit_vectors[:, -1:], LEAST_CONSTANT)
        features: Matrix = unit_vectors[:, :-1] * (CONSTANT / constants)
        return features

    @property
    def nbytes(self) -> int:
        size = self._mean.nbytes + self._unit.nbytes
        if self.first is None:
            return size
        return size + self.first.rows.nbytes + sum(8 + len(encode(ref or "")) for ref in self.first.refs)

    def renamed(self, old: Label, new: Label) -> Self:
        """For a learner in which a class was renamed, or two became one."""
        if self.first is None:
            return self
        labels = tuple(new if label == old else label for label in self.first.labels)
        return type(self)(self._mean, self._unit, self.first._replace(labels=labels))

    def state(self, labels: Sequence[Label]) -> Tensors:
        """Arrays for a file, in which a label is its number."""
        if self.first is None:
            return {f"{PREFIX}mean": self._mean, f"{PREFIX}unit": self._unit}
        return {
            f"{PREFIX}rows": self.first.rows,
            f"{PREFIX}classes": np.array([labels.index(label) for label in self.first.labels], np.int64),
            **strings_to_tensors(f"{PREFIX}refs", [ref or "" for ref in self.first.refs]),
            **strings_to_tensors(f"{PREFIX}groups", [str(group or "") for group in self.first.groups]),
        }

    @classmethod
    def restored(cls, state: Tensors, width: int, labels: Sequence[Label]) -> Self:
        """From a file's arrays; raises one of ``DAMAGED`` where they make no scaling."""
        if f"{PREFIX}rows" in state:
            rows, classes = state[f"{PREFIX}rows"], state[f"{PREFIX}classes"].tolist()
            refs, groups = (strings_from_tensors(f"{PREFIX}{name}", state) for name in ("refs", "groups"))
            if rows.shape != (len(refs), width) or not len(refs) == len(groups) == len(classes) < FIRST:
                raise ValueError("the first samples are not those of a young model")
            if min(classes) < 0:
                raise ValueError("one of the first samples belongs to no class")
            _check_size(rows)
            names = (tuple(name or None for name in some) for some in (refs, groups))
            return cls.of(First(np.array(rows, np.float64), tuple(labels[k] for k in classes), *names))
        mean, unit = (np.array(state[f"{PREFIX}{name}"], np.float64) for name in ("mean", "unit"))
        if mean.shape != (width,) or unit.shape != (width,):
            raise ValueError("the scaling has another width")
        _check_size(mean)
        _check_size(unit)
        if unit.min() < LEAST_UNIT:
            raise ValueError("a unit of the scaling is not above zero")
        return cls(mean, unit)


class Known(NamedTuple):
    """A learner, and how the vectors that it has learned were made. The two are one value, so that whoever asks while
    the first samples are learned never gets one of them without the other."""

    learner: ExLL
    scaling: Directions
    lengths: Lengths  # as it was asked for

    @classmethod
    def nothing(cls, width: int, parameters: Parameters, lengths: Lengths) -> "Known":
        scaling = new_scaling(lengths, parameters.preset, width)
        return cls(new_learner(width + scaling.appended, parameters), scaling, lengths)

    @classmethod
    def restored(
        cls, width: int, parameters: Parameters, lengths: Lengths, labels: Sequence[Label], tensors: Tensors
    ) -> "Known":
        """From a file's arrays; raises one of ``DAMAGED`` where they make no whole model. The arrays say whether
        lengths are kept: what "auto" means may change."""
        own = {name: array for name, array in tensors.items() if name.startswith(PREFIX)}
        if (lengths, bool(own)) in (("kept", False), ("ignored", True)):
            raise ValueError(f"its lengths are {lengths}, and its arrays are those of another model")
        scaling = Scaling.restored(own, width, labels) if own else Directions()
        learner = new_learner(width + scaling.appended, parameters)
        learner.restore(labels, {name: array for name, array in tensors.items() if name not in own})
        learned, first = learner.learned_count, scaling.first  # some may be forgotten
        if own and (learned < FIRST if first is None else learned != len(first.rows)):
            raise ValueError("the scaling is that of another number of samples")
        if first is not None and any(
            learner.megacloud(k).count != first.labels.count(label) for k, label in enumerate(labels)
        ):
            raise ValueError("the first samples are of other classes")
        return cls(learner, scaling, lengths)

    @property
    def width(self) -> int:
        """How many numbers a raw vector has."""
        return self.learner.width - self.scaling.appended

    @property
    def lock(self) -> Any:
        return self.learner.lock

    @property
    def labels(self) -> tuple[Label, ...]:
        return self.learner.labels

    @property
    def sample_count(self) -> int:
        return self.learner.sample_count

    @property
    def nbytes(self) -> int:
        return self.learner.nbytes + self.scaling.nbytes

    def state(self) -> Tensors:
        return {**self.learner.state(), **self.scaling.state(self.learner.labels)}

    def learn(
        self,
        X: Matrix,
        labels: Sequence[Label],
        refs: Sequence[str | None] | None = None,
        groups: Sequence[Group] | None = None,
    ) -> None:
        """Unit vectors, as ``scaling.chunks`` makes them."""
        self.learner.learn(X, labels, refs, groups)

    def with_first(
        self,
        rows: NDArray[np.floating],
        labels: Sequence[Label],
        refs: Sequence[str | None],
        groups: Sequence[Group],
    ) -> "Known":
        """Made anew of the first samples and these, which are some more of them."""
        before = self.scaling.first
        assert before is not None
        first = First(
            np.concatenate([before.rows, np.asarray(rows, np.float64)]),
            (*before.labels, *labels),
            (*before.refs, *refs),
            (*before.groups, *groups),
        )
        return self.made_of(first)

    def made_of(self, first: First) -> "Known":
        """Made anew of first samples."""
        known = self._replace(
            learner=new_learner(self.learner.width, self.learner.parameters), scaling=Scaling.of(first)
        )
        for _, unit_vectors in known.scaling.chunks(first.rows):
            known.learn(unit_vectors, first.labels, first.refs, first.groups)
        return known


def _mean_and_unit(rows: Matrix) -> tuple[Vector, Vector]:
    """A feature that does not vary yet gets the median unit of those that do."""
    if not len(rows):
        return np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    largest = np.abs(rows).max(axis=0)
    largest = np.where(largest > LEAST_UNIT, largest, 1.0)
    shares = rows / largest  # so that no square overflows or vanishes
    unit = shares.std(axis=0)
    varies = (unit > CONSTANT_FEATURE) & (unit * largest > LEAST_UNIT)
    unit = unit * largest
    usual = float(np.median(unit[varies])) if varies.any() else 1.0
    return shares.mean(axis=0) * largest, np.where(varies, unit, usual)


def _check_size(numbers: NDArray[Any]) -> None:
    if not float(np.abs(numbers).max(initial=0.0)) <= LARGEST_RAW:  # a comparison with NaN is False, too
        raise ValueError("the scaling holds numbers that are not finite, or larger than they can be")
