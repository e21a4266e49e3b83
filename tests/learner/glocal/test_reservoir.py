import numpy as np
import pytest

from exll.learner.glocal import reservoir as reservoir_module
from exll.learner.glocal.clips import SHORTEST_CLIP
from exll.learner.glocal.group_means import MOST_UNNEEDED
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.reservoir import MOST, STRETCH, Reservoir, _positions_after, group_number
from exll.linalg.half_precision import halved
from exll.types import Indices, RecordsKind
from support import Stream, random_stream, untaught


def positions_after(samples: int) -> Indices:
    """The places in the stream of those kept, by their place among them."""
    reservoir = Reservoir(1)
    for position in range(samples):
        reservoir.learn(position, np.array([position / 2**16]), position % 7, position % 11, None, 0.0)
    np.testing.assert_array_equal(reservoir.vectors(None)[:, 0], reservoir.positions / 2**16)
    positions = reservoir.positions
    np.testing.assert_array_equal(reservoir.classes, positions % 7)
    np.testing.assert_array_equal(reservoir.prototypes, positions % 11)
    return positions


@pytest.mark.parametrize("samples", [1, 500, MOST])
def test_while_there_is_room_the_reservoir_holds_every_sample(samples: int) -> None:
    assert positions_after(samples).tolist() == list(range(samples))


@pytest.mark.parametrize("samples", [3 * MOST, 8 * MOST, 40 * MOST])
def test_every_sample_of_the_stream_is_as_likely_as_any_other(samples: int) -> None:
    positions = positions_after(samples)
    assert len(set(positions.tolist())) == MOST
    expected = MOST / 16
    counts = np.bincount(positions * 16 // samples, minlength=16)
    # Chi-square with 15 degrees of freedom lies above 38 once in a thousand streams.
    assert ((counts - expected) ** 2 / expected).sum() < 38


@pytest.mark.parametrize("samples", [1, MOST - 1, MOST, MOST + 1, 5 * MOST + 7])
def test_their_places_in_the_stream_follow_from_its_length(samples: int) -> None:
    np.testing.assert_array_equal(_positions_after(samples), positions_after(samples))


def test_their_places_follow_stretch_by_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
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
    place_of = {row.tobytes(): i for i, row in enumerate(halved(stream.unit))}
    cloud_of = {record.position: j for j in learner.supports for record in learner.records(j)}
    reservoir = learner._reservoir
    assert len(reservoir) == MOST
    vectors = reservoir.vectors(None).astype(np.float16)
    for x, k, prototype in zip(vectors, reservoir.classes, reservoir.prototypes, strict=True):
        position = place_of[x.tobytes()]
        assert learner.labels[k] == labels[position]
        assert prototype == cloud_of[position]


@pytest.mark.parametrize("records", ["none", "refs", "vectors", 3])
def test_their_vectors_are_the_same_wherever_they_are_kept(records: RecordsKind) -> None:
    stream = long_stream()
    learner = untaught(5, "glocal", records=records)
    assert isinstance(learner, GlocalLearner)
    learner.learn(stream.unit, stream.y)
    reservoir = learner._reservoir
    assert ("vectors" in reservoir.state()) == (records != "vectors")
    vectors = reservoir.vectors(learner._records.vectors)
    np.testing.assert_array_equal(vectors, halved(stream.unit)[_positions_after(len(stream.y))])


def test_vectors_that_hardly_vary_stay_in_single_precision() -> None:
    rng = np.random.default_rng(0)
    for noise, rounded in ((0.001, False), (0.1, True)):
        X = rng.normal(size=(3, 10))[[0, 1, 2] * 20] + noise * rng.normal(size=(60, 10))
        learner = untaught(10, "glocal", records="none")
        assert isinstance(learner, GlocalLearner)
        learner.learn(X / np.linalg.norm(X, axis=1, keepdims=True), [0, 1, 2] * 20)
        assert learner._reservoir.rounded == rounded


@pytest.mark.parametrize("records", ["none", "refs", "vectors", 3])
def test_while_the_stream_is_young_their_vectors_are_in_single_precision(records: RecordsKind) -> None:
    stream = random_stream(4, width=30, classes=4, samples=40)
    learner = untaught(30, "glocal", records=records)
    assert isinstance(learner, GlocalLearner)
    for i, x in enumerate(stream.unit):
        learner.learn(x[None], stream.y[i : i + 1])
        expected = stream.unit[: i + 1].astype(np.float32)
        if i + 1 >= 15:  # half as many as there are columns
            expected = halved(expected).astype(np.float32)
        np.testing.assert_array_equal(learner._reservoir.vectors(learner._records.vectors), expected)
    assert learner._reservoir.rounded


@pytest.mark.parametrize("kind", ["photos", "short clips", "clips", "named groups"])
def test_their_size_does_not_grow_beyond_the_room(kind: str) -> None:
    """Whatever they came in."""
    length = {"photos": 1, "short clips": SHORTEST_CLIP - 1}.get(kind, SHORTEST_CLIP + 1)
    reservoir = Reservoir(4)
    reservoir.round_vectors(None)
    sizes, groups = [], 0
    for position in range(12 * MOST):
        angle = 0.1 * (position % length)
        x = np.array([np.cos(angle), np.sin(angle), 0.0, 0.0])
        group = group_number(position // 3) if kind == "named groups" else None
        reservoir.learn(position, x, position // length % 2, 0, group, variance=0.5)
        if position % 64 == 0:
            sizes.append(reservoir.nbytes)
            groups = max(groups, len(reservoir.state()["group_counts"]))
    assert (groups > MOST / 2) == (kind in ("clips", "named groups"))
    assert groups <= MOST + MOST_UNNEEDED + 1
    each, one_group, clip = 4 * 2 + 4 * 8, 3 * 8 + 4 * 4, 4 * 8 + 4 * 8 + 4 * 4
    assert MOST * each <= sizes[-1] <= max(sizes) <= MOST * each + groups * one_group + clip
