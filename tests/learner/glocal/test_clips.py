"""Clips: what belongs together in a stream though nobody says so, and what a model makes of it."""

from itertools import pairwise

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.explain.progress import ANOTHER_PLACE
from exll.learner.glocal.clips import CUT, SHORTEST_CLIP, SMOOTH, CurrentClip
from exll.learner.glocal.judgement import MODEST, RIDGES
from exll.learner.glocal.leaving_out import groups_that_came_together, left_out_with_group
from exll.learner.glocal.reservoir import MOST, Reservoir
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import Recording, render
from exll.types import Matrix
from exll.vision import ImageLearner
from support import glocal_learner, groups_of, products_of, sample_of, stream_of_clips


def photos(seed: int, noise: float) -> tuple[Matrix, list[int]]:
    """Class after class, with nothing that two neighbours have in common but their class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 40)
    return rng.normal(size=(4, 200))[y] + noise * rng.normal(size=(len(y), 200)), y.tolist()


def test_a_clip_ends_with_its_class_or_with_a_long_step() -> None:
    clip = CurrentClip(2)
    seen = []
    for position, (x, k) in enumerate([(0.0, 0), (0.1, 0), (0.1, 1), (0.3, 1), (0.6, 1), (0.5, 0)]):
        vector = np.array([x, 1.0])
        if not clip.goes_on(vector, k, variance=0.05 / (2 * CUT)):
            clip.begin(position, k)
        clip.learn(vector)
        seen.append((clip.start, clip.length))
    assert seen == [(0, 1), (0, 2), (2, 1), (2, 2), (4, 1), (5, 1)]
    np.testing.assert_allclose(clip.mean, [0.5, 1.0])


@pytest.mark.parametrize(("mine", "kept", "absorbed", "then"), [(3, 0, 1, 2), (1, 0, 1, 0), (0, 0, 1, 0), (1, 1, 3, 1)])
def test_a_clip_follows_its_class_through_a_merge(mine: int, kept: int, absorbed: int, then: int) -> None:
    clip = CurrentClip(1)
    clip.begin(0, mine)
    clip.learn(np.ones(1))
    clip.merge(kept, absorbed)
    assert [k for k in range(4) if clip.goes_on(np.ones(1), k, variance=0.0)] == [then]


@pytest.mark.parametrize("seed", range(5))
def test_a_stretch_is_a_clip_if_its_steps_are_short_for_how_much_it_varies(seed: int) -> None:
    """Von Neumann's ratio, by its definition, for walks that forget where they were more and more quickly."""
    rng, verdicts = np.random.default_rng(seed), set()
    for memory in np.linspace(0, 1, 11):
        clip, walk = CurrentClip(6), [rng.normal(size=6)]
        clip.begin(0, 0)
        for i in range(12):
            walk.append(memory * walk[-1] + 0.5 * rng.normal(size=6))
            vectors = np.array([x / np.linalg.norm(x) for x in walk[1:]], np.float32).astype(np.float64)
            clip.learn(vectors[-1])
            steps = sum(float((b - a) @ (b - a)) for a, b in pairwise(vectors))
            ratio = steps / max(i, 1) / (2 * vectors.var(axis=0, ddof=int(i > 0)).sum() + 1e-99)
            assert clip.is_clip == (i + 1 >= SHORTEST_CLIP and ratio < min(SMOOTH, 1 - 2 / np.sqrt(6 * (i + 1))))
            verdicts.add(clip.is_clip)
    assert verdicts == {False, True}


@pytest.mark.parametrize("seed", range(3))
def test_clips_are_found_also_where_only_every_fifth_frame_is_learned(seed: int) -> None:
    for step in (1, 5):
        stream, _ = stream_of_clips(seed, clips=3, frames=12 * step)
        model = ExLLClassifier(lengths="ignored").partial_fit(stream.X[::step], stream.y[::step])
        found = groups_of(model)
        assert found.informative
        assert found.counts.tolist() == [12] * 9
        frames = np.arange(108).reshape(9, 12)
        assert sorted(np.flatnonzero(found.of == g).tolist() for g in range(9)) == frames.tolist()


