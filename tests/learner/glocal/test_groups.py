"""Groups that the caller names: what came together, and what the model learns about itself from that."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll import ExLLClassifier, load
from exll.baselines import baseline
from exll.errors import InputError, InputTypeError
from exll.learner.glocal import group_means
from exll.learner.glocal.judgement import RIDGES
from exll.learner.glocal.leaving_out import left_out_alone
from exll.learner.glocal.reservoir import Reservoir
from exll.learner.groups import group_number
from exll.types import Group
from support import (
    assert_equal_models,
    glocal_learner,
    groups_of,
    products_of,
    sample_of,
    stream_of_clips,
    stream_of_groups,
)


def places_of(labels: Sequence[Any], names: Sequence[Group]) -> list[list[int]]:
    """The samples of every group; a name in two classes is two groups."""
    keys = list(zip(labels, names, strict=True))
    return sorted([i for i, key in enumerate(keys) if key == own] for own in set(keys) if own[1] is not None)


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_that_were_named_in_whatever_order_they_came(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(90, 5)), rng.integers(0, 4, 90).tolist()
    pool: list[Group] = ["a", "b", 1, "2", -1, None]
    names = [pool[i] for i in rng.integers(0, len(pool), 90)]
    found = groups_of(ExLLClassifier(lengths="ignored").partial_fit(X, y, groups=names))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    places = [np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts))]
    assert sorted(places) == places_of(y, names)
    assert found.counts.tolist() == [len(place) for place in places]
    np.testing.assert_allclose(found.centres, [unit[place].mean(axis=0) for place in places], atol=1e-6)
    assert (found.seen_once, found.informative) == (0, True)
    # Most of every class came in groups, so its other samples are not judged by.
    assert not found.photos.any()


def test_single_samples_are_photos_in_a_class_that_came_mostly_alone() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), [0, 1] * 30
    names = ["a" if i < 8 else "b" if i < 16 else None for i in range(60)]
    found = groups_of(ExLLClassifier(lengths="ignored").partial_fit(X, y, groups=names))
    assert found.photos.tolist() == [name is None for name in names]
    assert found.among(np.arange(0, 60, 4)).of.tolist() == [0, 0, 1, 1] + [-1] * 11
    alone = glocal_learner(ExLLClassifier(lengths="ignored").partial_fit(X, y))._reservoir
    assert alone.group_counts(np.array([30, 30])).tolist() == [30, 30]
    assert alone.group_counts(np.array([30, 90])).tolist() == [30, 90]  # of the class only some are here


def test_photos_are_left_out_alone_and_with_their_look_alikes_and_all_others_with_their_group() -> None:
    stream, names = stream_of_groups(0, each=6)
    groups = [name if k < 3 else None for k, name in zip(stream.y, names, strict=True)]
    learner = glocal_learner(ExLLClassifier().partial_fit(stream.X, stream.y, groups=groups))
    found, products = learner._reservoir.groups(6), products_of(learner, RIDGES[3])
    evidence = learner._reviewed()._evidence(products, found, None)
    photos = [i for i, name in enumerate(groups) if name is None]
    assert sorted(evidence.with_group.rows.tolist()) == list(range(len(stream.y)))
    assert evidence.with_look_alikes.rows.tolist() == photos
    alone = left_out_alone(products, len(stream.y)).among(found.photos)
    np.testing.assert_array_equal(evidence.with_group.among(found.photos).towards_class, alone.towards_class)


def test_a_class_of_one_named_group_is_to_be_shown_again() -> None:
    stream, names = stream_of_groups(0)
    once: list[Group] = [k if k < 2 else name for k, name in zip(stream.y, names, strict=True)]
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y, groups=once)
    assert model.learner_.classes_from_one_group() == {0, 1}
    assert groups_of(model).seen_once == pytest.approx(1 / 3)
    counts = np.bincount(stream.y)
    assert glocal_learner(model)._reservoir.group_counts(counts).tolist() == [1, 1, 4, 4, 4, 4]


def test_confidence_in_new_places_is_far_lower_once_places_are_named_and_near_the_share_right() -> None:
    confidence, right = np.empty((4, 2)), []
    for seed in range(4):
        stream, names = stream_of_groups(2 + seed)
        for column, groups in enumerate((None, names)):
            model = ExLLClassifier(records="none", lengths="ignored").partial_fit(stream.X, stream.y, groups=groups)
            confidence[seed, column] = model.predict_proba(stream.queries).max(axis=1).mean()
        right.append((model.predict(stream.queries) == np.repeat(range(6), 10)).mean())
    assert (confidence[:, 1] < confidence[:, 0] - 0.1).all()
    assert confidence[:, 0].mean() > np.mean(right) + 0.15
    assert confidence[:, 1].mean() == pytest.approx(np.mean(right), abs=0.08)


@pytest.mark.parametrize("split", [1, 7, 50])
@pytest.mark.parametrize("named", [True, False], ids=["named", "clips"])
def test_how_the_stream_is_cut_into_calls_does_not_matter_nor_do_questions_and_files_in_between(
    split: int, named: bool, tmp_path: Path
) -> None:
    stream, names = stream_of_groups(4, each=4) if named else (stream_of_clips(4, clips=3)[0], [None] * 108)
    y = [f"c{k}" for k in stream.y]
    whole, pieces, asked = (
        ExLLClassifier(lengths="ignored").partial_fit(stream.X, y, groups=names),
        ExLLClassifier(lengths="ignored"),
        ExLLClassifier(lengths="ignored"),
    )
    for start in range(0, len(y), split):
        rows = slice(start, start + split)
        for model in (pieces, asked):
            model.partial_fit(stream.X[rows], y[rows], groups=names[rows])
        asked.progress()
        asked.predict(stream.queries[:2], unknown="?")
        asked.explain(stream.queries[0])
        if start % 5 == 0:
            asked.save(tmp_path / "m.exll")
            asked = load(tmp_path / "m.exll", ExLLClassifier)
    assert_equal_models(pieces, asked)
    one, other = groups_of(whole), groups_of(pieces)
    for name, values in one.__dict__.items():
        np.testing.assert_array_equal(getattr(other, name), values, err_msg=name)
    assert whole.novelty_threshold() == pytest.approx(pieces.novelty_threshold(), rel=1e-6)
    assert whole.novelty_threshold() < np.inf


def test_a_class_that_takes_in_another_keeps_its_groups() -> None:
    stream, _ = stream_of_groups(5, each=4)
    names = [f"day {i % 3}" for i in range(len(stream.y))]
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y, groups=names)
    model.rename_class(4, 1, merge=True)
    labels = [1 if k == 4 else k for k in stream.y]
    found = groups_of(model)
    places = [np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts))]
    assert sorted(places) == places_of(labels, names)
    assert found.counts.tolist() == [len(place) for place in places]
    np.testing.assert_allclose(found.centres, [stream.unit[place].mean(axis=0) for place in places], atol=1e-6)


def test_a_named_group_ends_a_clip_and_rows_without_a_name_may_be_clips() -> None:
    stream, places = stream_of_clips(2, clips=2)
    names: list[Group] = ["named" if i in places[0][6:9] else None for i in range(len(stream.y))]
    found = groups_of(ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y, groups=names))
    lengths = sorted(np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts)))
    assert lengths == [places[0][:6], places[0][6:9], *places[1:]]
    assert (found.of[places[0][9:]] == -1).all()  # three samples are too short for a clip


def test_a_group_has_the_same_number_in_every_process_and_below_zero() -> None:
    names: list[Group] = ["a", "b", "1", 1, -1, 10**30, "\ud800", ""]
    numbers = [group_number(name) for name in names]
    assert len(set(numbers)) == len(names)
    assert all(-(2**63) <= number < 0 for number in numbers)
    assert group_number("a") == -8430096805215748560


def test_only_groups_of_which_no_sample_is_left_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.learner.glocal.reservoir.MOST", 16)
    monkeypatch.setattr(group_means, "MOST_UNNEEDED", 8)
    reservoir = Reservoir(2)
    for position in range(600):
        x = np.array([1.0, position / 600])
        reservoir.learn(sample_of(x, position, group=group_number(position // 2)), position % 2, 0, variance=1.0)
        assert len(reservoir.state()["group_counts"]) <= 16 + 8 + 1
        assert all(key in reservoir._group_means for key in reservoir._group_keys())
    np.testing.assert_array_equal(reservoir.groups(2).counts, 1)


@pytest.mark.parametrize(
    ("groups", "error", "sentence"),
    [
        ("ab", InputTypeError, "groups must be a list with one name per row; got str."),
        ({"a", "b"}, InputTypeError, "groups must be a list with one name per row; got set."),
        (iter(["a", "b"]), InputTypeError, "groups must be a list with one name per row; got list_iterator."),
        (["a"], InputError, "there must be one group per example; got 2 examples and 1 groups."),
        (["a", 1.5], InputTypeError, "groups must be strings, whole numbers or None; got float 1.5."),
        ([True, "a"], InputTypeError, "groups must be strings, whole numbers or None; got bool True."),
        ([["a"], "a"], InputTypeError, r"groups must be strings, whole numbers or None; got list ['a']."),
    ],
)
def test_bad_groups_are_refused_in_one_sentence_and_nothing_is_learned(
    groups: Any, error: type[Exception], sentence: str
) -> None:
    model = ExLLClassifier(lengths="ignored").fit(np.eye(2), ["a", "b"])
    for learn in (model.partial_fit, model.fit):
        with pytest.raises(error) as refused:
            learn(np.eye(2), ["a", "b"], groups=groups)
        assert str(refused.value) == sentence
        assert model.learner_.sample_count == 2


def test_numbers_of_numpy_are_names_and_other_learners_take_groups_too() -> None:
    stream, _ = stream_of_groups(1, each=3)
    names = [i % 5 for i in range(len(stream.y))]
    as_numpy: Any = np.array(names)
    plain = ExLLClassifier(lengths="ignored").fit(stream.X, stream.y, groups=names)
    assert_equal_models(ExLLClassifier(lengths="ignored").fit(stream.X, stream.y, groups=as_numpy), plain)
    for make in (lambda: ExLLClassifier("paper", records="none"), lambda: baseline("slda")):
        named, unnamed = make().fit(stream.X, stream.y, groups=names), make().fit(stream.X, stream.y)
        assert_equal_models(named, unnamed)
    recorded = [ExLLClassifier("paper").fit(stream.X, stream.y, groups=own).learner_.state() for own in (names, None)]
    assert len(recorded[0].pop("records.groups")) == len(names)  # and that is all
    assert recorded[0].keys() == recorded[1].keys()
    for name in recorded[0]:
        np.testing.assert_array_equal(recorded[0][name], recorded[1][name], err_msg=name)


def test_a_clip_before_named_samples_is_kept_and_the_model_opens_again(tmp_path: Path) -> None:
    stream, _ = stream_of_clips(0, classes=2, clips=1)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    model.partial_fit(stream.queries[:4], [0] * 4, groups=["g"] * 4)
    model.partial_fit(stream.queries[4:6], [0] * 2)
    assert {k for k, _ in model.learner_.state()["reservoir.group_keys"].tolist()} == {0, 1}
    model.save(tmp_path / "m.exll")
    found = load(tmp_path / "m.exll", ExLLClassifier)
    np.testing.assert_array_equal(found.predict_proba(stream.queries), model.predict_proba(stream.queries))


def test_a_second_class_is_judged_soon_however_long_the_first_was_alone() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(600, 8)), rng.normal(size=(40, 8)) + 4])
    model = ExLLClassifier(lengths="ignored").fit(X, ["a"] * 600 + ["b"] * 40)
    assert glocal_learner(model)._judgement.reviewed
    assert model.progress()[0].verdict != "too early to tell"


def test_named_groups_are_counted_also_where_the_reservoir_holds_none_of_their_samples() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    model = ExLLClassifier(records="none").fit(rng.normal(size=(3000, 8)), y, groups=[i // 6 for i in range(3000)])
    assert [entry.groups for entry in model.progress()] == pytest.approx([500] * 3, rel=0.1)
