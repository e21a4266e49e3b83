"""A file is what was saved, or refused with one sentence: never a crash, never a silently different model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from exll import ExLLClassifier, ModelFileError, load
from exll.saving import model_file, whole_files
from exll.saving.model_file import read_model, write_model
from exll.saving.strings import strings_from_tensors, strings_to_tensors
from exll.types import RecordsKind, Tensors
from support import (
    PRESET_NAMES,
    assert_equal_models,
    both_presets,
    glocal_learner,
    groups_of,
    random_stream,
    stream_of_clips,
    with_old_names,
)

STREAM = random_stream(21, width=6, classes=3, samples=40)


def small_model(preset: str = "paper", records: RecordsKind = 2) -> ExLLClassifier:
    labels = [("mug", "pân", "鍋")[k] for k in STREAM.y]
    refs = [f"{label}_{i}.jpg" for i, label in enumerate(labels)]
    groups = ["one day", *[None] * (len(labels) - 1)]
    return ExLLClassifier(preset, records=records, lengths="ignored").partial_fit(
        STREAM.X, labels, refs=refs, groups=groups
    )


@pytest.fixture(params=PRESET_NAMES)
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ExLLClassifier, Path]:
    model, path = small_model(request.param), tmp_path / "model.exll"
    model.save(path)
    return model, path


def refused_or_equal(path: Path, model: ExLLClassifier) -> bool:
    """True where the file was refused; fails where it loads as anything but the model."""
    try:
        again = load(path, ExLLClassifier)
    except ModelFileError:
        return True
    assert_equal_models(model, again)
    return False


def test_a_truncated_file_is_refused(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    content = path.read_bytes()
    for part in range(50):
        path.write_bytes(content[: len(content) * part // 50])
        assert refused_or_equal(path, model)


@pytest.mark.fuzz
def test_a_thousand_flipped_bytes_are_refused_or_harmless(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        refused += refused_or_equal(path, model)
    assert refused > 950  # a changed blank in the header's padding is harmless; nearly nothing else is


@pytest.mark.fuzz
def test_a_flip_anywhere_in_the_header_is_refused_or_harmless(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    for place in range(header):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        refused_or_equal(path, model)


def test_trailing_bytes_are_refused(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    path.write_bytes(path.read_bytes() + b"more")
    assert refused_or_equal(path, model)


def test_a_foreign_safetensors_file_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(ModelFileError, match="not a model of exll"):
        load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name, content in {"empty": b"", "text": b"hello there", "zip": b"PK\3\4" + b"\0" * 200}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=name):
            load(path)


def test_a_newer_format_asks_for_an_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new.exll"
    monkeypatch.setattr(model_file, "FORMAT", 99)
    small_model().save(path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"format 99, newer .* please update"):
        load(path)


SINCE_FORMAT_3 = (
    *(f"judgement.{name}" for name in ("reviewed", "disputes", "other_similarities", "seen_once")),
    *(f"reservoir.{name}" for name in ("clip", "clip_sum", "clip_squared_steps", "clip_last")),
    *(f"reservoir.{name}" for name in ("group_ids", "group_keys", "group_counts", "group_means")),
)


def written_as(model: ExLLClassifier, number: int, path: Path, lacking: tuple[str, ...]) -> ExLLClassifier:
    model.save(path)
    file = read_model(path)
    for name in lacking:
        file.tensors.pop(name)
    write_model(path, {**file.metadata, "format": number}, with_old_names(file.tensors))
    return load(path, ExLLClassifier)


@pytest.mark.parametrize("samples", [10, 120])
def test_a_file_of_format_2_goes_on_and_learns_of_clips_from_now_on(tmp_path: Path, samples: int) -> None:
    stream, _ = stream_of_clips(2, clips=6)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X[:samples], stream.y[:samples])
    found = written_as(model, 2, tmp_path / "old.exll", SINCE_FORMAT_3)
    assert glocal_learner(found)._judgement.reviewed == (samples > 16)
    assert (found.predict(stream.queries[:36]) == model.predict(stream.queries[:36])).mean() > 0.9
    assert groups_of(found).photos.all()
    found.partial_fit(stream.X[samples:], stream.y[samples:])
    ids = found.learner_.state()["reservoir.group_ids"]
    np.testing.assert_array_equal(ids[:samples], np.arange(samples))
    np.testing.assert_array_equal(ids[-12:], np.arange(len(stream.y) - 12, len(stream.y)) // 12 * 12)
    assert groups_of(found).counts.tolist()[-1] == 12


@pytest.mark.parametrize("samples", [40, 120])
def test_a_file_of_format_1_is_judged_anew_from_its_reservoir(tmp_path: Path, samples: int) -> None:
    stream = random_stream(5, width=6, classes=3, samples=samples)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    learner = glocal_learner(model)
    learner._judge_anew(learner._judgement.ridge, reviewed=True)
    learner._answers = None
    found = written_as(model, 1, tmp_path / "old.exll", ("judgement.distance_weight", *SINCE_FORMAT_3))
    assert not len(groups_of(model).counts)  # photos, as far as the old file knows too
    np.testing.assert_array_equal(found.novelty(stream.queries), model.novelty(stream.queries))
    assert found.novelty_threshold() == model.novelty_threshold()
    later = random_stream(6, width=6, classes=3, samples=50)
    np.testing.assert_array_equal(
        found.partial_fit(later.X, later.y).predict_proba(stream.queries),
        model.partial_fit(later.X, later.y).predict_proba(stream.queries),
    )


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    write_model(tmp_path / "x.exll", {"kind": "teapot"}, {"a": np.zeros(2)})
    with pytest.raises(ModelFileError, match="teapot"):
        load(tmp_path / "x.exll")


def test_a_missing_file_is_also_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no model file at"):
        load(tmp_path / "none.exll")
    with pytest.raises(ModelFileError, match="folder"):
        load(tmp_path)


def test_saving_to_an_impossible_place_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is a folder; name a file"):
        small_model().save(tmp_path)
    with pytest.raises(ModelFileError, match="does not exist"):
        small_model().save(tmp_path / "no" / "model.exll")


def with_nan(array: NDArray[Any]) -> NDArray[Any]:
    spoilt = array.copy()
    spoilt.flat[-1] = np.nan
    return spoilt


Forgery = Callable[[dict[str, Any], Tensors], object]
FORGED: dict[str, Forgery] = {
    "supports": lambda f, t: t.update({"prototypes.counts": t["prototypes.counts"] + 1}),
    "edges": lambda f, t: t.update({"megaclouds.edges": np.array([[0, 999, 1]])}),
    "labels cut": lambda f, t: t.update({"labels.offsets": t["labels.offsets"][:-1]}),
    "another kind of label": lambda f, t: f.update(labels="boolean") or t.update(labels=np.arange(3)),
    "an unknown kind of label": lambda f, t: f.update(labels="nonsense") or t.update(labels=np.arange(3)),
    "labels that are floats": lambda f, t: f.update(labels="integer") or t.update(labels=np.arange(3) + 0.5),
    "a part missing": lambda f, t: t.pop("history.seen"),
    "another width": lambda f, t: f.update(width=7),
    "an absurd width": lambda f, t: f.update(width=10**13),
    "an unknown preset": lambda f, t: f.update(preset="unheard of"),
    "an absurd growth": lambda f, t: f.update(refresh_growth=1e308),
    "records of another kind": lambda f, t: (
        f.update(records="vectors") or t.update({"records.vectors": np.ones((1, 6))})
    ),
    "a record of no prototype": lambda f, t: t.update({"records.prototypes": t["records.prototypes"] + 999}),
    "the precision cut": lambda f, t: t.update({"precision.factor": t["precision.factor"][:-1]}),
    "not finite": lambda f, t: t.update({"prototypes.vectors": with_nan(t["prototypes.vectors"])}),
    "refreshed too early": lambda f, t: t.update({"precision.refreshed_at": np.array(-5)}),
    "refreshed in the future": lambda f, t: t.update({"precision.refreshed_at": np.array(10**6)}),
    "too many rows waiting": lambda f, t: t.update({"statistics.pending": np.ones((64, 6))}),
    "a row missing": lambda f, t: t.update({"statistics.pending": t["statistics.pending"][:-1]}),
    "names of other features": lambda f, t: f.update(feature_names=["x"]),
    "an id of two prototypes": lambda f, t: t.update({"prototypes.ids": t["prototypes.ids"] * 0}),
    "an id that is yet to come": lambda f, t: t.update({"prototypes.next_id": np.array(1)}),
    "less than nothing scattered": lambda f, t: t.update({"statistics.trace": np.array(-1.0)}),
    "the state of another preset": lambda f, t: f.update(preset="glocal" if f["preset"] == "paper" else "paper"),
    "an absurd number of prototypes": lambda f, t: f.update(max_prototypes=-1),
}
FORGED_PAPER: dict[str, Forgery] = {
    "no fusion": lambda f, t: t.pop("fusion.counts"),
    "a fusion count twice": lambda f, t: t.update({"fusion.counts": np.repeat(t["fusion.counts"], 2, axis=0)}),
    "a fusion count too many": lambda f, t: t.update({"fusion.counts": t["fusion.counts"] + [0, 0, 0, 1]}),
    "a limit that the paper does not know": lambda f, t: f.update(max_prototypes=3),
}
FORGED_GLOCAL: dict[str, Forgery] = {
    "no judgement": lambda f, t: t.pop("judgement.ridge"),
    "half a judgement": lambda f, t: t.pop("judgement.intercept"),
    "a ridge of nobody's in format 1": lambda f, t: (
        t.pop("judgement.distance_weight"),
        t.update({"judgement.ridge": np.array(7.0), "judgement.novelties": np.empty(0)}),
    ),
    "a ridge that is none of ours": lambda f, t: t.update({"judgement.ridge": np.array(0.3)}),
    "no standard deviation": lambda f, t: t.update({"judgement.similarity_std": np.array(0.0)}),
    "a standard deviation below zero": lambda f, t: t.update({"judgement.similarity_std": np.array(-1.0)}),
    "a weight that is no number": lambda f, t: t.update({"judgement.class_weight": np.array(np.nan)}),
    "a weight that is two": lambda f, t: t.update({"judgement.class_weight": np.ones(2)}),
    "a weight below nothing": lambda f, t: t.update({"judgement.class_weight": np.array(-1.0)}),
    "distances without a standard deviation": lambda f, t: t.update({"judgement.distance_std": np.array(0.0)}),
    "novelties in a table": lambda f, t: t.update({"judgement.novelties": np.ones((2, 2))}),
    "a temperature beyond all numbers": lambda f, t: t.update({"judgement.intercept": np.array(1e6)}),
    "a slope beyond all numbers": lambda f, t: t.update({"judgement.slope": np.array(1e6)}),
    "a sample of the reservoir missing": lambda f, t: t.update({"reservoir.vectors": t["reservoir.vectors"][:-1]}),
    "all samples of the reservoir missing": lambda f, t: t.update(
        {n: t[n][:0] for n in t if n.startswith("reservoir.") and t[n].ndim}
    ),
    "reservoir of another width": lambda f, t: t.update({"reservoir.vectors": t["reservoir.vectors"][:, :-1]}),
    "a sample of the reservoir that is no number": lambda f, t: t.update(
        {"reservoir.vectors": with_nan(t["reservoir.vectors"])}
    ),
    "a sample of the reservoir that is no unit vector": lambda f, t: t.update(
        {"reservoir.vectors": np.float32(1e30) * t["reservoir.vectors"]}
    ),
    "no vectors of the reservoir": lambda f, t: t.pop("reservoir.vectors"),
    "a mean of a group that is no mean": lambda f, t: t.update({"reservoir.group_means": np.full((1, 6), 1e30)}),
    "a precision beyond single": lambda f, t: t.update({"precision.factor": np.full(21, 1e300)}),
    "a sample of the reservoir of no class": lambda f, t: t.update({"reservoir.classes": t["reservoir.classes"] + 1}),
    "a sample of the reservoir of a class below all": lambda f, t: t.update(
        {"reservoir.classes": t["reservoir.classes"] - 1}
    ),
    "a sample of the reservoir of no prototype": lambda f, t: t.update(
        {"reservoir.prototypes": t["reservoir.prototypes"] + 999}
    ),
    "a sample of the reservoir of another class's prototype": lambda f, t: t.update(
        {"reservoir.classes": t["reservoir.classes"] * 0}
    ),
    "a group missing": lambda f, t: t.update({"reservoir.group_ids": t["reservoir.group_ids"][1:]}),
    "a group of nothing": lambda f, t: t.update({"reservoir.group_counts": np.array([0])}),
    "a group larger than the stream": lambda f, t: t.update({"reservoir.group_counts": np.array([10**6])}),
    "a group of no class": lambda f, t: t.update({"reservoir.group_keys": np.array([[99, -1]])}),
    "a group without a mean": lambda f, t: t.update({"reservoir.group_means": np.zeros((0, 6), np.float32)}),
    "a group without a count": lambda f, t: t.update({"reservoir.group_counts": np.zeros(0, np.int64)}),
    "groups of another width": lambda f, t: t.update({"reservoir.group_means": np.zeros((1, 7), np.float32)}),
    "steps of less than nothing": lambda f, t: t.update({"reservoir.clip_squared_steps": np.array(-1.0)}),
    "a dispute about no class": lambda f, t: t.update({"judgement.disputes": np.array([[0, 1, 99]])}),
    "a dispute of two": lambda f, t: t.update({"judgement.disputes": np.array([[0, 1]])}),
    "similarities in a table": lambda f, t: t.update({"judgement.other_similarities": np.ones((2, 2))}),
    "more classes seen once than there are": lambda f, t: t.update({"judgement.seen_once": np.array(1.5)}),
    "a last sample of another width": lambda f, t: t.update({"reservoir.clip_last": np.zeros(7, np.float32)}),
    "a last clip of another width": lambda f, t: t.update({"reservoir.clip_sum": np.zeros(7)}),
    "a last clip of no class": lambda f, t: t.update({"reservoir.clip": np.array([99, 0, 1])}),
    "a last clip beyond the end": lambda f, t: t.update({"reservoir.clip": np.array([0, 99, 1])}),
    "half of a last clip": lambda f, t: t.update({"reservoir.clip": np.array([0, 1])}),
    "a review that is overdue": lambda f, t: t.update({"schedule.next_review": np.array(40)}),
    "an origin of another width": lambda f, t: t.update({"schedule.origin": np.zeros(7)}),
    "no origin": lambda f, t: t.pop("schedule.origin"),
}


FAULTS = [
    *((preset, fault) for preset in PRESET_NAMES for fault in FORGED),
    *(("paper", fault) for fault in FORGED_PAPER),
    *(("glocal", fault) for fault in FORGED_GLOCAL),
]


@pytest.mark.parametrize(("preset", "fault"), FAULTS, ids=lambda value: str(value))
def test_a_well_formed_file_with_an_impossible_model_is_refused(preset: str, fault: str, tmp_path: Path) -> None:
    # Such a file has a right checksum: somebody else's program wrote it.
    path = tmp_path / "model.exll"
    small_model(preset).save(path)
    file = read_model(path)
    metadata, tensors = {k: v for k, v in file.metadata.items() if k != "format"}, dict(file.tensors)
    {**FORGED, **FORGED_PAPER, **FORGED_GLOCAL}[fault](metadata, tensors)
    write_model(path, metadata, tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


FORGED_SHARED: dict[str, Forgery] = {
    "a vector missing": lambda f, t: t.update({"records.codes": t["records.codes"][:-1]}),
    "vectors of another width": lambda f, t: t.update({"records.codes": t["records.codes"][:, :-1]}),
    "no vectors": lambda f, t: t.pop("records.codes"),
    "no scales": lambda f, t: t.pop("records.scales"),
    "a scale missing": lambda f, t: t.update({"records.scales": t["records.scales"][:-1]}),
    "a scale of zero": lambda f, t: t.update({"records.scales": 0.0 * t["records.scales"]}),
    "a scale that makes vectors too long": lambda f, t: t.update({"records.scales": 4.0 * t["records.scales"]}),
    "codes of another kind": lambda f, t: t.update({"records.codes": t["records.codes"].astype(np.float32)}),
    "records of another kind": lambda f, t: f.update(records="refs"),
    "a sample of the reservoir missing": lambda f, t: t.update({"reservoir.classes": t["reservoir.classes"][:-1]}),
    "too few vectors of the reservoir": lambda f, t: t.update(
        {"reservoir.vectors": t["records.codes"][:-1].view(np.int32) / np.float32(2**31)}
    ),
    "a key missing": lambda f, t: t.update({"reservoir.keys": t["reservoir.keys"][:-1]}),
    "a key above the limit": lambda f, t: t.update(
        {"reservoir.limit": t["reservoir.keys"].max(keepdims=True) - np.uint64(1)}
    ),
    "a position twice": lambda f, t: t.update({"reservoir.positions": 0 * t["reservoir.positions"]}),
    "a position that is not in the stream": lambda f, t: t.update(
        {"reservoir.positions": t["reservoir.positions"] + 1}
    ),
}


@pytest.mark.parametrize("fault", FORGED_SHARED)
def test_a_file_is_refused_where_records_do_not_hold_what_the_reservoir_needs(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "model.exll"
    small_model("glocal", "vectors").save(path)
    file = read_model(path)
    assert "reservoir.vectors" not in file.tensors
    FORGED_SHARED[fault](file.metadata, file.tensors)
    write_model(path, file.metadata, file.tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


@pytest.mark.parametrize("records", ["none", "refs", 2])
def test_a_model_without_the_vectors_of_its_reservoir_is_refused(records: RecordsKind, tmp_path: Path) -> None:
    stream, path = random_stream(3, width=40, classes=2, samples=12), tmp_path / "model.exll"
    ExLLClassifier(records=records, lengths="ignored").partial_fit(stream.X, stream.y).save(path)
    file = read_model(path)
    assert file.tensors.pop("reservoir.vectors").dtype == np.float32
    write_model(path, file.metadata, file.tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


@pytest.mark.parametrize("records", ["refs", "vectors"])
def test_a_file_without_some_of_its_records_is_refused(records: RecordsKind, tmp_path: Path) -> None:
    path = tmp_path / "model.exll"
    small_model(records=records).save(path)
    file = read_model(path)
    columns = {f"records.{name}" for name in ("prototypes", "codes", "scales")}
    cut = {n: t[:-1] for n, t in file.tensors.items() if n in columns}
    assert len(cut) == (3 if records == "vectors" else 1)
    refs = strings_to_tensors("records.refs", strings_from_tensors("records.refs", file.tensors)[:-1])
    write_model(path, file.metadata, {**file.tensors, **cut, **refs})
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path)


def test_facts_that_go_too_deep_are_refused(tmp_path: Path) -> None:
    save_file({"a": np.zeros(1)}, tmp_path / "deep.exll", {"exll": "[" * 200_000})
    with pytest.raises(ModelFileError, match=r"deep\.exll"):
        load(tmp_path / "deep.exll")


def test_arrays_of_any_layout_are_written_rightly(tmp_path: Path) -> None:
    arrays = {"strided": np.arange(12.0)[::2], "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3))}
    write_model(tmp_path / "x.exll", {"kind": "x"}, {**arrays, "scalar": np.array(3)})
    read = read_model(tmp_path / "x.exll").tensors
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
    assert read["scalar"].shape == ()


def test_integers_are_as_small_as_they_may_be_in_the_file_and_64_bits_when_read(tmp_path: Path) -> None:
    arrays = {
        f"{kind.__name__} {edge}": np.array([0, edge])
        for kind in (np.int8, np.int16, np.int32, np.int64)
        for edge in (np.iinfo(kind).min, np.iinfo(kind).max)
    }
    others = {"none": np.empty((0, 3), np.int64), "one": np.array(7), "unsigned": np.array([1], np.uint64)}
    write_model(tmp_path / "x.exll", {"kind": "x"}, {**arrays, **others})
    written, read = load_file(tmp_path / "x.exll"), read_model(tmp_path / "x.exll").tensors
    for name, array in {**arrays, **others}.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
        assert written[name].shape == array.shape
    assert all(written[name].dtype == name.split()[0] for name in arrays)
    assert [written[name].dtype for name in others] == [np.int8, np.int8, np.uint64]


@both_presets
@pytest.mark.parametrize("samples", [5, 40])
def test_the_precision_that_learning_uses_is_written_as_precisely_as_it_is_needed(
    preset: str, samples: int, tmp_path: Path
) -> None:
    stream = random_stream(2, width=20, classes=3, samples=samples)
    ExLLClassifier(preset, lengths="ignored").partial_fit(stream.X, stream.y).save(tmp_path / "x.exll")
    written = load_file(tmp_path / "x.exll")["precision.basis" if samples == 5 else "precision.factor"]
    assert written.dtype == (np.float32 if preset == "glocal" else np.float64)


@pytest.mark.parametrize("name", ["x" * 300, "nul\0nul"])
def test_impossible_file_names_are_one_clear_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError):
        load(tmp_path / name)
    with pytest.raises(ModelFileError):
        small_model().save(tmp_path / name)


def test_saving_over_a_model_keeps_the_file_mode(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_saving_through_a_link_replaces_what_it_points_to(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    link = path.with_name("link.exll")
    link.symlink_to(path)
    model.save(link)
    assert link.is_symlink()
    assert_equal_models(model, load(path, ExLLClassifier))


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    saved: tuple[ExLLClassifier, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path = saved
    before = path.read_bytes()

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_files, "_flush", no_space)
    with pytest.raises(ModelFileError, match=r"model\.exll cannot be written: No space left on device\."):
        model.partial_fit(STREAM.X, ["mug"] * 40).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_leftovers_of_killed_saves_are_cleared_once_old(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    path = path.with_name("m[1].exll")
    old, young = path.with_name(".m[1].exll.saving-a.tmp"), path.with_name(".m[1].exll.saving-b.tmp")
    for leftover in (old, young):
        leftover.write_bytes(b"half a model")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    model.save(path)
    assert not old.exists()
    assert young.exists()


SAVE_FOREVER = """
import sys
import numpy as np
from exll import ExLLClassifier
rng = np.random.default_rng(0)
model = ExLLClassifier(sys.argv[2], records="vectors", lengths="ignored")
model.partial_fit(rng.normal(size=(400, 300)), rng.integers(0, 5, 400))
while True:
    model.partial_fit(rng.normal(size=(1, 300)), [0])
    model.save(sys.argv[1])
    print(model.learner_.sample_count, flush=True)
