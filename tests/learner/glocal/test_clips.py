"""What belongs together in a stream, and what a model makes of it."""

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.glocal.clips import CUT, SAME, SHORTEST_CLIP, SWEEP, CurrentClip, longest_step
from exll.learner.glocal.judgement import RIDGES
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import left_out_with_clip
from exll.learner.glocal.reservoir import MOST, Clips, Reservoir
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import Recording, render
from exll.types import Matrix
from exll.vision import ImageLearner
from support import products_of, stream_of_clips


def clips_of(model: ExLLClassifier) -> Clips:
    assert isinstance(model.learner_, GlocalLearner)
    return model.learner_._reservoir.clips()


def photos(seed: int, classes: int = 4, each: int = 40) -> tuple[Matrix, list[int]]:
    """Class after class, with nothing that two neighbours have in common but their class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), each)
    return rng.normal(size=(classes, 200))[y] + rng.normal(size=(len(y), 200)), y.tolist()


def test_a_take_ends_with_its_class_or_with_a_long_step() -> None:
    clip = CurrentClip(2)
    seen = []
    for position, (x, k) in enumerate([(0.0, 0), (0.1, 0), (0.1, 1), (0.2, 1), (0.5, 1), (0.5, 0)]):
        vector = np.array([x, 1.0])
        if not clip.goes_on(vector, k, longest=0.04):
            clip.begin(position, k)
        clip.learn(vector)
        seen.append((clip.start, clip.length))
    assert seen == [(0, 1), (0, 2), (2, 1), (2, 2), (4, 1), (5, 1)]
    np.testing.assert_allclose(clip.mean, [0.5, 1.0])


def test_inside_a_clip_the_camera_may_pan() -> None:
    clip = CurrentClip(1)
    for position in range(SHORTEST_CLIP):
        x = np.array([float(position)])
        assert clip.goes_on(x, 0, longest=1.0) == (position > 0)
        if position == 0:
            clip.begin(position, 0)
        clip.learn(x)
        last = position == SHORTEST_CLIP - 1
        assert clip.goes_on(x + np.sqrt(0.99 * SWEEP), 0, longest=1.0) == last
    assert not clip.goes_on(x + np.sqrt(1.01 * SWEEP), 0, longest=1.0)


@pytest.mark.parametrize(("mine", "kept", "absorbed", "then"), [(3, 0, 1, 2), (1, 0, 1, 0), (0, 0, 1, 0), (1, 1, 3, 1)])
def test_a_take_follows_its_class_through_a_merge(mine: int, kept: int, absorbed: int, then: int) -> None:
    clip = CurrentClip(1)
    clip.begin(0, mine)
    clip.learn(np.ones(1))
    clip.merge(kept, absorbed)
    assert [k for k in range(4) if clip.goes_on(np.ones(1), k, longest=0.0)] == [then]


def test_how_long_a_step_may_be_is_the_most_that_any_variance_allows() -> None:
    assert longest_step(0.5, 0.3) == pytest.approx(2 * CUT * 0.5)
    assert longest_step(0.1, 0.4) == pytest.approx(2 * CUT * 0.4)
    assert longest_step(0.0, 0.0) == SAME


@pytest.mark.parametrize("seed", range(5))
def test_clips_are_found_and_photos_are_no_clips(seed: int) -> None:
    stream, places = stream_of_clips(seed, clips=3)
    found = clips_of(ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y))
    assert [np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts))] == places
    np.testing.assert_array_equal(found.counts, 12)
    X, y = photos(seed)
    found = clips_of(ExLLClassifier(lengths="ignored").partial_fit(X, y))
    assert (found.of >= 0).mean() < 0.1
    assert found.informative.mean() > 0.9


def test_a_thing_held_still_is_one_clip() -> None:
    rng = np.random.default_rng(0)
    things = rng.normal(size=(2, 30))
    X = np.repeat(things, 15, axis=0) + 0.01 * rng.normal(size=(30, 30))
    found = clips_of(ExLLClassifier(lengths="ignored").partial_fit(X, np.repeat([0, 1], 15)))
    assert found.of.tolist() == [0] * 15 + [1] * 15
    assert not found.informative.any()


def test_a_clip_of_long_steps_among_clips_of_short_ones_is_a_clip() -> None:
    rng = np.random.default_rng(1)
    paths = np.cumsum(rng.normal(size=(4, 15, 30)), axis=1) * np.array([0.05, 0.05, 0.05, 0.6])[:, None, None]
    X = (3.0 * rng.normal(size=(4, 1, 30)) + paths).reshape(-1, 30)
    found = clips_of(ExLLClassifier(lengths="ignored").partial_fit(X, np.repeat(range(4), 15)))
    assert found.counts[:3].tolist() == [15] * 3
    assert found.counts[3:].tolist() == [14]  # nothing was known of its steps at the first


def test_a_class_from_one_clip_is_to_be_shown_again() -> None:
    stream, _ = stream_of_clips(0, classes=3, clips=1)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    assert {found.verdict for found in model.progress()} == {"show it again"}
    advice = "All examples come from one clip; show it again in another place."
    said = {found.label: str(found) for found in model.progress()}
    assert said[0] == f'"0": {advice}'  # there was nothing yet that it could have been taken for
    assert said[2].startswith(f'"2": {advice} Of its last 11 examples')
    model.partial_fit(stream.queries[24:36], [2] * 12)
    assert model.learner_.classes_from_one_clip() == {0, 1}
    assert {found.label: found.verdict for found in model.progress()}[2] == "enough"
    X, y = photos(0)
    assert ExLLClassifier(lengths="ignored").partial_fit(X, y).learner_.classes_from_one_clip() == set()
    assert ExLLClassifier("paper").partial_fit(stream.X, stream.y).learner_.classes_from_one_clip() == set()


def test_samples_between_the_clips_of_a_class_are_not_informative() -> None:
    stream, _ = stream_of_clips(1, clips=2)
    strays = np.random.default_rng(1).normal(size=(3, 20))  # each follows a sample of another class
    X = np.concatenate([stream.X, strays])
    found = clips_of(ExLLClassifier(lengths="ignored").partial_fit(X, [*stream.y, 0, 1, 2]))
    assert found.of[-3:].tolist() == [-1, -1, -1]
    assert not found.informative[-3:].any()
    assert found.informative[:-3].all()


def test_a_clip_that_makes_up_all_prototypes_of_its_class_leaves_one() -> None:
    stream, _ = stream_of_clips(9, classes=2, clips=1, frames=30)
    again = stream.queries[:7], stream.queries[30:37]
    X = np.concatenate([stream.X, *again])
    model = ExLLClassifier(max_prototypes=1, lengths="ignored").partial_fit(X, [*stream.y, *[0] * 7, *[1] * 7])
    learner = model.learner_
    assert isinstance(learner, GlocalLearner)
    products = products_of(learner, RIDGES[3], slice(None))
    left_out = left_out_with_clip(products, len(X), learner._reservoir.clips(), learner._mean_of_all())
    assert len(left_out.truth) == len(X)
    assert np.isfinite(left_out.towards_prototype).all()


def test_a_sample_that_replaces_one_of_a_clip_is_not_in_that_clip() -> None:
    reservoir = Reservoir(2)
    for position in range(4 * MOST):
        reservoir.learn(position, np.ones(2), 0 if position < MOST else position % 2, 0, 1.0)
    found = reservoir.clips()
    early = reservoir.state()["clip_starts"] == 0
    assert 0 < early.sum() < MOST
    np.testing.assert_array_equal(found.of, np.where(early, 0, -1))


def test_their_means_and_counts_are_those_of_all_their_samples_beyond_the_room_too() -> None:
    stream, places = stream_of_clips(3, clips=3, frames=2 * MOST // 9)
    model = ExLLClassifier(records="none", lengths="ignored").partial_fit(stream.X, stream.y)
    found = clips_of(model)
    assert len(found.of) == MOST < len(stream.X)
    assert found.counts.tolist() == [len(place) for place in places]
    means = [stream.unit[place].mean(axis=0) for place in places]
    np.testing.assert_allclose(found.centres, means, atol=1e-6)


@pytest.mark.parametrize("split", [1, 7, 50])
def test_how_the_stream_is_cut_into_calls_does_not_matter_nor_does_a_file_in_between(split: int) -> None:
    stream, _ = stream_of_clips(4, clips=2)
    whole, pieces = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y), ExLLClassifier(lengths="ignored")
    for start in range(0, len(stream.y), split):
        pieces.partial_fit(stream.X[start : start + split], stream.y[start : start + split])
        assert isinstance(pieces.learner_, GlocalLearner)
        reservoir = pieces.learner_._reservoir
        state = {name: array.copy() for name, array in reservoir.state().items()}
        table = pieces.learner_._prototypes
        class_of = dict(zip(table.ids.tolist(), table.class_of.tolist(), strict=True))
        reservoir.restore(state, pieces.learner_.sample_count, class_of)
    one, other = clips_of(whole), clips_of(pieces)
    for name, values in one.__dict__.items():
        np.testing.assert_array_equal(getattr(other, name), values, err_msg=name)
    assert whole.novelty_threshold() == pieces.novelty_threshold()


def test_a_class_that_takes_in_another_keeps_its_clips() -> None:
    stream, places = stream_of_clips(5, classes=3, clips=2)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, [f"c{k}" for k in stream.y])
    model.rename_class("c2", "c0", merge=True)
    model.partial_fit(stream.X[-3:], ["c0"] * 3)  # the last clip goes on
    found = clips_of(model)
    assert found.counts.tolist() == [12] * 5 + [15]
    assert [np.flatnonzero(found.of == g).tolist()[:12] for g in range(len(found.counts))] == places
    assert found.informative.all()


def test_what_is_known_of_few_classes_only_says_nothing_of_all() -> None:
    stream, _ = stream_of_clips(6, classes=7, clips=1)
    once = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    again = stream.queries[:48]  # one more clip of four of the seven classes
    for clips, told in ((3, False), (4, True)):
        model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
        model.partial_fit(again[: 12 * clips], np.repeat(range(clips), 12))
        assert clips_of(model).informative.any() == told
    assert once.novelty_threshold() == np.inf


@pytest.mark.slow
def test_another_clip_of_a_known_thing_is_seldom_unknown_and_an_unknown_input_often() -> None:
    unknown = []
    for seed in range(3):
        stream, _ = stream_of_clips(seed, width=40, classes=20, clips=4, frames=10)
        model = ExLLClassifier(records="none", lengths="ignored").partial_fit(stream.X, stream.y)
        unknown.append((model.predict(stream.queries, unknown=-1) == -1).reshape(2, -1).mean(axis=1))
    known, strange = np.mean(unknown, axis=0)
    assert known < 0.12  # 0.05 is promised
    assert strange > 0.9


def test_what_was_shown_in_one_clip_is_known_again_in_another_place() -> None:
    """One take of each of four things, then another of each. With frames left out alone all of it would be unknown."""
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
