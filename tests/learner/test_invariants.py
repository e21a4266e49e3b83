"""What holds for every stream (hypothesis): the state is a function of the sample sequence alone, and always whole."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exll import ExLLClassifier, load
from exll.errors import InputError
from exll.learner.exll import BLOCK_ROWS, ExLL
from exll.types import InferenceName, Lengths
from support import (
    Stream,
    assert_equal_models,
    assignments,
    both_presets,
    learned,
    random_stream,
    scatter_matrix,
    streams,
    untaught,
)

NAMES: tuple[InferenceName, ...] = ("global", "local", "fused")
growths = st.sampled_from([0.0, 0.1, 1.0])


def cut(stream: Stream, sizes: list[int]) -> list[slice]:
    """The stream in calls of these sizes, over and over."""
    slices: list[slice] = []
    start = 0
    while start < len(stream.y):
        size = sizes[len(slices) % len(sizes)]
        slices.append(slice(start, start + size))
        start += size
    return slices


def assert_alike(one: ExLL, other: ExLL, stream: Stream) -> None:
    assert assignments(one) == assignments(other)
    states = one.state(), other.state()
    assert states[0].keys() == states[1].keys()
    for part, array in states[0].items():
        np.testing.assert_allclose(states[1][part], array, rtol=1e-5, atol=1e-8, err_msg=part)
    for name in NAMES:
        asked = one.inference(), other.inference()
        assert (
            asked[0].winners(stream.unit_queries, name).tolist() == asked[1].winners(stream.unit_queries, name).tolist()
        )
        if name != "fused":
            scores = [inference.scores(stream.unit_queries, name) for inference in asked]
            np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5, atol=1e-8)


def assert_whole(learner: ExLL, labels: list[int]) -> None:
    """Supports, means and edges fit each other and the classes of the samples."""
    centres, ids, class_of = learner.centres
    centre_of = dict(zip(ids.tolist(), centres, strict=True))
    assert learner.class_count == len(set(labels))
    assert learner.sample_count == len(labels)
    assert sum(len(learner.megacloud(k).prototypes) for k in range(learner.class_count)) == learner.prototype_count
    for k in range(learner.class_count):
        megacloud = learner.megacloud(k)
        own = megacloud.prototypes.tolist()
        assert own == np.sort(ids[class_of == k]).tolist()
        supports = np.array([learner.supports[j] for j in own])
        assert supports.sum() == megacloud.count == labels.count(learner.labels[k])  # type: ignore[arg-type]
        weighted = supports @ np.array([centre_of[j] for j in own]) / megacloud.count
        np.testing.assert_allclose(megacloud.mean, weighted, atol=1e-12)
        for one, other in megacloud.edges:
            assert one < other
            assert {one, other} <= set(own)
        # Every sample after the class's first either opens a cloud (one edge) or joins one (an edge if there are two).
        assert sum(megacloud.edges.values()) <= megacloud.count - 1


@both_presets
@given(streams(), growths, st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_how_a_stream_is_cut_into_calls_does_not_matter(
    preset: str, stream: Stream, growth: float, sizes: list[int]
) -> None:
    pieces = untaught(stream.X.shape[1], preset, growth)
    for rows in cut(stream, sizes):
        pieces.learn(stream.unit[rows], stream.y[rows])
    assert_alike(pieces, learned(stream, preset, growth), stream)


@pytest.mark.slow
@both_presets
@pytest.mark.parametrize("seed", range(6))
def test_single_steps_equal_blocks_on_longer_streams_with_a_dense_precision(preset: str, seed: int) -> None:
    stream = random_stream(seed, samples=6 * BLOCK_ROWS + 11, width=24)
    single = untaught(24, preset)
    for i in range(len(stream.y)):
        single.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
    assert_alike(single, learned(stream, preset), stream)


@both_presets
@given(streams(), growths)
def test_predictions_in_between_leave_no_trace(preset: str, stream: Stream, growth: float) -> None:
    asked, silent = (untaught(stream.X.shape[1], preset, growth) for _ in range(2))
    for rows in cut(stream, [7]):
        for learner in (asked, silent):
            learner.learn(stream.unit[rows], stream.y[rows])
        for name in NAMES:
            asked.inference().posteriors(stream.unit_queries, name)
        if preset == "glocal":
            asked.inference().novelty(stream.unit_queries)
    one, other = asked.state(), silent.state()
    for part in one:
        np.testing.assert_array_equal(one[part], other[part], err_msg=part)


@both_presets
@given(streams(), growths, st.floats(0, 1), st.sampled_from(["none", "refs", "vectors", 3]))
def test_save_load_go_on_equals_never_having_stopped(
    tmp_path_factory: pytest.TempPathFactory,
    preset: str,
    stream: Stream,
    growth: float,
    where: float,
    records: str | int,
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.exll"
    stop = max(1, int(where * len(stream.y)))
    labels = [f"class {k}" for k in stream.y]
    straight = ExLLClassifier(preset, growth, records)  # type: ignore[arg-type]
    straight.partial_fit(stream.X[:stop], labels[:stop])
    straight.save(path)
    stopped = load(path, ExLLClassifier)
    assert_equal_models(straight, stopped)
    if stop < len(labels):
        straight.partial_fit(stream.X[stop:], labels[stop:])
        stopped.partial_fit(stream.X[stop:], labels[stop:])
        assert_equal_models(straight, stopped)
    for name in NAMES:
        np.testing.assert_array_equal(
            straight.predict_proba(stream.queries, name), stopped.predict_proba(stream.queries, name)
        )


@both_presets
@given(streams(), growths)
def test_supports_edges_and_means_are_consistent(preset: str, stream: Stream, growth: float) -> None:
    assert_whole(learned(stream, preset, growth), stream.y)


@both_presets
@given(streams(), st.data())
def test_a_model_whose_classes_were_merged_is_whole_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, preset: str, stream: Stream, data: st.DataObject
) -> None:
    known = sorted(set(stream.y))
    old, new = data.draw(st.sampled_from(known)), data.draw(st.sampled_from([*known, 99]))
    labels = [new if k == old else k for k in stream.y]
    most = data.draw(st.sampled_from([None, 1, 2, 3])) if preset == "glocal" else None
    model = ExLLClassifier(preset, max_prototypes=most).partial_fit(stream.X, stream.y)
    model.rename_class(old, new, merge=True)
    assert_whole(model.learner_, labels)
    sizes = [len(model.megacloud(label).prototypes) for label in set(labels)]
    assert max(sizes) <= (most or max(sizes))
    path = tmp_path_factory.mktemp("models") / "model.exll"
    model.save(path)
    again = load(path, ExLLClassifier)
    assert_equal_models(model, again)
    for one in (model, again):
        one.partial_fit(stream.X, labels)
    assert_equal_models(model, again)
    assert_whole(model.learner_, [*labels, *labels])
    for name in NAMES:
        np.testing.assert_allclose(model.predict_proba(stream.queries, name).sum(axis=1), 1)


@given(streams())
def test_the_scatter_of_glocal_is_that_within_the_classes_also_after_a_merge(stream: Stream) -> None:
    learner = learned(stream, "glocal")
    scatter, labels = learner._statistics.scatter, np.array(stream.y)
    for merge in (False, True):
        if merge and learner.class_count > 1:
            learner.rename_class(0, 1)
            labels[labels == 0] = 1
        residuals = stream.unit - np.array([stream.unit[labels == k].mean(axis=0) for k in labels])
        np.testing.assert_allclose(scatter_matrix(scatter), residuals.T @ residuals, atol=1e-10)
        assert scatter.trace == pytest.approx((residuals**2).sum(), abs=1e-10)


@both_presets
@given(streams(), st.sampled_from(["nan", "inf", "zero", "width", "labels"]))
def test_a_rejected_input_changes_nothing(preset: str, stream: Stream, fault: str) -> None:
    lengths: Lengths = "ignored" if fault == "zero" else "auto"  # where they are kept, zeros are numbers like any other
    classifier = ExLLClassifier(preset, lengths=lengths).partial_fit(stream.X, stream.y)
    twin = ExLLClassifier(preset, lengths=lengths).partial_fit(stream.X, stream.y)
    bad, labels = np.tile(stream.X, (2, 1)), [*stream.y, *stream.y]
    if fault == "width":
        bad = np.hstack([bad, bad])
    elif fault == "labels":
        labels = [*labels[:-1], 10**30]
    else:
        bad[-1] = {"nan": np.nan, "inf": np.inf, "zero": 0.0}[fault]
    with pytest.raises(InputError):
        classifier.partial_fit(bad, labels)
    with pytest.raises(InputError):
        classifier.fit(bad if fault != "width" else np.full((2, 2), np.nan), labels)
    assert_equal_models(classifier, twin)


@both_presets
@given(streams())
def test_giving_classes_other_names_gives_the_same_model_under_those_names(preset: str, stream: Stream) -> None:
    names = np.random.default_rng(len(stream.y)).permutation(100)
    plain = ExLLClassifier(preset).partial_fit(stream.X, stream.y)
    renamed = ExLLClassifier(preset).partial_fit(stream.X, names[stream.y])
    for name in NAMES:
        assert names[plain.predict(stream.queries, name)].tolist() == renamed.predict(stream.queries, name).tolist()


def test_the_folder_of_a_model_holds_nothing_but_the_model(tmp_path: Path) -> None:
    stream = random_stream(1)
    ExLLClassifier("paper").fit(stream.X, stream.y).save(tmp_path / "a.exll")
    assert [path.name for path in tmp_path.iterdir()] == ["a.exll"]
