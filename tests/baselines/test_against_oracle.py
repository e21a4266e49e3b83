"""Every baseline against a slow one that imports nothing of ours: the same scores for the same stream."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

from exll.baselines import CBCL, NCM, SLDA, FineTune, NaiveBayes, Perceptron, Replay, SOvR
from exll.baselines.base import Baseline
from oracle import baselines as slow
from support import Stream, random_stream

SEEDS = range(8)


def generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(7))


PAIRS: dict[str, tuple[Baseline, Callable[[], Any]]] = {
    "ncm": (NCM(), slow.NCMOracle),
    "sovr": (SOvR(), slow.SOvROracle),
    "naive bayes": (NaiveBayes(), slow.NaiveBayesOracle),
    "hayes": (NaiveBayes("hayes"), lambda: slow.NaiveBayesOracle(hayes=True)),
    "perceptron": (Perceptron(), slow.PerceptronOracle),
    "fine-tune": (FineTune(random_state=7), lambda: slow.FineTuneOracle(generator())),
    "a faster fine-tune": (FineTune(0.005, random_state=7), lambda: slow.FineTuneOracle(generator(), 0.005)),
    "replay of 2": (Replay(2, random_state=7), lambda: slow.ReplayOracle(generator(), per_class=2)),
    "replay of 20": (Replay(20, random_state=7), lambda: slow.ReplayOracle(generator(), per_class=20)),
    "replay of 60": (Replay(capacity=60, random_state=7), lambda: slow.ReplayOracle(generator(), capacity=60)),
    "cbcl": (CBCL(4.0), lambda: slow.CBCLOracle(4.0)),
}


def positive(stream: Stream) -> Stream:
    """As pooled activations are; a share of likeness needs it."""
    return replace(stream, X=np.abs(stream.X), queries=np.abs(stream.queries))


def oracle_of(new: Callable[[], Any], stream: Stream) -> Any:
    oracle = new()
    for x, k in zip(stream.X, stream.y, strict=True):
        oracle.learn(x, k)
    return oracle


def differences(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """A score may lack what is the same for all classes."""
    return scores - scores[:, :1]


def assert_same_scores(model: Baseline, expected: NDArray[np.float64], stream: Stream) -> None:
    scores = model.learner_.answers().scores(stream.queries)
    np.testing.assert_allclose(differences(scores), differences(expected), rtol=1e-7, atol=1e-7)
    margins = np.sort(expected, axis=1)
    clear = np.ones(len(expected), bool) if expected.shape[1] == 1 else margins[:, -1] - margins[:, -2] > 1e-6
    assert clear.sum() > 10
    assert (model.predict(stream.queries)[clear] == expected.argmax(axis=1)[clear]).all()


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_scores_are_those_of_the_oracle(name: str, seed: int) -> None:
    stream = positive(random_stream(seed, samples=150))
    model, new = PAIRS[name]
    oracle = oracle_of(new, stream)
    expected = np.array([oracle.scores(x) for x in stream.queries])
    assert_same_scores(model.fit(stream.X, stream.y), expected, stream)


@pytest.mark.parametrize(
    ("model", "new"),
    [(SLDA(), slow.SLDAOracle), (SLDA("centred"), slow.CentredSLDAOracle)],
    ids=["published", "centred"],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_slda_is_its_rule_done_naively(seed: int, model: SLDA, new: type[slow.SLDAOracle]) -> None:
    stream = random_stream(seed)
    expected = np.array(oracle_of(new, stream).all_scores(stream.queries))
    assert_same_scores(model.fit(stream.X, stream.y), expected, stream)


def test_ncm_agrees_with_scikit_learn_s() -> None:
    stream = random_stream(3, classes=6, width=9, samples=200, repeats=0)
    peer = NearestCentroid().fit(stream.X, stream.y)
    assert NCM().fit(stream.X, stream.y).predict(stream.queries).tolist() == peer.predict(stream.queries).tolist()


def test_naive_bayes_agrees_with_scikit_learn_s_of_one_batch() -> None:
    stream = random_stream(4, classes=5, width=9, samples=300, repeats=0)
    peer = GaussianNB(priors=np.full(5, 0.2), var_smoothing=0).fit(stream.X, stream.y)
    peer.var_ = (1 - 1e-4) * peer.var_ + 1e-4
    model = NaiveBayes().fit(stream.X, stream.y)
    np.testing.assert_allclose(model.predict_proba(stream.queries), peer.predict_proba(stream.queries), atol=1e-9)


def test_cbcl_keeps_several_centroids_and_merges_into_the_nearest() -> None:
    # Merging always into the first, as one published copy does, would move the first and not the last.
    model = CBCL(distance=2.0).fit([[0.0, 0.0], [10.0, 0.0], [11.0, 0.0]], ["a", "a", "a"])
    np.testing.assert_allclose(model.learner_.rule.state()["centroids"], [[0.0, 0.0], [10.5, 0.0]])
    assert model.n_parameters_ == 4


def test_the_buffer_is_never_larger_than_allowed_and_takes_from_the_largest_class() -> None:
    stream = random_stream(5, classes=6, width=4, samples=300)
    model = Replay(per_class=3)
    for x, k in zip(stream.X, stream.y, strict=True):
        model.partial_fit(x[None, :], [k])
        assert len(model.learner_.rule.state()["kept"]) <= 3 * len(model.classes_)
    assert np.bincount(model.learner_.rule.state()["kept_classes"]).sum() == 18
    fixed = Replay(capacity=10).fit(stream.X, stream.y)
    held = np.bincount(fixed.learner_.rule.state()["kept_classes"])
    assert held.sum() == 10
    assert held.max() - held.min() <= 2


def test_the_same_seed_gives_the_same_model_and_another_another() -> None:
    stream = random_stream(6, samples=200)
    for kind in (FineTune, Replay):
        one, same, other = (kind(random_state=seed).fit(stream.X, stream.y) for seed in (3, 3, 4))
        expected = one.predict_proba(stream.queries)
        np.testing.assert_array_equal(same.predict_proba(stream.queries), expected)
        assert not np.array_equal(other.predict_proba(stream.queries), expected)


@pytest.mark.parametrize("model", [NCM(), SOvR(), NaiveBayes(), NaiveBayes("hayes")], ids=str)
def test_the_order_does_not_matter_where_that_is_promised(model: Baseline) -> None:
    stream = positive(random_stream(8, classes=6, samples=200))
    expected = model.fit(stream.X, stream.y).predict_proba(stream.queries)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(200)
        again = model.fit(stream.X[order], np.array(stream.y)[order]).predict_proba(stream.queries)
        np.testing.assert_allclose(again, expected, atol=1e-7)


def test_slda_centred_does_not_depend_on_where_the_vectors_lie() -> None:
    """Raw features may lie far from zero: scores must stay as small as the differences between them."""
    rng = np.random.default_rng(3)
    y = np.arange(300) % 3
    X = 0.3 * np.eye(5)[y] + 0.1 * rng.normal(size=(300, 5))
    near, far = (SLDA("centred").fit(X + away, y).predict(X + away) for away in (0.0, 6e3))  # 60,000 deviations
    assert (near == y).mean() > 0.9
    assert (far == near).mean() > 0.99