"""


@pytest.mark.process
@both_presets
def test_killing_the_process_during_save_leaves_a_whole_file(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "model.exll"
    rng = np.random.default_rng(5)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOREVER, str(path), preset], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()  # one save is done
        time.sleep(float(rng.uniform(0, 0.08)))
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        confirmed = [int(line) for line in rest.split()]
        assert load(path, ExLLClassifier).learner_.sample_count >= max(confirmed, default=401)


def test_the_facts_can_be_read_by_anyone(saved: tuple[ExLLClassifier, Path]) -> None:
    model, path = saved
    size = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + size])
    metadata = json.loads(header["__metadata__"]["exll"])
    assert metadata["kind"] == "classifier"
    assert metadata["preset"] == model.preset
    assert metadata["width"] == 6


@pytest.mark.slow
def test_a_thousand_photos_of_624_features_make_a_file_of_at_most_seven_megabytes(tmp_path: Path) -> None:
    stream, path = random_stream(1, width=624, classes=81, samples=1000, repeats=0), tmp_path / "model.exll"
    refs = [f"photos of class {k}/{i:05}.jpg" for i, k in enumerate(stream.y)]
    model = ExLLClassifier(records="vectors", lengths="ignored").partial_fit(stream.X, stream.y, refs=refs)
    model.save(path)
    assert path.stat().st_size < 7_050_000
    assert model.nbytes_ < 12_050_000


def test_a_pipe_is_never_replaced_and_never_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="is a device or a pipe"):
        small_model().save(pipe)
    assert pipe.is_fifo()
    with pytest.raises(ModelFileError, match="is a device or a pipe"):
        load(pipe)


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    link = tmp_path / "nowhere.exll"
    link.symlink_to(os.devnull)
    for path in (link, Path(os.devnull)):
        with pytest.raises(ModelFileError, match="is a device or a pipe"):
            small_model().save(path)
        assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    "name", ["m" * 240 + ".exll", "\u20ac" * 80 + ".exll"], ids=["240 letters", "240 bytes of euros"]
)
def test_a_long_name_is_a_name(tmp_path: Path, name: str) -> None:
    small_model().save(tmp_path / name)
    load(tmp_path / name)
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208 - as the system has it


def test_links_that_lead_back_to_themselves_are_refused_in_one_sentence(tmp_path: Path) -> None:
    one, other = tmp_path / "one.exll", tmp_path / "other.exll"
    one.symlink_to(other)
    other.symlink_to(one)
    for use in (load, small_model().save):
        with pytest.raises(ModelFileError, match="cannot be the name of a file"):
            use(one)
