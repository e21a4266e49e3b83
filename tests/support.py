"""Streams and comparisons that many tests need."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from exll.learner.exll import ExLL
from exll.stream_classifier import StreamClassifier


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


def learned(stream: Stream, refresh_growth: float = 0.1) -> ExLL:
    learner = ExLL(stream.X.shape[1], "paper", refresh_growth, "refs")
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


def assert_equal_models(one: StreamClassifier, other: StreamClassifier) -> None:
    """Equal to the last bit, and equal in all that follows."""
    assert one.get_params() == other.get_params()
    assert one.classes_.dtype == other.classes_.dtype
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.learner_.labels == other.learner_.labels
    states = one.learner_.state(), other.learner_.state()
    assert states[0].keys() == states[1].keys()
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)
