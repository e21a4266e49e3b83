"""Files of older formats open, answer as they did, and go on.

``old_files`` holds models that the code of their time wrote, with clips and photos in them, and what the code of
format 3, or of format 5, answered from each. Models of glocal are judged anew when they are opened: their labels are
those of before nearly always, their probabilities are others.
"""

from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.learner.glocal import reservoir
from exll.saving.model_file import FORMAT, read_model, write_model
from exll.types import InferenceName, RecordsKind, Tensors
from support import assert_equal_models, groups_of, random_stream, with_old_names

FOLDER = Path(__file__).parent / "old_files"
FILES = sorted(FOLDER.glob("format-*.exll"))
ANSWERS = np.load(FOLDER / "answers.npz")
LABELS = ["mug", "pân", "鍋"]
NAMES: tuple[InferenceName, ...] = ("fused", "local", "global")

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_there_are_files_of_older_formats_and_of_both_presets() -> None:
    found = {(read_model(path).metadata["format"], read_model(path).metadata["preset"]) for path in FILES}
    assert found == {(number, preset) for number in (1, 2, 3, 5) for preset in ("glocal", "paper")}


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


def assert_as_recorded(model: ExLLClassifier, key: str, name: InferenceName) -> None:
    found, recorded = model.predict_proba(ANSWERS["queries"], name), ANSWERS[key]
    if model.preset == "paper":
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


@pytest.mark.parametrize("records", ["none", "vectors"])
def test_reservoir_vectors_of_a_long_stream_in_format_3_are_rounded_to_those_of_now(
    records: RecordsKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservoir, "MOST", 32)
    stream, path = random_stream(9, width=8, classes=3, samples=150), tmp_path / "model.exll"
    straight = ExLLClassifier(records=records, lengths="ignored").partial_fit(stream.X, stream.y)
    straight.save(path)
    file = read_model(path)
    positions = reservoir._positions_after(150)
    single: Tensors = {
        "reservoir.vectors": stream.unit[positions].astype(np.float32),
        "precision.factor": file.tensors["precision.factor"].astype(np.float64),
    }
    write_model(path, {**file.metadata, "format": 3}, with_old_names({**file.tensors, **single}))
    stopped = load(path, ExLLClassifier)
    assert_equal_models(straight, stopped)
    for model in (straight, stopped):
        model.partial_fit(stream.X[:40], stream.y[:40])
    assert_equal_models(straight, stopped)
