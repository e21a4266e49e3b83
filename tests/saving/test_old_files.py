"""Files of older formats open, answer as they did, and go on.

``old_files`` holds models that the code of their time wrote, with clips and photos in them, and what the code of
format 3, 5 or 7 answered from each. Models of glocal up to format 5 are judged anew when they are opened: their labels
are those of before nearly always, their probabilities are others.
"""

from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.learner.glocal import reservoir
from exll.saving.model_file import FORMAT, read_model
from exll.types import InferenceName
from support import assert_equal_models, glocal_learner, groups_of

FOLDER = Path(__file__).parent / "old_files"
FILES = sorted(FOLDER.glob("format-*.exll"))
ANSWERS = np.load(FOLDER / "answers.npz")
JUDGED_AS_NOW = ("format-7", "format-8", "format-9")
LABELS = ["mug", "pân", "鍋"]
NAMES: tuple[InferenceName, ...] = ("fused", "local", "global")

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_there_are_files_of_older_formats_and_of_both_presets() -> None:
    found = {(read_model(path).metadata["format"], read_model(path).metadata["preset"]) for path in FILES}
    assert found == {(number, preset) for number in (1, 2, 3, 5, 7, 8, 9) for preset in ("glocal", "paper")}


@every_file
def test_an_old_file_answers_as_it_did(path: Path) -> None:
    model = load(path, ExLLClassifier)
    for name in NAMES:
        assert_as_recorded(model, f"{path.stem}/{name}", name)
    if model.preset == "glocal":
        samples = model.learner_.sample_count
        assert (model.novelty_threshold() < np.inf) == (samples > 9)
        clips = groups_of(model)
        assert (len(clips.counts) > 0) == (samples > 9 and int(path.stem[7]) >= 3)
        np.testing.assert_array_equal(clips.counts, 11)
        if path.stem.startswith(JUDGED_AS_NOW):
            np.testing.assert_allclose(model.novelty(ANSWERS["queries"]), ANSWERS[f"{path.stem}/novelty"], atol=1e-9)


def test_a_file_of_format_9_keeps_its_examples_of_nothing() -> None:
    for path in FOLDER.glob("format-9-*.exll"):
        model = load(path, ExLLClassifier)
        assert model.n_unknown_ == 2
        assert [names[0] for names in model.like_nothing(ANSWERS["queries"][:2])] == ["nothing-1", "nothing-2"]


def assert_as_recorded(model: ExLLClassifier, key: str, name: InferenceName) -> None:
    found, recorded = model.predict_proba(ANSWERS["queries"], name), ANSWERS[key]
    unchanged = key.startswith(JUDGED_AS_NOW) and not key.endswith("/later")
    if model.preset == "paper" or unchanged:
        np.testing.assert_allclose(found, recorded, rtol=0, atol=1e-9, err_msg=key)
    else:
        assert np.mean(found.argmax(axis=1) == recorded.argmax(axis=1)) >= 0.9


@every_file
def test_an_old_file_is_saved_in_the_newest_format_and_goes_on(path: Path, tmp_path: Path) -> None:
    straight = load(path, ExLLClassifier)
    straight.save(tmp_path / "new.exll")
    assert read_model(tmp_path / "new.exll").metadata["format"] == FORMAT
    stopped = load(tmp_path / "new.exll", ExLLClassifier)
    assert_equal_models(straight, stopped)
    files = []
    for model in (straight, stopped):
        teach_later(model)
        model.save(tmp_path / "later.exll")
        files.append((tmp_path / "later.exll").read_bytes())
    assert files[0] == files[1]
    assert_as_recorded(straight, f"{path.stem}/later", "fused")


def teach_later(model: ExLLClassifier) -> None:
    model.partial_fit(ANSWERS["later"], [LABELS[k] for k in ANSWERS["later_classes"]])


def test_a_model_of_format_7_is_as_it_was_and_its_reservoir_has_the_samples_of_before() -> None:
    """Beyond the room, where they were chosen by their positions; their vectors are those of the records."""
    model = load(FOLDER / "format-7-glocal-vectors-1100.exll", ExLLClassifier)
    learner = glocal_learner(model)
    kept = learner._reservoir
    assert kept.positions.tolist() == reservoir._positions_after(1100).tolist()
    records = [record for _, record in learner._records.at(kept.positions.tolist())]
    vectors = np.array([record.vector for record in records], np.float64)
    np.testing.assert_allclose(kept.vectors.astype(np.float64), vectors, rtol=0, atol=1e-7)
    assert learner.inexact == 1100
    assert learner._lift.begun


def test_a_reservoir_chosen_by_position_gives_way_to_one_chosen_by_key_as_the_stream_goes_on() -> None:
    """And no sample of either kind is more likely to be in it than those of the other."""
    model = load(FOLDER / "format-7-glocal-vectors-1100.exll", ExLLClassifier)
    kept, rng = glocal_learner(model)._reservoir, np.random.default_rng(0)
    for start in range(1100, 4400, 1100):
        kept = glocal_learner(model)._reservoir
        model.partial_fit(rng.normal(size=(1100, 16)), [LABELS[k] for k in rng.integers(0, 3, 1100)])
        assert len(kept) == len(set(kept.positions.tolist())) == reservoir.MOST
        old = int((kept.positions < 1100).sum())
        expected = reservoir.MOST * 1100 / (start + 1100)
        assert abs(old - expected) < 4 * np.sqrt(expected)


def test_half_precision_of_old_records_is_known_and_what_comes_later_is_exact() -> None:
    model = load(FOLDER / "format-7-paper-vectors-119.exll", ExLLClassifier)
    assert model.learner_.inexact == 119
    teach_later(model)
    assert model.learner_.inexact == 119
    later = ANSWERS["later"] / np.linalg.norm(ANSWERS["later"], axis=1, keepdims=True)
    found = model.learner_._records.at(range(119, 119 + len(later)))
    np.testing.assert_allclose(np.array([record.vector for _, record in found], float), later, rtol=0, atol=3e-10)
    for _, record in model.learner_._records.at(range(119)):
        assert record.vector is not None
        np.testing.assert_allclose(record.vector, np.float64(record.vector.astype(np.float16)), rtol=0, atol=3e-10)
