import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from exll import ExLLClassifier, load
from exll.errors import InputError
from exll.types import Indices, InferenceName, Matrix
from support import PRESET_NAMES, assert_equal_models, both_presets, random_stream

NAMES: tuple[InferenceName, ...] = ("fused", "local", "global")
STREAM = random_stream(30, width=12, classes=5, samples=150)

EXPECTED_FAILURES_WITHOUT_LENGTHS = {
    "check_estimators_dtypes": "rounds its data to integers, which leaves rows of zeros; a zero vector has no "
    "direction and is refused (docs/decisions.md, 12)",
}


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{preset}-{getattr(check, 'func', check).__name__}")
        for preset in PRESET_NAMES
        for estimator, check in estimator_checks_generator(ExLLClassifier(preset=preset))
    ],
)
def test_scikit_learn_contract(estimator: ExLLClassifier, check: Any) -> None:
    name = getattr(check, "func", check).__name__
    if name in EXPECTED_FAILURES_WITHOUT_LENGTHS and estimator.preset == "paper":
        with pytest.raises(InputError, match="all zeros"):
            check(estimator)
    else:
        check(estimator)


@both_presets
@pytest.mark.slow
def test_it_works_in_a_pipeline_a_cross_validation_and_a_grid_search(preset: str) -> None:
    data = load_digits()
    X, y = data.data[:600], data.target[:600]
    pipeline = make_pipeline(StandardScaler(), ExLLClassifier(preset=preset, records="none"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(ExLLClassifier(preset=preset), {"refresh_growth": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.75


def test_a_clone_has_the_parameters_and_none_of_the_knowledge() -> None:
    copy = clone(ExLLClassifier("paper", 0.2, 5).fit(STREAM.X, STREAM.y))
    rest = {"max_prototypes": None, "lengths": "auto", "count_pairs": None, "pair_weights": None}
    assert copy.get_params() == {"preset": "paper", "refresh_growth": 0.2, "records": 5, **rest}
    assert not hasattr(copy, "learner_")


@both_presets
def test_a_pickled_copy_goes_on_like_the_original(preset: str) -> None:
    model = ExLLClassifier(preset).partial_fit(STREAM.X[:80], STREAM.y[:80])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(STREAM.X[80:], STREAM.y[80:])
    assert_equal_models(model, copy)


def test_fit_forgets_and_partial_fit_does_not() -> None:
    model = ExLLClassifier("paper").fit(STREAM.X, STREAM.y)
    model.partial_fit(STREAM.X, STREAM.y)
    assert model.learner_.sample_count == 300
    model.fit(STREAM.X[:, :4], ["a"] * 150)
    assert model.learner_.sample_count == 150
    assert model.classes_.tolist() == ["a"]
    assert model.n_features_in_ == 4


@both_presets
@pytest.mark.parametrize("inference", NAMES)
def test_the_arg_max_of_the_probabilities_is_the_prediction(preset: str, inference: InferenceName) -> None:
    for seed in range(12):
        stream = random_stream(seed, samples=60, repeats=0.6)
        model = ExLLClassifier(preset).fit(stream.X, [-k for k in stream.y])  # sorted is the reverse of first seen
        queries = np.concatenate([stream.queries, stream.X])
        probabilities = model.predict_proba(queries, inference)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (probabilities >= 0).all()
        assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(queries, inference)).all()


@both_presets
def test_the_same_vector_under_two_labels_goes_to_the_class_seen_first(preset: str) -> None:
    x = [[0.3, 0.5, 0.2]]
    model = ExLLClassifier(preset).partial_fit(np.repeat(x, 2, axis=0), ["zebra", "ant"])
    for inference in ("local", "global"):
        assert model.predict(x, inference).tolist() == ["zebra"]
        assert model.classes_[model.predict_proba(x, inference).argmax()] == "zebra"


@both_presets
@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (["b", "a", "b", "c"], "<U1"),
        (np.array(["b", "a", "b", "c"], object), "<U1"),
        ([3, 1, 3, -7], np.int64),
        (np.array([3, 1, 3, 7], np.uint8), np.int64),
        ([3.0, 1.0, 3.0, 7.0], np.int64),
        ([True, False, True, False], np.bool_),
    ],
)
def test_labels_keep_their_kind(preset: str, labels: Any, dtype: Any, tmp_path: Path) -> None:
    X = np.eye(4)
    model = ExLLClassifier(preset).partial_fit(X, labels)
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == sorted(set(labels))
    assert model.predict(X, "local").dtype == dtype
    assert model.predict(X, "local").tolist() == list(labels)
    model.save(tmp_path / "m.exll")
    assert_equal_models(model, load(tmp_path / "m.exll", ExLLClassifier))


@both_presets
def test_new_classes_may_come_at_any_time_also_with_longer_names(preset: str) -> None:
    model = ExLLClassifier(preset).partial_fit([[1.0, 0.0, 0.0]], ["a"])
    model.partial_fit([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], ["a much longer name", "Á"])
    assert model.predict(np.eye(3), "local").tolist() == ["a", "a much longer name", "Á"]


def test_classes_are_accepted_but_not_needed() -> None:
    model = ExLLClassifier("paper").partial_fit(STREAM.X, STREAM.y, classes=[0, 1, 2, 3, 4, 5])
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]  # what was never seen is not known
    with pytest.raises(InputError, match="every label of y must be among 'classes'"):
        model.partial_fit(STREAM.X, STREAM.y, classes=[0, 1])


