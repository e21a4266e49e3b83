"""``exll calibrate``: confidence by labelled data from where the model is used."""

from pathlib import Path

import numpy as np
import pytest

from commands import exll, exll_json
from exll import ExLLClassifier, load
from exll.learner.glocal.calibration import LEAST

SHIFT = 1.5


def features(path: Path, rows: int, seed: int, shift: float, classes: int = 4) -> Path:
    """Four classes, or some more; ``shift`` moves all samples, as another place does."""
    means, place = np.random.default_rng(0).normal(size=(2, classes, 12))
    rng = np.random.default_rng(seed)
    kinds = np.arange(rows) % classes
    X = means[kinds] + shift * place[kinds] + 0.6 * rng.normal(size=(rows, 12))
    np.savez(path, X=X, y=[f"kind {k}" for k in kinds])
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    taught = features(tmp_path / "taught.npz", 120, 1, 0.0)
    assert exll("learn", taught, "-m", tmp_path / "m.exll").returncode == 0
    return tmp_path / "m.exll"


def test_a_calibrated_model_is_as_confident_as_it_is_right(model: Path, tmp_path: Path) -> None:
    here, more = (features(tmp_path / f"{seed}.npz", 200, seed, SHIFT) for seed in (2, 3))
    before = exll_json("evaluate", model, more)
    said = exll_json("calibrate", model, here)
    assert (said["examples"], said["calibration_examples"]) == (200, 200)
    assert said["before"]["right"] == said["after"]["right"]
    after = exll_json("evaluate", model, more)
    assert after["accuracy"] == before["accuracy"]
    assert abs(after["confidence"] - after["right_of_known"]) < abs(before["confidence"] - before["right_of_known"])
    assert abs(said["after"]["unusual"] + said["after"]["unknown"] - 0.06) < 0.03
    assert "  calibrated      with 200 examples\n" in exll("info", model).stdout
    assert exll_json("info", model)["examples"] == 120


def test_forgetting_restores_the_very_model(model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    here = features(tmp_path / "here.npz", 60, 2, SHIFT)
    words = exll("calibrate", model, here).stdout
    assert words.startswith("calibrated with 60 examples; nothing was taught\n")
    assert model.read_bytes() != before
    assert exll("calibrate", model, "--forget").stdout.endswith(
        "forgot the calibration with 60 examples; its answers are as they were before.\n"
    )
    assert model.read_bytes() == before


def test_classes_that_the_model_does_not_know_are_left_out_and_named(model: Path, tmp_path: Path) -> None:
    here = features(tmp_path / "here.npz", 60, 2, SHIFT, classes=6)
    lines = exll("calibrate", model, here).stdout.splitlines()
    assert lines[:2] == [
        "left out, because the model does not know them: kind 4, kind 5",
        "calibrated with 40 examples; nothing was taught",
    ]
    np.savez(tmp_path / "other.npz", X=np.eye(12), y=["plate"] * 12)
    refused = exll("calibrate", model, tmp_path / "other.npz")
    assert (refused.returncode, "knows no class of" in refused.stderr) == (1, True)


def test_few_examples_change_nothing_yet_and_more_can_be_added(model: Path, tmp_path: Path) -> None:
    few, more = (features(tmp_path / f"{seed}.npz", LEAST - 8, seed, SHIFT) for seed in (2, 3))
    said = exll_json("calibrate", model, few)
    assert said["before"] == said["after"]
    words = exll("calibrate", model, more).stdout
    assert f"calibrated with {LEAST - 8} examples ({2 * (LEAST - 8)} in all)" in words
    assert "change nothing yet" not in words
    assert exll("calibrate", model, "--forget").returncode == 0
    assert f"fewer than {LEAST} change nothing yet" in exll("calibrate", model, few).stdout


def test_examples_that_were_taught_are_left_out(model: Path, tmp_path: Path) -> None:
    refused = exll("calibrate", model, tmp_path / "taught.npz")
    assert (refused.returncode, "were taught to" in refused.stderr) == (1, True)
    assert load(model).calibration_count_ == 0


def test_the_calibration_survives_saving_and_a_merge_of_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 8)) + 2 * np.eye(8)[np.arange(120) % 4], [f"kind {k % 4}" for k in range(120)]
    model = ExLLClassifier().fit(X[:60], y[:60])
    model.calibrate(X[60:], y[60:]).rename_class("kind 0", "kind 2", merge=True)
    model.save(tmp_path / "m.exll")
    again = load(tmp_path / "m.exll", ExLLClassifier)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    calibrated_after = ExLLClassifier().fit(X[:60], y[:60]).rename_class("kind 0", "kind 2", merge=True)
    merged = ["kind 2" if label == "kind 0" else label for label in y]
    calibrated_after.calibrate(X[60:], merged[60:])
    np.testing.assert_array_equal(calibrated_after.predict_proba(X), model.predict_proba(X))


def test_either_photos_or_forget_must_be_given(model: Path, tmp_path: Path) -> None:
    for arguments in ((), (tmp_path / "taught.npz", "--forget")):
        assert exll("calibrate", model, *arguments).returncode == 2


def test_a_preset_without_calibration_says_so(tmp_path: Path) -> None:
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "m.exll")
    for arguments in ((tmp_path / "none.npz",), ("--forget",)):
        refused = exll("calibrate", tmp_path / "m.exll", *arguments)
        assert (refused.returncode, 'the preset "paper" has no calibration' in refused.stderr) == (1, True)
