import numpy as np
import pytest

from exll.learner.exll import ExLL
from exll.learner.glocal.ward import Step, room_for, ward_step
from exll.learner.prototypes import Members
from exll.types import Indices, Matrix, Vector
from support import Stream, random_stream, untaught


def unit_rows(rng: np.random.Generator, count: int, width: int) -> Matrix:
    X = rng.normal(size=(count, width))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def members_at(centres: Matrix, ids: Indices) -> Members:
    return Members(np.arange(len(centres)), ids, centres, np.einsum("ij,ij->i", centres, centres))


def slow_step(x: Vector, centres: Matrix, ids: list[int], supports: list[int], room: int) -> Step:
    """Every pair, the sample among them, in plain loops."""
    if len(centres) < room:
        return Step(None, None)
    points, sizes = [*centres, x], [*supports, 1]
    half = max(2.0, sum(sizes) / 2)
    cheapest: dict[bool, tuple[float, int, int]] = {}
    for a in range(len(points)):
        for b in range(a + 1, len(points)):
            cost = (
                sizes[a] * sizes[b] / (sizes[a] + sizes[b]) * float((points[a] - points[b]) @ (points[a] - points[b]))
            )
            small = sizes[a] + sizes[b] <= half
            if small not in cheapest or cost < cheapest[small][0]:
                cheapest[small] = cost, a, b
    _, a, b = cheapest[max(cheapest)]
    if b == len(centres):
        return Step(a, None)
    stays, goes = sorted((a, b), key=lambda j: (-supports[j], ids[j]))
    return Step(None, (stays, goes))


def test_a_step_is_that_of_plain_loops_over_all_pairs() -> None:
    rng = np.random.default_rng(0)
    steps = set()
    for _ in range(400):
        count, width = int(rng.integers(1, 9)), int(rng.integers(2, 7))
        x, centres = unit_rows(rng, 1, width)[0], unit_rows(rng, count, width) * rng.uniform(0.5, 1, (count, 1))
        ids, supports = rng.permutation(50)[:count], rng.integers(1, 12, count)
        room = int(rng.integers(1, count + 2))
        step = ward_step(x, members_at(centres, ids), supports, room)
        assert step == slow_step(x, centres, ids.tolist(), supports.tolist(), room)
        steps.add((step.joins is None, step.merges is None))
    assert steps == {(True, True), (False, True), (True, False)}  # opens, joins, opens after a merge


def test_the_cheapest_pair_adds_least_to_the_sum_of_squares() -> None:
    rng = np.random.default_rng(1)
    members = [unit_rows(rng, size, 4) for size in (1, 3, 2, 4, 5)]
    x = unit_rows(rng, 1, 4)
    groups = [*members, x]

    def squares(rows: Matrix) -> float:
        return float(((rows - rows.mean(axis=0)) ** 2).sum())

    added = {
        (a, b): squares(np.concatenate([groups[a], groups[b]])) - squares(groups[a]) - squares(groups[b])
        for a in range(6)
        for b in range(a + 1, 6)
        if len(groups[a]) + len(groups[b]) <= 8
    }
    a, b = min(added, key=added.__getitem__)
    centres = np.array([rows.mean(axis=0) for rows in members])
    step = ward_step(x[0], members_at(centres, np.arange(5)), np.array([1, 3, 2, 4, 5]), 5)
    assert {a, b} == ({step.joins, 5} if step.merges is None else set(step.merges))


def test_room_grows_slowly_and_stays_below_the_limit() -> None:
    rooms = [room_for(samples, None) for samples in range(1, 3000)]
    assert rooms == sorted(rooms)
    assert [room_for(samples, None) for samples in (3, 30, 1000)] == [2, 5, 15]
    assert [room_for(samples, 4) for samples in (3, 30, 1000)] == [2, 4, 4]
    assert room_for(1000, 1) == 1


def clustered(seed: int, classes: int = 2, samples: int = 160) -> Stream:
    """Every class lies in a few clumps of very different sizes."""
    rng = np.random.default_rng(seed)
    clumps = rng.normal(size=(classes, 5, 8))
    y = rng.integers(0, classes, samples)
    which = rng.choice(5, samples, p=[0.7, 0.15, 0.1, 0.03, 0.02])
    X = clumps[y, which] + 0.05 * rng.normal(size=(samples, 8))
    numbers: dict[int, int] = {}
    return Stream(X, [numbers.setdefault(int(k), len(numbers)) for k in y], X)


