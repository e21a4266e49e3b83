"""Models that are merged are one that learned all their samples."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exll.learner.exll import ExLL, Learned
from exll.learner.glocal import reservoir
from exll.learner.glocal.learner import MOST_UNTIL_RENEWAL, GlocalLearner
from exll.learner.glocal.ward import room_for
from exll.learner.paper.learner import PaperLearner
from exll.types import Label, RecordsKind
from support import Stream, both_presets, random_stream, scatter_matrix, untaught

Parts = list[list[int]]


@st.composite
def splits(draw: st.DrawFn) -> tuple[Stream, Parts]:
    """A stream, and the places of the samples that each of two to four learners gets, in an order of their own."""
    stream = random_stream(
        draw(st.integers(0, 10_000)),
        width=draw(st.integers(2, 12)),
        classes=draw(st.integers(1, 5)),
        samples=draw(st.integers(4, 60)),
        repeats=draw(st.sampled_from([0.0, 0.3])),
        queries=10,
    )
    order = draw(st.permutations(range(len(stream.y))))
    cuts = sorted(draw(st.sets(st.integers(1, len(stream.y) - 1), min_size=1, max_size=3)))
    return stream, [list(part) for part in np.split(np.array(order), cuts)]


def taught(
    stream: Stream,
    places: Sequence[int],
    preset: str = "glocal",
    records: RecordsKind = "vectors",
    gather: bool = False,
) -> ExLL:
    learner = untaught(stream.X.shape[1], preset, records=records)
    if gather:
        assert learner.gather()
    learner.learn(stream.unit[places], [f"c{stream.y[i]}" for i in places], [f"photo {i}.jpg" for i in places])
    return learner


def merged(learners: Sequence[ExLL]) -> ExLL:
    """By one that has learned nothing yet."""
    whole = untaught(learners[0].width, learners[0].parameters.preset, records=learners[0].parameters.records)
    for learner in learners:
        whole.absorb(learner)
    return whole


def by_label(learner: ExLL) -> dict[Label, int]:
    return {label: k for k, label in enumerate(learner.labels)}


def assert_same_means(one: ExLL, other: ExLL) -> None:
    mine, theirs = by_label(one), by_label(other)
    assert mine.keys() == theirs.keys()
    assert one.sample_count == other.sample_count
    rows = [theirs[label] for label in one.labels]
    np.testing.assert_array_equal(one._megaclouds.counts, other._megaclouds.counts[rows])
    np.testing.assert_allclose(one._megaclouds.vectors, other._megaclouds.vectors[rows], rtol=0, atol=1e-9)
    np.testing.assert_allclose(one._statistics.mean, other._statistics.mean, rtol=0, atol=1e-9)


def assert_same_sums(one: ExLL, other: ExLL) -> None:
    assert_same_means(one, other)
    expected = scatter_matrix(other._statistics.scatter) / other.sample_count
    found = scatter_matrix(one._statistics.scatter) / one.sample_count
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def assert_well_formed(learner: ExLL, samples: int, times: int = 1) -> None:
    """With at most so many times the prototypes that there is room for."""
    for k in range(learner.class_count):
        cloud = learner.megacloud(k)
        assert sum(learner.supports[j] for j in cloud.prototypes) == cloud.count
        if isinstance(learner, GlocalLearner):
            assert len(cloud.prototypes) <= times * room_for(cloud.count, learner.parameters.max_prototypes)
        for j in cloud.prototypes:
            kept = learner.records(j)
            assert len(kept) == learner.supports[j]
            vectors = np.array([record.vector for record in kept], np.float64)
            row = learner._prototypes.ids.tolist().index(j)
            np.testing.assert_allclose(learner._prototypes.vectors[row], vectors.mean(axis=0), rtol=0, atol=1e-8)
    assert learner.sample_count == samples


def labels_of_refs(learner: ExLL) -> dict[str | None, Label]:
    found = {}
    for k, label in enumerate(learner.labels):
        for _, _, record in learner.remembered_class(k):
            found[record.ref] = label
    return found


def contents(learner: ExLL) -> list[tuple[int, Label]]:
    """Of the reservoir."""
    assert isinstance(learner, GlocalLearner)
    kept = learner._reservoir
    return sorted(zip(kept.state()["contents"].tolist(), [learner.labels[k] for k in kept.classes], strict=True))


@given(splits())
@settings(max_examples=30, deadline=None)
def test_merged_models_are_one_that_learned_all_samples_in_whatever_order(split: tuple[Stream, Parts]) -> None:
    stream, parts = split
    whole = taught(stream, range(len(stream.y)))
    for order in (parts, parts[::-1]):
        one = merged([taught(stream, part) for part in order])
        assert_same_sums(one, whole)
        assert_well_formed(one, len(stream.y), MOST_UNTIL_RENEWAL)
        assert (
            labels_of_refs(one) == labels_of_refs(whole) == {f"photo {i}.jpg": f"c{k}" for i, k in enumerate(stream.y)}
        )
        assert contents(one) == contents(whole)
        one.renew()
        assert_same_sums(one, whole)
        assert_well_formed(one, len(stream.y))
        assert contents(one) == contents(whole)
        probabilities = one.inference().posteriors(stream.unit_queries, "fused")[1]
        assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_beyond_the_room_the_reservoir_is_that_of_one_learner(
    order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservoir, "MOST", 40)
    stream = random_stream(3, width=6, classes=4, samples=180, repeats=0)
    parts = [range(15), range(15, 90), range(90, 180)]  # the first holds all of its own
    one = merged([taught(stream, parts[i]) for i in order])
    assert len(contents(one)) == 40
    assert contents(one) == contents(taught(stream, range(180)))
    one.renew()
    assert contents(one) == contents(taught(stream, range(180)))


@both_presets
@pytest.mark.parametrize("records", ["none", "refs", "vectors", 2])
def test_a_merged_model_can_be_saved_and_goes_on(preset: str, records: RecordsKind) -> None:
    stream = random_stream(4, width=6, classes=4, samples=90, repeats=0)
    parts = [range(40), range(40, 70)]
    models = []
    for renew_first in (False, True):
        one = merged([taught(stream, part, preset, records) for part in parts])
        if renew_first:
            one.renew()
        again = untaught(6, preset, records=records)
        again.restore(one.labels, {name: array.copy() for name, array in one.state().items()})
        models += [one, again]
    for model in models:
        model.learn(stream.unit[70:], [f"c{k}" for k in stream.y[70:]])
        expected = models[0].state()
        for name, array in model.state().items():
            np.testing.assert_allclose(array, expected[name], rtol=1e-6, atol=1e-9, err_msg=name)
    assert_same_means(models[0], taught(stream, range(90), preset, records))


def test_pairs_of_the_preset_paper_add_up() -> None:
    stream = random_stream(5, width=6, classes=4, samples=120, repeats=0)
    parts = [list(range(50)), list(range(119, 49, -1))]  # the labels come in another order
    learners = [taught(stream, part, "paper") for part in parts]
    apart = stream.unit[parts[0]].mean(axis=0) - stream.unit[parts[1]].mean(axis=0)
    scatter = sum(scatter_matrix(learner._statistics.scatter) for learner in learners)
    assert learners[0].labels != learners[1].labels
    expected: dict[tuple[Label, ...], int] = {}
    for learner in learners:
        for key, count in pair_counts(learner).items():
            expected[key] = expected.get(key, 0) + count
    one = merged(learners)
    assert pair_counts(one) == expected
    assert sum(expected.values()) == 120 - 2  # not the first of either
    assert_same_means(one, taught(stream, range(120), "paper"))
    # Eq. 4 depends on the order; what lies between the means of the two is added to what each of them has.
    scatter = scatter + 50 * 70 / 120 * np.outer(apart, apart)
    np.testing.assert_allclose(scatter_matrix(one._statistics.scatter), scatter, rtol=0, atol=1e-9)
    assert_well_formed(one, 120)
    assert labels_of_refs(one) == {f"photo {i}.jpg": f"c{k}" for i, k in enumerate(stream.y)}


def pair_counts(learner: ExLL) -> dict[tuple[Label, ...], int]:
    assert isinstance(learner, PaperLearner)
    return {
        (learner.labels[one], learner.labels[other], learner.labels[truth]): count
        for (one, other), truths in learner._fusion.counts.items()
        for truth, count in truths.items()
    }


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_gathered_parts_have_the_lift_of_all_samples(order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("learner", "reservoir"):
        monkeypatch.setattr(f"exll.learner.glocal.{module}.MOST", 100)
    stream = random_stream(6, width=6, classes=4, samples=240, repeats=0)
    parts = [range(30), range(30, 140), range(140, 240)]
    one = merged([taught(stream, parts[i], gather=True) for i in order])
    whole = taught(stream, range(240))
    assert isinstance(one, GlocalLearner)
    assert isinstance(whole, GlocalLearner)
    assert_same_sums(one, whole)
    assert_well_formed(one, 240, MOST_UNTIL_RENEWAL)
    one.renew()
    assert one._lift.begun
    np.testing.assert_array_equal(one._lift.state()["centre"], whole._lift.state()["centre"])
    lifted, expected = one._lift.classes(), whole._lift.classes()
    rows = [by_label(whole)[label] for label in one.labels]
    np.testing.assert_array_equal(lifted.counts, expected.counts[rows])
    np.testing.assert_allclose(lifted.means, expected.means[rows], atol=1e-5)
    dots = lifted.dots(stream.unit_queries)
    np.testing.assert_allclose(dots, expected.dots(stream.unit_queries)[:, rows], rtol=1e-3, atol=1e-3)


def test_with_other_centres_the_lift_is_made_anew_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("learner", "reservoir"):
        monkeypatch.setattr(f"exll.learner.glocal.{module}.MOST", 100)
    stream = random_stream(6, width=6, classes=3, samples=260, repeats=0)
    stream.X[:130] += 20 * np.linalg.norm(stream.X[:130], axis=1, keepdims=True) * np.eye(6)[0]
    parts = [taught(stream, range(130)), taught(stream, range(130, 260))]
    centres = [part.state()["lift.centre"].tolist() for part in parts]
    assert centres[0] != centres[1]
    one = merged(parts)
    assert isinstance(one, GlocalLearner)
    one.renew()
    assert one._lift.begun
    assert int(one._lift.classes().counts.sum()) == 260
    np.testing.assert_array_equal(one._lift.state()["centre"], np.rint(stream.unit.mean(axis=0)))


def test_what_one_of_them_forgot_stays_forgotten() -> None:
    stream = random_stream(8, width=6, classes=3, samples=80, repeats=0)
    first, second = taught(stream, range(40)), taught(stream, range(40, 80))
    for learner, place in ((first, 5), (second, 60)):
        ((k, prototype, record),) = learner.remembered(refs=[f"photo {place}.jpg"])
        assert record.vector is not None
        learner.forget([Learned(record.vector, k, prototype, record.position, record.group)])
    one, left = merged([first, second]), [i for i in range(80) if i not in (5, 60)]
    never = taught(stream, left)
    assert_same_sums(one, never)
    one.renew()
    assert_well_formed(one, 78)
    assert contents(one) == contents(never)
    assert labels_of_refs(one) == {f"photo {i}.jpg": f"c{stream.y[i]}" for i in left}


def test_a_learner_that_gathered_is_as_good_as_one_that_learned_once_it_was_absorbed() -> None:
    stream = random_stream(7, width=6, classes=4, samples=150, repeats=0)
    parts = [range(70), range(70, 150)]
    gathered = merged([taught(stream, part, gather=True) for part in parts])
    learned = merged([taught(stream, part) for part in parts])
    found, expected = (one.inference().posteriors(stream.unit_queries, "fused")[1] for one in (gathered, learned))
    np.testing.assert_allclose(found, expected, atol=1e-9)