@pytest.mark.parametrize("noise", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_photos_are_no_clips_however_little_their_class_varies(seed: int, noise: float) -> None:
    """Nor is a thing that is held quite still."""
    X, y = photos(seed, noise)
    found = groups_of(ExLLClassifier(records="none", lengths="ignored").partial_fit(X, y))
    assert (found.of >= 0).mean() < 0.05
    assert found.photos.mean() > 0.95


def test_a_clip_of_long_steps_among_clips_of_short_ones_is_a_clip() -> None:
    rng = np.random.default_rng(1)
    paths = np.cumsum(rng.normal(size=(2, 4, 15, 30)), axis=2) * np.array([0.05, 0.05, 0.05, 0.6])[:, None, None]
    X = (3.0 * rng.normal(size=(1, 4, 1, 30)) + paths).reshape(-1, 30)
    found = groups_of(ExLLClassifier(lengths="ignored").partial_fit(X, [*np.repeat(range(4), 15)] * 2))
    assert found.counts.tolist() == [15] * 8


def test_a_class_from_one_clip_is_to_be_shown_again() -> None:
    stream, _ = stream_of_clips(0, classes=3, clips=1)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    assert {found.verdict for found in model.progress()} == {"show it again"}
    assert {found.advice for found in model.progress()} == {ANOTHER_PLACE}
    model.partial_fit(stream.queries[24:36], [2] * 12)
    assert model.learner_.classes_from_one_group() == {0, 1}
    assert {found.label: found.verdict for found in model.progress()}[2] != "show it again"
    X, y = photos(0, 1.0)
    assert ExLLClassifier(lengths="ignored").partial_fit(X, y).learner_.classes_from_one_group() == set()
    assert ExLLClassifier("paper").partial_fit(stream.X, stream.y).learner_.classes_from_one_group() == set()


def test_samples_between_the_clips_of_a_class_are_not_judged_by() -> None:
    stream, _ = stream_of_clips(1, clips=2)
    strays = np.random.default_rng(1).normal(size=(3, 20))  # each follows a sample of another class
    X = np.concatenate([stream.X, strays])
    found = groups_of(ExLLClassifier(lengths="ignored").partial_fit(X, [*stream.y, 0, 1, 2]))
    assert found.of[-3:].tolist() == [-1, -1, -1]
    assert not found.photos.any()
    assert (found.of[:-3] >= 0).all()


def test_a_clip_that_makes_up_all_prototypes_of_its_class_leaves_one() -> None:
    stream, _ = stream_of_clips(9, classes=2, clips=1, frames=30)
    again = stream.queries[:7], stream.queries[30:37]
    X = np.concatenate([stream.X, *again])
    model = ExLLClassifier(max_prototypes=1, lengths="ignored").partial_fit(X, [*stream.y, *[0] * 7, *[1] * 7])
    learner = glocal_learner(model)
    products = products_of(learner, RIDGES[3])
    groups = groups_that_came_together(products, groups_of(model), learner._mean_of_all())
    left_out = left_out_with_group(products, len(X), groups)
    assert len(left_out.truth) == len(X)
    assert np.isfinite(left_out.towards_prototype).all()


def test_a_sample_that_replaces_one_of_a_clip_is_not_in_that_clip() -> None:
    reservoir = Reservoir(2)
    for position in range(4 * MOST):
        angle = 0.001 * position
        x = np.array([np.cos(angle), np.sin(angle)])
        reservoir.learn(sample_of(x, position), 0 if position < MOST else position % 2, 0, variance=0.5)
    found = reservoir.groups(2)
    early = reservoir.state()["group_ids"] == 0
    assert 0 < early.sum() < MOST
    np.testing.assert_array_equal(found.of, np.where(early, 0, -1))


def test_their_means_and_counts_are_those_of_all_their_samples_beyond_the_room_too() -> None:
    stream, places = stream_of_clips(3, clips=3, frames=2 * MOST // 9)
    found = groups_of(ExLLClassifier(records="none", lengths="ignored").partial_fit(stream.X, stream.y))
    assert len(found.of) == MOST < len(stream.X)
    in_order = sorted(places, key=lambda place: (stream.y[place[0]], place[0]))
    assert found.counts.tolist() == [len(place) for place in in_order]
    means = [stream.unit[place].mean(axis=0) for place in in_order]
    np.testing.assert_allclose(found.centres, means, atol=1e-6)


def test_a_class_that_takes_in_another_keeps_its_clips() -> None:
    stream, places = stream_of_clips(5, classes=3, clips=2)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, [f"c{k}" for k in stream.y])
    model.rename_class("c2", "c0", merge=True)
    model.partial_fit(stream.X[-3:], ["c0"] * 3)  # the last clip goes on
    found = groups_of(model)
    assert sorted(found.counts.tolist()) == [12] * 5 + [15]
    assert sorted(np.flatnonzero(found.of == g).tolist()[:12] for g in range(6)) == places


def test_what_is_known_of_few_classes_only_says_nothing_of_all() -> None:
    stream, _ = stream_of_clips(6, classes=7, clips=1, frames=15)
    for clips, told in ((0, False), (3, False), (4, True)):  # one more clip of so many of the classes
        model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
        if clips:
            model.partial_fit(stream.queries[: 15 * clips], np.repeat(range(clips), 15))
        found = groups_of(model)
        assert found.informative == told
        assert found.seen_once == pytest.approx(1 - clips / 7)
        assert (model.novelty_threshold() < np.inf) == told


@pytest.mark.parametrize("seed", range(3))
def test_a_model_of_one_clip_per_class_is_modest(seed: int) -> None:
    """It has hardly anything to judge itself by; with a second clip of every class it has."""
    stream, _ = stream_of_clips(seed, classes=5, clips=1, frames=20)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    judged = glocal_learner(model)._judgement
    own, other = (model.predict_proba(X).max(axis=1).mean() for X in (stream.X, stream.queries[:100]))
    assert 0.4 < other < own - 0.05
    assert own < MODEST + 0.05
    assert (judged.prototype_weight, judged.seen_once, len(judged.novelties)) == (0, 1, 0)
    model.partial_fit(stream.queries[:100], np.repeat(range(5), 20))
    assert model.predict_proba(stream.X).max(axis=1).mean() > 0.9


def test_an_explanation_says_why_a_model_of_one_clip_per_class_is_modest() -> None:
    stream, _ = stream_of_clips(0, classes=5, clips=1, frames=20)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    why = "Most classes came in one clip or place only, so the confidence is kept low."
    assert model.explain(stream.queries[0]).reason.endswith(why)
    model.partial_fit(stream.queries[:100], np.repeat(range(5), 20))
    assert why not in model.explain(stream.queries[0]).reason


@pytest.mark.slow
def test_another_clip_of_a_known_thing_is_seldom_unusual_and_an_unknown_input_often() -> None:
    unusual, unknown = [], []
    for seed in range(3):
        stream, _ = stream_of_clips(seed, width=40, classes=20, clips=4, frames=10)
        model = ExLLClassifier(records="none", lengths="ignored").partial_fit(stream.X, stream.y)
        unusual.append((model.novelty(stream.queries) > model.novelty_threshold()).reshape(2, -1).mean(axis=1))
        unknown.append((model.predict(stream.queries, unknown=-1) == -1).reshape(2, -1).mean(axis=1))
    known, strange = np.mean(unusual, axis=0)
    assert known < 0.12  # 0.06 is promised
    assert strange > 0.9
    assert np.mean(unknown, axis=0)[0] < 0.02 < np.mean(unknown, axis=0)[1]


def test_what_was_shown_in_one_clip_is_known_again_in_another_place() -> None:
    """One clip of each of four things, then another of each."""
    learner = ImageLearner("nano")
    things = list(CATEGORIES)[:4]
    for thing in things:
        for frame in range(12):
            learner.learn(render(Recording(0, thing, 1, "clutter", 1, "train"), frame, 96), thing)
    answers = [
        (thing, learner.predict(render(Recording(0, thing, 1, "clutter", 1, "test"), frame, 96)))
        for thing in things
        for frame in range(0, 12, 3)
    ]
    assert all(answer.known for _, answer in answers)
    assert np.mean([answer.label == thing for thing, answer in answers]) > 0.6
    assert learner.classifier.novelty_threshold() == np.inf
