"""``Baseline``: the scikit-learn interface of the learners that ExLL is compared with."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exll.baselines.learner import Answers, RuleLearner
from exll.baselines.rule import LearningRule
from exll.saving.model_file import ModelFile
from exll.stream_classifier import StreamClassifier, labels_as_array, labels_of_file
from exll.types import Matrix
from exll.vectors import check_raw_rows, raw_chunks

KIND = "baseline"


class Baseline(StreamClassifier):
    """One sample at a time, new classes at any time; a class that was never seen does not exist.

    ``normalise=False``, the default of all, takes vectors as they are. The published protocols do the same, and the
    published constants (a distance of 17, a learning rate of 0.001, a shrinkage of 1e-4) are made for such vectors.
    ``True`` brings every vector to length 1, as ExLL does; SLDA is better with it (docs/baselines.md).

    Results depend on the sequence of samples alone, not on how it was cut into calls. Of classes with equal scores the
    one first seen wins.
    """

    _kind = KIND
    name: ClassVar[str]  # in exll.baselines and in model files
    normalise: bool
    learner_: RuleLearner

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the largest score, for every row."""
        answers, vectors = self._ask(X)
        winners = np.concatenate([answers.winners(chunk) for _, chunk in self._chunks(vectors)])
        predicted: NDArray[Any] = labels_as_array(answers.labels)[winners]
        return predicted

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The softmax of the scores, one column per class of ``classes_``; the arg-max is what ``predict`` says.

        Scores are not calibrated: those of raw vectors are large, and the softmax of them is nearly 0 or 1.
        """
        answers, vectors = self._ask(X)
        return np.concatenate([answers.posteriors(chunk) for _, chunk in self._chunks(vectors)])

    def class_scores(self, X: ArrayLike) -> Matrix:
        """The scores themselves, one column per class of ``classes_``: they also rank classes whose softmax is 0."""
        answers, vectors = self._ask(X)
        return np.concatenate([answers.sorted_scores(chunk) for _, chunk in self._chunks(vectors)])

    @property
    def n_parameters_(self) -> int:
        """How many numbers the answers are made from, and the examples that are kept (docs/baselines.md)."""
        self._check_known("n_parameters_")
        return self.learner_.n_parameters

    def _new_rule(self, width: int) -> LearningRule:
        raise NotImplementedError

    def _new_learner(self, width: int) -> RuleLearner:
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        return RuleLearner(width, self._new_rule(width), parameters)

    def _fixed_parameters(self) -> dict[str, Any]:
        return self.learner_.parameters

    def _metadata(self) -> dict[str, Any]:
        return {"learner": self.name, "parameters": self.learner_.parameters}

    @classmethod
    def _from_file(cls, file: ModelFile) -> Self:
        """Raises KeyError, ValueError or the like where the file does not hold a whole model."""
        metadata = file.metadata
        classifier = cls(**metadata["parameters"])
        classifier._check_parameters()
        learner = classifier._new_learner(metadata["width"])
        learner.restore(labels_of_file(file), file.tensors)
        classifier._restore(learner, metadata)
        return classifier

    def _ask(self, X: Any) -> tuple[Answers, NDArray[np.floating]]:
        vectors = self._queries(X)
        self._check_unchanged({"normalise": self.learner_.parameters["normalise"]})
        return self.learner_.answers(), vectors

    def _check_rows(self, vectors: NDArray[np.floating], anew: bool) -> None:
        if self.normalise:
            super()._check_rows(vectors, anew)
        else:
            check_raw_rows(vectors)

    def _chunks(self, vectors: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
        return super()._chunks(vectors) if self.normalise else raw_chunks(vectors)


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's, which a file can hold."""
    return value.item() if isinstance(value, np.generic) else value
