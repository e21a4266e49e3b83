import numpy as np
import pytest

from exll.learner.glocal import reservoir as reservoir_module
from exll.learner.glocal.clips import SHORTEST_CLIP
from exll.learner.glocal.group_means import MOST_UNNEEDED
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.reservoir import MOST, STRETCH, Reservoir, _positions_after, _scrambled, contents_of
from exll.learner.groups import group_number
from exll.learner.records import NO_GROUP, AllVectors
from exll.linalg.fixed_point import decoded_roughly, encoded
from exll.types import Indices, Matrix, RecordsKind
from support import Stream, random_stream, sample_of, untaught


def vectors_of(samples: int, width: int = 3) -> Matrix:
    X = np.random.default_rng(0).normal(size=(samples, width))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def learned_from(X: Matrix, order: Indices | None = None) -> Reservoir:
    """Each row has its own class and prototype by its place in X; rows come in this order."""
    reservoir = Reservoir(X.shape[1])
    for position, i in enumerate(range(len(X)) if order is None else order.tolist()):
        reservoir.learn(sample_of(X[i], position, group=group_number(i)), i % 7, i % 11, 0.0)
    return reservoir


def with_smallest_keys(X: Matrix) -> list[int]:
    """Of rows that all differ."""
    return sorted(np.argsort(_scrambled(contents_of(encoded(X)[0])))[:MOST].tolist())


@pytest.mark.parametrize("samples", [1, 500, MOST])
def test_while_there_is_room_the_reservoir_holds_every_sample(samples: int) -> None:
    assert learned_from(vectors_of(samples)).positions.tolist() == list(range(samples))


@pytest.mark.parametrize("samples", [MOST + 1, 3 * MOST])
def test_those_with_the_smallest_keys_are_kept_with_all_that_belongs_to_them(samples: int) -> None:
    X = vectors_of(samples)
    reservoir = learned_from(X)
    positions = reservoir.positions
    assert sorted(positions.tolist()) == with_smallest_keys(X)
    np.testing.assert_array_equal(reservoir.vectors, decoded_roughly(*encoded(X[positions])))
    np.testing.assert_array_equal(reservoir.classes, positions % 7)
    np.testing.assert_array_equal(reservoir.prototypes, positions % 11)
    groups = [group_number(i) for i in positions.tolist()]
    assert reservoir.state()["group_ids"].tolist() == groups


