"""The mean and the count of every class, and the rules that need nothing else."""

from exll.baselines.rule import LearningRule
from exll.learner.counted_means import CountedMeans
from exll.types import Indices, Tensors, Vector


class ClassMeansRule(LearningRule):
    """A rule that keeps the mean of every class and computes its scores from these."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._means = CountedMeans(width)

    def learn(self, x: Vector, k: int) -> None:
        if k == len(self._means):
            self._means.add(x)
        else:
            self._means.join(k, x)

    @property
    def n_parameters(self) -> int:
        return self._means.vectors.size

    def state(self) -> Tensors:
        return {"means": self._means.vectors, "counts": self._means.counts}

    def restore(self, state: Tensors, classes: int, samples: int) -> None:
        self._means = CountedMeans(self._width, state["means"], state["counts"])
        check_counts(self._means.counts, samples)
        if not len(self._means.vectors) == len(self._means) == classes:
            raise ValueError("means, counts and classes differ in number")


def check_counts(counts: Indices, samples: int) -> None:
    if (counts < 1).any() or counts.sum() != samples:
        raise ValueError("counts do not sum to the samples")
