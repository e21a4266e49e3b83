"""``ExLLClassifier``: the learner with scikit-learn's face. Checks, normalises, translates labels; no algorithm in
it."""

import os
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from exll.errors import InputError, InputTypeError
from exll.explain.contributions import Without, without
from exll.explain.explanation import Explanation, explain
from exll.explain.progress import Progress, progress_of
from exll.explain.rules import Rule, rules_of
from exll.explain.suspects import Suspects, find_suspects, suspects_of
from exll.labels import check_labels, kind_of, label_array
from exll.learner.exll import ExLL
from exll.learner.inference import Inference
from exll.learner.megacloud import MegaCloud
from exll.learner.model_file import ModelFile, write_model
from exll.learner.preset import PRESETS
from exll.learner.records import strings_from_tensors, strings_to_tensors
from exll.types import InferenceName, Label, Matrix, RecordsKind, RuleLevel, Vector
from exll.vectors import as_vectors, check_rows, normalise, unit_chunks
from exll.version import __version__

KIND = "classifier"
Refs: TypeAlias = Sequence[str | os.PathLike[Any] | None]
MOST_GROWTH = 1000
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
    lessons_: list[dict[str, Any]]  # the streams it was taught by exll.teaching, kept in its file

    def __init__(self, preset: str = "paper", refresh_growth: float = 0.1, records: RecordsKind = "refs") -> None:
        self.preset = preset
        self.refresh_growth = refresh_growth
        self.records = records

    def fit(self, X: ArrayLike, y: ArrayLike, *, refs: Refs | None = None) -> Self:
        """Forget everything, then learn the rows in order."""
        return self._learn(X, y, refs, None, anew=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        refs: Refs | None = None,
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
        winners = np.concatenate([asked.winners(unit, inference) for _, unit in unit_chunks(vectors)])
        predicted: NDArray[Any] = _label_array(asked.labels)[winners]
        return predicted

    def predict_proba(self, X: ArrayLike, inference: InferenceName = "fused") -> Matrix:
        """Probabilities, one column per class of ``classes_``; their arg-max is what ``predict`` says."""
        asked, vectors = self._ask(X, inference)
        posteriors = np.concatenate([asked.posteriors(unit, inference)[1] for _, unit in unit_chunks(vectors)])
        return posteriors[:, asked.sorted_classes]

    def two_best(self, X: ArrayLike, inference: InferenceName = "fused") -> list[tuple[Label, float, Label | None]]:
        """For every row the label, its probability, and the runner-up (None while one class is known)."""
        asked, vectors = self._ask(X, inference)
        answers: list[tuple[Label, float, Label | None]] = []
        alone = len(asked.labels) == 1
        for _, unit in unit_chunks(vectors):
            winners, runners_up, posteriors = asked.two_best(unit, inference)
            for row, (k, second) in enumerate(zip(winners, runners_up, strict=True)):
                probability = min(float(posteriors[row, k]), 1.0)
                answers.append((asked.labels[k], probability, None if alone else asked.labels[second]))
        return answers

    def explain(self, x: ArrayLike) -> Explanation:
        """Why the fused answer for one vector, 1-D or (1, d), is what it is: hits, near misses, contributions."""
        unit = self._one_unit_vector(x)
        return explain(self.learner_, unit)

    def without(self, x: ArrayLike, prototype: int) -> Without:
        """What global inference would say of x had this prototype's examples never been in its class."""
        unit = self._one_unit_vector(x)
        return without(self.learner_.inference(), unit, prototype)

    def suspects(self, X: ArrayLike | None = None, y: ArrayLike | None = None, refs: Refs | None = None) -> Suspects:
        """Examples whose label the others contradict, the most doubtful first, and images taught under two labels.

        From what the model remembers (records="vectors"), or from the data given again.
        """
        check_is_fitted(self)
        if X is None and y is None:
            return suspects_of(self.learner_)
        vectors = as_vectors(X, self.learner_.width, type(self).__name__)
        labels, _ = check_labels(y)
        names = _check_refs(refs, len(vectors)) or [None] * len(vectors)
        if len(labels) != len(vectors):
            raise InputError(f"X and y must have the same number of rows; got {len(vectors)} and {len(labels)}.")
        return find_suspects(normalise(vectors), labels, [n or f"sample {i + 1}" for i, n in enumerate(names)])

    def rules(self, level: RuleLevel = "prototype") -> list[Rule]:
        """IF-THEN rules per prototype, per class (Eq. 15) or per MegaCloud (Eq. 16); ``str(rule)`` is the sentence."""
        check_is_fitted(self)
        return rules_of(self.learner_, level)

    def progress(self) -> list[Progress]:
        """Have I taught enough? Per class, the weakest first: how its last examples fared before they were learned."""
        check_is_fitted(self)
        return progress_of(self.learner_)

    def megacloud(self, label: Label) -> MegaCloud:
        """One class as it is now: mean, count, ids of its prototypes, and the edges between them."""
        check_is_fitted(self)
        with self.learner_.lock:
            labels = self.learner_.labels
            if label not in labels:
                raise InputError(f"there is no class {label!r}.")
            return self.learner_.megacloud(labels.index(label))

    def rename_class(self, old: Label, new: Label, *, merge: bool = False) -> Self:
        """Give a class another label. Where ``new`` is a class already, ``merge=True`` makes the two one.

        Prototypes keep their ids; records, fusion counts and edges follow.
        """
        check_is_fitted(self)
        (old, new), kind = check_labels([old, new], "labels")
        with self.learner_.lock:
            labels = self.learner_.labels
            if kind != kind_of(labels[0]):
                raise InputError(f"labels of this model are of kind {kind_of(labels[0])}; got {kind}.")
            if old not in labels:
                raise InputError(f"there is no class {old!r} to rename.")
            if new in labels and new != old and not merge:
                raise InputError(f"there is a class {new!r} already; pass merge=True to make the two one.")
            if new != old:
                self.learner_.rename_class(old, new)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (docs/model-files.md). The path never holds half a model."""
        self._write(path, {"kind": KIND})

    def _write(self, path: str | os.PathLike[str], more_facts: dict[str, Any]) -> None:
        check_is_fitted(self)
        learner = self.learner_
        with learner.lock:
            facts = {
                "preset": learner.preset,
                "refresh_growth": learner.refresh_growth,
                "records": learner.records_kind,
                "labels": kind_of(learner.labels[0]),
                "width": learner.width,
                "feature_names": getattr(self, "feature_names_in_", np.array([])).tolist(),
                "lessons": self.lessons_,
                "exll": __version__,
            }
            tensors = {**learner.state(), **_labels_to_tensors(learner.labels)}
            write_model(path, {**facts, **more_facts}, tensors)

    @classmethod
    def _from_file(cls, file: ModelFile) -> Self:
        """Raises KeyError, ValueError or the like where the file does not hold a whole model."""
        facts = file.facts
        classifier = cls(facts["preset"], facts["refresh_growth"], facts["records"])
        classifier._check_parameters(anew=True)
        if len(facts["feature_names"]) not in (0, facts["width"]):
            raise ValueError("feature names and features differ in number")
        learner = ExLL.from_state(
            _labels_from_tensors(file),
            facts["width"],
            facts["preset"],
            facts["refresh_growth"],
            facts["records"],
            file.tensors,
        )
        classifier.learner_ = learner
        classifier.lessons_ = list(facts["lessons"])
        classifier.n_features_in_ = learner.width
        if facts["feature_names"]:
            classifier.feature_names_in_ = np.array(facts["feature_names"], object)
        return classifier

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted."""
        self._check_known("classes_")
        return np.sort(_label_array(self.learner_.labels))

    @property
    def n_prototypes_(self) -> int:
        self._check_known("n_prototypes_")
        return self.learner_.prototype_count

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, its records included."""
        self._check_known("nbytes_")
        return self.learner_.nbytes

    def _learn(self, X: Any, y: Any, refs: Refs | None, classes: Any, *, anew: bool) -> Self:
        self._check_parameters(anew)
        vectors = as_vectors(X, None if anew else self.learner_.width, type(self).__name__)
        check_rows(vectors)
        labels, kind = check_labels(y)
        names = _check_refs(refs, len(vectors))
        if len(labels) != len(vectors):
            raise InputError(f"X and y must have the same number of rows; got {len(vectors)} and {len(labels)}.")
        if not anew and kind != (known := kind_of(self.learner_.labels[0])):
            raise InputError(f"labels of this model are of kind {known}, as in the first example; got {kind}.")
        if classes is not None and not set(labels) <= set(check_labels(classes, "classes")[0]):
            raise InputError("every label of y must be among 'classes', where it is given; leave it out to allow any.")
        self._check_feature_names(X, anew)
        records = self.records if isinstance(self.records, str) else int(self.records)
        learner = ExLL(vectors.shape[1], self.preset, float(self.refresh_growth), records) if anew else self.learner_
        try:
            for rows, unit in unit_chunks(vectors):
                learner.learn(unit, labels[rows], None if names is None else names[rows])
        except KeyboardInterrupt:
            if learner.sample_count:
                self._publish(learner)
            raise
        self._publish(learner)
        return self

    def _publish(self, learner: ExLL) -> None:
        """Only a learner that knows something is shown to those who ask."""
        if getattr(self, "learner_", None) is not learner:
            self.lessons_ = []
            self.learner_ = learner

    def _ask(self, X: Any, inference: str) -> tuple[Inference, NDArray[np.floating]]:
        check_is_fitted(self)
        if inference not in ("fused", "local", "global"):
            raise InputError(f"The 'inference' must be 'fused', 'local' or 'global'. Got {inference!r} instead.")
        vectors = as_vectors(X, self.learner_.width, type(self).__name__)
        self._check_feature_names(X, False)
        return self.learner_.inference(), vectors

    def _one_unit_vector(self, x: ArrayLike) -> Vector:
        check_is_fitted(self)
        array = np.asarray(x)
        vectors = as_vectors(array[None, :] if array.ndim == 1 else array, self.learner_.width, type(self).__name__)
        if len(vectors) != 1:
            raise InputError(f"one vector can be explained at a time; got {len(vectors)}.")
        unit: Vector = normalise(vectors)[0]
        return unit

    def _check_feature_names(self, X: Any, anew: bool) -> None:
        if anew or hasattr(self, "feature_names_in_") or not isinstance(X, np.ndarray):
            validate_data(self, X, skip_check_array=True, reset=anew)

    def _check_parameters(self, anew: bool) -> None:
        owner = type(self).__name__
        if not isinstance(self.preset, str) or self.preset not in PRESETS:
            choices = ", ".join(repr(name) for name in PRESETS)
            raise InputError(
                f"The 'preset' parameter of {owner} must be one of {choices}. Got {self.preset!r} instead."
            )
        growth: Any = self.refresh_growth
        if isinstance(growth, bool) or not isinstance(growth, _NUMBERS) or not 0 <= growth <= MOST_GROWTH:
            raise InputError(
                f"The 'refresh_growth' parameter of {owner} must be a number from 0 to {MOST_GROWTH}. "
                f"Got {growth!r} instead."
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


def _label_array(labels: Sequence[Label]) -> NDArray[Any]:
    return label_array(labels, kind_of(labels[0]))


def _labels_to_tensors(labels: Sequence[Label]) -> dict[str, NDArray[Any]]:
    if kind_of(labels[0]) == "string":
        return strings_to_tensors("labels", [str(label) for label in labels])
    return {"labels": _label_array(labels)}


def _labels_from_tensors(file: ModelFile) -> list[Label]:
    kind = file.facts["labels"]
    if kind == "string":
        return list(strings_from_tensors("labels", file.tensors))
    labels: list[Label] = file.tensors["labels"].tolist()
    if {kind_of(label) for label in labels} != {kind} or any(isinstance(label, float) for label in labels):
        raise ValueError("labels are of another kind than the file says")
    return labels


def _check_refs(refs: Any, rows: int) -> list[str | None] | None:
    if refs is None:
        return None
    unordered = isinstance(refs, str | bytes | set | frozenset | dict)
    if unordered or not hasattr(refs, "__len__") or np.shape(refs) == ():
        raise InputTypeError(f"refs must be a list with one name per row; got {type(refs).__name__}.")
    if len(refs) != rows:
        raise InputError(f"X and refs must have the same number of rows; got {rows} and {len(refs)}.")
    for ref in refs:
        if ref is not None and not isinstance(ref, str | os.PathLike):
            raise InputTypeError(f"refs must be strings, paths or None; got {type(ref).__name__} {ref!r}.")
    return [None if ref is None else os.fsdecode(ref) for ref in refs]
