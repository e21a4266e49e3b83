"""What belongs together in a stream, and what a model makes of it."""

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.glocal.clips import CUT, SAME, SHORTEST_FILM, SWEEP, Takes, longest_step
from exll.learner.glocal.judgement import RIDGES
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import left_out_with_film
from exll.learner.glocal.reservoir import MOST, Films, Witnesses
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import Recording, render
from exll.types import Matrix
from exll.vision import ImageLearner
from support import filmed


def films_of(model: ExLLClassifier) -> Films:
    assert isinstance(model.learner_, GlocalLearner)
    return model.learner_._witnesses.films()


def photos(seed: int, classes: int = 4, each: int = 40) -> tuple[Matrix, list[int]]:
    """Class after class, with nothing that two neighbours have in common but their class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), each)
    return rng.normal(size=(classes, 200))[y] + rng.normal(size=(len(y), 200)), y.tolist()


def test_a_take_ends_with_its_class_or_with_a_long_step() -> None:
    takes = Takes(2)
    seen = []
    for position, (x, k) in enumerate([(0.0, 0), (0.1, 0), (0.1, 1), (0.2, 1), (0.5, 1), (0.5, 0)]):
        vector = np.array([x, 1.0])
        if not takes.goes_on(vector, k, longest=0.04):
            takes.begin(position, k)
        takes.add(vector)
        seen.append((takes.start, takes.length))
    assert seen == [(0, 1), (0, 2), (2, 1), (2, 2), (4, 1), (5, 1)]
    np.testing.assert_allclose(takes.mean, [0.5, 1.0])


def test_in_the_midst_of_a_film_the_view_may_sweep() -> None:
    takes = Takes(1)
    for position in range(SHORTEST_FILM):
        x = np.array([float(position)])
        assert takes.goes_on(x, 0, longest=1.0) == (position > 0)
        if position == 0:
            takes.begin(position, 0)
        takes.add(x)
        last = position == SHORTEST_FILM - 1
        assert takes.goes_on(x + np.sqrt(0.99 * SWEEP), 0, longest=1.0) == last
    assert not takes.goes_on(x + np.sqrt(1.01 * SWEEP), 0, longest=1.0)


@pytest.mark.parametrize(("mine", "kept", "absorbed", "then"), [(3, 0, 1, 2), (1, 0, 1, 0), (0, 0, 1, 0), (1, 1, 3, 1)])
def test_a_take_follows_its_class_through_a_merge(mine: int, kept: int, absorbed: int, then: int) -> None:
    takes = Takes(1)
    takes.begin(0, mine)
    takes.add(np.ones(1))
    takes.merge(kept, absorbed)
    assert [k for k in range(4) if takes.goes_on(np.ones(1), k, longest=0.0)] == [then]


def test_how_long_a_step_may_be_is_the_most_that_any_variance_allows() -> None:
    assert longest_step(0.5, 0.3) == pytest.approx(2 * CUT * 0.5)
    assert longest_step(0.1, 0.4) == pytest.approx(2 * CUT * 0.4)
    assert longest_step(0.0, 0.0) == SAME


@pytest.mark.parametrize("seed", range(5))
def test_films_are_found_and_photos_are_none(seed: int) -> None:
    stream, places = filmed(seed, films=3)
    found = films_of(ExLLClassifier().partial_fit(stream.X, stream.y))
    assert [np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts))] == places
    np.testing.assert_array_equal(found.counts, 12)
    X, y = photos(seed)
    found = films_of(ExLLClassifier().partial_fit(X, y))
    assert (found.of >= 0).mean() < 0.1
    assert found.telling.mean() > 0.9


def test_a_thing_held_still_is_one_film() -> None:
    rng = np.random.default_rng(0)
    things = rng.normal(size=(2, 30))
    X = np.repeat(things, 15, axis=0) + 0.01 * rng.normal(size=(30, 30))
    found = films_of(ExLLClassifier().partial_fit(X, np.repeat([0, 1], 15)))
    assert found.of.tolist() == [0] * 15 + [1] * 15
    assert not found.telling.any()


def test_a_film_of_long_steps_among_films_of_short_ones_is_one() -> None:
    rng = np.random.default_rng(1)
    paths = np.cumsum(rng.normal(size=(4, 15, 30)), axis=1) * np.array([0.05, 0.05, 0.05, 0.6])[:, None, None]
    X = (3.0 * rng.normal(size=(4, 1, 30)) + paths).reshape(-1, 30)
    found = films_of(ExLLClassifier().partial_fit(X, np.repeat(range(4), 15)))
    assert found.counts[:3].tolist() == [15] * 3
    assert found.counts[3:].tolist() == [14]  # nothing was known of its steps at the first


def test_a_class_filmed_once_is_to_be_shown_again() -> None:
    stream, _ = filmed(0, classes=3, films=1)
    model = ExLLClassifier().partial_fit(stream.X, stream.y)
    assert {found.verdict for found in model.progress()} == {"show it again"}
    advice = "All examples come from one clip; show it again in another place."
    said = {found.label: str(found) for found in model.progress()}
    assert said[0] == f'"0": {advice}'  # there was nothing yet that it could have been taken for
    assert said[2].startswith(f'"2": {advice} Of its last 11 examples')
    model.partial_fit(stream.queries[24:36], [2] * 12)
    assert model.learner_.filmed_once() == {0, 1}
    assert {found.label: found.verdict for found in model.progress()}[2] == "enough"
    X, y = photos(0)
    assert ExLLClassifier().partial_fit(X, y).learner_.filmed_once() == set()
    assert ExLLClassifier("paper").partial_fit(stream.X, stream.y).learner_.filmed_once() == set()


def test_what_lies_between_the_films_of_a_class_tells_nothing() -> None:
    stream, _ = filmed(1, films=2)
    strays = np.random.default_rng(1).normal(size=(3, 20))  # each follows a sample of another class
    X = np.concatenate([stream.X, strays])
    found = films_of(ExLLClassifier().partial_fit(X, [*stream.y, 0, 1, 2]))
    assert found.of[-3:].tolist() == [-1, -1, -1]
    assert not found.telling[-3:].any()
    assert found.telling[:-3].all()


def test_a_film_that_makes_up_all_prototypes_of_its_class_leaves_one() -> None:
    stream, _ = filmed(9, classes=2, films=1, frames=30)
    again = stream.queries[:7], stream.queries[30:37]
    X = np.concatenate([stream.X, *again])
    model = ExLLClassifier(max_prototypes=1).partial_fit(X, [*stream.y, *[0] * 7, *[1] * 7])
    learner = model.learner_
    assert isinstance(learner, GlocalLearner)
    products = learner._left_out(learner._precision_with(RIDGES[3]), len(X))
    evidence = left_out_with_film(products, len(X), learner._witnesses.films(), learner._origin())
    assert len(evidence.truth) == len(X)
    assert np.isfinite(evidence.towards_prototype).all()


def test_whoever_takes_the_place_of_a_witness_of_a_film_is_not_of_it() -> None:
    witnesses = Witnesses(2)
    for position in range(4 * MOST):
        witnesses.learn(position, np.ones(2), 0 if position < MOST else position % 2, 0, 1.0)
    found = witnesses.films()
    early = witnesses.state()["take_starts"] == 0
    assert 0 < early.sum() < MOST
    np.testing.assert_array_equal(found.of, np.where(early, 0, -1))


def test_their_means_and_counts_are_those_of_all_their_samples_beyond_the_room_too() -> None:
    stream, places = filmed(3, films=3, frames=2 * MOST // 9)
    model = ExLLClassifier(records="none").partial_fit(stream.X, stream.y)
    found = films_of(model)
    assert len(found.of) == MOST < len(stream.X)
    assert found.counts.tolist() == [len(place) for place in places]
    means = [stream.unit[place].mean(axis=0) for place in places]
    np.testing.assert_allclose(found.centres, means, atol=1e-6)


@pytest.mark.parametrize("split", [1, 7, 50])
def test_how_the_stream_is_cut_into_calls_does_not_matter_nor_does_a_file_in_between(split: int) -> None:
    stream, _ = filmed(4, films=2)
    whole, pieces = ExLLClassifier().partial_fit(stream.X, stream.y), ExLLClassifier()
    for start in range(0, len(stream.y), split):
        pieces.partial_fit(stream.X[start : start + split], stream.y[start : start + split])
        assert isinstance(pieces.learner_, GlocalLearner)
        witnesses = pieces.learner_._witnesses
        state = {name: array.copy() for name, array in witnesses.state().items()}
        table = pieces.learner_._prototypes
        class_of = dict(zip(table.ids.tolist(), table.class_of.tolist(), strict=True))
        witnesses.restore(state, stream.X.shape[1], pieces.learner_.sample_count, class_of)
    one, other = films_of(whole), films_of(pieces)
    for name, values in one.__dict__.items():
        np.testing.assert_array_equal(getattr(other, name), values, err_msg=name)
    assert whole.novelty_threshold() == pieces.novelty_threshold()


def test_a_class_that_takes_in_another_keeps_its_films() -> None:
    stream, places = filmed(5, classes=3, films=2)
    model = ExLLClassifier().partial_fit(stream.X, [f"c{k}" for k in stream.y])
    model.rename_class("c2", "c0", merge=True)
    model.partial_fit(stream.X[-3:], ["c0"] * 3)  # the last film goes on
    found = films_of(model)
    assert found.counts.tolist() == [12] * 5 + [15]
    assert [np.flatnonzero(found.of == g).tolist()[:12] for g in range(len(found.counts))] == places
    assert found.telling.all()


def test_what_is_known_of_few_classes_only_says_nothing_of_all() -> None:
    stream, _ = filmed(6, classes=7, films=1)
    once = ExLLClassifier().partial_fit(stream.X, stream.y)
    again = stream.queries[:48]  # one more film of four of the seven classes
    for films, told in ((3, False), (4, True)):
        model = ExLLClassifier().partial_fit(stream.X, stream.y)
        model.partial_fit(again[: 12 * films], np.repeat(range(films), 12))
        assert films_of(model).telling.any() == told
    assert once.novelty_threshold() == np.inf


def test_another_film_of_a_known_thing_is_seldom_unknown_and_a_stranger_often() -> None:
    unknown = []
    for seed in range(3):
        stream, _ = filmed(seed, width=40, classes=20, films=4, frames=10)
        model = ExLLClassifier(records="none").partial_fit(stream.X, stream.y)
        unknown.append((model.predict(stream.queries, unknown=-1) == -1).reshape(2, -1).mean(axis=1))
    known, strange = np.mean(unknown, axis=0)
    assert known < 0.12  # 0.05 is promised
    assert strange > 0.9


def test_what_was_filmed_once_is_known_again_in_another_place() -> None:
    """One take of each of four things, then another of each. With frames left out alone all of it would be unknown."""
    eye = ImageLearner("nano")
    things = list(CATEGORIES)[:4]
    for thing in things:
        for frame in range(12):
            eye.learn(render(Recording(0, thing, 1, "clutter", 1, "train"), frame, 96), thing)
    answers = [
        (thing, eye.predict(render(Recording(0, thing, 1, "clutter", 1, "test"), frame, 96)))
        for thing in things
        for frame in range(0, 12, 3)
    ]
    assert all(answer.known for _, answer in answers)
    assert np.mean([answer.label == thing for thing, answer in answers]) > 0.6
    assert eye.classifier.novelty_threshold() == np.inf
