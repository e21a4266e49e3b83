"""``LearnsUnknown``: a classifier that can be told "this is none of my classes" (:mod:`exll.learner.nothing`)."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exll.editing import names_of
from exll.errors import InputError
from exll.learner.inference import Inference
from exll.learner.nothing import Comparison, ExamplesOfNothing, Unlike
from exll.saving.model_file import ModelFile
from exll.scaling import Known
from exll.stream_classifier import Refs, StreamClassifier, check_is_fitted, check_refs
from exll.types import Group, Label, Tensors
from exll.vectors import as_vectors

NAMED = 3


class LearnsUnknown(StreamClassifier):
    """Keeps examples of nothing beside what it has learned; also before it has learned anything."""

    known_: Known
    _nothing = ExamplesOfNothing.none()  # replaced and never changed, so that copies of a moment may share it

    def learn_unknown(self, X: ArrayLike, refs: Refs | None = None) -> Self:
        """Remember vectors that belong to none of the classes: an input that is more like one of them than like every
        prototype is called unknown from then on.

        Nothing else changes: no class, label, probability or novelty. A vector that was taught is never called unknown
        by this, where the model keeps vectors (``records="vectors"``). ``refs`` names each row; a row without a name
        gets one, which explanations show. Every example costs as many numbers of 8 bytes as a vector has, whatever
        ``records`` says; there is no limit. They may come before the first example of a class, and ``fit`` drops them.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().fit([[1.0, 0.1, 0.1], [0.1, 1.0, 0.1]], ["mug", "pan"])
        >>> _ = clf.learn_unknown([[0.1, 0.1, 1.0]], refs=["wall.jpg"])
        >>> [answer.level for answer in clf.answers([[0.2, 0.1, 0.9], [0.9, 0.2, 0.1]])]
        ['unknown', 'usual']
        """
        self._check_parameters()
        taught = hasattr(self, "known_")
        width = self.known_.width if taught else (self._nothing.rows.shape[1] or None)
        vectors = as_vectors(X, width, type(self).__name__)
        names = check_refs(refs, len(vectors)) or [None] * len(vectors)
        if taught:
            self._check_feature_names(X, False)
        self._check_rows(vectors, anew=not taught)
        self._nothing = self._nothing.and_also(vectors, names)
        return self

    def forget_unknown(self, refs: str | Sequence[str]) -> Self:
        """Forget examples of nothing by their names: the model becomes the one that was never told of them.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().learn_unknown([[0.1, 0.1], [0.2, 0.1]], refs=["wall.jpg", "floor.jpg"])
        >>> clf.forget_unknown("wall.jpg").n_unknown_
        1
        """
        names = names_of(refs)
        missing = [name for name in dict.fromkeys(names) if name not in self._nothing.refs]
        if missing:
            named = ", ".join(map(repr, missing[:NAMED])) + (", ..." if missing[NAMED:] else "")
            raise InputError(f"this model has no example of nothing named {named}; nothing was changed.")
        self._nothing = self._nothing.without(set(names))
        return self

    def like_nothing(self, X: ArrayLike) -> list[tuple[str, ...]]:
        """For every row the names of the examples of nothing that make it unknown, the nearest first.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().fit([[1.0, 0.1, 0.1], [0.1, 1.0, 0.1]], ["mug", "pan"])
        >>> _ = clf.learn_unknown([[0.1, 0.1, 1.0]], refs=["wall.jpg"])
        >>> clf.like_nothing([[0.2, 0.1, 0.9], [0.9, 0.2, 0.1]])
        [('wall.jpg',), ()]
        """
        check_is_fitted(self)
        known, vectors = self.known_, as_vectors(X, self.known_.width, type(self).__name__)
        known.scaling.check(vectors)
        unlike = self._unlike(known, known.learner.inference())
        if unlike is None:
            return [()] * len(vectors)
        return [names for _, unit in known.scaling.chunks(vectors) for names in unlike.names(unit)]

    @property
    def n_unknown_(self) -> int:
        """How many examples of nothing it remembers."""
        return len(self._nothing)

    def rename_refs(self, new_ref: Callable[[str], str]) -> Self:
        """Call all examples something else from now on, those of nothing, too.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().fit([[1.0, 0.1]], ["mug"], refs=["1.jpg"])
        >>> print(clf.rename_refs(lambda ref: f"photos/{ref}").rules()[0])
        IF it resembles photos/1.jpg THEN it is "mug" (1 of its 1 example, 100%)
        """
        check_is_fitted(self)
        self.known_.learner.rename_refs(new_ref)
        self._nothing = self._nothing.renamed(new_ref)
        return self

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, refs: Refs | None = None, groups: Sequence[Group] | None = None
    ) -> Self:
        """Forget everything, examples of nothing included, then learn the rows in order; ``refs`` and ``groups`` as in
        ``partial_fit``.

        >>> from exll import ExLLClassifier
        >>> clf = ExLLClassifier().fit([[1.0, 0.1]], ["mug"])
        >>> clf.fit([[0.1, 1.0]], ["pan"]).classes_
        array(['pan'], dtype='<U3')
        """
        nothing, known = self._nothing, getattr(self, "known_", None)
        self._nothing = ExamplesOfNothing.none()
        try:
            return super().fit(X, y, refs=refs, groups=groups)
        except BaseException:
            if getattr(self, "known_", None) is known:
                self._nothing = nothing
            raise

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, all that it remembers included."""
        return super().nbytes_ + self._nothing.nbytes

    def _learnable(
        self, X: Any, y: Any, refs: Refs | None, anew: bool
    ) -> tuple[NDArray[np.floating], list[Label], list[str | None] | None]:
        learnable = super()._learnable(X, y, refs, anew)
        if anew and len(self._nothing):  # they have waited for the first example
            as_vectors(learnable[0], self._nothing.rows.shape[1], type(self).__name__)
            self._check_rows(self._nothing.rows, anew=True)  # the parameters may be others by now
        return learnable

    def _join_nothing(self, other: "LearnsUnknown") -> None:
        """Of a model of the same width."""
        if len(other._nothing):
            self._nothing = self._nothing.and_also(other._nothing.rows, other._nothing.refs)

    def _write(self, path: Any, more_metadata: dict[str, Any], more_tensors: Callable[[], Tensors] = dict) -> None:
        nothing = self._nothing.state()
        super()._write(path, more_metadata, lambda: {**more_tensors(), **nothing})

    def _restore_nothing(self, file: ModelFile) -> None:
        """What the file says of them; everything else is restored already."""
        self._nothing = ExamplesOfNothing.restored(file.tensors, self.known_.width)
        self.known_.scaling.check(self._nothing.rows)

    def _unlike(self, known: Known, inference: Inference) -> Unlike | None:
        """Made once for as long as neither the examples of nothing nor the answers change; None where there are no such
        examples."""
        nothing, made = self._nothing, inference.comparisons
        if not len(nothing):
            return None
        comparison = made.get(nothing)
        if comparison is None:
            units = np.concatenate([unit for _, unit in known.scaling.chunks(nothing.rows)])
            comparison = Comparison.of(inference, units)
            made.clear()
            made[nothing] = comparison
        return Unlike(known.learner, comparison, nothing.refs)
