"""What holds for every stream (hypothesis): the state is a function of the sample sequence alone, and always whole."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exll import ExLLClassifier, load
from exll.errors import InputError
from exll.learner.exll import BLOCK_ROWS, ExLL
from exll.types import InferenceName
from support import Stream, assert_equal_models, assignments, learned, random_stream, streams, untaught

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
    for name in NAMES:
        asked = one.inference(), other.inference()
        assert (
            asked[0].winners(stream.unit_queries, name).tolist() == asked[1].winners(stream.unit_queries, name).tolist()
        )
        if name != "fused":
            scores = [inference.scores(stream.unit_queries, name) for inference in asked]
            np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5, atol=1e-8)


@given(streams(), growths, st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_how_a_stream_is_cut_into_calls_does_not_matter(stream: Stream, growth: float, sizes: list[int]) -> None:
    pieces = untaught(stream.X.shape[1], "paper", growth)
    for rows in cut(stream, sizes):
        pieces.learn(stream.unit[rows], stream.y[rows])
    assert_alike(pieces, learned(stream, "paper", growth), stream)


@pytest.mark.parametrize("seed", range(6))
def test_single_steps_equal_blocks_on_longer_streams_with_a_dense_precision(seed: int) -> None:
    stream = random_stream(seed, samples=6 * BLOCK_ROWS + 11, width=24)
    single = untaught(24, "paper")
    for i in range(len(stream.y)):
        single.learn(stream.unit[i : i + 1], stream.y[i : i + 1])
    assert_alike(single, learned(stream, "paper"), stream)


@given(streams(), growths)
def test_predictions_in_between_leave_no_trace(stream: Stream, growth: float) -> None:
    asked = untaught(stream.X.shape[1], "paper", growth)
    silent = untaught(stream.X.shape[1], "paper", growth)
    for rows in cut(stream, [7]):
        for learner in (asked, silent):
            learner.learn(stream.unit[rows], stream.y[rows])
        for name in NAMES:
            asked.inference().posteriors(stream.unit_queries, name)
    one, other = asked.state(), silent.state()
    for part in one:
        np.testing.assert_array_equal(one[part], other[part], err_msg=part)


@given(streams(), growths, st.floats(0, 1), st.sampled_from(["none", "refs", "vectors", 3]))
def test_save_load_go_on_equals_never_having_stopped(
    tmp_path_factory: pytest.TempPathFactory, stream: Stream, growth: float, where: float, records: str | int
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.exll"
    stop = max(1, int(where * len(stream.y)))
    labels = [f"class {k}" for k in stream.y]
    straight = ExLLClassifier("paper", growth, records)  # type: ignore[arg-type]
    straight.partial_fit(stream.X[:stop], labels[:stop])
    straight.save(path)
    stopped = load(path)
    assert_equal_models(straight, stopped)
    if stop < len(labels):
        straight.partial_fit(stream.X[stop:], labels[stop:])
        stopped.partial_fit(stream.X[stop:], labels[stop:])
        assert_equal_models(straight, stopped)


@given(streams(), growths)
def test_supports_edges_and_means_are_consistent(stream: Stream, growth: float) -> None:
    learner = learned(stream, "paper", growth)
    for k in range(learner.class_count):
        megacloud = learner.megacloud(k)
        ids = megacloud.prototypes
        supports = np.array([learner.supports[j] for j in ids.tolist()])
        assert supports.sum() == megacloud.count == stream.y.count(k)
        weighted = supports @ learner._prototypes.vectors[ids] / megacloud.count
        np.testing.assert_allclose(megacloud.mean, weighted, atol=1e-12)
        for one, other in megacloud.edges:
            assert one < other
            assert {one, other} <= set(ids.tolist())
        # Every sample after the class's first either opens a cloud (one edge) or joins one (an edge if there are two).
        assert sum(megacloud.edges.values()) <= megacloud.count - 1


@given(streams(), st.sampled_from(["nan", "inf", "zero", "width", "labels"]))
def test_a_rejected_input_changes_nothing(stream: Stream, fault: str) -> None:
    classifier = ExLLClassifier("paper").partial_fit(stream.X, stream.y)
    twin = ExLLClassifier("paper").partial_fit(stream.X, stream.y)
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


@given(streams())
def test_giving_classes_other_names_gives_the_same_model_under_those_names(stream: Stream) -> None:
    names = np.random.default_rng(len(stream.y)).permutation(100)
    plain = ExLLClassifier("paper").partial_fit(stream.X, stream.y)
    renamed = ExLLClassifier("paper").partial_fit(stream.X, names[stream.y])
    for name in NAMES:
        assert names[plain.predict(stream.queries, name)].tolist() == renamed.predict(stream.queries, name).tolist()


def test_the_folder_of_a_model_holds_nothing_but_the_model(tmp_path: Path) -> None:
    stream = random_stream(1)
    ExLLClassifier("paper").fit(stream.X, stream.y).save(tmp_path / "a.exll")
    assert [path.name for path in tmp_path.iterdir()] == ["a.exll"]
