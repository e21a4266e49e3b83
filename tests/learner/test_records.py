from collections.abc import Sequence

import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.records import NearestRecords, Records, new_records
from exll.saving.strings import strings_from_tensors, strings_to_tensors
from exll.types import Group, RecordsKind
from support import random_stream, sample_of

STREAM = random_stream(8, samples=200, classes=3, width=10)
REFS = [f"photo {i}.jpg" for i in range(200)]


def taught(records: RecordsKind, groups: Sequence[Group] | None = None) -> ExLLClassifier:
    return ExLLClassifier("paper", records=records).partial_fit(STREAM.X, STREAM.y, refs=REFS, groups=groups)


def all_records(classifier: ExLLClassifier) -> dict[int, list[str | None]]:
    learner = classifier.learner_
    return {j: [record.ref for record in learner.records(j)] for j in range(learner.prototype_count)}


def test_refs_hold_every_sample_once_in_the_order_of_the_stream() -> None:
    classifier = taught("refs")
    found = all_records(classifier)
    assert sorted(ref for refs in found.values() for ref in refs if ref) == sorted(REFS)
    for j, refs in found.items():
        assert len(refs) == classifier.learner_.supports[j]
        assert refs == sorted(refs, key=lambda ref: REFS.index(ref or ""))
    assert classifier.learner_.records(0)[0].vector is None


def test_vectors_are_the_unit_vectors_to_nine_digits() -> None:
    learner = taught("vectors").learner_
    for j in range(learner.prototype_count):
        kept = np.array([record.vector for record in learner.records(j)], np.float64)
        np.testing.assert_allclose(kept, STREAM.unit[[r.position for r in learner.records(j)]], rtol=0, atol=3e-10)
        np.testing.assert_allclose(kept.mean(axis=0), learner._prototypes.vectors[j], rtol=0, atol=3e-10)


def test_none_holds_nothing() -> None:
    classifier = taught("none")
    assert not any(all_records(classifier).values())
    assert "prototype 0 (" in str(classifier.rules("class")[0])


def test_an_integer_keeps_that_many_near_the_centre() -> None:
    few, every = taught(3).learner_, taught("vectors").learner_
    for j in range(few.prototype_count):
        kept = few.records(j)
        assert len(kept) == min(3, few.supports[j])
        centre = few._prototypes.vectors[j]
        distances = [float(np.linalg.norm(np.float64(r.vector) - centre)) for r in every.records(j)]
        farthest_kept = max(float(np.linalg.norm(np.float64(r.vector) - centre)) for r in kept)
        assert farthest_kept <= np.median(distances) + 1e-3 or len(distances) <= 6


def test_the_farthest_goes_when_room_runs_out() -> None:
    records = NearestRecords(2, 2)
    centre = np.array([1.0, 0.0])
    for position, x in enumerate(([1.0, 0.0], [0.0, 1.0], [0.8, 0.6])):
        records.add(0, sample_of(np.array(x), position), centre)
    assert [record.position for record in records.of(0)] == [0, 2]


def test_records_are_counted_in_the_size() -> None:
    sizes = {kind: taught(kind).nbytes_ for kind in ("none", 2, "refs", "vectors")}
    # A vector of 10 is 40 bytes and a scale of 8; the names and places are there in both.
    assert sizes["vectors"] - sizes["refs"] == 200 * 48
    assert sizes["none"] < sizes[2] < sizes["vectors"]


def test_samples_without_a_ref_are_named_by_their_place() -> None:
    classifier = ExLLClassifier("paper").partial_fit(STREAM.X[:1], STREAM.y[:1])
    assert classifier.learner_.records(0)[0].name == "sample 1"


@pytest.mark.parametrize("strings", [[], [""], ["", "a", ""], ["Käse", "日本", "\udcff.jpg"], ["x" * 1000]])
def test_strings_survive_tensors(strings: list[str]) -> None:
    assert strings_from_tensors("s", strings_to_tensors("s", strings)) == strings


def test_records_of_every_kind_survive_their_state() -> None:
    kinds: tuple[RecordsKind, ...] = ("none", "refs", "vectors", 3)
    for kind in kinds:
        learner = taught(kind, [f"day {i}" if i % 3 else None for i in range(200)]).learner_
        again = new_records(kind, 10)
        again.restore(learner._records.state())
        assert len(again) == len(learner._records)
        for j in range(learner.prototype_count):
            for one, other in zip(again.of(j), learner.records(j), strict=True):
                assert (one.position, one.ref, one.group) == (other.position, other.ref, other.group)
                assert (one.vector is None) == (other.vector is None)
                if one.vector is not None:
                    np.testing.assert_array_equal(one.vector, other.vector)
        assert again.nbytes == learner._records.nbytes


@pytest.mark.parametrize("kind", ["none", "refs", "vectors", 3])
def test_refs_can_be_renamed_and_those_without_stay_so(kind: RecordsKind) -> None:
    records = new_records(kind, 2)
    for position, ref in enumerate(["a", None, "b"]):
        records.add(7, sample_of(np.array([1.0, 0.0]), position, ref), np.array([1.0, 0.0]))
    before = records.nbytes
    records.rename(lambda ref: f"mug/{ref}.jpg")
    assert [record.ref for record in records.of(7)] == ([] if kind == "none" else ["mug/a.jpg", None, "mug/b.jpg"])
    assert records.nbytes - before == (0 if kind == "none" else 16)