def clouds_of(learner: ExLL) -> dict[int, list[int]]:
    """The places in the stream of the samples of every prototype."""
    return {j: [record.position for record in learner.records(j)] for j in learner.supports}


@pytest.mark.parametrize("most", [None, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_prototypes_are_few_balanced_and_the_means_of_their_own(seed: int, most: int | None) -> None:
    stream = clustered(seed)
    learner = untaught(8, "glocal", records="vectors", max_prototypes=most)
    for i in range(len(stream.y)):
        learner.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
        k = stream.y[i]
        megacloud = learner.megacloud(k)
        assert len(megacloud.prototypes) <= room_for(megacloud.count, most)
        if most is None and megacloud.count >= 20:
            assert max(learner.supports[j] for j in megacloud.prototypes.tolist()) <= megacloud.count / 2
    centres, ids, class_of = learner.centres
    for centre, j, k in zip(centres, ids.tolist(), class_of.tolist(), strict=True):
        positions = clouds_of(learner)[j]
        assert {stream.y[i] for i in positions} == {k}
        np.testing.assert_allclose(centre, stream.unit[positions].mean(axis=0), atol=1e-12)
        kept = np.array([record.vector for record in learner.records(j)], np.float64)
        np.testing.assert_allclose(centre, kept.mean(axis=0), atol=1e-3)


@pytest.mark.parametrize("records", ["refs", "vectors"])
def test_samples_once_together_stay_together_and_an_id_never_comes_back(records: str) -> None:
    stream = random_stream(3, width=6, classes=3, samples=260)
    learner = untaught(6, "glocal", records=records)  # type: ignore[arg-type]
    gone: set[int] = set()
    before: dict[int, list[int]] = {}
    merges = 0
    for i in range(len(stream.y)):
        learner.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
        now = clouds_of(learner)
        assert sorted(position for positions in now.values() for position in positions) == list(range(i + 1))
        assert {j: len(positions) for j, positions in now.items()} == learner.supports
        holder = {position: j for j, positions in now.items() for position in positions}
        for j, positions in before.items():
            assert len({holder[position] for position in positions}) == 1
            if j in now:
                assert set(positions) <= set(now[j])
        retired, opened = before.keys() - now.keys(), now.keys() - before.keys()
        assert not opened & gone
        assert all(j > max(before, default=-1) for j in opened)
        gone |= retired
        merges += len(retired)
        before = now
    assert merges > 20


def test_the_smaller_of_two_is_merged_into_the_larger() -> None:
    stream = random_stream(5, width=6, classes=2, samples=200)
    learner = untaught(6, "glocal")
    checked = 0
    for i in range(200):
        before = clouds_of(learner)
        learner.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
        now = clouds_of(learner)
        for retired in before.keys() - now.keys():
            (kept,) = (j for j, positions in now.items() if before[retired][0] in positions)
            assert (-len(before[kept]), kept) < (-len(before[retired]), retired)
            checked += 1
    assert checked > 10


def test_only_the_nearest_samples_are_kept_of_two_that_became_one() -> None:
    stream = random_stream(7, width=6, classes=2, samples=120)
    learner = untaught(6, "glocal", records=3)
    learner.learn(stream.unit, stream.y)
    assert all(len(learner.records(j)) == min(3, support) for j, support in learner.supports.items())
    assert learner._records.prototypes() == set(learner.supports)


def test_edges_follow_the_prototypes_that_were_merged() -> None:
    # Each sample but a class's first draws one edge; a merge drops those between the two that became one.
    stream = random_stream(3, width=6, classes=1, samples=200)
    learner = untaught(6, "glocal")
    drawn = 0
    for i in range(200):
        learner.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
        edges = learner.megacloud(0).edges
        assert sum(edges.values()) <= drawn + (i > 0)
        assert {j for pair in edges for j in pair} <= set(learner.supports)
        drawn = sum(edges.values())
    assert drawn > 50


def test_equal_samples_share_prototypes_and_the_model_stays_small() -> None:
    x = random_stream(5, width=8, classes=1, samples=1).unit
    learner = untaught(8, "glocal")
    learner.learn(np.repeat(x, 60, axis=0), [0] * 60)
    assert learner.prototype_count <= room_for(60, None)
    assert sum(learner.supports.values()) == 60
    np.testing.assert_allclose(learner.centres[0], np.repeat(x, learner.prototype_count, axis=0), atol=1e-12)
