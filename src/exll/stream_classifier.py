"""``StreamClassifier``: any stream learner as a scikit-learn estimator. Checks, translates labels, saves; it holds no
algorithm."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exll.errors import InputError, InputTypeError
from exll.labels import check_labels, kind_of, label_array
from exll.parameters import Allowed, check_parameters, parameter_names
from exll.saving.model_file import ModelFile, write_model
from exll.saving.strings import strings_from_tensors, strings_to_tensors
from exll.types import Group, Label, Matrix, Tensors
from exll.vectors import as_vectors, check_rows, unit_chunks
from exll.version import __version__

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Estimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
        ...
else:
    from exll.lazy_estimator import LazyEstimator as Estimator

Refs: TypeAlias = Sequence[str | os.PathLike[Any] | None]


class Learner(Protocol):
    """The learner behind a classifier. Its labels are in the order of first sight."""

    @property
    def width(self) -> int: ...

    @property
    def lock(self) -> Any: ...

    def learn(
        self,
        X: Matrix,
        labels: Sequence[Label],
        refs: Sequence[str | None] | None = None,
        groups: Sequence[Group] | None = None,
    ) -> None: ...

    @property
    def labels(self) -> tuple[Label, ...]: ...

    @property
    def sample_count(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def state(self) -> Tensors: ...


FEATURES = ("n_features_in_", "feature_names_in_")


class StreamClassifier(Estimator):
    """A classifier that learns one row after the other, in any number of calls, with new classes at any time.

    A subclass says which learner stands behind it (``_new_learner``), what its own parameters may be (``_allowed``,
    beside those of :mod:`exll.parameters`) and what its answers are.
    """

    _kind: ClassVar[str]  # what its model files are called
    _allowed: ClassVar[Mapping[str, Allowed]] = {}
    n_features_in_: int
    feature_names_in_: NDArray[Any]  # only where the first example came with names
    learner_: Learner
    lessons_: list[dict[str, Any]]  # the streams it was taught by exll.teaching, kept in its file

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, refs: Refs | None = None, groups: Sequence[Group] | None = None
    ) -> Self:
        """Forget everything, then learn the rows in order; ``refs`` and ``groups`` as in ``partial_fit``.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().fit([[1.0, 0.1]], ["mug"])
        >>> clf.fit([[0.1, 1.0]], ["pan"]).classes_
        array(['pan'], dtype='<U3')
        """
        return self._learn(X, y, refs, groups, None, anew=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        refs: Refs | None = None,
        groups: Sequence[Group] | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, on top of what is known.

        ``refs`` names each row (a path, an id) for explanations. ``groups`` names what rows came with: a video, a day,
        a shop. Rows of one group are alike, so the model (with the preset "glocal") judges itself on each group by the
        others; None is for a row that came alone. ``classes`` is not needed; where it is given, every label of y must
        be among it, as with other estimators.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().partial_fit([[1.0, 0.1]], ["mug"], refs=["mug_01.jpg"])
        >>> clf.partial_fit([[0.1, 1.0]], ["pan"]).classes_
        array(['mug', 'pan'], dtype='<U3')
        """
        return self._learn(X, y, refs, groups, classes, anew=not hasattr(self, "learner_"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (docs/model-files.md). The path never holds half a model.

        >>> import tempfile
        >>> from exll import ExLLClassifier, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ExLLClassifier().fit([[1.0, 0.1]], ["mug"]).save(f"{folder}/things.exll")
        ...     load(f"{folder}/things.exll").classes_
        array(['mug'], dtype='<U3')
        """
        self._write(path, {"kind": self._kind})

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted."""
        self._check_known("classes_")
        return np.sort(labels_as_array(self.learner_.labels))

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, all that it remembers included."""
        self._check_known("nbytes_")
        return self._known().nbytes

    def _check_parameters(self) -> None:
        values = {name: getattr(self, name) for name in parameter_names(type(self))}
        check_parameters(type(self).__name__, values, self._allowed)

    def _new_learner(self, width: int) -> Learner:
        raise NotImplementedError

    def _fixed_parameters(self) -> dict[str, Any]:
        """The parameters as they were at the first example."""
        raise NotImplementedError

    def _metadata(self) -> dict[str, Any]:
        """What a file says beside the learner's state; ``_from_file`` reads it."""
        return self._fixed_parameters()

    def _known(self) -> Learner:
        """What was learned, with all that a file must hold of it."""
        return self.learner_

    def _before_saving(self) -> None:
        """What is left to be done is done."""

    def _check_rows(self, vectors: NDArray[np.floating], anew: bool) -> None:
        check_rows(vectors)

    def _chunks(self, vectors: NDArray[np.floating]) -> Iterator[tuple[slice, Matrix]]:
        """The rows as the learner takes them, some at a time."""
        return unit_chunks(vectors)

    def _learn(
        self, X: Any, y: Any, refs: Refs | None, groups: Sequence[Group] | None, classes: Any, *, anew: bool
    ) -> Self:
        vectors, labels, names = self._learnable(X, y, refs, anew)
        named_groups = check_groups(groups, len(vectors))
        if classes is not None and not set(labels) <= set(check_labels(classes, "classes")[0]):
            raise InputError("every label of y must be among 'classes', where it is given; leave it out to allow any.")
        with self._names_of_learner():
            self._check_feature_names(X, anew)
            self._learn_rows(vectors, labels, names, named_groups, anew)
        return self

    def _learnable(
        self, X: Any, y: Any, refs: Refs | None, anew: bool
    ) -> tuple[NDArray[np.floating], list[Label], list[str | None] | None]:
        """Vectors, labels and names that can be learned now, or one clear sentence; nothing has changed yet."""
        self._check_parameters()
        if not anew:
            self._check_unchanged(self._fixed_parameters())
        vectors, labels, names = self._examples(X, y, refs, None if anew else self._known().width)
        kind = kind_of(labels[0])
        if not anew and kind != (known := kind_of(self.learner_.labels[0])):
            raise InputError(f"labels of this model are of kind {known}, as in the first example; got {kind}.")
        return vectors, labels, names

    def _learn_rows(
        self,
        vectors: NDArray[np.floating],
        labels: list[Label],
        names: list[str | None] | None,
        groups: list[Group] | None,
        anew: bool,
    ) -> None:
        learner = self._new_learner(vectors.shape[1]) if anew else self.learner_
        self._learn_chunks(learner, self._chunks(vectors), labels, names, groups, anew)

    def _learn_chunks(
        self,
        learner: Learner,
        chunks: Iterator[tuple[slice, Matrix]],
        labels: list[Label],
        names: list[str | None] | None,
        groups: list[Group] | None,
        anew: bool,
    ) -> None:
        """Only a learner that knows something is shown to those who ask."""
        try:
            for rows, chunk in chunks:
                learner.learn(chunk, labels[rows], names and names[rows], groups and groups[rows])
        except KeyboardInterrupt:
            if learner.sample_count:
                self._publish(learner, anew)
            raise
        self._publish(learner, anew)

    @contextmanager
    def _names_of_learner(self) -> Iterator[None]:
        """Width and names of features are those of the learner that is shown: whoever breaks off before another one is,
        finds the old ones again."""
        learner = getattr(self, "learner_", None)
        before = {name: self.__dict__[name] for name in FEATURES if name in self.__dict__}
        try:
            yield
        except BaseException:
            if getattr(self, "learner_", None) is learner:
                for name in FEATURES:
                    self.__dict__.pop(name, None)
                self.__dict__.update(before)
            raise

    def _publish(self, learner: Learner, anew: bool) -> None:
        if anew:
            self.lessons_ = []
        self.learner_ = learner

    def _examples(
        self, X: Any, y: Any, refs: Refs | None, width: int | None
    ) -> tuple[NDArray[np.floating], list[Label], list[str | None] | None]:
        """Vectors, labels and names, equally many, or one clear sentence. Names of features are not looked at yet."""
        vectors = as_vectors(X, width, type(self).__name__)
        labels, _ = check_labels(y)
        names = check_refs(refs, len(vectors))
        if len(labels) != len(vectors):
            raise InputError(f"X and y must have the same number of rows; got {len(vectors)} and {len(labels)}.")
        self._check_rows(vectors, anew=width is None)
        return vectors, labels, names

    def _queries(self, X: Any) -> NDArray[np.floating]:
        """Vectors that the learner can be asked about."""
        check_is_fitted(self)
        vectors = as_vectors(X, self._known().width, type(self).__name__)
        self._check_feature_names(X, False)
        self._check_rows(vectors, anew=False)
        return vectors

    def _check_feature_names(self, X: Any, anew: bool) -> None:
        nameless = isinstance(X, np.ndarray) and not hasattr(self, "feature_names_in_")
        if nameless:
            if anew:
                self.n_features_in_ = X.shape[1]
            return
        from sklearn.utils.validation import validate_data

        try:
            validate_data(self, X, skip_check_array=True, reset=anew)
        except TypeError as error:
            raise InputTypeError(str(error)) from error
        except ValueError as error:
            raise InputError(str(error)) from error

    def _check_unchanged(self, fixed: dict[str, Any]) -> None:
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise InputError(
                    f"The {name!r} parameter of {type(self).__name__} is fixed at the first example ({value!r}). "
                    f"Got {getattr(self, name)!r} instead; call fit to start again."
                )

    def _check_known(self, name: str) -> None:
        if not hasattr(self, "learner_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before its first example.")

    def _write(
        self,
        path: str | os.PathLike[str],
        more_metadata: dict[str, Any],
        more_tensors: Callable[[], Tensors] = dict,
    ) -> None:
        check_is_fitted(self)
        with self._held() as learner:
            self._before_saving()
            metadata = {
                **self._metadata(),
                "labels": kind_of(learner.labels[0]),
                "width": learner.width,
                "feature_names": getattr(self, "feature_names_in_", np.array([])).tolist(),
                "lessons": self.lessons_,
                "exll": __version__,
            }
            tensors = {**learner.state(), **_labels_to_tensors(learner.labels), **more_tensors()}
            write_model(path, {**metadata, **more_metadata}, tensors)

    @contextmanager
    def _held(self) -> Iterator[Learner]:
        """What it knows, with the lock held; others may have made another of it while one waited for the lock."""
        while True:
            waited_for = self._known()
            with waited_for.lock:
                known = self._known()
                if known.lock is waited_for.lock:
                    yield known
                    return

    def _restore(self, learner: Learner, metadata: dict[str, Any]) -> None:
        """Take a learner from a file, and all that the file says about its streams."""
        if len(metadata["feature_names"]) not in (0, learner.width):
            raise ValueError("feature names and features differ in number")
        self._publish(learner, anew=False)
        self.lessons_ = list(metadata["lessons"])
        self.n_features_in_ = learner.width
        if metadata["feature_names"]:
            self.feature_names_in_ = np.array(metadata["feature_names"], object)


def check_is_fitted(classifier: StreamClassifier) -> None:
    """scikit-learn's check of that name, which is imported only to raise its error."""
    if not hasattr(classifier, "learner_"):
        from sklearn.utils.validation import check_is_fitted as refuse

        refuse(classifier, "learner_")


def labels_as_array(labels: Sequence[Label]) -> NDArray[Any]:
    return label_array(labels, kind_of(labels[0]))


def labels_of_file(file: ModelFile) -> list[Label]:
    """The labels in the order of first sight."""
    kind = file.metadata["labels"]
    if kind == "string":
        return list(strings_from_tensors("labels", file.tensors))
    labels: list[Label] = file.tensors["labels"].tolist()
    if {kind_of(label) for label in labels} != {kind} or any(isinstance(label, float) for label in labels):
        raise ValueError("labels are of another kind than the file says")
    return labels


def _labels_to_tensors(labels: Sequence[Label]) -> Tensors:
    if kind_of(labels[0]) == "string":
        return strings_to_tensors("labels", [str(label) for label in labels])
    return {"labels": labels_as_array(labels)}


def check_refs(refs: Any, rows: int) -> list[str | None] | None:
    if refs is None:
        return None
    no_list = isinstance(refs, str | bytes | set | frozenset | dict) or getattr(refs, "shape", None) == ()
    if no_list or not hasattr(refs, "__len__"):
        raise InputTypeError(f"refs must be a list with one name per row; got {type(refs).__name__}.")
    if len(refs) != rows:
        raise InputError(f"there must be one ref per example; got {rows} examples and {len(refs)} refs.")
    for ref in refs:
        if ref is not None and not isinstance(ref, str | os.PathLike):
            raise InputTypeError(f"refs must be strings, paths or None; got {type(ref).__name__} {ref!r}.")
    return [None if ref is None else os.fsdecode(ref) for ref in refs]


def check_groups(groups: Any, rows: int) -> list[Group] | None:
    """One name per row, or None for a row that came alone; numbers are names, too."""
    if groups is None:
        return None
    if isinstance(groups, str | bytes | set | frozenset | dict) or not hasattr(groups, "__len__"):
        raise InputTypeError(f"groups must be a list with one name per row; got {type(groups).__name__}.")
    if len(groups) != rows:
        raise InputError(f"there must be one group per example; got {rows} examples and {len(groups)} groups.")
    for group in groups:
        if group is not None and (isinstance(group, bool) or not isinstance(group, str | int | np.integer)):
            raise InputTypeError(
                f"groups must be strings, whole numbers or None; got {type(group).__name__} {group!r}."
            )
    return [None if group is None or group == "" else str(group) for group in groups]
