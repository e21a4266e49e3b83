"""`predict(X, unknown=...)`: saying so where nothing known is near."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.errors import InputError
from exll.types import Matrix

RNG = np.random.default_rng(0)
WIDTH, CLASSES = 80, 12  # wide enough to be taken for features of a network
USED = np.arange(WIDTH) < WIDTH // 2  # the classes differ in half of the columns, and what is unknown in the other half
CENTRES = RNG.normal(size=(CLASSES, WIDTH)) * USED
Y = RNG.integers(0, CLASSES, 400)
X = CENTRES[Y] + 0.25 * RNG.normal(size=(400, WIDTH))
LIKE = CENTRES[RNG.integers(0, CLASSES, 500)] + 0.25 * RNG.normal(size=(500, WIDTH))
FAR = RNG.normal(size=(200, WIDTH)) * ~USED
NAMES = np.array(["ant", "bee", "cat", "dog", *(f"kind {k}" for k in range(4, CLASSES))])


@pytest.fixture(scope="module")
def model() -> ExLLClassifier:
    return ExLLClassifier("glocal").fit(X, NAMES[Y])


def unusual(model: ExLLClassifier, rows: Matrix, false_alarms: float = 0.05) -> float:
    """The share that is called unusual or unknown."""
    return float(np.mean([answer.level != "usual" for answer in model.answers(rows, false_alarms=false_alarms)]))


def test_what_is_like_no_class_is_unknown_and_what_is_like_the_stream_mostly_usual(
    model: ExLLClassifier,
) -> None:
    assert np.mean(model.predict(FAR, unknown="?") == "?") > 0.5
    assert unusual(model, FAR) > 0.9
    assert np.mean(model.predict(LIKE, unknown="?") == "?") < 0.005
    assert unusual(model, LIKE) < 0.12
    assert model.novelty(FAR).min() > np.median(model.novelty(LIKE))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.6, 0.05], ids=["wide", "tight"])
@pytest.mark.parametrize(("classes", "each", "width"), [(2, 15, 64), (3, 15, 64), (2, 20, 512), (6, 15, 64)])
def test_a_model_of_few_classes_keeps_its_promise_too(classes: int, each: int, width: int, noise: float) -> None:
    """Often with far more dimensions than examples, as in a teacher's first minutes."""
    alarms, found = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        centres = 1.0 + 0.5 * rng.normal(size=(classes + 8, width))  # features of a network all point one way
        taught = rng.permutation(np.repeat(np.arange(classes), each))
        model = ExLLClassifier("glocal").fit(centres[taught] + noise * rng.normal(size=(len(taught), width)), taught)
        like = centres[rng.integers(0, classes, 200)] + noise * rng.normal(size=(200, width))
        others = centres[rng.integers(classes, classes + 8, 200)] + noise * rng.normal(size=(200, width))
        alarms.append(unusual(model, like))
        found.append(unusual(model, others))
    assert 0.01 < np.mean(alarms) < 0.08
    assert np.mean(found) > 0.75


def test_more_false_alarms_find_more_that_is_unusual(model: ExLLClassifier) -> None:
    shares = [unusual(model, LIKE, rate) for rate in (0.01, 0.05, 0.2, 0.6)]
    assert shares == sorted(shares)
    assert shares[0] < 0.05 < 0.4 < shares[-1]


def test_what_is_known_is_answered_as_ever(model: ExLLClassifier) -> None:
    queries = np.concatenate([LIKE, FAR])
    plain, answers = model.predict(queries), model.predict(queries, unknown="?")
    known = np.array([answer.level != "unknown" for answer in model.answers(queries)])
    assert (answers[known] == plain[known]).all()
    assert set(answers[~known].tolist()) == {"?"}
    assert 0 < known.sum() < len(queries)


@pytest.mark.parametrize("unknown", ["a longer word than any class", "?", ""])
def test_a_word_among_words_gives_words(model: ExLLClassifier, unknown: str) -> None:
    answers = model.predict(FAR, unknown=unknown)
    assert answers.dtype.kind == "U"
    assert unknown in answers.tolist()


@pytest.mark.parametrize("unknown", [None, -1, np.nan, 1.5, False, ("no", "class")])
def test_any_other_value_gives_objects_and_stands_as_it_is(model: ExLLClassifier, unknown: Any) -> None:
    answers = model.predict(FAR, unknown=unknown)
    assert answers.dtype == object
    assert answers.shape == (200,)
    assert any(answer is unknown or answer == unknown for answer in answers.tolist())
    assert all(isinstance(answer, str) for answer in answers.tolist() if answer is not unknown and answer != unknown)


