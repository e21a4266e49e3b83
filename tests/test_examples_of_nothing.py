"""`learn_unknown`: the like of an example that is none of the classes is unknown, and nothing else changes."""

import copy
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from exll import ExLLClassifier, ImageLearner, load, merge
from exll.errors import InputError, InputTypeError, ModelFileError
from exll.explain.case import Case
from exll.explain.explanation_page import page
from exll.explain.thumbnails import Thumbnails
from exll.saving.model_file import read_model, write_model
from exll.types import Matrix
from oracle.unknown import nearer_than_every_prototype
from support import both_presets

RNG = np.random.default_rng(3)
WIDTH, CLASSES = 80, 6
CENTRES = RNG.normal(size=(CLASSES + 2, WIDTH))


def near(classes: Any) -> Matrix:
    rows: Matrix = CENTRES[classes] + 0.3 * RNG.normal(size=(len(classes), WIDTH))
    return rows


Y = np.arange(48) % CLASSES
X, LIKE = near(Y), near(Y)
WALLS, FLOORS = near(np.full(20, CLASSES)), near(np.full(20, CLASSES + 1))
QUERIES = np.concatenate([LIKE, WALLS, FLOORS])
REFS = ["wall 1.jpg", "wall 2.jpg", "floor 1.jpg"]
NOTHING = np.stack([WALLS[0], WALLS[1], FLOORS[0]])


@cache
def taught_once(preset: str, records: Any) -> ExLLClassifier:
    return ExLLClassifier(preset, records=records).fit(X, Y, refs=[f"{i}.jpg" for i in range(len(X))])


def taught(preset: str = "glocal", records: Any = "refs") -> ExLLClassifier:
    return copy.deepcopy(taught_once(preset, records))


def levels(model: ExLLClassifier, rows: Matrix = QUERIES) -> list[str]:
    return [answer.level for answer in model.answers(rows)]


def said(model: ExLLClassifier) -> list[Any]:
    return [*levels(model), model.n_unknown_, *(model.explain(x).to_dict() for x in QUERIES[::30])]


@both_presets
def test_what_is_like_an_example_of_nothing_is_unknown_and_what_is_like_a_class_is_not(preset: str) -> None:
    model = taught(preset).learn_unknown(NOTHING, REFS)
    assert model.n_unknown_ == 3
    assert levels(model, WALLS) == ["unknown"] * len(WALLS)
    assert levels(model, FLOORS) == ["unknown"] * len(FLOORS)
    assert "unknown" not in levels(model, LIKE)
    assert model.predict(WALLS, unknown=-1).tolist() == [-1] * len(WALLS)
    assert model.predict(LIKE, unknown=-1).tolist() == model.predict(LIKE).tolist()


@both_presets
def test_no_probability_label_or_novelty_changes(preset: str) -> None:
    model, plain = taught(preset).learn_unknown(NOTHING), taught(preset)
    for inference in ("fused", "local", "global"):
        np.testing.assert_array_equal(model.predict_proba(QUERIES, inference), plain.predict_proba(QUERIES, inference))
        np.testing.assert_array_equal(model.predict(QUERIES, inference), plain.predict(QUERIES, inference))
    for one, other in zip(model.answers(QUERIES), plain.answers(QUERIES), strict=True):
        assert (one.label, one.probability, one.runner_up, one.novelty) == (
            other.label,
            other.probability,
            other.runner_up,
            other.novelty,
        )
    assert levels(model) != levels(plain)
    assert [answer.level for answer in model.answers(WALLS, "local")] == ["usual"] * len(WALLS)
    for name, array in plain.learner_.state().items():
        np.testing.assert_array_equal(model.learner_.state()[name], array)


@both_presets
@pytest.mark.parametrize("seed", range(2))
def test_it_decides_as_the_oracle_does(preset: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = taught(preset, records="none").learn_unknown(nothing := rng.normal(size=(9, WIDTH)) + 0.5 * X[:9])
    answers = model.learner_.inference()
    count = len(answers.prototype_ids)
    precision = answers.precision.apply(np.eye(WIDTH))
    unit, units = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, nothing))
    prototypes = list(answers.means[:count] + answers.origin)
    rows = np.concatenate([nothing + 0.5 * rng.normal(size=nothing.shape), LIKE[:9], 0.5 * (nothing + LIKE[:9])])
    expected = []
    for x in rows / np.linalg.norm(rows, axis=1, keepdims=True):
        found = nearer_than_every_prototype(x, list(unit), prototypes, list(units), precision, preset == "glocal")
        expected.append([model._nothing.refs[i] for i in found])
    assert [list(model.explain(x).examples_of_nothing) for x in rows] == expected
    assert 0 < sum(map(bool, expected)) < len(rows)


