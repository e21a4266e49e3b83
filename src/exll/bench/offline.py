"""Offline learners to compare stream learners with: scikit-learn's classifiers, taught with all examples at once.

These are not stream learners. They keep every example and train again when they are asked after more examples came, so
nothing is forgotten and memory is not bounded. They are for ``exll bench`` only.
"""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid

from exll.vectors import normalise

STRENGTHS = (1.0, 10.0, 100.0)  # C of logistic regression; unit vectors want a large one
MOST_STEPS = 100


class Offline(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Keeps all unit vectors, and teaches a classifier with them when it is first asked."""

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the rows. This is not stream learning: everything is kept, for as long as the learner exists."""
        rows, labels = normalise(np.asarray(X)).astype(np.float32), np.asarray(y)  # twice as fast as doubles
        known = hasattr(self, "rows_")
        self.rows_: NDArray[np.float32] = np.concatenate([self.rows_, rows]) if known else rows
        self.labels_: NDArray[Any] = np.concatenate([self.labels_, labels]) if known else labels
        self.model_: Any = None
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        if self.model_ is None:
            self.model_ = self._taught()
        return np.asarray(self.model_.predict(normalise(np.asarray(X)).astype(np.float32)))

    def _taught(self) -> Any:
        classes, counts = np.unique(self.labels_, return_counts=True)
        if len(classes) == 1:
            return OneAnswer(classes[0])
        if counts.max() == 1:  # neither can do anything with one example per class
            return NearestCentroid().fit(self.rows_, self.labels_)
        return self._model()

    def _model(self) -> Any:
        raise NotImplementedError

    @property
    def n_parameters_(self) -> int:
        return self.rows_.size

    @property
    def nbytes_(self) -> int:
        return self.rows_.nbytes + self.labels_.nbytes


class OneAnswer:
    def __init__(self, label: Any) -> None:
        self._label = label

    def predict(self, X: NDArray[np.float32]) -> NDArray[Any]:
        return np.full(len(X), self._label)


class OfflineLogistic(Offline):
    """Logistic regression; of three strengths C the one that is right most often on a fifth that is held out.

    >>> X, y = [[1.0, 0.1], [0.1, 1.0]] * 10, ["right", "up"] * 10
    >>> OfflineLogistic().partial_fit(X, y).predict([[9.0, 1.0], [1.0, 9.0]])
    array(['right', 'up'], dtype='<U5')
    """

    def __init__(self, random_state: int | None = 0) -> None:
        self.random_state = random_state

    def _model(self) -> LogisticRegression:
        model = LogisticRegression(max_iter=MOST_STEPS, warm_start=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of steps is bounded on purpose
            strength = self._strength(model)
            return model.set_params(C=strength).fit(self.rows_, self.labels_)

    def _strength(self, model: LogisticRegression) -> float:
        held = self._held_out()
        if not held.any():
            return STRENGTHS[1]
        right = [
            model.set_params(C=strength)
            .fit(self.rows_[~held], self.labels_[~held])
            .score(self.rows_[held], self.labels_[held])
            for strength in STRENGTHS
        ]
        return STRENGTHS[int(np.argmax(right))]

    def _held_out(self) -> NDArray[np.bool_]:
        """A random fifth of each class that has five."""
        rng = np.random.default_rng(self.random_state)
        held = np.zeros(len(self.labels_), bool)
        for label in np.unique(self.labels_):
            places = rng.permutation(np.flatnonzero(self.labels_ == label))
            held[places[: len(places) // 5]] = True
        return held


class OfflineLDA(Offline):
    """A linear discriminant with the shrinkage of Ledoit and Wolf.

    >>> X, y = [[1.0, 0.1], [0.1, 1.0], [1.0, 0.3], [0.3, 1.0]], ["right", "up", "right", "up"]
    >>> OfflineLDA().partial_fit(X, y).predict([[9.0, 1.0], [1.0, 9.0]])
    array(['right', 'up'], dtype='<U5')
    """

    def _model(self) -> LinearDiscriminantAnalysis:
        return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(self.rows_, self.labels_)
