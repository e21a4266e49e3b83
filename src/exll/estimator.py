"""``ExLLClassifier``: the learner with scikit-learn's face. Checks, normalises, translates labels; no algorithm in
it."""

import math
import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from exll.errors import InputError, InputTypeError, ModelFileError
from exll.explain.rules import Rule, rules_of
from exll.labels import Label, LabelKind, check_labels, label_array
from exll.learner.exll import ExLL
from exll.learner.inference import Inference
from exll.learner.megacloud import MegaCloud
from exll.learner.model_file import ModelFile, read_model, write_model
from exll.learner.preset import PRESETS
from exll.learner.records import strings_from_tensors, strings_to_tensors
from exll.types import Indices, InferenceName, Matrix, RecordsKind, RuleLevel
from exll.vectors import as_vectors, check_rows, unit_chunks
from exll.version import __version__

KIND = "classifier"
_WHOLE_NUMBERS = (int, np.integer)
_NUMBERS = (*_WHOLE_NUMBERS, float, np.floating)


class ExLLClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """An explainable lifelong classifier: one pass, any order, new classes at any time, nothing forgotten.

    Parameters
    ----------
    preset : "paper"
        Which parts the learner is made of; "paper" follows the equations of ExLL to the letter.
    refresh_growth : float, default 0.1
        While learning, the precision is renewed when the stream has grown by this share; 0 renews it at every sample,
        as the paper has it, at the cost of an inversion per sample. Answers are always exact, whatever this is.
    records : "none", "refs", "vectors" or an integer, default "refs"
        What is remembered of the samples: nothing; the ref of each; a float16 vector of each too; or the N samples
        nearest each prototype, with vectors.

    Attributes
    ----------
    classes_ : the labels seen so far, sorted
    n_prototypes_, nbytes_ : size of the model

    Input is raw vectors: they are normalised inside (Eq. 1). ``partial_fit`` wants no list of classes, and gives the
    same model however the stream is cut into calls. Any number of threads may predict while one learns.

    >>> clf = ExLLClassifier(preset="paper")
    >>> clf.partial_fit([[1.0, 0.1], [0.9, 0.2]], ["mug", "mug"], refs=["mug_01.jpg", "mug_02.jpg"])
    ExLLClassifier()
    >>> clf.partial_fit([[0.1, 1.0], [0.2, 0.8]], ["pan", "pan"], refs=["pan_01.jpg", "pan_02.jpg"])
    ExLLClassifier()
    >>> clf.predict([[2.0, 0.3], [0.3, 2.0]])
    array(['mug', 'pan'], dtype='<U3')
    >>> print(clf.rules()[0])
    IF it resembles mug_01.jpg, mug_02.jpg THEN it is "mug" (2 of its 2 examples, 100%)
    """

    learner_: ExLL
    _labels: list[Label]  # in the order of first sight
    _label_kind: LabelKind

    def __init__(self, preset: str = "paper", refresh_growth: float = 0.1, records: RecordsKind = "refs") -> None:
        self.preset = preset
        self.refresh_growth = refresh_growth
        self.records = records

    def fit(self, X: ArrayLike, y: ArrayLike, *, refs: Sequence[str | None] | None = None) -> Self:
        """Forget everything, then learn the rows in order."""
        return self._learn(X, y, refs, None, anew=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        refs: Sequence[str | None] | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, on top of what is known.

        ``refs`` names each row (a path, an id) for explanations. ``classes`` is not needed; where it is given, every
        label of y must be among it, as with other estimators.
        """
        return self._learn(X, y, refs, classes, anew=not hasattr(self, "learner_"))

    def predict(self, X: ArrayLike, inference: InferenceName = "fused") -> NDArray[Any]:
        """The label of every row by fused (ExLL-F), local (ExLL-P) or global (ExLL-M) inference."""
        asked, vectors = self._ask(X, inference)
        labels = np.concatenate([asked.labels(unit, inference) for _, unit in unit_chunks(vectors)])
        predicted: NDArray[Any] = self.classes_[self._sorted_place()[labels]]
        return predicted

    def predict_proba(self, X: ArrayLike, inference: InferenceName = "fused") -> Matrix:
        """Probabilities, one column per class of ``classes_``; their arg-max is what ``predict`` says."""
        asked, vectors = self._ask(X, inference)
        posteriors = np.concatenate([asked.posteriors(unit, inference)[1] for _, unit in unit_chunks(vectors)])
        return posteriors[:, np.argsort(self._sorted_place())]

    def rules(self, level: RuleLevel = "prototype") -> list[Rule]:
        """IF-THEN rules per prototype, per class (Eq. 15) or per MegaCloud (Eq. 16); ``str(rule)`` is the sentence."""
        check_is_fitted(self)
        return rules_of(self.learner_, self._labels, level)

    def megacloud(self, label: Label) -> MegaCloud:
        """One class as it is now: mean, count, ids of its prototypes, and the edges between them."""
        check_is_fitted(self)
        if label not in self._labels:
            raise InputError(f"there is no class {label!r}.")
        return self.learner_.megacloud(self._labels.index(label))

    def rename_class(self, old: Label, new: Label, *, merge: bool = False) -> Self:
        """Give a class another label. Where ``new`` is a class already, ``merge=True`` makes the two one.

        Prototypes keep their ids; records, fusion counts and edges follow.
        """
        check_is_fitted(self)
        (old, new), kind = check_labels([old, new], "labels")
        if kind != self._label_kind:
            raise InputError(f"labels of this model are of kind {self._label_kind}; got {kind}.")
        if old not in self._labels:
            raise InputError(f"there is no class {old!r} to rename.")
        if new == old:
            return self
        if new not in self._labels:
            self._labels[self._labels.index(old)] = new
        elif merge:
            one, other = sorted((self._labels.index(old), self._labels.index(new)))
            self.learner_.merge_classes(one, other)
            self._labels[one] = new
            del self._labels[other]
        else:
            raise InputError(f"there is a class {new!r} already; pass merge=True to make the two one.")
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (docs/model-files.md). The path never holds half a model."""
        check_is_fitted(self)
        learner = self.learner_
        with learner.lock:
            facts = {
                "kind": KIND,
                "preset": learner.preset,
                "refresh_growth": learner.refresh_growth,
                "records": learner.records_kind,
                "labels": self._label_kind,
                "width": learner.width,
                "feature_names": getattr(self, "feature_names_in_", np.array([])).tolist(),
                "exll": __version__,
            }
            tensors = {**learner.state(), **_labels_to_tensors(self._labels, self._label_kind)}
            write_model(path, facts, tensors)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted."""
        self._check_known("classes_")
        return np.sort(label_array(self._labels, self._label_kind))

    @property
    def n_prototypes_(self) -> int:
        self._check_known("n_prototypes_")
        return self.learner_.prototype_count

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, its records included."""
        self._check_known("nbytes_")
        return self.learner_.nbytes + sum(len(str(label).encode()) for label in self._labels)

    def _learn(self, X: Any, y: Any, refs: Sequence[str | None] | None, classes: Any, *, anew: bool) -> Self:
        self._check_parameters(anew)
        vectors = as_vectors(X, None if anew else self.learner_.width, type(self).__name__)
        check_rows(vectors)
        labels, kind = check_labels(y)
        names = _check_refs(refs, len(vectors))
        if len(labels) != len(vectors):
            raise InputError(f"X and y must have the same number of rows; got {len(vectors)} and {len(labels)}.")
        if not anew and kind != self._label_kind:
            raise InputError(
                f"labels of this model are of kind {self._label_kind}, as in the first example; got {kind}."
            )
        if classes is not None and not set(labels) <= set(check_labels(classes, "classes")[0]):
            raise InputError("every label of y must be among 'classes', where it is given; leave it out to allow any.")
        self._check_feature_names(X, anew)
        if anew:
            records = self.records if isinstance(self.records, str) else int(self.records)
            self.learner_ = ExLL(vectors.shape[1], self.preset, float(self.refresh_growth), records)
            self._labels = []
            self._label_kind = kind
        numbers_of = {label: k for k, label in enumerate(self._labels)}
        new_labels = [label for label in dict.fromkeys(labels) if label not in numbers_of]
        numbers_of.update({label: len(numbers_of) + i for i, label in enumerate(new_labels)})
        try:
            for rows, unit in unit_chunks(vectors):
                known = [numbers_of[label] for label in labels[rows]]
                self.learner_.learn(unit, known, None if names is None else names[rows])
        finally:
            # Interrupted or not, exactly the classes that were learned have a label.
            self._labels += new_labels[: self.learner_.class_count - len(self._labels)]
        return self

    def _ask(self, X: Any, inference: str) -> tuple[Inference, NDArray[np.floating]]:
        check_is_fitted(self)
        if inference not in ("fused", "local", "global"):
            raise InputError(f"The 'inference' must be 'fused', 'local' or 'global'. Got {inference!r} instead.")
        vectors = as_vectors(X, self.learner_.width, type(self).__name__)
        self._check_feature_names(X, False)
        return self.learner_.inference(), vectors

    def _check_feature_names(self, X: Any, anew: bool) -> None:
        if anew or hasattr(self, "feature_names_in_") or not isinstance(X, np.ndarray):
            validate_data(self, X, skip_check_array=True, reset=anew)

    def _sorted_place(self) -> Indices:
        """For each class in the order of first sight, its place in ``classes_``."""
        return np.argsort(np.argsort(label_array(self._labels, self._label_kind)))

    def _check_parameters(self, anew: bool) -> None:
        owner = type(self).__name__
        if self.preset not in PRESETS:
            choices = ", ".join(repr(name) for name in PRESETS)
            raise InputError(
                f"The 'preset' parameter of {owner} must be one of {choices}. Got {self.preset!r} instead."
            )
        growth: Any = self.refresh_growth
        if isinstance(growth, bool) or not isinstance(growth, _NUMBERS) or not 0 <= growth < math.inf:
            raise InputError(
                f"The 'refresh_growth' parameter of {owner} must be a number of at least 0. Got {growth!r} instead."
            )
        records: Any = self.records
        whole = isinstance(records, _WHOLE_NUMBERS) and not isinstance(records, bool) and records >= 1
        if not whole and records not in ("none", "refs", "vectors"):
            raise InputError(
                f"The 'records' parameter of {owner} must be 'none', 'refs', 'vectors' or an integer of at least 1. "
                f"Got {records!r} instead."
            )
        if anew:
            return
        learner = self.learner_
        fixed = {"preset": learner.preset, "refresh_growth": learner.refresh_growth, "records": learner.records_kind}
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise InputError(
                    f"The {name!r} parameter of {owner} is fixed at the first example ({value!r}). "
                    f"Got {getattr(self, name)!r} instead; fit starts anew."
                )

    def _check_known(self, name: str) -> None:
        if not hasattr(self, "learner_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before its first example.")


def load(path: str | os.PathLike[str]) -> ExLLClassifier:
    """Give back what was saved; going on from it equals never having stopped."""
    file = read_model(path)
    kind = file.facts.get("kind")
    if kind != KIND:
        raise ModelFileError(f"{path} holds a model of kind {kind!r}, which this exll does not know.")
    try:
        return _classifier_from(file)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise ModelFileError(f"{path} does not hold a whole model: {error}.") from error


def _classifier_from(file: ModelFile) -> ExLLClassifier:
    facts = file.facts
    classifier = ExLLClassifier(facts["preset"], facts["refresh_growth"], facts["records"])
    classifier._check_parameters(anew=True)
    learner = ExLL.from_state(facts["width"], facts["preset"], facts["refresh_growth"], facts["records"], file.tensors)
    labels = _labels_from_tensors(file)
    if len(labels) != learner.class_count or len(set(labels)) != len(labels):
        raise ValueError("labels and classes differ in number")
    classifier.learner_ = learner
    classifier._labels, classifier._label_kind = labels, facts["labels"]
    classifier.n_features_in_ = learner.width
    if facts["feature_names"]:
        classifier.feature_names_in_ = np.array(facts["feature_names"], object)
    return classifier


def _labels_to_tensors(labels: list[Label], kind: LabelKind) -> dict[str, NDArray[Any]]:
    if kind == "string":
        return strings_to_tensors("labels", [str(label) for label in labels])
    return {"labels": label_array(labels, kind)}


def _labels_from_tensors(file: ModelFile) -> list[Label]:
    if file.facts["labels"] == "string":
        return list(strings_from_tensors("labels", file.tensors))
    plain: list[Label] = file.tensors["labels"].tolist()
    return plain


def _check_refs(refs: Sequence[str | None] | None, rows: int) -> list[str | None] | None:
    if refs is None:
        return None
    if isinstance(refs, str | bytes) or not hasattr(refs, "__len__"):
        raise InputTypeError(f"refs must be a list with one name per row; got {type(refs).__name__}.")
    if len(refs) != rows:
        raise InputError(f"X and refs must have the same number of rows; got {rows} and {len(refs)}.")
    for ref in refs:
        if ref is not None and not isinstance(ref, str | os.PathLike):
            raise InputTypeError(f"refs must be strings, paths or None; got {type(ref).__name__} {ref!r}.")
    return [None if ref is None else os.fspath(ref) for ref in refs]
