import json
from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.explain.progress import Progress
from support import both_presets


def taught(preset: str, spread: float = 0.02) -> ExLLClassifier:
    """Two classes that lie together, one far off, one with two examples."""
    rng = np.random.default_rng(4)
    centres = {"mug": [1.0, 0, 0], "cup": [1.0, 0.05, 0], "pan": [0, 1.0, 0], "key": [0, 0, 1.0]}
    labels = rng.permutation(["mug"] * 40 + ["cup"] * 40 + ["pan"] * 40 + ["key"] * 2).tolist()
    X = np.array([centres[label] for label in labels]) + rng.normal(size=(len(labels), 3)) * spread
    return ExLLClassifier(preset).fit(X, labels)


@both_presets
def test_the_weakest_classes_come_first_and_those_too_young_lead(preset: str) -> None:
    progress = taught(preset, 0.2).progress()
    assert progress[0].label == "key"
    assert progress[0].verdict == "too early to tell"
    assert {entry.label for entry in progress[1:3]} == {"mug", "cup"}
    assert progress[-1].label == "pan"
    accuracies = [entry.accuracy for entry in progress[1:]]
    assert accuracies == sorted(accuracies, key=lambda share: share or 0.0)


@both_presets
def test_a_class_that_is_recognised_is_taught_enough_and_one_that_is_confused_is_not(preset: str) -> None:
    by_label = {entry.label: entry for entry in taught(preset, 0.2).progress()}
    assert by_label["pan"].verdict == "enough"
    assert by_label["mug"].verdict in ("needs more", "nearly there")
    assert by_label["mug"].confused_with == "cup"
    assert by_label["mug"].confusions <= by_label["mug"].tested - by_label["mug"].recognised


@both_presets
def test_numbers_are_counts_of_the_last_examples(preset: str) -> None:
    for entry in taught(preset).progress():
        assert entry.tested <= 32
        assert entry.recognised + entry.confusions <= entry.tested
        assert entry.accuracy == (entry.recognised / entry.tested if entry.tested else None)


@both_presets
def test_the_sentence_says_what_to_do_and_why(preset: str) -> None:
    entry = next(entry for entry in taught(preset).progress() if entry.label == "pan")
    assert str(entry).startswith('"pan": That seems enough. Of its last 32 examples ')
    alone = ExLLClassifier(preset).fit(np.eye(3)[:1], ["mug"]).progress()[0]
    assert str(alone) == '"mug": Teach it a few more examples; the first one cannot be tested before it is learned.'
    assert alone.accuracy is None
    unrivalled = ExLLClassifier(preset).fit(np.eye(3), ["mug"] * 3).progress()[0]
    assert str(unrivalled).endswith("taken for. Teach it a few more once there are other classes.")
    second = Progress("mug", 2, 1, 1, 0, None, 0, "too early to tell")
    assert "Of its last 1 example 1 was recognised" in str(second)


@both_presets
def test_it_is_kept_in_the_model_file_and_survives_a_merge(preset: str, tmp_path: Path) -> None:
    model = taught(preset)
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll")
    assert isinstance(again, ExLLClassifier)
    assert [entry.to_dict() for entry in again.progress()] == [entry.to_dict() for entry in model.progress()]
    json.dumps([entry.to_dict() for entry in model.progress()])
    model.rename_class("cup", "mug", merge=True)
    merged = next(entry for entry in model.progress() if entry.label == "mug")
    assert merged.examples == 80
    assert merged.confused_with != "cup"


def test_a_model_that_knows_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        ExLLClassifier("paper").progress()
