"""Save, load, go on: the files are those of a model that never stopped, to the last byte."""

from pathlib import Path

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.learner.glocal import reservoir
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.statistics import FOLD_ROWS
from exll.types import RecordsKind
from support import Stream, both_presets, random_stream, stream_of_clips

KINDS: tuple[RecordsKind, ...] = ("none", "refs", "vectors", 3)
WIDTH = 10


def clips_and_photos(seed: int) -> Stream:
    """Clips of three classes, photos of these and of three more, one more clip."""
    clips, _ = stream_of_clips(seed, width=WIDTH, classes=3, clips=2, frames=11)
    photos = random_stream(seed, width=WIDTH, classes=6, samples=90)
    X = np.concatenate([clips.X, photos.X, clips.queries[:11]])
    return Stream(X, [*clips.y, *photos.y, *[1] * 11], clips.queries)


def saved(model: ExLLClassifier, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def moments(learner: object) -> set[str]:
    """What happened with the last sample, or is going on."""
    if not isinstance(learner, GlocalLearner):
        return set()
    scatter, count = learner._statistics.scatter, learner.sample_count
    happened = {
        "refresh": learner._precision.refreshed_at == count,
        "review": learner._judgement.reviewed and learner._schedule.next_review == count + max(1, int(count * 0.2)),
        "fold": scatter.triangle is not None and len(scatter.pending) == 0 and scatter.count > FOLD_ROWS,
        "clip": learner._reservoir._clip.length > 2,
        "young": scatter.triangle is None,
        "displaced": len(learner._reservoir) < count,
    }
    return {name for name, true in happened.items() if true}


@pytest.mark.slow
@pytest.mark.parametrize("records", KINDS)
@pytest.mark.parametrize(
    ("preset", "most"), [("paper", 1024), ("glocal", 24), ("glocal", 1024)]
)  # paper has no reservoir
def test_a_model_that_is_loaded_anew_after_every_sample_is_the_one_that_never_stopped(
    preset: str, records: RecordsKind, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservoir, "MOST", most)
    stream, path = clips_and_photos(3), tmp_path / "model.exll"
    straight, stopped = (ExLLClassifier(preset, records=records) for _ in range(2))
    seen: set[str] = set()
    for i, (x, k) in enumerate(zip(stream.X, stream.y, strict=True)):
        straight.partial_fit(x[None], [f"class {k}"], refs=[f"{i}.jpg"])
        stopped.partial_fit(x[None], [f"class {k}"], refs=[f"{i}.jpg"])
        content = saved(stopped, path)
        assert content == saved(straight, tmp_path / "straight.exll"), f"after sample {i + 1}"
        stopped = load(path, ExLLClassifier)
        assert stopped.nbytes_ == straight.nbytes_
        seen |= moments(straight.learner_)
    if preset == "glocal":
        assert seen == {"refresh", "review", "fold", "clip", "young", *(["displaced"] if most == 24 else [])}
        assert stopped.novelty_threshold() == straight.novelty_threshold()


@both_presets
@pytest.mark.parametrize("records", KINDS)
@pytest.mark.slow
def test_saved_once_at_any_moment_it_ends_as_the_model_that_never_stopped(
    preset: str, records: RecordsKind, tmp_path: Path
) -> None:
    stream, path = clips_and_photos(4), tmp_path / "model.exll"
    rng = np.random.default_rng(0)
    for stop in sorted(rng.choice(np.arange(1, len(stream.y)), 4, replace=False).tolist()):
        straight = ExLLClassifier(preset, records=records).partial_fit(stream.X[:stop], stream.y[:stop])
        before = saved(straight, path)
        stopped = load(path, ExLLClassifier)
        assert saved(stopped, path) == before
        ends = [model.partial_fit(stream.X[stop:], stream.y[stop:]) for model in (straight, stopped)]
        assert saved(ends[0], path) == saved(ends[1], path), f"stopped after {stop}"


@pytest.mark.parametrize("records", KINDS)
def test_a_merge_of_classes_that_ends_the_youth_of_a_model_survives_a_file(
    records: RecordsKind, tmp_path: Path
) -> None:
    """What lay between the two classes is one more row of the scatter."""
    stream, path = random_stream(7, width=40, classes=3, samples=60), tmp_path / "model.exll"
    straight = ExLLClassifier(records=records).partial_fit(stream.X[:19], stream.y[:19])
    assert "statistics.rows" in straight.learner_.state()
    straight.rename_class(1, 0, merge=True)
    assert "statistics.triangle" in straight.learner_.state()
    before = saved(straight, path)
    stopped = load(path, ExLLClassifier)
    assert saved(stopped, path) == before
    for model in (straight, stopped):
        model.partial_fit(stream.X[19:], stream.y[19:])
    assert saved(straight, path) == saved(stopped, path)


@pytest.mark.parametrize("records", KINDS)
@pytest.mark.slow
def test_merged_classes_survive_a_file(records: RecordsKind, tmp_path: Path) -> None:
    stream, path = clips_and_photos(5), tmp_path / "model.exll"
    straight = ExLLClassifier(records=records).partial_fit(stream.X, stream.y)
    straight.rename_class(2, 0, merge=True)
    saved(straight, path)
    stopped = load(path, ExLLClassifier)
    for model in (straight, stopped):
        model.rename_class(4, 1, merge=True)
        model.partial_fit(stream.X[::3], [0 if k == 2 else 1 if k == 4 else k for k in stream.y[::3]])
    assert saved(straight, path) == saved(stopped, path)


@pytest.mark.slow
def test_what_records_are_kept_makes_no_difference_to_what_is_learned(tmp_path: Path) -> None:
    stream = clips_and_photos(6)
    answers = []
    for records in KINDS:
        model = ExLLClassifier(records=records).partial_fit(stream.X, stream.y)
        threshold = model.novelty_threshold()
        answers.append((model.predict_proba(stream.queries), model.novelty(stream.queries), threshold))
    for probabilities, novelty, threshold in answers[1:]:
        np.testing.assert_array_equal(probabilities, answers[0][0])
        np.testing.assert_array_equal(novelty, answers[0][1])
        assert threshold == answers[0][2]