@pytest.mark.parametrize(("labels", "unknown"), [(Y, -1), (Y, "?"), (Y, None)])
def test_labels_of_other_kinds_stand_beside_the_value(labels: Any, unknown: Any) -> None:
    model = ExLLClassifier("glocal").fit(X, labels)
    answers = model.predict(np.concatenate([FAR, LIKE]), unknown=unknown).tolist()
    assert unknown in answers
    assert {type(answer) for answer in answers if answer != unknown} == {int}
    assert set(answers) - {unknown} == set(labels.tolist())


def test_with_two_classes_far_away_things_are_unusual_and_none_is_unknown() -> None:
    """Of two classes one would be left, and nothing to say how much an input of another class is like it."""
    model = ExLLClassifier("glocal").fit(X, Y % 2 == 0)
    for value in (None, "?"):
        answers = model.predict(np.concatenate([FAR, LIKE]), unknown=value)
        assert {type(answer) for answer in answers.tolist()} == {bool}
    assert unusual(model, FAR) > 0.9


@pytest.mark.parametrize(("labels", "unknown"), [(NAMES[Y], "bee"), (Y, 2), (Y, 2.0), (Y % 2 == 0, True)])
def test_the_value_may_not_be_a_class(labels: Any, unknown: Any) -> None:
    with pytest.raises(InputError, match="unknown must not be a class"):
        ExLLClassifier("glocal").fit(X, labels).predict(FAR, unknown=unknown)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), "few", None, True])
def test_false_alarms_are_a_share(model: ExLLClassifier, share: Any) -> None:
    with pytest.raises(InputError, match="false_alarms must be a share between 0 and 1; got "):
        model.predict(FAR, unknown="?", false_alarms=share)
    with pytest.raises(InputError, match="false_alarms must be a share"):
        model.novelty_threshold(share)


def test_unknown_is_for_fused_inference(model: ExLLClassifier) -> None:
    with pytest.raises(InputError, match="unknown can be used with fused inference only; got 'local'"):
        model.predict(FAR, "local", unknown="?")


def test_the_paper_preset_says_how_to_hear_unknown() -> None:
    paper = ExLLClassifier("paper").fit(X, NAMES[Y])
    asks: list[Any] = [
        lambda: paper.predict(FAR, unknown="?"),
        lambda: paper.novelty(FAR),
        lambda: paper.novelty_threshold(),
    ]
    for ask in asks:
        with pytest.raises(InputError, match='teach a model with preset="glocal"'):
            ask()


def test_novelty_is_refused_before_anything_was_learned_and_for_bad_rows(model: ExLLClassifier) -> None:
    fresh = ExLLClassifier("glocal")
    for ask in (lambda: fresh.novelty(FAR), lambda: fresh.predict(FAR, unknown="?"), fresh.novelty_threshold):
        with pytest.raises(ValueError, match="not fitted"):
            ask()
    bad: list[Matrix] = [np.full((1, 16), np.inf), np.full((1, 16), np.nan), np.ones((1, 3))]
    for rows in bad:
        with pytest.raises(InputError):
            model.novelty(rows)


def test_many_rows_are_answered_like_few(model: ExLLClassifier) -> None:
    many = np.tile(LIKE, (3, 1))  # more than are looked at together
    np.testing.assert_allclose(model.novelty(many), np.tile(model.novelty(LIKE), 3), atol=1e-9)
    assert model.predict(many, unknown="?").tolist() == model.predict(LIKE, unknown="?").tolist() * 3


def test_a_saved_model_knows_what_is_unknown(model: ExLLClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ExLLClassifier)
    assert isinstance(again, ExLLClassifier)
    np.testing.assert_array_equal(again.novelty(FAR), model.novelty(FAR))
    assert again.novelty_threshold(0.1) == model.novelty_threshold(0.1)


def test_an_explanation_says_whether_it_is_known(model: ExLLClassifier) -> None:
    for x in (*FAR[:10], *LIKE[:10]):
        explanation = model.explain(x)
        assert explanation.novelty == pytest.approx(model.novelty(x[None])[0])
        assert explanation.known == (model.predict(x[None], unknown="?")[0] != "?")
    assert ExLLClassifier("paper").fit(X, Y).explain(FAR[0]).level == "usual"
