"""Leaving out by dot products against a model that is computed again from the samples that are left."""

from dataclasses import replace

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.glocal import review
from exll.learner.glocal.judgement import RIDGES
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import (
    LeftGroups,
    LeftOut,
    Products,
    cosines_alone,
    cosines_with_group,
    groups_that_came_together,
    left_out_alone,
    left_out_with_group,
    look_alikes,
    similarity_to_others,
    thirds,
)
from oracle.glocal import OracleGlocal, Parts
from support import Stream, learned_with_oracle, products_of, random_stream, stream_of_clips

CASES = [(0, 3, 2, 30), (1, 5, 3, 45), (2, 8, 4, 40), (3, 12, 5, 60), (4, 12, 2, 17), (5, 4, 9, 24), (6, 6, 12, 20)]

every_case = pytest.mark.parametrize(("seed", "width", "classes", "samples"), CASES)
two_ridges = pytest.mark.parametrize("ridge", [RIDGES[0], RIDGES[3]])


def taught(seed: int, width: int, classes: int, samples: int, ridge: float) -> tuple[GlocalLearner, OracleGlocal]:
    stream = random_stream(seed, width=width, classes=classes, samples=samples, repeats=0.1)
    return learned_with_oracle(stream, ridge)


def assert_equal(found: LeftOut, expected: list[Parts], exact: float = 1e-8) -> None:
    assert len(found.truth) == len(expected) > 0
    for name in ("towards_class", "nearness", "towards_prototype", "plain_cosines", "shared", "norms"):
        slow = np.array([getattr(parts, name) for parts in expected])
        np.testing.assert_allclose(
            getattr(found, name), slow, rtol=exact, atol=exact * np.abs(slow).max(), err_msg=name
        )


@two_ridges
@every_case
def test_a_sample_left_out_alone(seed: int, width: int, classes: int, samples: int, ridge: float) -> None:
    learner, oracle = taught(seed, width, classes, samples, ridge)
    usable = [i for i, k in enumerate(oracle.truths) if oracle.truths.count(k) > 1]
    products = products_of(learner, ridge)
    found = left_out_alone(products, samples)
    assert found.truth.tolist() == [oracle.truths[i] for i in usable]
    assert_equal(found, [oracle.parts_without(i) for i in usable])
    chosen = np.arange(samples) % 3 > 0
    cosines, truth = cosines_alone(products, samples, chosen)
    some = found.among(chosen)
    np.testing.assert_allclose(cosines, some.towards_class / some.norms[:, None], rtol=1e-12)
    np.testing.assert_array_equal(truth, some.truth)


def assert_left_out(products: Products, groups: LeftGroups, oracle: OracleGlocal, clouds: dict[int, set[int]]) -> None:
    """``clouds`` gives, for every prototype, those that a sample of it is left out with."""
    members = {j: [i for other in clouds[j] for i in oracle.members_of(other)] for j in clouds}
    usable = [i for i, k in enumerate(oracle.truths) if len(members[oracle.clouds[i]]) < len(oracle.samples_of(k))]
    found = left_out_with_group(products, len(oracle.truths), groups)
    assert found.rows.tolist() == usable
    slow = [oracle.parts_without_group(i, members[oracle.clouds[i]], clouds[oracle.clouds[i]]) for i in usable]
    assert_equal(found, slow)


@two_ridges
@every_case
def test_a_sample_left_out_with_those_that_look_like_it(
    seed: int, width: int, classes: int, samples: int, ridge: float
) -> None:
    learner, oracle = taught(seed, width, classes, samples, ridge)
    products = products_of(learner, ridge)
    clouds = {j: {j} for j in set(oracle.clouds)}
    assert_left_out(products, look_alikes(products.means, products.own), oracle, clouds)


@two_ridges
@pytest.mark.parametrize(("seed", "width", "classes", "samples"), [(1, 5, 3, 45), (3, 12, 2, 90), (7, 6, 3, 60)])
def test_a_sample_left_out_with_a_third_of_its_class(
    seed: int, width: int, classes: int, samples: int, ridge: float
) -> None:
    learner, oracle = taught(seed, width, classes, samples, ridge)
    products = products_of(learner, ridge)
    groups = [group for k in oracle.classes for group in oracle.thirds(k)]
    assert max(map(len, groups)) > 1
    clouds = {j: set(group) for group in groups for j in group}
    assert_left_out(products, thirds(products.means, products.own, products.truth), oracle, clouds)


def named_groups(stream: Stream, seed: int, number: int) -> list[str]:
    """Groups at random, in which several classes meet; the same name in two classes is two groups."""
    names = np.random.default_rng(seed).integers(0, number, len(stream.y))
    return [f"day {name}" for name in names]