def nested() -> Any:
    return [[1.0, 2.0], [3.0]]


GOOD_X, GOOD_Y = np.eye(3), ["a", "b", "c"]
BAD_INPUT: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "nan": ([[1, 2, np.nan]], ["a"], {}, "row 0 holds NaN"),
    "infinity": ([[1, 2, 3], [1, 2, -np.inf]], ["a", "b"], {}, "row 1 holds inf"),
    "zero vector": ([[1, 2, 3], [0, 0, 0]], ["a", "b"], {}, "row 1 is all zeros"),
    "wrong width": ([[1.0, 2.0]], ["a"], {}, "X has 2 features.* expecting 3 .*Was the backbone changed"),
    "no rows": (np.empty((0, 3)), [], {}, "0 sample"),
    "no columns": (np.empty((2, 0)), ["a", "b"], {}, "0 feature"),
    "one dimension": ([1.0, 2.0, 3.0], ["a"], {}, "Expected 2D array"),
    "three dimensions": (np.ones((2, 3, 3)), ["a", "b"], {}, "dim 3"),
    "ragged": (nested(), ["a", "b"], {}, "inhomogeneous|setting an array element"),
    "text": ([["x", "y", "z"]], ["a"], {}, "could not convert"),
    "objects": (np.array([[{}, 1, 2]], object), ["a"], {}, "must be a string or a real number"),
    "complex": (np.eye(3) * 1j, GOOD_Y, {}, "Complex data not supported"),
    "none": (None, ["a"], {}, "Expected 2D array|dtype"),
    "fewer labels": (GOOD_X, ["a", "b"], {}, "same number of rows; got 3 and 2"),
    "more labels": (GOOD_X, ["a"] * 4, {}, "same number of rows; got 3 and 4"),
    "no labels": (GOOD_X, None, {}, "requires y"),
    "one string for labels": (GOOD_X, "abc", {}, "one label per row"),
    "labels in a table": (GOOD_X, np.ones((3, 2), int), {}, "one label per row"),
    "unhashable labels": (GOOD_X, [{}, {}, {}], {}, "Unknown label type.* got dict"),
    "sets for labels": (np.eye(3)[:2], [{1}, {2}], {}, "Unknown label type.* got set"),
    "mixed labels": (GOOD_X, ["a", 1, "b"], {}, "integer and string together"),
    "mixed in an object array": (GOOD_X, np.array(["a", 1, True], object), {}, "boolean and integer and string"),
    "bool and int": (GOOD_X, [True, 2, 3], {}, "boolean and integer"),
    "missing label": (GOOD_X, ["a", None, "b"], {}, "Unknown label type.* got NoneType"),
    "fractions": (GOOD_X, [0.5, 1.5, 2.5], {}, "Unknown label type.* got continuous 0.5"),
    "nan label": (GOOD_X, [np.nan, 1.0, 2.0], {}, "Unknown label type"),
    "bytes": (GOOD_X, [b"a", b"b", b"c"], {}, "Unknown label type.* got bytes"),
    "another kind of label": (GOOD_X, [1, 2, 3], {}, "of kind string, as in the first example; got integer"),
    "fewer refs": (GOOD_X, GOOD_Y, {"refs": ["x"]}, "there must be one ref per example; got 3 examples and 1 refs"),
    "a string for refs": (GOOD_X, GOOD_Y, {"refs": "abc"}, "refs must be a list"),
    "numbers for refs": (GOOD_X, GOOD_Y, {"refs": [1, 2, 3]}, "refs must be strings"),
    "a set for refs": (GOOD_X, GOOD_Y, {"refs": {"x", "y", "z"}}, "refs must be a list"),
    "an array of nothing for refs": (GOOD_X, GOOD_Y, {"refs": np.array("x")}, "refs must be a list"),
    "lists for refs": (GOOD_X, GOOD_Y, {"refs": [["x"], ["y", "z"], ["v"]]}, "refs must be strings"),
    "huge integers": ([[10**400, 1, 1]], ["a"], {}, "too large"),
    "huge long doubles": (np.array([[np.longdouble("1e4000"), 1, 1]]), ["a"], {}, "row 0 holds inf"),
    "durations for labels": (GOOD_X, [np.timedelta64(1, "s")] * 3, {}, "Unknown label type.* got timedelta64"),
    "dates for labels": (GOOD_X, np.array(["2026-01-01"] * 3, "datetime64[ns]"), {}, "Unknown label type.* datetime64"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_one_clear_sentence_and_changes_nothing(case: str) -> None:
    X, y, more, message = BAD_INPUT[case]
    model, twin = (ExLLClassifier("paper").fit(GOOD_X, GOOD_Y) for _ in range(2))
    with pytest.raises(InputError, match=message) as caught:
        model.partial_fit(X, y, **more)
    assert "\n" not in str(caught.value)
    assert_equal_models(model, twin)
    fresh = ExLLClassifier("paper")
    before = dict(vars(fresh))
    if case not in ("wrong width", "another kind of label"):
        with pytest.raises(InputError):
            fresh.partial_fit(X, y, **more)
        assert vars(fresh) == before


@pytest.mark.parametrize("case", ["nan", "infinity", "zero vector", "wrong width", "one dimension", "objects"])
def test_bad_questions_get_one_clear_sentence(case: str) -> None:
    X, _, _, message = BAD_INPUT[case]
    model = ExLLClassifier("paper").fit(GOOD_X, GOOD_Y)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(InputError, match=message):
            method(X)
    with pytest.raises(InputError, match="'fused', 'local' or 'global'"):
        model.predict(GOOD_X, "both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=BAD_INPUT["ragged"][3]):
        model.explain(nested())
    with pytest.raises(InputError, match="must be one value"):
        model.predict(GOOD_X, unknown=np.array([1, 2]))
    with pytest.raises(InputError, match="there is no class"):
        model.megacloud(np.array(["a", "b"]))  # type: ignore[arg-type]


def test_asking_before_learning_is_one_clear_sentence(tmp_path: Path) -> None:
    model = ExLLClassifier("paper")
    asks: list[Any] = [lambda: model.predict(GOOD_X), lambda: model.predict_proba(GOOD_X), model.rules]
    asks += [lambda: model.save(tmp_path / "x"), lambda: model.rename_class("a", "b"), lambda: model.megacloud("a")]
    for ask in asks:
        with pytest.raises(ValueError, match="not fitted yet"):
            ask()
    for name in ("classes_", "n_prototypes_", "nbytes_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": ["paper"]}, "'preset' parameter"),
        ({"refresh_growth": 10**400}, "'refresh_growth' .* from 0 to 1000"),
        (
            {"preset": "papers"},
            "'preset' parameter of ExLLClassifier must be one of 'glocal', 'paper'. Got 'papers' instead.",
        ),
        ({"refresh_growth": -0.1}, "'refresh_growth' .* from 0 to 1000. Got -0.1"),
        ({"refresh_growth": "often"}, "'refresh_growth' .* Got 'often'"),
        ({"refresh_growth": float("nan")}, "'refresh_growth' .* Got nan"),
        ({"refresh_growth": float("inf")}, "'refresh_growth' .* Got inf"),
        ({"records": "all"}, "'records' parameter .* Got 'all'"),
        ({"records": 0}, "'records' parameter .* Got 0"),
        ({"records": True}, "'records' parameter .* Got True"),
    ],
)
def test_bad_parameters_are_named_at_the_first_example(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ExLLClassifier(**parameters).fit(GOOD_X, GOOD_Y)


def test_parameters_are_fixed_at_the_first_example() -> None:
    model = ExLLClassifier("paper").fit(GOOD_X, GOOD_Y)
    model.set_params(records="vectors")
    with pytest.raises(InputError, match=r"'records' parameter .* fixed at the first example \('refs'\)"):
        model.partial_fit(GOOD_X, GOOD_Y)
    model.fit(GOOD_X, GOOD_Y)
    assert model.learner_.parameters.records == "vectors"


@both_presets
def test_very_long_and_very_short_vectors_keep_their_direction(preset: str) -> None:
    model = ExLLClassifier(preset, lengths="ignored").fit([[1e200, 0.0], [0.0, 1e-200]], ["right", "up"])
    assert model.predict([[1e-300, 1e-310], [5e-324, 1e-310], [1e308, 1e308 / 2]], "local").tolist() == [
        "right",
        "up",
        "right",
    ]


def test_refs_may_be_paths_of_bytes_and_labels_may_hold_odd_characters(tmp_path: Path) -> None:
    class BytesPath:
        def __fspath__(self) -> bytes:
            return b"caf\xe9.jpg"

    model = ExLLClassifier("paper").fit(GOOD_X, ["a", "b\udcff", "c"], refs=[BytesPath(), Path("x/y.jpg"), None])
    assert model.learner_.records(0)[0].ref == "caf\udce9.jpg"
    assert model.nbytes_ > 0
    model.save(tmp_path / "m.exll")
    assert_equal_models(model, load(tmp_path / "m.exll", ExLLClassifier))


@both_presets
def test_every_pickle_protocol_works(preset: str) -> None:
    model = ExLLClassifier(preset).fit(STREAM.X, STREAM.y)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert_equal_models(model, pickle.loads(pickle.dumps(model, protocol)))


@both_presets
def test_inputs_are_left_alone_and_not_held(preset: str) -> None:
    X, y, queries = STREAM.X.copy(), list(STREAM.y), STREAM.queries.copy()
    model = ExLLClassifier(preset).fit(X, y)
    expected = model.predict_proba(queries)
    np.testing.assert_array_equal(X, STREAM.X)
    np.testing.assert_array_equal(queries, STREAM.queries)
    X[:] = 1.0
    y[:] = [9] * len(y)
    np.testing.assert_array_equal(model.predict_proba(queries), expected)


@both_presets
def test_what_is_given_out_cannot_change_the_model(preset: str) -> None:
    model, twin = (ExLLClassifier(preset).fit(STREAM.X, STREAM.y) for _ in range(2))
    model.classes_[:] = 7
    megacloud = model.megacloud(0)
    megacloud.mean[:] = 0
    megacloud.prototypes[:] = 0
    megacloud.edges.clear()
    model.learner_.supports.clear()
    for array in model.learner_.centres:
        array[:] = 0
    assert_equal_models(model, twin)


@both_presets
def test_a_class_can_be_renamed(preset: str) -> None:
    model, twin = (ExLLClassifier(preset).fit(STREAM.X, [f"c{k}" for k in STREAM.y]) for _ in range(2))
    model.rename_class("c1", "zz top")
    assert "c1" not in model.classes_
    expected = ["zz top" if label == "c1" else label for label in twin.predict(STREAM.queries).tolist()]
    assert model.predict(STREAM.queries).tolist() == expected
    model.partial_fit(STREAM.X[:1], ["zz top"])
    assert len(model.classes_) == 5


@both_presets
@pytest.mark.parametrize(("old", "new"), [("c3", "c1"), ("c1", "c3"), ("c0", "c4")])
def test_two_classes_can_be_made_one(preset: str, old: str, new: str, tmp_path: Path) -> None:
    stream = random_stream(30, width=12, classes=5, samples=150, repeats=0)  # no ties: a merge may turn those around
    labels = [f"c{k}" for k in stream.y]
    model = ExLLClassifier(preset).fit(stream.X, labels)
    before = model.predict(stream.queries, "local")
    one, other = model.megacloud(old), model.megacloud(new)
    supports = model.learner_.supports
    model.rename_class(old, new, merge=True)
    assert model.classes_.tolist() == sorted({f"c{k}" for k in range(5)} - {old})
    merged = model.megacloud(new)
    assert merged.count == one.count + other.count
    assert merged.prototypes.tolist() == sorted([*one.prototypes.tolist(), *other.prototypes.tolist()])
    assert merged.edges == {**one.edges, **other.edges}
    np.testing.assert_allclose(merged.mean, (one.count * one.mean + other.count * other.mean) / merged.count)
    assert model.learner_.supports == supports
    learner, megaclouds = model.learner_, model.learner_._megaclouds
    exact = learner._precision.current.squared_norms(megaclouds.vectors - learner._origin)
    np.testing.assert_allclose(megaclouds.squared_norms, exact, rtol=1e-6)
    if preset == "paper":  # the covariance of glocal is that within the classes, and those are others now
        # Local inference compares the same prototypes as before, under their new name.
        expected = [new if label == old else label for label in before.tolist()]
        assert model.predict(stream.queries, "local").tolist() == expected
    model.save(tmp_path / "m.exll")
    assert_equal_models(model, load(tmp_path / "m.exll", ExLLClassifier))
    model.partial_fit(stream.X, [new if label == old else label for label in labels])
    assert model.learner_.sample_count == 300


def test_merging_by_accident_or_what_is_not_there_is_refused() -> None:
    model = ExLLClassifier("paper").fit(GOOD_X, GOOD_Y)
    with pytest.raises(InputError, match="there is a class 'b' already; pass merge=True"):
        model.rename_class("a", "b")
    with pytest.raises(InputError, match="no class 'x'"):
        model.rename_class("x", "b")
    with pytest.raises(InputError, match="of kind string; got integer"):
        model.rename_class(1, 2)
    with pytest.raises(InputError, match="no class 'x'"):
        model.megacloud("x")
    assert model.rename_class("a", "a").classes_.tolist() == GOOD_Y


def test_feature_names_of_a_table_are_remembered(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOOD_X, columns=["x", "y", "z"])
    model = ExLLClassifier("paper").fit(frame, GOOD_Y)
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ExLLClassifier)
    assert again.feature_names_in_.tolist() == ["x", "y", "z"]
    reordered = frame[["z", "y", "x"]]
    for ask in (again.predict, lambda X: again.explain(X[:1]), lambda X: again.suspects(X, GOOD_Y)):
        ask(frame)
        with pytest.raises(InputError, match="feature names"):
            ask(reordered)
    with pytest.raises(InputError, match="feature names"):
        again.partial_fit(reordered, GOOD_Y)


