"""``ExLLClassifier``: the learner as a scikit-learn estimator. Checks, normalises, translates labels; it holds
no algorithm."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exll.editing import (
    Chosen,
    Found,
    as_learned,
    by_name,
    by_vector,
    groups_of,
    names_of,
    number_of,
    of_class,
    with_places,
    without_digests,
)
from exll.errors import InputError
from exll.explain.contributions import Without, without
from exll.explain.evaluation import Evaluation, Mistake, evaluation_of
from exll.explain.explanation import Explanation, explain
from exll.explain.progress import Progress, progress_of
from exll.explain.rules import Rule, rules_of
from exll.explain.suspects import Suspects, find_suspects, suspects_of
from exll.labels import check_labels, kind_of
from exll.learner.exll import ExLL, Parameters
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.learner.inference import Inference, Judged
from exll.learner.megacloud import MegaCloud
from exll.learner.nothing import PREFIX as NOTHING
from exll.learner.nothing import Unlike
from exll.learner.preset import DEFAULT_PRESET
from exll.learner.records import Record
from exll.parameters import is_number
from exll.prediction import Prediction as Prediction
from exll.saving.model_file import ModelFile
from exll.scaling import FIRST, Known, new_scaling
from exll.stream_classifier import (
    Refs,
    check_is_fitted,
    check_refs,
    labels_as_array,
    labels_of_file,
)
from exll.types import (
    CountPairs,
    Group,
    Indices,
    InferenceName,
    Label,
    Lengths,
    Level,
    Matrix,
    PairWeights,
    RecordsKind,
    RuleLevel,
    Vector,
)
from exll.unknown import LearnsUnknown
from exll.vectors import as_vectors

KIND = "classifier"
NOT_GIVEN = object()  # tells "not given" from every value that may stand for unknown


class ExLLClassifier(LearnsUnknown):
    """An explainable lifelong classifier. It learns in one pass and in any order, and new classes can come at any time.

    Parameters
    ----------
    preset : "glocal", "paper" or one that an installed package adds, default "glocal"
        How it learns and answers. "glocal" is our own learner: whitened cosines of classes and prototypes, with weights
        and confidence from samples that are left out; it can say "unknown". "paper" follows the equations of ExLL,
        exactly with ``refresh_growth=0``.
    refresh_growth : float, default 0.1
        While learning, the precision is renewed when the stream has grown by this share, and by four samples at
        least; in a long stream of wide vectors also by as many samples as there are columns, or by three times this
        share if that is less. 0 renews it at every sample, as the paper has it, at the cost of an inversion per
        sample. Answers always use the exact precision, but which prototype a sample joined and which pairs were
        counted depends on this parameter.
    records : "none", "refs", "vectors" or an integer, default "refs"
        What is remembered of the samples: nothing; the ref of each; its vector, too; or the N samples
        nearest each prototype, with vectors.
    max_prototypes : int or None, default None
        How many prototypes a class may have at most; None lets it grow slowly with its examples. For "glocal".
    lengths : "auto", "kept" or "ignored", default "auto"
        Whether the length of a vector counts. "ignored" brings every vector to length 1 (Eq. 1), as suits the features
        of a network. "kept" sees every feature from its mean and in units of its standard deviation among the first 16
        samples, as suits measurements: neither offsets nor units matter then (:mod:`exll.scaling`). "auto" keeps the
        lengths of vectors with fewer than 64 numbers, and ignores them with the preset "paper".
    count_pairs : "before", "after" or None, default None
        When the answers of local and global inference for a sample are counted for fused inference (Eq. 22): before the
        sample is learned, or after it. The paper does not say. None is "before". For "paper".
    pair_weights : "one", "confidence" or None, default None
        What a sample adds to its count: 1 as in Eq. 22, or the mean of the probabilities that local and global
        inference give their answers. None is "one". For "paper".

    Attributes
    ----------
    classes_ : the labels seen so far, sorted
    n_prototypes_, nbytes_ : size of the model
    n_unknown_ : how many examples of nothing it remembers

    Input is raw vectors. ``partial_fit`` needs no list of classes, and the model does not depend on how the stream is
    divided into calls. Any number of threads may predict while one learns.

    >>> clf = ExLLClassifier(preset="paper")
    >>> clf.partial_fit([[1.0, 0.1], [0.9, 0.2]], ["mug", "mug"], refs=["mug_01.jpg", "mug_02.jpg"])
    ExLLClassifier(preset='paper')
    >>> clf.partial_fit([[0.1, 1.0], [0.2, 0.8]], ["pan", "pan"], refs=["pan_01.jpg", "pan_02.jpg"])
    ExLLClassifier(preset='paper')
    >>> clf.predict([[2.0, 0.3], [0.3, 2.0]])
    array(['mug', 'pan'], dtype='<U3')
    >>> print(clf.rules()[0])
    IF it resembles mug_01.jpg, mug_02.jpg THEN it is "mug" (2 of its 2 examples, 100%)
    """

    _kind = KIND
    backbone: None = None  # it takes vectors; an ImageLearner has the network that makes them
    known_: Known

    def __init__(
        self,
        preset: str = DEFAULT_PRESET,
        refresh_growth: float = 0.1,
        records: RecordsKind = "refs",
        max_prototypes: int | None = None,
        lengths: Lengths = "auto",
        count_pairs: CountPairs | None = None,
        pair_weights: PairWeights | None = None,
    ) -> None:
        self.preset = preset
        self.refresh_growth = refresh_growth
        self.records = records
        self.max_prototypes = max_prototypes
        self.lengths = lengths
        self.count_pairs = count_pairs
        self.pair_weights = pair_weights

    def predict(
        self,
        X: ArrayLike,
        inference: InferenceName = "fused",
        *,
        unknown: Any = NOT_GIVEN,
        false_alarms: float = FALSE_ALARMS,
    ) -> NDArray[Any]:
        """The label of every row by fused (ExLL-F), local (ExLL-P) or global (ExLL-M) inference.

        ``unknown`` is the value to return for unknown inputs: those that resemble nothing that was learned (for a
        preset that can tell, such as "glocal"), or that resemble an example of nothing more (see ``learn_unknown``).
        ``false_alarms`` is the share of known things that may be called at least unusual (see ``answers``); far fewer
        are called unknown.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.predict([[2.0, 0.3], [0.3, 2.0]], inference="local")
        array(['mug', 'pan'], dtype='<U3')
        """
        snapshot, chunks, unlike = self._ask(X, inference)
        if unknown is NOT_GIVEN:
            winners = np.concatenate([snapshot.winners(unit, inference) for _, unit in chunks])
            return _labelled(snapshot, winners)
        if inference != "fused":
            raise InputError(f"unknown can be used with fused inference only; got {inference!r}.")
        if isinstance(unknown, np.ndarray):
            raise InputError("unknown must be one value; got an array.")
        if _is_among(unknown, snapshot.labels):
            raise InputError(f"unknown must not be a class; {unknown!r} is one.")
        share, labels, levels = _check_share(false_alarms), [], []
        if unlike is None:
            snapshot.limits(share)  # raises where the preset has none
        for _, unit in chunks:
            judged = snapshot.judged(unit, snapshot.dots(unit), "fused")
            labels.append(judged.labels)
            levels += _levels(snapshot, unit, judged, share, unlike)
        predicted = _labelled(snapshot, np.concatenate(labels))
        novel = np.array([level == "unknown" for level in levels])
        kind = np.result_type(predicted, np.asarray(unknown)) if _fits(unknown, predicted) else object
        answers = predicted.astype(kind)
        for row in np.flatnonzero(novel):  # one by one: a tuple is a value too
            answers[row] = unknown
        return answers

    def novelty(self, X: ArrayLike) -> Vector:
        """How different each row is from what was learned; higher for less similar rows. A row above
        ``novelty_threshold()`` is unusual; it is unknown if it is also less similar to its class than others are.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1, 0.0], [0.1, 1.0, 0.0]], ["mug", "pan"])
        >>> near, far = clf.novelty([[1.0, 0.1, 0.0], [0.0, 0.0, 1.0]])
        >>> bool(near < far)
        True
        """
        snapshot, chunks, _ = self._ask(X, "fused")
        return np.concatenate([snapshot.novelty(unit) for _, unit in chunks])

    def novelty_threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """The novelty above which an input is called unusual.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.novelty_threshold(0.01) >= clf.novelty_threshold(0.2)
        True
        """
        check_is_fitted(self)
        return self.learner_.inference().limits(_check_share(false_alarms)).novelty

    def calibrate(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Set the confidence and what is called unusual or unknown, by labelled examples from where the model is used.

        Nothing is learned from them, and no label changes, only the confidence and the level. A hundred examples are
        good, twenty the minimum. More can be added later; the newest 1,000 count. They are kept in the model, also when
        it learns more; ``forget_calibration`` removes them.

        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(60, 8)) + 3 * np.eye(8)[np.arange(60) % 3], np.arange(60) % 3
        >>> clf = ExLLClassifier().fit(X[:30], y[:30]).calibrate(X[30:], y[30:])
        >>> clf.calibration_count_
        30
        """
        check_is_fitted(self)
        known = self.known_
        vectors, labels, _ = self._examples(X, y, None, known.width)
        self._check_feature_names(X, False)
        if known.scaling.first is not None:  # their units may still change
            raise InputError(
                f"a model can be calibrated once it has learned {FIRST} examples; got {known.sample_count}."
            )
        known.learner.calibrate(np.concatenate([unit for _, unit in known.scaling.chunks(vectors)]), labels)
        return self

    def forget_calibration(self) -> Self:
        """Undo all calibration.

        >>> clf = ExLLClassifier(lengths="ignored").fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.calibrate([[1.0, 0.2]], ["mug"]).forget_calibration().calibration_count_
        0
        """
        check_is_fitted(self)
        self.learner_.forget_calibration()
        return self

    @property
    def calibration_count_(self) -> int:
        """How many examples the model was calibrated with."""
        self._check_known("calibration_count_")
        return self.learner_.calibration_count

    def predict_proba(self, X: ArrayLike, inference: InferenceName = "fused") -> Matrix:
        """Probabilities, one column per class of ``classes_``; their arg-max is what ``predict`` says.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.predict_proba([[2.0, 0.3]]).argmax()
        np.int64(0)
        """
        snapshot, chunks, _ = self._ask(X, inference)
        posteriors = np.concatenate([snapshot.posteriors(unit, inference)[1] for _, unit in chunks])
        return posteriors[:, snapshot.sorted_classes]

    def answers(
        self, X: ArrayLike, inference: InferenceName = "fused", *, false_alarms: float = FALSE_ALARMS
    ) -> list[Prediction]:
        """The whole answer for every row, all from one state of the model even while another thread teaches.

        ``false_alarms`` is the share of known things that may be called unusual or unknown; a smaller share makes
        the model less strict.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1]], ["mug"])
        >>> clf.answers([[2.0, 0.3]])[0].label
        'mug'
        """
        share = _check_share(false_alarms)
        snapshot, chunks, unlike = self._ask(X, inference)
        alone = len(snapshot.labels) == 1
        answers: list[Prediction] = []
        for _, unit in chunks:
            judged, runners_up = snapshot.two_best(unit, inference)
            levels = _levels(snapshot, unit, judged, share, unlike)
            novelties = [None] * len(unit) if judged.measured is None else judged.measured.novelty.tolist()
            for row, (k, second) in enumerate(zip(judged.labels, runners_up, strict=True)):
                probability = min(float(judged.posteriors[row, k]), 1.0)
                runner_up = None if alone else snapshot.labels[second]
                answers.append(Prediction(snapshot.labels[k], probability, runner_up, levels[row], novelties[row]))
        return answers

    def explain(self, x: ArrayLike, *, false_alarms: float = FALSE_ALARMS) -> Explanation:
        """The reasons for the fused answer for one vector, 1-D or (1, d): hits, near misses, contributions.

        ``false_alarms`` is that of ``answers``.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"], refs=["mug_01.jpg", "pan_01.jpg"])
        >>> clf.explain([2.0, 0.3]).hit.examples[0].name
        'mug_01.jpg'
        """
        share = _check_share(false_alarms)
        known, unit = self._ask_one(x)
        return explain(known.learner, unit, share, self._unlike(known, known.learner.inference()))

    def evaluate(
        self,
        X: ArrayLike,
        y: Sequence[Label] | NDArray[Any],
        refs: Refs | None = None,
        inference: InferenceName = "fused",
        *,
        false_alarms: float = FALSE_ALARMS,
    ) -> Evaluation:
        """How often the answers for labelled rows are right, wrong, unusual or unknown: in all, per class, by
        confidence, and which classes are confused. ``str()`` is a summary.

        ``y`` may hold classes that were never taught. ``refs`` names each row, for the list of mistakes.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.evaluate([[2.0, 0.3], [0.3, 2.0], [0.1, 1.0]], ["mug", "pan", "mug"]).confusions
        (Confusion(truth='mug', label='pan', count=1),)
        """
        vectors, truths = self._queries(X), y.tolist() if isinstance(y, np.ndarray) else list(y)
        if len(truths) != len(vectors):
            raise InputError(f"X and y must have the same number of rows; got {len(vectors)} and {len(truths)}.")
        names = [name or f"row {i}" for i, name in enumerate(check_refs(refs, len(vectors)) or [None] * len(vectors))]
        counted = evaluation_of(
            self.answers(vectors, inference, false_alarms=false_alarms),
            truths,
            names,
            self.classes_.tolist(),
            inference,
            self.predict(vectors, "local").tolist(),
            self.predict(vectors, "global").tolist(),
        )

        def resembled(mistake: Mistake) -> str | None:
            hit = self.explain(vectors[mistake.row]).hit
            return hit.examples[0].name if hit.label == mistake.label and hit.examples else None

        return counted.with_resembled(resembled)

    def without(self, x: ArrayLike, prototype: int) -> Without:
        """The answer of global inference for x if this prototype's examples had never been in its class.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.without([2.0, 0.3], prototype=0).global_label_after
        'pan'
        """
        known, unit = self._ask_one(x)
        return without(known.learner.inference(), unit, prototype)

    def suspects(self, X: ArrayLike | None = None, y: ArrayLike | None = None, refs: Refs | None = None) -> Suspects:
        """Examples whose label is probably wrong, the most doubtful first, and images that were taught with two labels.

        From what the model remembers (records="vectors"), or from the data given again.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> print(clf.suspects([[1.0, 0.1], [1.0, 0.1]], ["mug", "pan"], refs=["1.jpg", "2.jpg"]).contradictions[0])
        1.jpg ("mug"), 2.jpg ("pan")
        """
        check_is_fitted(self)
        if X is None and y is None:
            return suspects_of(self.learner_, self.known_.scaling.spread)
        known = self.known_
        vectors, labels, given = self._examples(X, y, refs, known.width)
        self._check_feature_names(X, False)
        names = given or [None] * len(vectors)
        judged = np.concatenate([known.scaling.spread(unit) for _, unit in known.scaling.chunks(vectors)])
        return find_suspects(judged, labels, [n or f"sample {i + 1}" for i, n in enumerate(names)])

    def rules(self, level: RuleLevel = "prototype") -> list[Rule]:
        """IF-THEN rules per prototype, per class (Eq. 15) or per MegaCloud (Eq. 16); ``str(rule)`` is the sentence.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"], refs=["mug_01.jpg", "pan_01.jpg"])
        >>> print(clf.rules()[1])
        IF it resembles pan_01.jpg THEN it is "pan" (1 of its 1 example, 100%)
        """
        check_is_fitted(self)
        return rules_of(self.learner_, level)

    def progress(self) -> list[Progress]:
        """Which classes need more examples. Per class, the weakest first: how probable the right answer is, for inputs
        like the examples and for inputs from new places, judged by samples left out, and what would help most.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.progress()[0].verdict
        'too early to tell'
        """
        check_is_fitted(self)
        return progress_of(self.learner_)

    def megacloud(self, label: Label) -> MegaCloud:
        """One class as it is now: mean, count, ids of its prototypes, and the edges between them.

        The mean is one of unit vectors; where lengths are kept, with the appended constant.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.megacloud("pan").count
        1
        """
        check_is_fitted(self)
        with self.learner_.lock:
            try:
                k = self.learner_.labels.index(label)
            except ValueError:
                raise InputError(f"there is no class {label!r}.") from None
            return self.learner_.megacloud(k)

    def rename_class(self, old: Label, new: Label, *, merge: bool = False) -> Self:
        """Give a class another label. If ``new`` is already a class, ``merge=True`` makes one class of the two.

        Prototypes keep their ids; records, fusion counts and edges follow.

        >>> clf = ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mgu", "pan"])
        >>> clf.rename_class("mgu", "mug").classes_
        array(['mug', 'pan'], dtype='<U3')
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
                self.known_ = self.known_._replace(scaling=self.known_.scaling.renamed(old, new))
        return self

    def forget(
        self,
        refs: str | Sequence[str | None] | None = None,
        *,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        groups: Group | Sequence[Group] = None,
    ) -> Self:
        """Forget examples: the model becomes the one that never saw them.

        By ``refs`` or ``groups``, as they were learned, where the model keeps vectors (``records="vectors"``). Else by
        giving the examples again, ``X`` with their labels ``y``; where the model remembers refs, with these, too. An
        example that was learned without a ref has the name that explanations show, such as "sample 12". Means and
        covariance are then those of all other examples, and nothing of the forgotten ones is left in a file. A class
        is removed with its last example. Refused input changes nothing.

        >>> clf = ExLLClassifier(records="vectors")
        >>> _ = clf.fit([[1.0, 0.1], [0.9, 0.1], [0.1, 1.0]], ["mug", "mug", "pan"], refs=["1.jpg", "2.jpg", "3.jpg"])
        >>> clf.forget("2.jpg").megacloud("mug").count
        1
        >>> clf.forget(X=[[0.1, 1.0]], y=["pan"]).classes_
        array(['mug'], dtype='<U3')
        """
        check_is_fitted(self)
        together = groups_of(groups)
        if (X is None) != (y is None):
            raise InputError("examples are given again with their labels: X and y together.")
        if X is None and refs is None and not together:
            raise InputError("say what to forget: refs, groups, or X and y.")
        if X is not None and together:
            raise InputError("name examples by their groups or give them again; not both.")
        with self._held():
            if X is None:
                self._forget_found(self._named([] if refs is None else names_of(refs), together))
            else:
                self._forget_given(X, y, refs)
        return self

    def forget_class(self, label: Label) -> Self:
        """Forget all examples of a class, as :meth:`forget` does; needs ``records="vectors"``.

        >>> clf = ExLLClassifier(records="vectors").fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"])
        >>> clf.forget_class("pan").classes_
        array(['mug'], dtype='<U3')
        """
        check_is_fitted(self)
        with self._held():
            first = self.known_.scaling.first
            if first is not None:
                of_it = self.learner_.labels[number_of(self.learner_, label)]
                self._forget_first([i for i, known in enumerate(first.labels) if known == of_it])
            else:
                self._forget(as_learned(self.learner_, of_class(self.learner_, label)))
        return self

    def relabel(self, refs: str | Sequence[str], label: Label) -> Self:
        """Give examples another label, which may be that of a new class; needs ``records="vectors"``.

        The model becomes the one that never saw them under their old label, and saw them last under the new one.

        >>> clf = ExLLClassifier(records="vectors")
        >>> _ = clf.fit([[1.0, 0.1], [0.9, 0.1], [0.1, 1.0]], ["mug", "pan", "pan"], refs=["1.jpg", "2.jpg", "3.jpg"])
        >>> clf.relabel("2.jpg", "mug").megacloud("mug").count
        2
        """
        check_is_fitted(self)
        names = names_of(refs)
        with self._held():
            self._relabel(self._named(names), label)
        return self

    def _relabel(self, found: Sequence[Found], label: Label) -> dict[int, int]:
        """Where the examples stood in the stream before, and where they stand now; the lock is held."""
        (label,), kind = check_labels([label], "the label")
        if kind != (known := kind_of(self.learner_.labels[0])):
            raise InputError(f"labels of this model are of kind {known}; got {kind}.")
        first = self.known_.scaling.first
        if first is not None:
            rows = {record.position for _, _, record in found}
            labels = tuple(label if i in rows else old for i, old in enumerate(first.labels))
            self.known_ = self.known_.made_of(first._replace(labels=labels))
            return {}
        others = [one for one in found if self.learner_.labels[one[0]] != label]
        moved, start = as_learned(self.learner_, others), self.learner_.learned_count
        if moved:
            self.learner_.check_forgettable([sample for sample, _ in moved])
            # First the new, then the old: so a class that is emptied by it may be the only one.
            self.learner_.learn_again([sample for sample, _ in moved], label, [record.ref for _, _, record in others])
            # Prototypes of a class that was edited before are formed anew only now.
            old = [one for k in {k for k, _, _ in others} for one in self.learner_.remembered_class(k)]
            gone = {record.position for _, _, record in others}
            moved = as_learned(self.learner_, [one for one in old if one[2].position in gone])
            self.learner_.forget([sample for sample, _ in moved])
        places = {record.position: start + i for i, (_, _, record) in enumerate(others)}
        self.lessons_ = with_places(self.lessons_, lambda place: places.get(place, place))
        return places

    def _named(self, names: Sequence[str], groups: Sequence[Group] = ()) -> list[Found]:
        """The examples of these names and groups; a model that is made of its first examples knows all of them."""
        first = self.known_.scaling.first
        if first is None:
            return by_name(self.learner_, names, groups)
        records = [Record(i, ref) for i, ref in enumerate(first.refs)]
        for wanted, known in ((names, {record.name for record in records}), (groups, set(first.groups))):
            for name in wanted:
                if name not in known:
                    raise InputError(f"no example of the name or group {name!r} was learned; nothing was changed.")
        chosen = [r for r, group in zip(records, first.groups, strict=True) if r.name in names or group in groups]
        return [(0, 0, record) for record in chosen]

    def _forget_found(self, found: Sequence[Found]) -> None:
        """The lock is held."""
        if self.known_.scaling.first is not None:
            self._forget_first([record.position for _, _, record in found])
        else:
            self._forget(as_learned(self.learner_, found))

    def _forget_given(self, X: Any, y: Any, refs: Any) -> None:
        """The same for examples that are given again."""
        refs = [refs] if isinstance(refs, str) else refs
        vectors, labels, names = self._examples(X, y, refs, self._known().width)
        self._check_feature_names(X, False)
        if self.known_.scaling.first is not None:
            self._forget_first(self._first_of(vectors, labels, names))
            return
        units = np.concatenate([some for _, some in self.known_.scaling.chunks(vectors)])
        self._forget(by_vector(self.learner_, units, labels, names))

    def _forget(self, chosen: Sequence[Chosen]) -> None:
        self.learner_.forget([sample for sample, _ in chosen])
        gone = [sample.position for sample, _ in chosen if sample.position is not None]
        self.lessons_ = without_digests(self.lessons_, gone)

    def _first_of(self, vectors: Any, labels: Sequence[Label], refs: Sequence[str | None] | None) -> list[int]:
        """The places of those of the first samples that are meant."""
        first = self.known_.scaling.first
        assert first is not None
        rows: list[int] = []
        for row, (vector, label) in enumerate(zip(vectors, labels, strict=True)):
            number_of(self.learner_, label)
            same = [
                i
                for i in range(len(first.rows))
                if i not in rows
                and first.labels[i] == label
                and np.allclose(first.rows[i], vector, rtol=1e-6)
                and (refs is None or refs[row] is None or first.refs[i] == refs[row])
            ]
            if not same:
                raise InputError(f"row {row} was not learned as {label!r}; nothing was changed.")
            rows.append(same[0])
        return rows

    def _forget_first(self, rows: Sequence[int]) -> None:
        first, gone = self.known_.scaling.first, set(rows)
        assert first is not None
        kept = [i for i in range(len(first.rows)) if i not in gone]
        if not kept:
            raise InputError("a model cannot forget all that it has learned; start a new one instead.")
        self.known_ = self.known_.made_of(first.some(kept))
        places = {old: new for new, old in enumerate(kept)}  # they are counted anew
        self.lessons_ = with_places(self.lessons_, places.get)

    def _before_saving(self) -> None:
        if not self.learner_.gathers:  # what only gathers is judged by those who use it
            self.learner_.renew()

    @classmethod
    def _from_file(cls, file: ModelFile) -> Self:
        """Raises KeyError, ValueError or the like where the file does not hold a whole model."""
        metadata = file.metadata
        # A file from before there was a choice has no such entries.
        lengths = metadata.get("lengths", "ignored")
        pairs = {"count_pairs": None, "pair_weights": None}
        given: dict[str, Any] = {name: {**pairs, **metadata}[name] for name in Parameters._fields}
        classifier = cls(**given, lengths=lengths)
        classifier._check_parameters()
        learned = {name: array for name, array in file.tensors.items() if not name.startswith(NOTHING)}
        known = Known.restored(metadata["width"], classifier._parameters(), lengths, labels_of_file(file), learned)
        classifier._restore(known, metadata)
        classifier._restore_nothing(file)
        return classifier

    @property
    def classifier(self) -> Self:
        """Itself, as an ImageLearner has a classifier too."""
        return self

    @property
    def n_prototypes_(self) -> int:
        """How many prototypes all classes have together."""
        self._check_known("n_prototypes_")
        return self.learner_.prototype_count

    @property  # type: ignore[override]  # an attribute of the base
    def learner_(self) -> ExLL:
        """The learner behind the estimator: unit vectors in, answers out."""
        return self.known_.learner

    @learner_.setter
    def learner_(self, learner: ExLL) -> None:
        self.known_ = self.known_._replace(learner=learner)

    def _known(self) -> Known:
        return self.known_

    def _publish(self, learner: Any, anew: bool) -> None:
        if anew:
            self.lessons_ = []
        self.known_ = learner

    def _learn_rows(
        self,
        vectors: NDArray[np.floating],
        labels: list[Label],
        names: list[str | None] | None,
        groups: list[Group] | None,
        anew: bool,
    ) -> None:
        known = Known.nothing(vectors.shape[1], self._parameters(), self.lengths) if anew else self.known_
        names, groups = names or [None] * len(vectors), groups or [None] * len(vectors)
        first = known.scaling.wanted
        if first:
            known = known.with_first(vectors[:first], labels[:first], names[:first], groups[:first])
        rest = known.scaling.chunks(vectors[first:])
        self._learn_chunks(known, rest, labels[first:], names[first:], groups[first:], anew)

    def _parameters(self) -> Parameters:
        records = self.records if isinstance(self.records, str) else int(self.records)
        most = None if self.max_prototypes is None else int(self.max_prototypes)
        pairs = self.count_pairs, self.pair_weights
        return Parameters(self.preset, float(self.refresh_growth), records, most, *pairs)

    def _fixed_parameters(self) -> dict[str, Any]:
        return {**self.learner_.parameters._asdict(), "lengths": self.known_.lengths}

    def _ask(self, X: Any, inference: str) -> tuple[Inference, Iterator[tuple[slice, Matrix]], Unlike | None]:
        """Who answers, the rows as unit vectors, and what tells by examples of nothing that some are unknown."""
        if inference not in ("fused", "local", "global"):
            raise InputError(f"The 'inference' must be 'fused', 'local' or 'global'. Got {inference!r} instead.")
        vectors = self._queries(X)
        known = self.known_
        snapshot = known.learner.inference()
        return snapshot, known.scaling.chunks(vectors), self._unlike(known, snapshot) if inference == "fused" else None

    def _ask_one(self, x: ArrayLike) -> tuple[Known, Vector]:
        check_is_fitted(self)
        known = self.known_
        row = _as_one_row(x)
        if hasattr(row, "columns"):  # a table, or one row of it
            self._check_feature_names(row, False)
        vectors = as_vectors(row, known.width, type(self).__name__)
        if len(vectors) != 1:
            raise InputError(f"only one vector can be explained at a time; got {len(vectors)}.")
        known.scaling.check(vectors)
        [(_, units)] = known.scaling.chunks(vectors)
        unit: Vector = units[0]
        return known, unit

    def _check_rows(self, vectors: NDArray[np.floating], anew: bool) -> None:
        scaling = new_scaling(self.lengths, self.preset, vectors.shape[1]) if anew else self.known_.scaling
        scaling.check(vectors)


def _levels(
    snapshot: Inference, unit: Matrix, judged: Judged, false_alarms: float, unlike: Unlike | None
) -> list[Level]:
    levels = snapshot.levels(judged, false_alarms)
    return levels if unlike is None else unlike.levels(unit, levels)


def _labelled(snapshot: Inference, classes: Indices) -> NDArray[Any]:
    labels: NDArray[Any] = labels_as_array(snapshot.labels)[classes]
    return labels


def _is_among(value: Any, labels: tuple[Label, ...]) -> bool:
    """Some values, such as pandas' NA, refuse to say whether they are equal to another."""
    try:
        return value in labels
    except (TypeError, ValueError):
        return False


def _fits(value: Any, labels: NDArray[Any]) -> bool:
    """Whether a value can stand among labels without making them objects."""
    if labels.dtype.kind == "U":
        return isinstance(value, (str, np.str_))
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    return labels.dtype.kind == "i" and whole and np.iinfo(np.int64).min <= int(value) <= np.iinfo(np.int64).max


def _as_one_row(x: Any) -> Any:
    """A vector as a matrix; what is neither is left to be refused by those who check matrices."""
    if hasattr(x, "columns"):
        return x
    if hasattr(x, "to_frame") and getattr(x, "ndim", None) == 1:  # a row of a table, with the names of its columns
        return x.to_frame().T
    try:
        array = np.asarray(x)
    except ValueError:
        return x
    return array[None, :] if array.ndim == 1 else array


def _check_share(false_alarms: Any) -> float:
    if not is_number(false_alarms) or not 0 < false_alarms < 1:
        raise InputError(f"false_alarms must be a share between 0 and 1; got {false_alarms!r}.")
    return float(false_alarms)