@two_ridges
@pytest.mark.parametrize("kind", ["clips", "named", "many names"])
@pytest.mark.parametrize("seed", range(2))
def test_a_sample_left_out_with_what_came_with_it(seed: int, kind: str, ridge: float) -> None:
    stream, places = stream_of_clips(seed, width=20, classes=3, clips=2 + seed % 2)
    names = None
    if kind != "clips":
        stream = random_stream(seed, width=8, classes=3, samples=50, repeats=0)
        names = named_groups(stream, seed, 3 if kind == "named" else 12)
        keys = sorted(set(zip(stream.y, names, strict=True)))
        places = [[i for i, key in enumerate(zip(stream.y, names, strict=True)) if key == own] for own in keys]
    learner, oracle = learned_with_oracle(stream, ridge, names)
    products = products_of(learner, ridge)
    found = learner._reservoir.groups(learner.class_count)
    place_of = {i: place for place in places for i in place}
    assert [np.flatnonzero(found.of == own).tolist() for own in found.of.tolist()] == [
        place_of[i] for i in range(len(stream.y))
    ]
    means = np.array([oracle.mean(np.flatnonzero(found.of == g).tolist()) for g in range(len(found.counts))])
    np.testing.assert_allclose(found.centres, means, atol=2.0**-22)  # they are kept in single precision
    groups = groups_that_came_together(products, replace(found, centres=means), learner._mean_of_all())
    left_out = left_out_with_group(products, len(stream.y), groups)
    assert left_out.rows.tolist() == list(range(len(stream.y)))
    slow = [
        oracle.parts_without_group(i, place_of[i], oracle.clouds_that_go_with(place_of[i]))
        for i in range(len(stream.y))
    ]
    assert_equal(left_out, slow, exact=1e-7)
    cosines, truth = cosines_with_group(products, len(stream.y), groups)
    np.testing.assert_allclose(cosines, left_out.towards_class / left_out.norms[:, None], rtol=1e-12)
    np.testing.assert_array_equal(truth, left_out.truth)


def test_only_the_chosen_samples_are_left_out_with_their_group() -> None:
    learner, _ = taught(*CASES[3], RIDGES[3])
    products, samples = products_of(learner, RIDGES[3]), CASES[3][-1]
    chosen = np.arange(samples) % 2 == 0
    groups = look_alikes(products.means, products.own)
    found, whole = (left_out_with_group(products, samples, some) for some in (groups.among(chosen), groups))
    assert 0 < len(found.rows) < len(whole.rows)
    for name, values in whole.among(chosen).__dict__.items():
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-9, err_msg=name)


@every_case
def test_a_sample_as_an_input_of_a_class_that_was_never_learned(
    seed: int, width: int, classes: int, samples: int
) -> None:
    learner, oracle = taught(seed, width, classes, samples, RIDGES[3])
    products = products_of(learner, RIDGES[3])
    for weights in ((20.0, 0.0), (1.0, 2.0)):
        slow = [oracle.similarity_to_others(i, *weights) for i in range(samples)]
        np.testing.assert_allclose(similarity_to_others(products, *weights), slow, atol=1e-7)


def test_left_out_samples_are_chosen_and_joined() -> None:
    learner, _ = taught(*CASES[1], RIDGES[3])
    samples = CASES[1][-1]
    whole = left_out_alone(products_of(learner, RIDGES[3]), samples)
    chosen = np.arange(samples) % 3 == 0
    some, rest = whole.among(chosen), whole.among(~chosen)
    assert some.rows.tolist() == [i for i in whole.rows.tolist() if i % 3 == 0]
    both = some.joined(rest)
    order = np.argsort(both.rows)
    for name, values in whole.__dict__.items():
        np.testing.assert_array_equal(getattr(both, name)[order], values, err_msg=name)


def test_the_cases_hold_prototypes_of_one_sample_and_of_many_and_classes_of_one() -> None:
    supports, counts = set(), set()
    for case in CASES:
        learner, _ = taught(*case, RIDGES[3])
        supports |= set(learner.supports.values())
        counts |= {learner.megacloud(k).count for k in range(learner.class_count)}
    assert {1, 2, 3, 4} <= supports
    assert {1, 2} <= counts


def test_where_few_samples_are_enough_they_are_of_the_whole_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = random_stream(4, width=3, classes=4, samples=200, repeats=0)
    order = np.argsort(stream.y, kind="stable")  # one class after the other
    learner, _ = learned_with_oracle(replace(stream, X=stream.X[order], y=sorted(stream.y)), RIDGES[3])
    monkeypatch.setattr(review, "LEAST_SAMPLES", 1)
    few = products_of(learner, RIDGES[3], learner._reviewed().some(40))
    assert 20 <= len(few.truth) <= 40
    shares = np.bincount(few.truth, minlength=4) / len(few.truth)
    np.testing.assert_allclose(shares, np.bincount(stream.y) / 200, atol=0.1)


@pytest.mark.parametrize("least", [16, 40])
def test_a_review_of_many_classes_uses_fewer_samples(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "REVIEW_PRODUCTS", 1)
    monkeypatch.setattr(review, "LEAST_SAMPLES", least)
    used: list[int] = []

    def counted(products: Products, samples: int) -> LeftOut:
        used.append(len(products.truth))
        return left_out_alone(products, samples)

    monkeypatch.setattr(review, "left_out_alone", counted)
    stream, _ = stream_of_clips(1, clips=4)
    model = ExLLClassifier(lengths="ignored").partial_fit(stream.X, stream.y)
    assert max(used) <= least
    assert np.isfinite(model.predict_proba(stream.queries)).all()
    assert 0 < model.novelty_threshold() < np.inf