def test_a_model_mapped_from_a_file_for_reading_goes_on_learning(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    for preset in PRESET_NAMES:
        model = ExLLClassifier(preset, records="vectors").fit(STREAM.X, STREAM.y)
        joblib.dump(model, tmp_path / "m.joblib")
        mapped = joblib.load(tmp_path / "m.joblib", mmap_mode="r")
        for one in (model, mapped):
            one.partial_fit(STREAM.X, STREAM.y)
        assert_equal_models(model, mapped)


@both_presets
@pytest.mark.parametrize("known", [False, True])
def test_a_fit_that_breaks_off_changes_nothing(
    preset: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ExLLClassifier(preset)
    if known:
        model.fit(pd.DataFrame({"a": [1.0, 0.2], "b": [0.1, 1.0]}), ["mug", "pan"])

    def full(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("exll.learner.exll.ExLL.learn", full)
        with pytest.raises(MemoryError):
            model.fit(pd.DataFrame({"x": [1.0], "y": [2.0], "z": [3.0]}), ["cup"])
    if not known:
        assert not hasattr(model, "n_features_in_")
        return
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.save(tmp_path / "m.exll")
    assert load(tmp_path / "m.exll").classes_.tolist() == ["mug", "pan"]


def twelve_classes() -> tuple[Matrix, Indices, Matrix]:
    """Rows, their labels, and a row that is like none of them: it differs from zero in other columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 300)
    centres = np.concatenate([rng.normal(size=(12, 40)), np.zeros((12, 40))], axis=1)
    other = np.concatenate([np.zeros(40), rng.normal(size=40)])
    return centres[y] + 0.1 * rng.normal(size=(300, 80)), y, other[None]


def test_whole_numbers_stay_whole_numbers_beside_an_unknown_one() -> None:
    X, y, other = twelve_classes()
    model = ExLLClassifier().fit(X, y)
    answers = model.predict(np.vstack([X[:5], other]), unknown=-1)
    assert answers.dtype == np.int64
    assert answers[-1] == -1
    assert accuracy_score(y[:5], answers[:5]) == 1.0
    assert model.predict(X[:1], unknown=2**70).dtype == object
    assert model.predict(X[:1], unknown=True if 1 not in model.classes_ else None).dtype == object


def test_pandas_own_missing_value_can_stand_for_unknown() -> None:
    X, y, other = twelve_classes()
    model = ExLLClassifier().fit(X, y)
    answers = model.predict(np.vstack([X[:1], other]), unknown=pd.NA)
    assert answers[1] is pd.NA


@both_presets
def test_the_names_of_a_row_are_checked_as_those_of_a_table(preset: str) -> None:
    table = pd.DataFrame({"a": [1.0, 0.2, 0.9], "b": [0.1, 1.0, 0.2]})
    model = ExLLClassifier(preset).fit(table, ["mug", "pan", "mug"])
    assert model.explain(table.iloc[0]).label == "mug"
    with pytest.raises(InputError, match="feature names"):
        model.explain(table.iloc[0][["b", "a"]])
    with pytest.raises(InputError, match="feature names"):
        model.predict(table[["b", "a"]])
