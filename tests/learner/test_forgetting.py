"""After samples are forgotten, a model is one that never saw them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exll import ExLLClassifier, load
from exll.errors import InputError, LearningInterruptedError
from exll.learner.exll import ExLL, Learned
from exll.learner.glocal import reservoir
from exll.learner.glocal.judgement import Judgement
from exll.learner.glocal.learner import GlocalLearner
from exll.linalg.fixed_point import encoded
from exll.types import Group, Label, Matrix, RecordsKind, Vector
from support import Stream, both_presets, random_stream, scatter_matrix, stream_of_clips, untaught

Edit = tuple[Stream, list[int]]
OLD_FILES = Path(__file__).parents[1] / "saving" / "old_files"


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """A stream, and the places of the samples to forget: some, or most."""
    stream = random_stream(
        draw(st.integers(0, 10_000)),
        width=draw(st.integers(2, 12)),
        classes=draw(st.integers(1, 5)),
        samples=draw(st.integers(2, 60)),
        repeats=draw(st.sampled_from([0.0, 0.3])),
        queries=10,
    )
    most = draw(st.integers(1, len(stream.y) - 1))
    return stream, sorted(draw(st.sets(st.integers(0, len(stream.y) - 1), min_size=1, max_size=most)))


def refs_of(places: Iterable[int]) -> list[str]:
    return [f"photo {i}.jpg" for i in places]


def taught(
    stream: Stream,
    places: Sequence[int],
    preset: str = "glocal",
    records: RecordsKind = "vectors",
    groups: Sequence[Group] | None = None,
) -> ExLL:
    learner = untaught(stream.X.shape[1], preset, records=records)
    names = None if groups is None else [groups[i] for i in places]
    learner.learn(stream.unit[places], [f"c{stream.y[i]}" for i in places], refs_of(places), names)
    return learner


def remembered(learner: ExLL, refs: Sequence[str]) -> list[Learned]:
    found = learner.remembered(refs=refs)
    assert len(found) == len(refs)
    samples = []
    for k, prototype, record in found:
        assert record.vector is not None
        samples.append(Learned(record.vector, k, prototype, record.position, record.group))
    return samples


def after_forgetting(stream: Stream, gone: Sequence[int], preset: str = "glocal") -> ExLL:
    learner = taught(stream, range(len(stream.y)), preset)
    learner.forget(remembered(learner, refs_of(gone)))
    return learner


def others(stream: Stream, gone: Sequence[int]) -> list[int]:
    return [i for i in range(len(stream.y)) if i not in set(gone)]


def in_label_order(learner: ExLL) -> list[int]:
    """A class that lost its first sample keeps its place among the classes."""
    return [learner.labels.index(label) for label in sorted(map(str, learner.labels))]


def assert_same_sums(one: ExLL, other: ExLL, exact: float = 1e-9) -> None:
    mine, theirs = in_label_order(one), in_label_order(other)
    assert sorted(map(str, one.labels)) == sorted(map(str, other.labels))
    assert one.sample_count == other.sample_count
    np.testing.assert_array_equal(one._megaclouds.counts[mine], other._megaclouds.counts[theirs])
    np.testing.assert_allclose(
        one._megaclouds.vectors[mine], other._megaclouds.vectors[theirs], rtol=0, atol=exact, err_msg="means"
    )
    np.testing.assert_allclose(one._statistics.mean, other._statistics.mean, rtol=0, atol=exact)
    expected = scatter_matrix(other._statistics.scatter)
    size = max(one._statistics.learned, other._statistics.learned)  # the squared norms of all that was ever in it
    np.testing.assert_allclose(scatter_matrix(one._statistics.scatter), expected, rtol=0, atol=exact * size)
    assert abs(one._statistics.scatter.trace - other._statistics.scatter.trace) <= exact * size


def prototypes_of(learner: ExLL) -> dict[Label, list[tuple[int, set[str | None], tuple[float, ...]]]]:
    """Per class, the support, the refs and the centre of every prototype."""
    found: dict[Label, list[tuple[int, set[str | None], tuple[float, ...]]]] = {}
    table = learner._prototypes
    for k, label in enumerate(learner.labels):
        for row in learner._megaclouds.members(k):
            refs = {record.ref for record in learner.records(int(table.ids[row]))}
            centre = tuple(np.round(table.vectors[row], 7).tolist())
            found.setdefault(label, []).append((int(table.counts[row]), refs, centre))
        found[label].sort(key=lambda prototype: sorted(map(str, prototype[1])))
    return found


def assert_same_prototypes(one: ExLL, other: ExLL) -> None:
    mine, theirs = prototypes_of(one), prototypes_of(other)
    assert mine.keys() == theirs.keys()
    for label, found in mine.items():
        assert [entry[:2] for entry in found] == [entry[:2] for entry in theirs[label]]
        np.testing.assert_allclose([entry[2] for entry in found], [entry[2] for entry in theirs[label]], atol=2e-7)


def assert_supports_sum_to_counts(learner: ExLL) -> None:
    for k in range(learner.class_count):
        assert sum(learner.supports[j] for j in learner.megacloud(k).prototypes) == learner.megacloud(k).count


def refs_in_reservoir(learner: ExLL) -> list[tuple[str | None, Label]]:
    assert isinstance(learner, GlocalLearner)
    kept = learner._reservoir
    ref_of = {record.position: record.ref for _, record in learner._records.at(kept.positions.tolist())}
    rows = zip(kept.positions.tolist(), kept.classes.tolist(), strict=True)
    return sorted((ref_of[position], learner.labels[k]) for position, k in rows)


def judged_afresh(learner: ExLL) -> ExLL:
    """What depends on when a model was judged is left out of comparisons: both are judged now."""
    assert isinstance(learner, GlocalLearner)
    learner.renew()
    learner._judgement, learner._outdated = Judgement(), True
    learner._answers = None
    learner.renew()
    return learner


def global_scores(learner: ExLL, queries: Matrix) -> Matrix:
    scores: Matrix = learner.inference().scores(queries, "global")[:, in_label_order(learner)]
    return scores


@given(edits())
@settings(max_examples=20, deadline=None)
def test_a_model_that_forgot_is_one_that_never_saw(edit: Edit) -> None:
    stream, gone = edit
    learner, never = after_forgetting(stream, gone), taught(stream, others(stream, gone))
    assert_same_sums(learner, never)
    learner.renew()
    assert_same_sums(learner, never)
    assert_same_prototypes(learner, never)
    assert_supports_sum_to_counts(learner)
    assert refs_in_reservoir(learner) == refs_in_reservoir(never)
    assert isinstance(learner, GlocalLearner)
    assert isinstance(never, GlocalLearner)
    if any(one._reservoir._came_together().any() for one in (learner, never)):
        return  # where a clip begins and ends depends on the sample before, so it may be another clip without that
    scores = [global_scores(judged_afresh(one), stream.unit_queries) for one in (learner, never)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6, atol=1e-6 * np.abs(scores[1]).max())


def test_beyond_the_room_of_the_reservoir_others_take_the_places_of_the_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reservoir, "MOST", 40)
    stream = random_stream(3, width=6, classes=4, samples=160, repeats=0)
    gone = np.random.default_rng(0).choice(160, 70, replace=False).tolist()
    learner, never = after_forgetting(stream, gone), taught(stream, others(stream, gone))
    learner.renew()
    assert len(refs_in_reservoir(learner)) == 40
    assert refs_in_reservoir(learner) == refs_in_reservoir(never)


@pytest.mark.parametrize("records", ["none", "refs", 2])
def test_without_all_vectors_sums_are_those_of_a_model_that_never_saw(records: RecordsKind) -> None:
    for seed in range(8):
        stream = random_stream(seed, width=6, classes=4, samples=50, repeats=0.2)
        rng = np.random.default_rng(seed)
        gone = rng.choice(50, int(rng.integers(1, 45)), replace=False).tolist()
        learner, never = (taught(stream, places, records=records) for places in (range(50), others(stream, gone)))
        learner.forget([Learned(stream.unit[i], learner.labels.index(f"c{stream.y[i]}")) for i in gone])
        assert_same_sums(learner, never)
        assert_supports_sum_to_counts(learner)
        assert isinstance(learner, GlocalLearner)
        left = stream.unit[others(stream, gone)]
        by_first = [np.array(sorted(X.tolist())) for X in (learner._reservoir.vectors, left)]
        np.testing.assert_allclose(by_first[0], by_first[1], rtol=0, atol=2e-7)
        learner.renew()
        assert_same_sums(learner, never)
        assert np.isfinite(learner.inference().posteriors(stream.unit_queries, "fused")[1]).all()


@pytest.mark.parametrize("records", ["none", "refs", "vectors", 3])
def test_a_class_goes_with_its_last_sample(records: RecordsKind) -> None:
    stream = random_stream(1, width=6, classes=3, samples=60, repeats=0)
    learner = taught(stream, range(60), records=records)
    own = [i for i in range(60) if stream.y[i] == 1]
    if records == "vectors":
        samples = remembered(learner, refs_of(own))
    else:
        samples = [Learned(stream.unit[i], 1) for i in own]
    learner.forget(samples[:-1])
    assert list(learner.labels) == ["c0", "c1", "c2"]
    learner.forget(samples[-1:])
    assert list(learner.labels) == ["c0", "c2"]
    assert_same_sums(learner, taught(stream, others(stream, own), records=records))
    assert learner.inference().posteriors(stream.unit_queries, "fused")[1].shape == (len(stream.queries), 2)
    learner.learn(stream.unit[own[:1]], ["c1"])
    assert list(learner.labels) == ["c0", "c2", "c1"]


@both_presets
def test_a_model_refuses_to_forget_everything_and_stays_as_it_was(preset: str) -> None:
    stream = random_stream(2, width=5, classes=2, samples=12, repeats=0)
    learner = taught(stream, range(12), preset)
    with pytest.raises(InputError, match="cannot forget all that it has learned; start a new one"):
        learner.forget(remembered(learner, refs_of(range(12))))
    assert learner.sample_count == 12
    learner.forget(remembered(learner, refs_of(range(11))))
    assert (learner.sample_count, learner.labels) == (1, (f"c{stream.y[11]}",))
    assert len(learner.inference().posteriors(stream.unit_queries, "fused")[1]) == len(stream.queries)


@given(edits())
@settings(max_examples=15, deadline=None)
def test_with_the_preset_paper_it_is_one_that_never_saw_in_everything(edit: Edit) -> None:
    stream, gone = edit
    names: tuple[Literal["global", "local"], ...] = ("global", "local")
    learner, never = after_forgetting(stream, gone, "paper"), taught(stream, others(stream, gone), "paper")
    assert_same_sums(learner, never)
    assert learner.labels == never.labels
    assert_same_prototypes(learner, never)
    for name in names:
        found, expected = (one.inference().scores(stream.unit_queries, name) for one in (learner, never))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max(), err_msg=name)


@pytest.mark.parametrize("records", ["none", "refs", 2])
def test_with_the_preset_paper_it_is_refused_without_all_vectors(records: RecordsKind) -> None:
    stream = random_stream(2, width=5, classes=2, samples=12, repeats=0)
    learner = taught(stream, range(12), "paper", records)
    with pytest.raises(InputError, match='needs records="vectors" from the first example on'):
        learner.forget([Learned(stream.unit[0], 0)])
    assert learner.sample_count == 12


def again(learner: ExLL, records: RecordsKind = "vectors", preset: str = "glocal") -> ExLL:
    loaded = untaught(learner.width, preset, records=records)
    loaded.restore(learner.labels, {name: array.copy() for name, array in learner.state().items()})
    return loaded


@both_presets
def test_it_can_be_saved_before_it_is_renewed_and_after_and_goes_on_alike(preset: str) -> None:
    stream = random_stream(5, width=6, classes=4, samples=80, repeats=0)
    learner = after_forgetting(stream, [3, 8, 9, 40, 77], preset)
    before = again(learner, preset=preset)
    learner.renew()
    after = again(learner, preset=preset)
    before.renew()
    more = random_stream(6, width=6, classes=4, samples=30, repeats=0)
    for one in (learner, before, after):
        one.learn(more.unit, [f"c{k}" for k in more.y])
    for one in (before, after):
        found, expected = one.state(), learner.state()
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("width", [4, 60])  # a triangle from the start, and rows for long
def test_a_thousand_random_steps_of_learning_and_forgetting_drift_by_less_than_rounding(width: int) -> None:
    stream = random_stream(9, width=width, classes=5, samples=1000, repeats=0)
    learner = untaught(width, "glocal", records="vectors")
    learner.gather()  # without reviews, which change no sum
    rng, held = np.random.default_rng(9), list[int]()
    for i in range(1000):
        if len(held) > 20 and rng.random() < 0.48:
            gone = held.pop(int(rng.integers(len(held))))
            learner.forget(remembered(learner, refs_of([gone])))
        else:
            learner.learn(stream.unit[i : i + 1], [f"c{stream.y[i]}"], refs_of([i]))
            held.append(i)
    learner.gathers = False
    never = taught(stream, held)
    assert learner._statistics.learned > 2 * len(held)
    assert_same_sums(learner, never)
    learner.renew()
    assert_same_prototypes(learner, never)
    assert_supports_sum_to_counts(learner)


@both_presets
@pytest.mark.parametrize("renewed", [False, True])
@pytest.mark.parametrize("place", [0, 30, 59], ids=["first", "middle", "last"])
def test_a_file_holds_nothing_of_a_forgotten_sample(preset: str, renewed: bool, place: int, tmp_path: Path) -> None:
    stream, path = random_stream(4, width=8, classes=3, samples=60, repeats=0), tmp_path / "model.exll"
    model = ExLLClassifier(preset, records="vectors", lengths="ignored")
    refs = [f"secret {i:02}.jpg" for i in range(60)]
    model.partial_fit(stream.X, stream.y, refs=refs, groups=[f"day {i}" if i % 2 else None for i in range(60)])
    traces = [x.tobytes() for i in (place,) for x in patterns(stream.unit[i])] + [refs[place].encode()]
    model.save(path)
    assert sum(trace in path.read_bytes() for trace in traces) >= 2  # it could be found there: codes and ref
    learner = model.learner_
    learner.forget(remembered(learner, [refs[place]]))
    if renewed:
        learner.renew()
    model.save(path)
    content = path.read_bytes()
    assert not any(trace in content for trace in traces)
    assert refs[(place + 1) % 60].encode() in content


def patterns(x: Matrix) -> list[Matrix]:
    codes, scales = encoded(x[None])
    rough = codes[0].astype(np.float32) * np.float32(scales[0])
    return [x.astype(np.float16), x.astype(np.float32), x, codes[0], codes[0] * scales[0], rough, np.float64(rough)]


def test_the_last_learned_sample_can_be_forgotten_and_the_next_begins_another_clip() -> None:
    stream, _ = stream_of_clips(0, classes=2, clips=1)
    learner = taught(stream, range(18))  # in the middle of the second clip
    learner.forget(remembered(learner, refs_of([17])))
    never = taught(stream, range(17))
    assert_same_sums(learner, never)
    learner.learn(stream.unit[18:], ["c1"] * 6, refs_of(range(18, 24)))
    assert_same_sums(learner, taught(stream, others(stream, [17])))
    assert isinstance(learner, GlocalLearner)
    assert learner._reservoir._clip.start == 18


def group_means(learner: ExLL) -> list[tuple[int, int, Vector]]:
    """The class, the count and the mean of every group."""
    assert isinstance(learner, GlocalLearner)
    kept = learner._reservoir._group_means
    means = [(key[0], *kept.of(key)) for key in sorted(kept._counts)]
    return [(k, count, mean.astype(np.float64)) for k, count, mean in means]


@pytest.mark.parametrize(
    "gone", [[0], [5], [11], [3, 11], [11, 10, 9], [0, 11], [14], [23], list(range(1, 6))], ids=lambda gone: str(gone)
)
def test_a_clip_loses_a_forgotten_sample_wherever_in_it_that_was(gone: list[int]) -> None:
    """Of two clips that have ended, and a photo."""
    stream, _ = stream_of_clips(1, classes=3, clips=1)
    learner = taught(stream, range(25))
    assert [(k, count) for k, count, _ in group_means(learner)] == [(0, 12), (1, 12)]
    for i in gone:  # one after the other
        learner.forget(remembered(learner, refs_of([i])))
    for own, (_, count, mean) in zip((range(12), range(12, 24)), group_means(learner), strict=True):
        left = [i for i in own if i not in gone]
        assert count == len(left)
        np.testing.assert_allclose(mean, stream.unit[left].mean(axis=0), atol=1e-6)


def test_the_only_sample_of_a_named_group_takes_the_group_with_it() -> None:
    stream = random_stream(2, width=5, classes=2, samples=20, repeats=0)
    names = ["alone" if i == 7 else "together" for i in range(20)]
    learner = taught(stream, range(20), groups=names)
    before = len(group_means(learner))
    learner.forget(remembered(learner, refs_of([7])))
    assert len(group_means(learner)) == before - 1
    assert learner.remembered(groups=["alone"]) == []
    never = taught(stream, others(stream, [7]), groups=names)
    for found, expected in zip(group_means(learner), group_means(never), strict=True):
        assert found[:2] == expected[:2]
        np.testing.assert_allclose(found[2], expected[2], atol=1e-6)


def test_samples_are_found_by_their_group_and_forgotten_together() -> None:
    stream = random_stream(2, width=5, classes=2, samples=20, repeats=0)
    names = [f"day {i % 3}" for i in range(20)]
    learner = taught(stream, range(20), groups=names)
    found = learner.remembered(groups=["day 1"])
    assert [record.position for _, _, record in found] == [i for i in range(20) if i % 3 == 1]
    learner.forget(
        [
            Learned(record.vector, k, j, record.position, record.group)
            for k, j, record in found
            if record.vector is not None
        ]
    )
    assert_same_sums(learner, taught(stream, [i for i in range(20) if i % 3 != 1], groups=names))


def test_where_nothing_varies_any_more_it_still_answers() -> None:
    """One sample per class is left, so the covariance is that of none: zero, but for rounding."""
    X = random_stream(2, width=5, classes=2, samples=4, repeats=0).unit
    stream = Stream(X, [0, 0, 1, 2], X)
    learner, never = after_forgetting(stream, [1]), taught(stream, [0, 2, 3])
    found, expected = (one.inference().posteriors(X, "fused")[1] for one in (learner, never))
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("label", ["c1", "another"], ids=["merged", "renamed"])
def test_a_class_that_lost_samples_can_be_renamed_or_merged_before_it_is_renewed(label: str) -> None:
    stream = random_stream(5, width=6, classes=3, samples=60, repeats=0)
    learner = after_forgetting(stream, [i for i in range(20) if stream.y[i] == 2])
    learner.rename_class("c2", label)
    left = learner.sample_count
    learner.renew()
    assert_supports_sum_to_counts(learner)
    assert sum(learner.megacloud(k).count for k in range(learner.class_count)) == left


def test_one_of_two_equal_samples_stays() -> None:
    stream = random_stream(2, width=5, classes=2, samples=20, repeats=0)
    X = np.concatenate([stream.X, stream.X[:1]])
    twice = Stream(X, [*stream.y, stream.y[0]], stream.queries)
    learner = after_forgetting(twice, [0])
    learner.renew()
    never = taught(twice, range(1, 21))
    assert refs_in_reservoir(learner) == refs_in_reservoir(never)
    assert_same_sums(learner, never)


def test_what_was_published_before_still_answers_as_it_did() -> None:
    stream = random_stream(5, width=6, classes=3, samples=60, repeats=0)
    learner = taught(stream, range(60))
    published = learner.publish()
    expected = published.inference().posteriors(stream.unit_queries, "fused")[1]
    vectors = [record.vector for _, _, record in published.remembered(refs=refs_of(range(60)))]
    learner.forget(remembered(learner, refs_of([3, 4, 50])))
    learner.renew()
    np.testing.assert_array_equal(published.inference().posteriors(stream.unit_queries, "fused")[1], expected)
    found = [record.vector for _, _, record in published.remembered(refs=refs_of(range(60)))]
    np.testing.assert_array_equal(np.array(found, float), np.array(vectors, float))


def test_the_lift_is_that_of_the_samples_left(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("learner", "reservoir"):
        monkeypatch.setattr(f"exll.learner.glocal.{module}.MOST", 80)
    stream = random_stream(5, width=6, classes=4, samples=200, repeats=0)
    gone = list(range(90, 120))
    learner, never = after_forgetting(stream, gone), taught(stream, others(stream, gone))
    assert isinstance(learner, GlocalLearner)
    assert isinstance(never, GlocalLearner)
    assert learner._lift.begun
    lifted, expected = learner._lift.classes(), never._lift.classes()
    np.testing.assert_array_equal(lifted.counts, expected.counts)
    np.testing.assert_allclose(lifted.means, expected.means, atol=1e-5)
    dots = [classes.dots(stream.unit_queries) for classes in (lifted, expected)]
    np.testing.assert_allclose(dots[0], dots[1], rtol=1e-3, atol=1e-3)
    learner.forget(remembered(learner, refs_of(range(90))))
    learner.forget(remembered(learner, refs_of(range(120, 125))))
    learner.renew()
    assert not learner._lift.begun  # 75 are left


@pytest.mark.parametrize("times", [2, 5])
def test_streams_of_repeated_vectors_can_be_saved_and_opened_at_any_length(times: int, tmp_path: Path) -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(1200 // times, 70)), times, axis=0)
    model, path = ExLLClassifier().partial_fit(X[:1030], [i % 3 for i in range(1030)]), tmp_path / "m.exll"
    for i in range(1030, 1060, 6):
        model.partial_fit(X[i : i + 6], [k % 3 for k in range(i, i + 6)])
        model.save(path)
        assert load(path, ExLLClassifier).learner_.sample_count == i + 6


@pytest.mark.parametrize("records", ["refs", "vectors"])
def test_a_model_that_forgot_nearly_all_that_varied_still_answers(records: RecordsKind) -> None:
    """The sums of the lift are in single precision, and hardly anything is left of them."""
    rng = np.random.default_rng(1)
    varied = rng.normal(size=(1500, 64))
    tight = 1.0 + 0.005 * rng.normal(size=(1050, 64)) + np.eye(64)[[i % 2 for i in range(1050)]]
    X, y = np.concatenate([varied, tight]), [i % 2 for i in range(2550)]
    refs = [f"{i}" for i in range(2550)]
    model = ExLLClassifier(records=records, lengths="ignored").fit(X, y, refs=refs)
    model.forget(refs[:1500], X=X[:1500], y=y[:1500])
    assert (model.predict(tight) == y[1500:]).mean() > 0.99


@pytest.mark.parametrize("records", ["none", 1, 3])
def test_examples_given_again_leave_their_groups_and_prototypes(records: RecordsKind, tmp_path: Path) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 12)), [i // 4 % 3 for i in range(80)]
        model = ExLLClassifier(records=records, lengths="ignored")
        model.partial_fit(X, y, groups=[f"day {i // 4}" for i in range(80)])
        for gone in np.split(rng.permutation(80)[:72], 6):
            model.forget(X=X[gone], y=[y[i] for i in gone])
        model.save(tmp_path / "m.exll")
        assert load(tmp_path / "m.exll", ExLLClassifier).learner_.sample_count == 8


def test_no_pending_row_tells_what_was_forgotten() -> None:
    rng = np.random.default_rng(0)
    model = ExLLClassifier(records="refs").fit(
        rng.normal(size=(120, 70)), [0, 1] * 60, refs=[f"{i}" for i in range(120)]
    )
    x = rng.normal(size=(1, 70))
    model.partial_fit(x, [0], refs=["last"])
    model.forget(["last"], X=x, y=[0])
    assert len(model.learner_._statistics.scatter.pending) == 0


def test_what_cannot_be_forgotten_is_not_relabelled_either() -> None:
    model = load(OLD_FILES / "format-7-paper-vectors-119.exll", ExLLClassifier)
    model.partial_fit(np.eye(16)[:3], ["mug"] * 3, refs=["n1", "n2", "n3"])
    with pytest.raises(InputError, match="learning the rest again"):
        model.relabel("n2", "kettle")
    assert model.learner_.sample_count == 122


def test_an_unnamed_example_is_not_taken_for_a_named_one() -> None:
    X = np.random.default_rng(0).normal(size=(6, 70))
    model = ExLLClassifier().fit(X, list("aaabbb"), refs=["secret.jpg", None, "3.jpg", "4.jpg", "5.jpg", "6.jpg"])
    model.forget([None], X=X[1:2], y=["a"])
    assert {record.ref for _, _, record in model.learner_.remembered_class(0)} == {"secret.jpg", "3.jpg"}


def test_an_interrupt_while_a_model_is_renewed_is_held_back_or_known(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = random_stream(3, width=6, classes=2, samples=60, repeats=0)
    learner = after_forgetting(stream, [0, 1])
    assert isinstance(learner, GlocalLearner)

    def broken(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(learner._reservoir, "assign", broken)
    with pytest.raises(MemoryError):
        learner.inference()
    with pytest.raises(LearningInterruptedError):
        learner.inference()
