"""Leaving out by dot products against a model that is computed again from the samples that are left."""

from dataclasses import replace

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.glocal import review
from exll.learner.glocal.judgement import RIDGES
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import (
    LeftOut,
    Products,
    cosines_alone,
    left_out_alone,
    left_out_with_clip,
    left_out_with_prototype,
)
from oracle.glocal import OracleGlocal, Parts
from support import learned_with_oracle, products_of, random_stream, stream_of_clips

CASES = [(0, 3, 2, 30), (1, 5, 3, 45), (2, 8, 4, 40), (3, 12, 5, 60), (4, 12, 2, 17), (5, 4, 9, 24), (6, 6, 12, 20)]


def taught(seed: int, width: int, classes: int, samples: int, ridge: float) -> tuple[GlocalLearner, OracleGlocal]:
    stream = random_stream(seed, width=width, classes=classes, samples=samples, repeats=0.1)
    return learned_with_oracle(stream, ridge)


def assert_equal(found: LeftOut, expected: list[Parts]) -> None:
    assert len(found.truth) == len(expected)
    for name in ("towards_class", "nearness", "towards_prototype", "shared", "norms"):
        slow = np.array([getattr(parts, name) for parts in expected])
        np.testing.assert_allclose(getattr(found, name), slow, rtol=1e-8, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("ridge", [RIDGES[0], RIDGES[3]])
@pytest.mark.parametrize(("seed", "width", "classes", "samples"), CASES)
def test_a_sample_left_out_alone(seed: int, width: int, classes: int, samples: int, ridge: float) -> None:
    learner, oracle = taught(seed, width, classes, samples, ridge)
    usable = [i for i, k in enumerate(oracle.truths) if oracle.truths.count(k) > 1]
    found = left_out_alone(products_of(learner, ridge, slice(None)), samples)
    assert found.truth.tolist() == [oracle.truths[i] for i in usable]
    assert_equal(found, [oracle.parts_without(i) for i in usable])
    cosines, truth = cosines_alone(products_of(learner, ridge, slice(None)), samples)
    np.testing.assert_allclose(cosines, found.towards_class / found.norms[:, None], rtol=1e-12)
    np.testing.assert_array_equal(truth, found.truth)


@pytest.mark.parametrize("ridge", [RIDGES[0], RIDGES[3]])
@pytest.mark.parametrize(("seed", "width", "classes", "samples"), CASES)
def test_a_sample_left_out_with_its_prototype(seed: int, width: int, classes: int, samples: int, ridge: float) -> None:
    learner, oracle = taught(seed, width, classes, samples, ridge)
    usable = [i for i, k in enumerate(oracle.truths) if len(oracle.clouds_of(k)) > 1]
    found = left_out_with_prototype(products_of(learner, ridge, slice(None)), samples)
    assert found.truth.tolist() == [oracle.truths[i] for i in usable]
    assert_equal(found, [oracle.parts_without_cloud(i) for i in usable])


@pytest.mark.parametrize("ridge", [RIDGES[0], RIDGES[3]])
@pytest.mark.parametrize("seed", range(4))
def test_a_sample_left_out_with_its_clip(seed: int, ridge: float) -> None:
    stream, places = stream_of_clips(seed, width=20, classes=3, clips=2 + seed % 2)
    learner, oracle = learned_with_oracle(stream, ridge)
    found = learner._reservoir.clips()
    assert [np.flatnonzero(found.of == g).tolist() for g in range(len(found.counts))] == places
    assert found.informative.all()
    samples = len(stream.y)
    products = products_of(learner, ridge, slice(None))
    means = np.array([oracle.stream[place].mean(axis=0) for place in places])
    np.testing.assert_allclose(found.centres, means, atol=2.0**-24)  # they are kept in single precision
    left_out = left_out_with_clip(products, samples, replace(found, centres=means), learner._mean_of_all())
    assert left_out.rows.tolist() == list(range(samples))
    slow = [oracle.parts_without_clip(i, places[found.of[i]]) for i in range(samples)]
    for name in ("towards_class", "nearness", "towards_prototype", "shared", "norms"):
        expected = np.array([getattr(parts, name) for parts in slow])
        np.testing.assert_allclose(getattr(left_out, name), expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


def test_left_out_samples_are_chosen_and_joined() -> None:
    learner, _ = taught(*CASES[1], RIDGES[3])
    samples = CASES[1][-1]
    whole = left_out_alone(products_of(learner, RIDGES[3], slice(None)), samples)
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
    model = ExLLClassifier().partial_fit(stream.X, stream.y)
    assert max(used) <= least
    assert np.isfinite(model.predict_proba(stream.queries)).all()
    assert 0 < model.novelty_threshold() < np.inf