@pytest.mark.parametrize("lengths", ["kept", "ignored"])
def test_neither_the_order_nor_the_cut_nor_the_moment_matters(lengths: Any) -> None:
    first = ExLLClassifier(lengths=lengths).learn_unknown(NOTHING, REFS).partial_fit(X, Y)
    last = ExLLClassifier(lengths=lengths).partial_fit(X, Y)
    for row in (2, 0, 1):
        last.learn_unknown(NOTHING[row : row + 1], [REFS[row]])
    between = ExLLClassifier(lengths=lengths).learn_unknown(NOTHING[:1], REFS[:1]).partial_fit(X[:5], Y[:5])
    between.learn_unknown(NOTHING[1:], REFS[1:]).partial_fit(X[5:], Y[5:])
    assert said(first) == said(last) == said(between)
    assert "unknown" in levels(first)


@both_presets
def test_save_load_go_on_equals_never_having_stopped(preset: str, tmp_path: Path) -> None:
    model = ExLLClassifier(preset, records="none").learn_unknown(NOTHING[:2], REFS[:2]).partial_fit(X[:20], Y[:20])
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ExLLClassifier)
    for one in (model, again):
        one.partial_fit(X[20:], Y[20:]).learn_unknown(NOTHING[2:], REFS[2:])
    assert said(again) == said(model)
    assert again.nbytes_ == model.nbytes_
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert said(copied) == said(model)


def test_a_file_holds_nothing_of_what_was_forgotten(tmp_path: Path) -> None:
    taught().save(tmp_path / "plain.exll")
    model = taught().learn_unknown(NOTHING, REFS)
    model.save(tmp_path / "more.exll")
    assert "unknown.rows" in read_model(tmp_path / "more.exll").tensors
    model.forget_unknown(REFS).save(tmp_path / "again.exll")
    assert (tmp_path / "again.exll").read_bytes() == (tmp_path / "plain.exll").read_bytes()