@pytest.mark.parametrize("kind", ["vectors", 5])
def test_the_closest_records_come_first(kind: RecordsKind) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    records = new_records(kind, 6)
    for i, x in enumerate(vectors):
        records.add(i % 2, sample_of(x, i, f"{i}.jpg"), vectors[i % 2])
    x = vectors[0]
    kept = {record.position for record in records.of(1)}
    expected = sorted(kept, key=lambda i: -(vectors[i] @ x))[:4]
    found = records.closest(1, x, 4)
    assert [record.position for record, _ in found] == expected
    np.testing.assert_allclose([cosine or 0.0 for _, cosine in found], vectors[expected] @ x, atol=1e-6)


@pytest.mark.parametrize("kind", ["none", "refs", "vectors", 3])
def test_the_prototype_of_a_sample_is_found_by_its_position_after_merges_too(kind: RecordsKind) -> None:
    records, x = new_records(kind, 2), np.array([1.0, 0.0])
    for position in range(12):
        records.add(position % 4, sample_of(x, position), x)
    records.merge_prototypes(1, 3, x)
    records.merge_prototypes(0, 1, x)
    remembered = {record.position: prototype for prototype in (0, 2) for record in records.of(prototype)}
    assert {record.position: prototype for prototype, record in records.at(range(12))} == remembered
    assert [record.position for _, record in records.at([7])] == ([7] if 7 in remembered else [])


def test_without_vectors_the_oldest_come_first() -> None:
    records = new_records("refs", 3)
    for i in range(5):
        records.add(0, sample_of(np.eye(3)[0], i), np.eye(3)[0])
    assert [(r.position, cosine) for r, cosine in records.closest(0, np.eye(3)[1], 2)] == [(0, None), (1, None)]
    assert new_records("none", 3).closest(0, np.eye(3)[1], 2) == []


def three_of_each(kind: RecordsKind) -> Records:
    """Samples 0 to 8 of prototypes 0 to 2, in turn; every second of group -5."""
    records, X = new_records(kind, 3), STREAM.unit[:9, :3]
    for i, x in enumerate(X / np.linalg.norm(X, axis=1, keepdims=True)):
        records.add(i % 3, sample_of(x, i, f"{i}.jpg", -5 if i % 2 else None), x)
    return records


@pytest.mark.parametrize("kind", ["refs", "vectors", 3])
def test_a_forgotten_sample_is_nowhere_and_the_others_keep_their_positions(kind: RecordsKind) -> None:
    records = three_of_each(kind)
    before = {position: record for position in range(9) for _, record in records.at([position])}
    for gone in (4, 0, 7, 1, 8, 3):  # prototype 1 is without any in the end
        records.forget(gone)
        del before[gone]
        assert records.at([gone]) == []
        assert len(records) == len(before)
        again = new_records(kind, 3)
        again.restore(records.state())
        for one in (records, again):
            assert sorted(record.position for j in one.prototypes() for record in one.of(j)) == sorted(before)
            for position, record in before.items():
                ((prototype, found),) = one.at([position])
                assert (prototype, found.ref, found.group) == (position % 3, record.ref, record.group)
                if kind != "refs":
                    np.testing.assert_array_equal(found.vector, record.vector)
            assert one.positions_of(refs=[f"{gone}.jpg"]) == []
            assert one.positions_of(groups=[-5]) == [position for position in sorted(before) if position % 2]
        assert again.nbytes == records.nbytes
    records.forget(4)  # once more
    assert len(records) == len(before) == 3
    records.add(2, sample_of(np.eye(3)[0], 9, "new.jpg"), np.eye(3)[0])
    assert records.positions_of(refs=["new.jpg", "2.jpg"]) == [2, 9]


@pytest.mark.parametrize("kind", ["refs", "vectors", 3])
def test_shared_records_stay_as_they_were_when_samples_are_forgotten(kind: RecordsKind) -> None:
    records = three_of_each(kind)
    shared, before = records.shared(), [record for _, record in records.at(range(9))]
    for gone in (4, 0, 7, 1):
        records.forget(gone)
    for was, (_, found) in zip(before, shared.at(range(9)), strict=True):
        assert (found.position, found.ref, found.group) == (was.position, was.ref, was.group)
        if kind != "refs":
            np.testing.assert_array_equal(found.vector, was.vector)


@pytest.mark.parametrize("kind", ["none", "refs", "vectors", 3])
def test_records_of_another_learner_are_counted_on(kind: RecordsKind) -> None:
    one, other = three_of_each(kind), three_of_each(kind)
    other.forget(3)
    other.merge_prototypes(2, 1, np.eye(3)[0])
    theirs = other.at(range(9))
    one.absorb(other, 3, 9)
    found = one.at(range(18))
    assert [(j, record.position) for j, record in found if record.position < 9] == [
        (record.position % 3, record.position) for _, record in three_of_each(kind).at(range(9))
    ]
    assert sorted((j - 3, record.position - 9, record.ref) for j, record in found if record.position >= 9) == sorted(
        (j, record.position, record.ref) for j, record in theirs
    )
    assert len(one) == (0 if kind == "none" else 9 + len(theirs))
