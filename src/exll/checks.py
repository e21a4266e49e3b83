"""The rules for every stream learner, as checks that anybody can run on their own learner.

``make`` is a function that gives a new learner, always with the same parameters: an :class:`~exll.ExLLClassifier` with
a preset of your own, a baseline, or any classifier with ``fit``, ``partial_fit``, ``predict``, ``predict_proba`` and
``classes_`` that wants no list of classes. Where it has ``save``, ``exll.load`` or a class method ``load`` must open
the file. A broken rule is an AssertionError whose sentence says which.
"""

import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Make: TypeAlias = Callable[[], Any]

WIDTH, CLASSES, SAMPLES = 12, 5, 150
BAD_INPUT = (ValueError, TypeError)


class Data(NamedTuple):
    """Vectors, class numbers, and further vectors to ask about."""

    X: NDArray[np.float64]
    y: list[int]
    queries: NDArray[np.float64]


class BadExamples(NamedTuple):
    """What ``partial_fit`` must refuse after it has learned :data:`DATA`."""

    X: Any
    y: Any
    options: dict[str, Any]


def some_data(seed: int, samples: int = SAMPLES, repeats: float = 0.15) -> Data:
    """Clusters of vectors of any length; a share of them repeats an earlier one, under its own or another label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, samples)
    X = rng.normal(size=(CLASSES, WIDTH))[y] + rng.uniform(0.1, 1.0) * rng.normal(size=(samples, WIDTH))
    for i in range(1, samples):
        if rng.random() < repeats:
            X[i] = X[rng.integers(0, i)]
    X *= rng.uniform(0.1, 10.0, size=(samples, 1))
    return Data(X, y.tolist(), np.concatenate([rng.normal(size=(30, WIDTH)), X[:30]]))


DATA = some_data(30)
X, Y, QUERIES = DATA
_MANY = np.tile(X, (4, 1))  # more rows than are looked at together
BAD_EXAMPLES = {
    "NaN": BadExamples(np.vstack([_MANY, np.full(WIDTH, np.nan)]), [*(4 * Y), 0], {}),
    "an infinite number": BadExamples(np.vstack([_MANY, np.full(WIDTH, -np.inf)]), [*(4 * Y), 0], {}),
    "another number of features": BadExamples(X[:, :5], Y, {}),
    "fewer labels than rows": BadExamples(X, Y[:-1], {}),
    "labels of another kind": BadExamples(X, [str(k) for k in Y], {}),
    "labels of two kinds": BadExamples(X[:2], ["a", 1], {}),
    "labels that are fractions": BadExamples(X[:2], [0.5, 1.5], {}),
    "a label that is not among classes": BadExamples(X, Y, {"classes": [0]}),
    "fewer refs than rows": BadExamples(X, Y, {"refs": ["x"]}),
    "text": BadExamples([["x"] * WIDTH], [0], {}),
    "no rows": BadExamples(np.empty((0, WIDTH)), [], {}),
}
BAD_QUERIES: dict[str, Any] = {
    "NaN": np.full((1, WIDTH), np.nan),
    "an infinite number": np.full((1, WIDTH), np.inf),
    "another number of features": np.ones((1, WIDTH - 1)),
    "one dimension": np.ones(WIDTH),
}


def check_learner(make: Make) -> None:
    """Run all checks on learners that ``make`` gives.

    >>> from exll.baselines import NCM
    >>> check_learner(NCM)
    """
    for check in CHECKS:
        check(make)


def check_nothing_can_be_asked_before_the_first_example(make: Make) -> None:
    from sklearn.exceptions import NotFittedError

    learner = make()
    with _folder() as folder:
        for ask in (learner.predict, learner.predict_proba):
            _refuses(f"{ask.__name__} before the first example", NotFittedError, ask, QUERIES)
        if hasattr(learner, "save"):
            _refuses("save before the first example", NotFittedError, learner.save, folder / "m")
        _require(not list(folder.iterdir()), "save left a file behind before the first example.")
    for name in ("classes_", "nbytes_", "n_parameters_"):
        _require(not hasattr(learner, name), f"{name} is there before the first example.")


def check_one_example_is_enough(make: Make) -> None:
    learner = make().partial_fit(X[:1], ["only"])
    _require(
        learner.predict(QUERIES).tolist() == ["only"] * len(QUERIES), "one class must be the answer to everything."
    )
    _equal(learner.predict_proba(QUERIES), np.ones((len(QUERIES), 1)), "the probability of the only class must be 1")


def check_inputs_are_left_alone_and_not_held(make: Make) -> None:
    rows, labels, queries = X.copy(), list(Y), QUERIES.copy()
    learner = make().partial_fit(rows, labels)
    expected = learner.predict_proba(queries)
    _equal(rows, X, "partial_fit changed its rows")
    _equal(queries, QUERIES, "predict_proba changed its rows")
    _require(labels == Y, "partial_fit changed its labels.")
    rows[:] = 1.0
    labels[:] = [9] * len(labels)
    _equal(learner.predict_proba(queries), expected, "the model changed when the caller changed what it had passed")
    _same(learner, _taught(make), "the model changed when the caller changed what it had passed")


def check_what_is_given_out_cannot_change_the_model(make: Make) -> None:
    learner = _taught(make)
    learner.classes_[:] = 7
    learner.predict(QUERIES)[:] = 7
    learner.predict_proba(QUERIES)[:] = 7
    _same(learner, _taught(make), "a caller changed the model through what it was given")


def check_how_a_stream_is_cut_into_calls_does_not_matter(make: Make) -> None:
    """To the last bits of sums: the answers are the same, and probabilities nearly."""
    whole = _taught(make)
    for sizes in ([1], [7, 64, 3], [65, 1]):
        learner, start = make(), 0
        while start < len(Y):
            size = sizes[start % len(sizes)]
            learner.partial_fit(X[start : start + size], Y[start : start + size])
            start += size
        words = "the model depends on how the stream was cut into calls"
        _require(learner.predict(QUERIES).tolist() == whole.predict(QUERIES).tolist(), f"{words}: other answers.")
        _require(np.allclose(learner.predict_proba(QUERIES), whole.predict_proba(QUERIES), atol=1e-6), f"{words}.")


def check_predictions_in_between_leave_no_trace(make: Make) -> None:
    questioned, silent = make(), make()
    for start in range(0, len(Y), 25):
        for learner in (questioned, silent):
            learner.partial_fit(X[start : start + 25], Y[start : start + 25])
        questioned.predict(QUERIES)
        questioned.predict_proba(QUERIES)
    _same(questioned, silent, "a prediction changed the model")


def check_other_names_give_the_same_model_under_those_names(make: Make) -> None:
    names = np.array(["pan", "ant", "Zoo", "été", "b"])
    plain, renamed = _taught(make), make().partial_fit(X, names[Y])
    words = "the answers change when the classes have other names"
    _require(renamed.predict(QUERIES).tolist() == names[plain.predict(QUERIES)].tolist(), f"{words}.")
    columns = [sorted(names).index(name) for name in names]
    _equal(renamed.predict_proba(QUERIES)[:, columns], plain.predict_proba(QUERIES), words)


def check_bad_input_is_refused_and_changes_nothing(make: Make) -> None:
    expected, learner = _taught(make), _taught(make)
    for fault, bad in BAD_EXAMPLES.items():
        _refuses(f"partial_fit with {fault}", BAD_INPUT, learner.partial_fit, bad.X, bad.y, **bad.options)
        _same(learner, expected, f"refused input ({fault}) changed the model")


def check_bad_queries_are_refused(make: Make) -> None:
    learner = _taught(make)
    for fault, bad in BAD_QUERIES.items():
        for ask in (learner.predict, learner.predict_proba):
            _refuses(f"{ask.__name__} with {fault}", BAD_INPUT, ask, bad)


def check_save_load_go_on_equals_never_having_stopped(make: Make) -> None:
    for stop in (1, 64, 140):
        learner = make().partial_fit(X[:stop], Y[:stop])
        stopped = _saved_and_loaded(learner)
        _require(type(stopped) is type(learner), f"load gave a {type(stopped).__name__}.")
        _same(learner, stopped, f"a model loaded after {stop} examples is not the one that was saved")
        for model in (learner, stopped):
            model.partial_fit(X[stop:], Y[stop:])
        _same(learner, stopped, f"a model that was loaded after {stop} examples learned differently")


def check_a_class_that_came_just_now_can_be_saved(make: Make) -> None:
    learner = make().partial_fit(X[:60], ["old"] * 60).partial_fit(X[60:61], ["new"])
    _same(learner, _saved_and_loaded(learner), "a class of one example was not saved as it was")


def check_the_same_stream_gives_the_same_bytes(make: Make) -> None:
    with _folder() as folder:
        for name in ("a", "b"):
            learner = _taught(make)
            if hasattr(learner, "save"):
                learner.save(folder / name)
        contents = {path.read_bytes() for path in folder.iterdir()}
    _require(len(contents) <= 1, "the same stream gave two different files.")


def check_a_pickled_copy_goes_on_like_the_original(make: Make) -> None:
    learner = make().partial_fit(X[:70], Y[:70])
    copy = pickle.loads(pickle.dumps(learner))
    for model in (learner, copy):
        model.partial_fit(X[70:], Y[70:])
    _same(learner, copy, "a pickled copy learned differently from the original")


def check_probabilities_sum_to_one_and_are_largest_at_the_prediction(make: Make) -> None:
    for seed in range(6):
        data = some_data(seed, samples=80, repeats=0.6)
        learner = make().fit(data.X, [-k for k in data.y])  # sorted is the reverse of first seen
        queries = np.concatenate([data.queries, data.X])
        probabilities = learner.predict_proba(queries)
        _require(np.allclose(probabilities.sum(axis=1), 1), "probabilities must sum to 1.")
        _require(bool((probabilities >= 0).all()), "a probability is negative.")
        winners = learner.classes_[probabilities.argmax(axis=1)]
        _equal(winners, learner.predict(queries), "the most probable class must be the prediction")


def check_labels_keep_their_kind(make: Make) -> None:
    kinds: list[tuple[list[Any], Any]] = [
        (["b", "a", "b", "longer"], "<U6"),
        ([3, 1, 3, -7], np.int64),
        ([True, False, True, False], np.bool_),
    ]
    for labels, dtype in kinds:
        learner = make().partial_fit(np.eye(4)[:2], labels[:2]).partial_fit(np.eye(4)[2:], labels[2:])
        predicted = learner.predict(np.eye(4))
        _require(learner.classes_.dtype == predicted.dtype == dtype, f"labels like {labels[0]!r} must give {dtype}.")
        _require(learner.classes_.tolist() == sorted(set(labels)), "classes_ must be the labels, sorted.")
        _require(set(predicted.tolist()) <= set(labels), "an answer must be a label.")
        _same(learner, _saved_and_loaded(learner), f"labels like {labels[0]!r} were not saved as they were")


def check_fit_forgets_and_partial_fit_does_not(make: Make) -> None:
    learner = make().fit(X, Y).partial_fit(X, Y)
    _same(learner, make().partial_fit(X, Y).partial_fit(X, Y), "fit and then partial_fit must learn both")
    learner.fit(X[:, :4], ["a"] * len(X))
    _same(learner, make().fit(X[:, :4], ["a"] * len(X)), "fit must forget what was learned before", X[:, :4])
    _require(learner.classes_.tolist() == ["a"], "fit must forget the classes of before.")
    _require(learner.n_features_in_ == 4, "fit must take another number of features.")


def check_float32_and_float64_of_the_same_numbers_give_the_same_model(make: Make) -> None:
    narrow = X.astype(np.float32)
    _same(
        make().fit(narrow, Y), make().fit(narrow.astype(np.float64), Y), "float32 rows give another model than float64"
    )


CHECKS: tuple[Callable[[Make], None], ...] = (
    check_nothing_can_be_asked_before_the_first_example,
    check_one_example_is_enough,
    check_inputs_are_left_alone_and_not_held,
    check_what_is_given_out_cannot_change_the_model,
    check_how_a_stream_is_cut_into_calls_does_not_matter,
    check_predictions_in_between_leave_no_trace,
    check_other_names_give_the_same_model_under_those_names,
    check_bad_input_is_refused_and_changes_nothing,
    check_bad_queries_are_refused,
    check_save_load_go_on_equals_never_having_stopped,
    check_a_class_that_came_just_now_can_be_saved,
    check_the_same_stream_gives_the_same_bytes,
    check_a_pickled_copy_goes_on_like_the_original,
    check_probabilities_sum_to_one_and_are_largest_at_the_prediction,
    check_labels_keep_their_kind,
    check_fit_forgets_and_partial_fit_does_not,
    check_float32_and_float64_of_the_same_numbers_give_the_same_model,
)


def _taught(make: Make) -> Any:
    return make().partial_fit(X, Y)


def _saved_and_loaded(learner: Any) -> Any:
    if not hasattr(learner, "save"):
        return learner
    from exll.loading import load

    with _folder() as folder:
        learner.save(folder / "m.exll")
        return getattr(type(learner), "load", load)(folder / "m.exll")


def _same(one: Any, other: Any, words: str, queries: NDArray[np.float64] = QUERIES) -> None:
    """Equal to the last bit: parameters, classes, answers, and the whole state where a learner shows it."""
    _require(one.get_params() == other.get_params(), f"{words}: other parameters.")
    _require(one.classes_.dtype == other.classes_.dtype, f"{words}: classes of another kind.")
    _require(one.classes_.tolist() == other.classes_.tolist(), f"{words}: other classes.")
    if one.n_features_in_ == queries.shape[1]:
        _equal(one.predict_proba(queries), other.predict_proba(queries), words)
    learners = [getattr(model, "learner_", None) for model in (one, other)]
    labels = [getattr(inside, "labels", None) for inside in learners]
    _require(labels[0] == labels[1], f"{words}: labels in another order.")
    states: list[Any] = [getattr(inside, "state", dict)() for inside in learners]
    _require(states[0].keys() == states[1].keys(), f"{words}: other arrays.")
    for name in states[0]:
        _equal(states[0][name], states[1][name], f"{words}: {name} differs")


def _equal(one: Any, other: Any, words: str) -> None:
    _require(np.array_equal(one, other), f"{words}.")


def _refuses(
    words: str, errors: tuple[type[Exception], ...] | type[Exception], call: Any, *args: Any, **options: Any
) -> None:
    names = " or ".join(error.__name__ for error in (errors if isinstance(errors, tuple) else (errors,)))
    try:
        call(*args, **options)
    except errors:
        return
    except Exception as other:
        raise AssertionError(f"{words} must raise {names}; it raised {type(other).__name__}: {other}") from other
    raise AssertionError(f"{words} must raise {names}; it raised nothing.")


def _require(condition: bool, words: str) -> None:
    if not condition:  # not an assert statement, which python -O leaves out
        raise AssertionError(words)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="exll-checks-") as name:
        yield Path(name)
