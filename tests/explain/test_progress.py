import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from exll import ExLLClassifier, load
from exll.explain.progress import ANOTHER_PLACE, VERDICTS, Progress, _advice
from support import both_presets
from tasks import Task


def taught(preset: str = "glocal", spread: float = 0.2) -> ExLLClassifier:
    """Two classes that lie together, one far off, one with two examples."""
    rng = np.random.default_rng(4)
    centres = {"mug": [1.0, 0, 0], "cup": [1.0, 0.05, 0], "pan": [0, 1.0, 0], "key": [0, 0, 1.0]}
    labels = rng.permutation(["mug"] * 40 + ["cup"] * 40 + ["pan"] * 40 + ["key"] * 2).tolist()
    X = np.array([centres[label] for label in labels]) + rng.normal(size=(len(labels), 3)) * spread
    return ExLLClassifier(preset).fit(X, labels)


def by_label(model: ExLLClassifier) -> dict[str, Progress]:
    return {str(entry.label): entry for entry in model.progress()}


@both_presets
def test_the_weakest_classes_come_first_and_those_too_young_lead(preset: str) -> None:
    progress = taught(preset).progress()
    assert (progress[0].label, progress[0].verdict) == ("key", "too early to tell")
    assert {entry.label for entry in progress[1:3]} == {"mug", "cup"}
    assert progress[-1].label == "pan"
    places = [VERDICTS.index(entry.verdict) for entry in progress]
    assert places == sorted(places)


@both_presets
def test_a_class_that_is_recognised_is_taught_enough_and_one_that_is_confused_is_not(preset: str) -> None:
    found = by_label(taught(preset))
    assert (found["pan"].verdict, found["pan"].advice) == ("enough", "That seems enough.")
    assert found["mug"].verdict in ("needs more", "nearly there")
    assert found["mug"].confused_with == "cup"
    assert found["mug"].advice == 'Teach it examples that show how it differs from "cup".'
    assert found["key"].advice == "Teach it more examples."


def test_what_is_expected_is_what_the_learner_expects() -> None:
    model = taught()
    expected = model.learner_.expected()
    assert expected is not None
    progress = by_label(model)
    young = progress.pop("key")
    assert (young.like_these, young.new_groups, young.expectation) == (None, None, "Too early to tell.")
    for label, found in progress.items():
        k = model.learner_.labels.index(label)
        assert (found.like_these, found.new_groups) == (expected.like_these[k], expected.new_groups[k])
        assert found.groups == expected.groups[k]


def test_without_samples_to_leave_out_it_says_how_the_last_examples_fared() -> None:
    model = taught("paper")
    answers = model.learner_.history(model.learner_.labels.index("mug")).answers
    found = by_label(model)["mug"]
    assert found.like_these == np.mean(answers == model.learner_.labels.index("mug"))
    assert (found.groups, found.new_groups) == (None, None)
    assert "of its last examples were recognised before they were learned." in str(found)


def test_a_class_from_one_place_is_to_be_shown_again_and_one_from_several_suffers_in_new_ones() -> None:
    rng = np.random.default_rng(1)
    things, places = 2.0 * rng.normal(size=(4, 40)), 1.5 * rng.normal(size=(4, 5, 40))
    rows = [(k, place) for k in range(4) for place in range(1 if k == 3 else 5) for _ in range(8)]
    X = np.array([things[k] + places[k, place] + 0.3 * rng.normal(size=40) for k, place in rows])
    order = rng.permutation(len(rows))
    groups = [f"{k} {place}" for k, place in rows]
    model = ExLLClassifier().partial_fit(
        X[order], [f"thing {rows[i][0]}" for i in order], groups=[groups[i] for i in order]
    )
    found = by_label(model)
    once, often = found.pop("thing 3"), found["thing 0"]
    assert (once.verdict, once.advice, once.groups) == ("show it again", ANOTHER_PLACE, 1)
    assert once.new_groups is None
    assert "not known in new places" in str(once)
    assert often.groups == 5
    assert all((entry.new_groups or 0) < (entry.like_these or 0) for entry in found.values())


@pytest.mark.parametrize(
    ("shares", "other", "examples", "advice"),
    [
        ((0.97, 0.6), "cup", 30, "Teach it examples from other places."),
        ((0.8, 0.6), None, 30, "Teach it examples from other places."),
        ((0.8, 0.6), "cup", 30, 'Teach it examples that show how it differs from "cup".'),
        ((0.8, 0.75), None, 30, "Teach it more examples."),
        ((0.97, 0.6), "cup", 9, "Teach it more examples."),
        ((0.97, None), None, 30, "Show the other classes again in another place, too."),
    ],
)
def test_the_advice_is_what_helps_most(
    shares: tuple[float, float | None], other: str | None, examples: int, advice: str
) -> None:
    assert _advice("needs more", examples, *shares, 5, other) == advice


def test_a_few_examples_are_never_enough() -> None:
    apart = np.random.default_rng(0).normal(0, 0.1, (20, 80)) + np.repeat(np.eye(80)[:2], 10, axis=0)
    model = ExLLClassifier().fit(apart[[*range(9), *range(10, 20)]], ["mug"] * 9 + ["pan"] * 10)
    few, enough = (by_label(model)[label] for label in ("mug", "pan"))
    assert min(few.new_groups or 0, enough.new_groups or 0) > 0.9
    assert (few.verdict, few.advice) == ("nearly there", "Teach it more examples.")
    assert enough.verdict == "enough"


def test_the_sentence_says_what_is_expected_and_what_to_do() -> None:
    entry = Progress("pan", 30, 12, 0.93, 0.712, "pot", "nearly there", "Teach it more examples.")
    said = '"pan": Expected right: 93.0% on examples like these, 71.2% in new places. Teach it more examples.'
    assert str(entry) == entry.to_dict()["sentence"] == said
    alone = ExLLClassifier().fit(np.eye(3)[:1], ["mug"]).progress()[0]
    assert str(alone) == '"mug": Too early to tell. Teach another class, too: so far every answer is this one.'
    apart = np.random.default_rng(0).normal(0, 1, (40, 80)) + np.tile([[3], [-3]], (20, 1))
    model = ExLLClassifier(records="vectors").fit(apart, ["mug", "pan"] * 20)
    assert {entry.verdict for entry in model.progress()} == {"enough"}
    model.forget_class("pan")
    assert [(entry.verdict, entry.advice) for entry in model.progress()] == [(alone.verdict, alone.advice)]


@both_presets
def test_it_is_kept_in_the_model_file_and_survives_a_merge(preset: str, tmp_path: Path) -> None:
    model = taught(preset)
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ExLLClassifier)
    assert again.progress() == model.progress()
    json.dumps([entry.to_dict() for entry in model.progress()])
    model.rename_class("cup", "mug", merge=True)
    merged = by_label(model)["mug"]
    assert merged.examples == 80
    assert merged.confused_with != "cup"


def test_a_model_that_knows_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        ExLLClassifier("paper").progress()


@pytest.mark.data
@pytest.mark.slow
def test_what_is_expected_in_new_places_orders_the_classes_as_photos_of_other_shops_do(data_folder: Path) -> None:
    task = Task("grocery81", data_folder)
    order = task.order("iid", 0)
    model = ExLLClassifier(records="none").partial_fit(task.X[order], task.y[order])
    right = model.predict(task.X_test) == task.y_test
    pairs = [(entry.new_groups, right[task.y_test == entry.label].mean()) for entry in model.progress()]
    assert spearmanr(np.array(pairs, float)).statistic >= 0.45
