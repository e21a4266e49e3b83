"""Streams and comparisons that many tests need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from exll.estimator import ExLLClassifier  # the public name would load scikit-learn
from exll.learner.exll import ExLL, Parameters
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import Products
from exll.learner.glocal.reservoir import Groups
from exll.learner.precision import precision_of
from exll.learner.preset import PRESETS, new_learner
from exll.learner.records import Sample
from exll.learner.statistics import Scatter
from exll.linalg.fixed_point import encoded
from exll.saving.old_names import NEW_NAMES
from exll.stream_classifier import StreamClassifier
from exll.types import CountPairs, Group, Indices, Matrix, PairWeights, RecordsKind, Tensors, Vector
from oracle.glocal import OracleGlocal

PRESET_NAMES = tuple(sorted(PRESETS))
both_presets = pytest.mark.parametrize("preset", PRESET_NAMES)


@dataclass(frozen=True)
class Stream:
    """Raw vectors with class numbers in the order of first sight, and further vectors to ask about."""

    X: NDArray[np.float64]
    y: list[int]
    queries: NDArray[np.float64]

    @property
    def unit(self) -> NDArray[np.float64]:
        return np.asarray(self.X / np.linalg.norm(self.X, axis=1, keepdims=True))

    @property
    def unit_queries(self) -> NDArray[np.float64]:
        return np.asarray(self.queries / np.linalg.norm(self.queries, axis=1, keepdims=True))


def random_stream(
    seed: int,
    *,
    width: int | None = None,
    classes: int | None = None,
    samples: int | None = None,
    repeats: float = 0.15,
    queries: int = 60,
) -> Stream:
    """Clustered vectors; a share of them repeats an earlier one, under its own or another label."""
    rng = np.random.default_rng(seed)
    width = width or int(rng.integers(3, 41))
    classes = classes or int(rng.integers(1, 13))
    samples = samples or int(rng.integers(20, 401))
    centres = rng.normal(size=(classes, width))
    labels = rng.integers(0, classes, samples)
    X = centres[labels] + rng.uniform(0.1, 1.0) * rng.normal(size=(samples, width))
    for i in range(1, samples):
        if rng.random() < repeats:
            X[i] = X[rng.integers(0, i)]
    X *= rng.uniform(0.1, 10.0, size=(samples, 1))
    unseen = rng.normal(size=(queries // 2, width))
    return Stream(X, in_order_of_sight(labels.tolist()), np.concatenate([unseen, X[: queries // 2]]))


def stream_of_clips(
    seed: int, *, width: int = 20, classes: int = 3, clips: int = 2, frames: int = 12
) -> tuple[Stream, list[list[int]]]:
    """Clips of things, in turn, and the places of each: a clip has a scene of its own, in which the view wanders. The
    queries are one more clip of every class, and then as many of unknown inputs."""
    rng = np.random.default_rng([seed, 7])
    things = 2.0 * rng.normal(size=(2 * classes, width))

    def clip(k: int) -> NDArray[np.float64]:
        wandering = 0.25 * np.cumsum(rng.normal(size=(frames, width)), axis=0)
        return np.asarray(things[k] + rng.normal(size=width) + wandering / np.sqrt(frames))

    labels = list(range(classes)) * clips
    X = np.concatenate([clip(k) for k in labels])
    places = [list(range(start, start + frames)) for start in range(0, len(X), frames)]
    queries = np.concatenate([clip(k) for k in range(2 * classes)])
    return Stream(X, np.repeat(labels, frames).tolist(), queries), places


def stream_of_groups(seed: int, *, each: int = 15) -> tuple[Stream, list[str]]:
    """Six classes in four places each, shuffled, and the name of each sample's place. Places of one class are as far
    from each other as those of two, so what is learned in some says little of the next. The queries are one example of
    every class in ten more places."""
    rng = np.random.default_rng([seed, 11])
    things = rng.normal(size=(6, 8))
    keys = [(k, place) for k in range(6) for place in range(4)]
    centres = {key: things[key[0]] + 2.5 * rng.normal(size=8) for key in keys}
    rows = [keys[i] for i in rng.permutation(np.repeat(np.arange(24), each))]
    X = np.array([centres[key] + 0.3 * rng.normal(size=8) for key in rows])
    seen = [k for k, _ in rows]
    queries = np.repeat(things[list(dict.fromkeys(seen))], 10, axis=0) + 2.5 * rng.normal(size=(60, 8))
    return Stream(X, in_order_of_sight(seen), queries), [f"{k} at {place}" for k, place in rows]


def in_order_of_sight(labels: list[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


@st.composite
def streams(draw: st.DrawFn, most_samples: int = 120) -> Stream:
    return random_stream(
        draw(st.integers(0, 10_000)),
        width=draw(st.integers(2, 30)),
        classes=draw(st.integers(1, 8)),
        samples=draw(st.integers(1, most_samples)),
        repeats=draw(st.sampled_from([0.0, 0.2, 0.6])),
        queries=20,
    )


def untaught(
    width: int,
    preset: str,
    refresh_growth: float = 0.1,
    records: RecordsKind = "refs",
    max_prototypes: int | None = None,
    count_pairs: CountPairs | None = None,
    pair_weights: PairWeights | None = None,
) -> ExLL:
    return new_learner(width, Parameters(preset, refresh_growth, records, max_prototypes, count_pairs, pair_weights))


def learned(
    stream: Stream,
    preset: str,
    refresh_growth: float = 0.1,
    records: RecordsKind = "refs",
    max_prototypes: int | None = None,
    count_pairs: CountPairs | None = None,
    pair_weights: PairWeights | None = None,
) -> ExLL:
    pairs = count_pairs, pair_weights
    learner = untaught(stream.X.shape[1], preset, refresh_growth, records, max_prototypes, *pairs)
    learner.learn(stream.unit, stream.y)
    return learner


def assignments(learner: ExLL) -> list[tuple[int, int]]:
    """(class, place of the prototype within it) of every sample, in the order of the stream."""
    found = {}
    for k in range(learner.class_count):
        for place, prototype in enumerate(learner.megacloud(k).prototypes):
            for record in learner.records(prototype):
                found[record.position] = (k, place)
    return [found[position] for position in range(learner.sample_count)]


def scatter_matrix(scatter: Scatter) -> Matrix:
    """The whole symmetric sum, whichever form it is kept in."""
    if scatter.triangle is None:
        return np.asarray(scatter.rows.filled.T @ scatter.rows.filled)
    lower = np.tril(scatter.folded())
    return lower + np.tril(lower, -1).T + scatter.pending.T @ scatter.pending


def assert_equal_models(one: StreamClassifier, other: StreamClassifier) -> None:
    """Equal to the last bit, and equal in all that follows."""
    assert one.get_params() == other.get_params()
    assert one.classes_.dtype == other.classes_.dtype
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.learner_.labels == other.learner_.labels
    states = one._known().state(), other._known().state()
    assert states[0].keys() == states[1].keys()
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


def with_old_names(tensors: Tensors) -> Tensors:
    """As files of format 4 and before have them."""
    old = {new: old for old, new in NEW_NAMES.items()}
    return {old.get(name, name): tensor for name, tensor in tensors.items()}


def learned_with_oracle(
    stream: Stream, ridge: float, groups: Sequence[Group] | None = None
) -> tuple[GlocalLearner, OracleGlocal]:
    """A glocal learner and the slow one over the same samples, which single precision holds: so the reservoir can,
    though it is off by a last bit."""
    X = stream.unit.astype(np.float32).astype(np.float64)
    learner = untaught(X.shape[1], "glocal")
    assert isinstance(learner, GlocalLearner)
    learner.learn(X, stream.y, groups=groups)
    np.testing.assert_allclose(learner._reservoir.vectors, X, rtol=0, atol=1.5e-7)
    learner._reservoir.vectors[:] = X
    clouds = {record.position: j for j in learner.supports for record in learner.records(j)}
    return learner, OracleGlocal(X, stream.y, [clouds[i] for i in range(len(X))], ridge)


def glocal_learner(model: ExLLClassifier) -> GlocalLearner:
    assert isinstance(model.learner_, GlocalLearner)
    return model.learner_


def groups_of(model: ExLLClassifier) -> Groups:
    """What came together, by the reservoir of a model."""
    learner = glocal_learner(model)
    return learner._reservoir.groups(learner.class_count)


def products_of(learner: GlocalLearner, ridge: float, some: Indices | None = None) -> Products:
    """The dot products of some or all samples of the reservoir, with a ridge."""
    precision = precision_of(learner._statistics, learner._shrunk_by(ridge))
    every = np.arange(len(learner._reservoir))
    return learner._reviewed().products(precision, every if some is None else some)


def sample_of(x: Vector, position: int, ref: str | None = None, group: int | None = None) -> Sample:
    """A sample as a learner hands it to its parts."""
    codes, scales = encoded(x[None])
    return Sample(x, codes[0], float(scales[0]), position, ref, group)


def blas_threads() -> set[int]:
    """Of numpy and scipy; other packages may bring a BLAS of their own."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    own = [library for library in libraries if re.search(r"[/\\\\](numpy|scipy)[./\\\\]", library["filepath"])]
    return {library["num_threads"] for library in own or libraries}