@pytest.mark.parametrize(
    "forged",
    [
        {"unknown.rows": NOTHING[:2]},
        {"unknown.rows": NOTHING[:, 1:]},
        {"unknown.rows": np.full((3, WIDTH), np.nan)},
        {"unknown.rows": np.zeros((3, WIDTH))},
        {"unknown.refs.offsets": np.array([0, 2, 1, 9])},
        {"unknown.rows": None},
    ],
)
def test_damaged_examples_of_nothing_are_refused_with_one_sentence(forged: dict[str, Any], tmp_path: Path) -> None:
    taught().learn_unknown(NOTHING, REFS).save(path := tmp_path / "m.exll")
    file = read_model(path)
    tensors = {name: array for name, array in {**file.tensors, **forged}.items() if array is not None}
    write_model(path, file.metadata, tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


def test_forgetting_is_exact_and_wrong_names_change_nothing() -> None:
    model, other = taught().learn_unknown(NOTHING, REFS), taught().learn_unknown(NOTHING[[0, 2]], [REFS[0], REFS[2]])
    with pytest.raises(InputError, match=r"no example of nothing named 'no\.jpg'; nothing was changed"):
        model.forget_unknown(["wall 2.jpg", "no.jpg"])
    assert model.n_unknown_ == 3
    assert said(model.forget_unknown("wall 2.jpg")) == said(other)
    assert said(model.forget_unknown(model._nothing.refs)) == said(taught())


def test_one_without_a_name_can_be_forgotten_by_the_name_that_is_shown() -> None:
    model = taught().learn_unknown(NOTHING)
    name, *others = model.explain(FLOORS[1]).examples_of_nothing
    assert name.startswith("nothing ")
    assert model.forget_unknown(name).n_unknown_ == 2
    assert model.explain(FLOORS[1]).examples_of_nothing == tuple(others)


def test_a_taught_vector_stays_known_where_vectors_are_kept() -> None:
    kept = taught(records="vectors").learn_unknown(X)
    assert "unknown" not in levels(kept, X)
    assert kept.explain(X[0]).known
    assert "unknown" in levels(taught(records="refs").learn_unknown(X), X)
    assert levels(kept.forget("7.jpg"), X[7:8]) == ["unknown"]


@both_presets
def test_a_prototype_of_one_sample_and_an_equal_example_of_nothing_are_alike_and_the_prototype_wins(
    preset: str,
) -> None:
    model = ExLLClassifier(preset).fit(CENTRES[:3], ["a", "b", "c"]).learn_unknown(CENTRES[:4])
    assert levels(model, CENTRES[:4]) == [*["usual"] * 3, "unknown"]
    once, twice = CENTRES[0] + 0.4 * (CENTRES[3] - CENTRES[0]), CENTRES[0] + 0.6 * (CENTRES[3] - CENTRES[0])
    assert levels(model, np.stack([once, twice])) == ["usual", "unknown"]


@both_presets
def test_a_model_of_one_class_can_be_told_too(preset: str) -> None:
    model = ExLLClassifier(preset).fit(X[Y == 0][:3], ["mug"] * 3).learn_unknown(NOTHING)
    assert levels(model, WALLS) == ["unknown"] * len(WALLS)
    assert "unknown" not in levels(model, LIKE[Y == 0])


def test_fit_drops_them_and_a_clone_has_none() -> None:
    model = taught().learn_unknown(NOTHING)
    copied: ExLLClassifier = clone(model)
    assert copied.n_unknown_ == 0
    with pytest.raises(InputError):
        model.fit(X, Y[:-1])
    assert model.n_unknown_ == 3
    assert model.fit(X[:, :70], Y).n_unknown_ == 0
    assert ExLLClassifier().learn_unknown(NOTHING).fit(X[:, :70], Y).n_unknown_ == 0


def test_those_that_wait_fix_the_width_of_the_first_example() -> None:
    model = ExLLClassifier().learn_unknown(NOTHING)
    with pytest.raises(InputError, match="expecting 80 features"):
        model.partial_fit(X[:, :70], Y)
    with pytest.raises(InputError, match="expecting 80 features"):
        model.learn_unknown(X[:, :70])
    assert not hasattr(model, "learner_")
    zeros = ExLLClassifier(lengths="kept").learn_unknown(np.zeros((1, 4)))
    zeros.lengths = "ignored"
    with pytest.raises(InputError, match="all zeros"):
        zeros.partial_fit(X[:, :4], Y)


@pytest.mark.parametrize(
    ("rows", "refs", "error"),
    [
        (np.full((1, WIDTH), np.nan), None, InputError),
        (np.zeros((1, WIDTH)), None, InputError),
        (np.ones((1, WIDTH - 1)), None, InputError),
        (np.ones(WIDTH), None, InputError),
        (np.empty((0, WIDTH)), None, InputError),
        (NOTHING, ["one"], InputError),
        (NOTHING, "one", InputTypeError),
        (NOTHING, [1, 2, 3], InputTypeError),
    ],
)
def test_bad_input_is_refused_before_anything_changes(rows: Any, refs: Any, error: type[Exception]) -> None:
    for model in (taught().learn_unknown(NOTHING[:1]), ExLLClassifier().learn_unknown(NOTHING[:1])):
        with pytest.raises(error):
            model.learn_unknown(rows, refs)
        assert model.n_unknown_ == 1


def test_its_input_is_left_alone_and_not_held() -> None:
    rows = NOTHING.copy()
    model = taught().learn_unknown(rows, REFS)
    before = said(model)
    np.testing.assert_array_equal(rows, NOTHING)
    rows[:] = 1.0
    assert said(model) == before


def test_they_are_counted_renamed_and_joined() -> None:
    model, other = taught().learn_unknown(NOTHING[:2], REFS[:2]), taught().learn_unknown(NOTHING[2:], REFS[2:])
    assert model.nbytes_ == taught().nbytes_ + 2 * 8 * WIDTH + sum(map(len, REFS[:2]))
    assert merge([model, other])._nothing.refs == tuple(REFS)
    assert model.n_unknown_ == 2
    renamed = merge([model, other]).rename_refs(str.upper)
    assert renamed._nothing.refs == ("WALL 1.JPG", "WALL 2.JPG", "FLOOR 1.JPG")
    assert renamed.explain(LIKE[0]).hit.examples[0].name.endswith(".JPG")


def test_a_published_copy_stays_as_it_was() -> None:
    model = taught().learn_unknown(NOTHING, REFS)
    published = copy.copy(model)
    published.learner_ = model.learner_.publish()
    before = said(model)
    model.forget_unknown(REFS[:2]).partial_fit(WALLS, [99] * len(WALLS))
    assert said(published) == before != said(model)


def test_an_explanation_says_which_examples_it_looks_more_like() -> None:
    model = taught().learn_unknown(NOTHING, ["wall <1>.jpg", *REFS[1:]])
    explanation = model.explain(WALLS[0])
    assert explanation.level == "unknown"
    assert explanation.examples_of_nothing[:2] == ("wall <1>.jpg", "wall 2.jpg")
    assert explanation.to_dict()["examples_of_nothing"] == explanation.examples_of_nothing
    assert "examples of nothing than like any group of a class. " in explanation.reason
    assert "of nothing   wall <1>.jpg, wall 2.jpg" in str(explanation)
    shown = page(Case("new.jpg", explanation), Thumbnails([]))
    assert "none of the classes" in shown
    assert "wall &lt;1&gt;.jpg" in shown
    plain = model.explain(LIKE[0])
    assert plain.examples_of_nothing == ()
    assert "of nothing" not in page(Case("new.jpg", plain), Thumbnails([])) + str(plain)


def test_an_image_learner_is_told_by_images(tmp_path: Path) -> None:
    images: list[Any] = [np.random.default_rng(i).integers(0, 255, (16, 16, 3), np.uint8) // (1 + i) for i in range(4)]
    learner = ImageLearner("nano")
    learner.learn_unknown(images[3], ref="wall.jpg")
    assert learner.n_unknown_ == 1
    learner.learn(images[:3], ["a", "b", "c"])
    assert [answer.level for answer in learner.predict(images)] == ["usual", "usual", "usual", "unknown"]
    learner.save(tmp_path / "m.exll")
    assert load(tmp_path / "m.exll", ImageLearner).explain(images[3]).examples_of_nothing == ("wall.jpg",)
    learner.learn_unknown([images[3], images[3]], box=[(0, 0, 8, 8), (8, 8, 16, 16)])
    assert learner.n_unknown_ == 3
    assert learner.forget_unknown("wall.jpg").n_unknown_ == 2
    with pytest.raises(InputError, match="no image to learn"):
        learner.learn_unknown([])