@pytest.mark.parametrize("samples", [3 * MOST, 8 * MOST])
def test_every_sample_of_the_stream_is_as_likely_as_any_other(samples: int) -> None:
    positions = learned_from(vectors_of(samples)).positions
    assert len(set(positions.tolist())) == MOST
    expected = MOST / 16
    counts = np.bincount(positions * 16 // samples, minlength=16)
    # Chi-square with 15 degrees of freedom lies above 38 once in a thousand streams.
    assert ((counts - expected) ** 2 / expected).sum() < 38


def test_which_samples_are_kept_does_not_depend_on_their_order() -> None:
    X = vectors_of(2 * MOST)
    order = np.random.default_rng(1).permutation(len(X))
    there = order[learned_from(X, order).positions]
    assert sorted(there.tolist()) == sorted(learned_from(X).positions.tolist())


def test_of_equal_vectors_the_same_number_is_kept_in_whatever_order_they_come() -> None:
    X = vectors_of(2 * MOST)[np.random.default_rng(3).integers(0, MOST, 2 * MOST)]
    whole = learned_from(X).state()["contents"].tolist()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        assert sorted(learned_from(X, order).state()["contents"].tolist()) == sorted(whole)


def test_some_are_those_with_the_smallest_keys() -> None:
    reservoir = learned_from(vectors_of(2 * MOST))
    keys = reservoir.state()["keys"]
    assert len(reservoir.some(MOST)) == len(reservoir.some(2 * MOST)) == MOST
    np.testing.assert_array_equal(keys[reservoir.some(40)], np.sort(keys)[:40])


def test_those_with_the_next_smallest_keys_take_the_places_of_forgotten_ones() -> None:
    X = vectors_of(2 * MOST)
    reservoir = learned_from(X)
    rng = np.random.default_rng(2)
    gone = rng.choice(reservoir.positions, 300, replace=False)
    for i in gone.tolist():
        reservoir.forget(X[i], i % 7, i, group_number(i))
    assert len(reservoir) == MOST - 300
    left = np.setdiff1d(np.arange(len(X)), gone)
    # prototype i of class i % 7 here, so that the class of every sample follows from its prototype
    known = AllVectors(left, left, np.full(len(left), NO_GROUP), *encoded(X[left]))
    reservoir.refill(known, {i: i % 7 for i in range(len(X))})
    assert sorted(reservoir.positions.tolist()) == [int(left[i]) for i in with_smallest_keys(X[left])]
    np.testing.assert_array_equal(reservoir.vectors, decoded_roughly(*encoded(X[reservoir.positions])))
    np.testing.assert_array_equal(reservoir.classes, reservoir.positions % 7)


def places_up_to_format_7(samples: int) -> list[int]:
    """One by one: the sample at position n takes the place that n gives, if there is such a place."""
    kept = list(range(min(samples, MOST)))
    for position in range(MOST, samples):
        place = _scrambled(position) % (position + 1)
        if place < MOST:
            kept[place] = position
    return kept


@pytest.mark.parametrize("samples", [1, MOST - 1, MOST, MOST + 1, 5 * MOST + 7])
def test_in_old_files_their_places_in_the_stream_follow_from_its_length(samples: int) -> None:
    assert _positions_after(samples).tolist() == places_up_to_format_7(samples)


def test_in_old_files_their_places_follow_stretch_by_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = _positions_after(3 * MOST)
    assert 3 * MOST < STRETCH
    monkeypatch.setattr(reservoir_module, "STRETCH", 100)
    np.testing.assert_array_equal(_positions_after(3 * MOST), at_once)


def long_stream() -> Stream:
    return random_stream(4, width=5, classes=4, samples=MOST + 500, repeats=0, queries=2)


@pytest.mark.slow
def test_how_a_stream_is_cut_into_calls_does_not_matter_beyond_the_room_either() -> None:
    stream = long_stream()
    whole, pieces = untaught(5, "glocal", records="none"), untaught(5, "glocal", records="none")
    whole.learn(stream.unit, stream.y)
    for start in range(0, len(stream.y), 37):
        pieces.learn(stream.unit[start : start + 37], stream.y[start : start + 37])
    one, other = whole.state(), pieces.state()
    for name in one:
        if name.startswith(("reservoir.", "judgement.", "glocal.next")):
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("merge", [False, True])
def test_samples_of_the_reservoir_know_their_class_and_the_prototype_that_they_are_in_now(merge: bool) -> None:
    stream = long_stream()
    learner = untaught(5, "glocal")
    assert isinstance(learner, GlocalLearner)
    learner.learn(stream.unit, stream.y)
    labels = list(stream.y)
    if merge:
        learner.rename_class(3, 1)
        labels = [1 if k == 3 else k for k in labels]
    place_of = {row.tobytes(): i for i, row in enumerate(decoded_roughly(*encoded(stream.unit)))}
    cloud_of = {record.position: j for j in learner.supports for record in learner.records(j)}
    reservoir = learner._reservoir
    assert len(reservoir) == MOST
    rows = zip(reservoir.vectors, reservoir.classes, reservoir.prototypes, reservoir.positions, strict=True)
    for x, k, prototype, position in rows:
        assert place_of[x.tobytes()] == position
        assert learner.labels[k] == labels[position]
        assert prototype == cloud_of[position]


@pytest.mark.parametrize("records", ["none", "refs", "vectors", 3])
@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_their_vectors_are_the_same_wherever_they_are_kept_and_in_single_precision(
    records: RecordsKind, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a young stream and beyond the room, and also where they hardly vary."""
    monkeypatch.setattr(reservoir_module, "MOST", 64)
    stream = random_stream(4, width=5, classes=4, samples=150, repeats=0, queries=2)
    X = stream.unit[stream.y] + noise * stream.unit
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    learner = untaught(5, "glocal", records=records)
    assert isinstance(learner, GlocalLearner)
    for rows in (slice(0, 12), slice(12, None)):
        learner.learn(X[rows], stream.y[rows])
        assert ("reservoir.vectors" in learner.state()) == (records != "vectors")
        again = untaught(5, "glocal", records=records)
        assert isinstance(again, GlocalLearner)
        again.restore(learner.labels, learner.state())
        for one in (learner, again):
            reservoir = one._reservoir
            assert len(reservoir) == min(learner.sample_count, 64)
            np.testing.assert_allclose(reservoir.vectors, X[reservoir.positions], rtol=0, atol=1.5e-7)
        np.testing.assert_array_equal(again._reservoir.vectors, learner._reservoir.vectors)


@pytest.mark.parametrize("kind", ["photos", "short clips", "clips", "named groups"])
def test_their_size_does_not_grow_beyond_the_room(kind: str) -> None:
    """Whatever they came in."""
    length = {"photos": 1, "short clips": SHORTEST_CLIP - 1}.get(kind, SHORTEST_CLIP + 1)
    reservoir = Reservoir(4)
    sizes, groups = [], 0
    for position in range(12 * MOST):
        angle = 0.1 * (position % length) + 1e-6 * position
        x = np.array([np.cos(angle), np.sin(angle), 0.0, 0.0])
        group = group_number(position // 3) if kind == "named groups" else None
        reservoir.learn(sample_of(x, position, group=group), position // length % 2, 0, variance=0.5)
        if position % 64 == 0:
            sizes.append(reservoir.nbytes)
            groups = max(groups, len(reservoir.state()["group_counts"]))
    assert (groups > MOST / 2) == (kind in ("clips", "named groups"))
    assert groups <= MOST + MOST_UNNEEDED + 1
    each, one_group, clip = 4 * 4 + 6 * 8, 4 * 8 + 4 * 4, 5 * 8 + 4 * 8 + 4 * 4
    assert MOST * each <= sizes[-1] <= max(sizes) <= MOST * each + groups * one_group + clip + 8
