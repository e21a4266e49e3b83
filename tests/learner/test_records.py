import numpy as np
import pytest

from exll import ExLLClassifier
from exll.learner.records import NearestRecords, new_records
from exll.linalg.half_precision import halved, widened
from exll.saving.strings import strings_from_tensors, strings_to_tensors
from exll.types import RecordsKind
from support import random_stream

STREAM = random_stream(8, samples=200, classes=3, width=10)
REFS = [f"photo {i}.jpg" for i in range(200)]


def taught(records: RecordsKind) -> ExLLClassifier:
    return ExLLClassifier("paper", records=records).partial_fit(STREAM.X, STREAM.y, refs=REFS)


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


def test_vectors_are_the_unit_vectors_to_half_precision() -> None:
    learner = taught("vectors").learner_
    for j in range(learner.prototype_count):
        kept = np.array([record.vector for record in learner.records(j)], np.float64)
        np.testing.assert_allclose(kept, STREAM.unit[[r.position for r in learner.records(j)]], atol=1e-3)
        np.testing.assert_allclose(kept.mean(axis=0), learner._prototypes.vectors[j], atol=1e-3)


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
        records.add(0, position, None, np.array(x), centre)
    assert [record.position for record in records.of(0)] == [0, 2]


def test_records_are_counted_in_the_size() -> None:
    sizes = {kind: taught(kind).nbytes_ for kind in ("none", 2, "refs", "vectors")}
    # A vector of 10 in float16 is 20 bytes; the names and places are there in both.
    assert sizes["vectors"] - sizes["refs"] == 200 * 20
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
        learner = taught(kind).learner_
        again = new_records(kind, 10)
        again.restore(learner._records.state())
        assert len(again) == len(learner._records)
        for j in range(learner.prototype_count):
            for one, other in zip(again.of(j), learner.records(j), strict=True):
                assert (one.position, one.ref) == (other.position, other.ref)
        assert again.nbytes == learner._records.nbytes


@pytest.mark.parametrize("kind", ["none", "refs", "vectors", 3])
def test_refs_can_be_renamed_and_those_without_stay_so(kind: RecordsKind) -> None:
    records = new_records(kind, 2)
    for position, ref in enumerate(["a", None, "b"]):
        records.add(7, position, ref, np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    before = records.nbytes
    records.rename(lambda ref: f"mug/{ref}.jpg")
    assert [record.ref for record in records.of(7)] == ([] if kind == "none" else ["mug/a.jpg", None, "mug/b.jpg"])
    assert records.nbytes - before == (0 if kind == "none" else 16)


def test_widening_is_exact_for_every_finite_number() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    np.testing.assert_array_equal(widened(halves), halves.astype(np.float32))


def test_halving_a_unit_vector_keeps_three_digits_and_drops_what_is_subnormal() -> None:
    x = np.array([0.6, -0.8, 1e-5, -1e-7])
    np.testing.assert_allclose(halved(x), [0.6, -0.8, 0.0, 0.0], rtol=1e-3)
    assert halved(x).dtype == np.float16


def test_what_was_rounded_to_single_precision_before_has_the_same_halves() -> None:
    between = np.float64(1 + 2.0**-11) + np.array([-(2.0**-30), 0.0, 2.0**-30])  # two halves are equally near
    np.testing.assert_array_equal(halved(between), halved(between.astype(np.float32)))
    x = np.random.default_rng(0).normal(size=10_000) / 50
    np.testing.assert_array_equal(halved(x), halved(x.astype(np.float32)))
    np.testing.assert_array_equal(halved(halved(x)), halved(x))


@pytest.mark.parametrize("kind", ["vectors", 5])
def test_the_closest_records_come_first(kind: RecordsKind) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    records = new_records(kind, 6)
    for i, x in enumerate(vectors):
        records.add(i % 2, i, f"{i}.jpg", x, vectors[i % 2])
    x = vectors[0]
    kept = {record.position for record in records.of(1)}
    expected = sorted(kept, key=lambda i: -(vectors[i] @ x))[:4]
    found = records.closest(1, x, 4)
    assert [record.position for record, _ in found] == expected
    np.testing.assert_allclose([cosine or 0.0 for _, cosine in found], vectors[expected] @ x, atol=2e-3)


@pytest.mark.parametrize("kind", ["none", "refs", "vectors", 3])
def test_the_prototype_of_a_sample_is_found_by_its_position_after_merges_too(kind: RecordsKind) -> None:
    records, x = new_records(kind, 2), np.array([1.0, 0.0])
    for position in range(12):
        records.add(position % 4, position, None, x, x)
    records.merge_prototypes(1, 3, x)
    records.merge_prototypes(0, 1, x)
    remembered = {record.position: prototype for prototype in (0, 2) for record in records.of(prototype)}
    assert {record.position: prototype for prototype, record in records.at(range(12))} == remembered
    assert [record.position for _, record in records.at([7])] == ([7] if 7 in remembered else [])


def test_without_vectors_the_oldest_come_first() -> None:
    records = new_records("refs", 3)
    for i in range(5):
        records.add(0, i, None, np.eye(3)[0], np.eye(3)[0])
    assert [(r.position, cosine) for r, cosine in records.closest(0, np.eye(3)[1], 2)] == [(0, None), (1, None)]
    assert new_records("none", 3).closest(0, np.eye(3)[1], 2) == []
