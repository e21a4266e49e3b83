"""The stronger baselines against a batch computation that imports nothing of ours: the same scores for the same
stream, in which classes come late."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exll import load
from exll.baselines import KLDA, KNN, XDNN, FeCAM, LeastSquares, RanPAC, StreamingRDA
from exll.baselines.base import Baseline
from oracle import rivals as batch
from support import Stream, random_stream

Scores = NDArray[np.float64]
PAIRS: dict[str, tuple[Baseline, Callable[..., Scores]]] = {
    "rls": (LeastSquares(), batch.least_squares),
    "rls with a penalty": (LeastSquares(2.0), partial(batch.least_squares, penalty=2.0)),
    "ranpac": (RanPAC(60, random_state=7), partial(batch.ranpac, features=60, seed=7)),
    "ranpac with more features than samples": (
        RanPAC(400, random_state=7),
        partial(batch.ranpac, features=400, seed=7),
    ),
    "ranpac with a penalty": (
        RanPAC(400, 5.0, random_state=7),
        partial(batch.ranpac, features=400, seed=7, penalty=5.0),
    ),
    "klda": (
        KLDA(features=80, gamma=0.2, shrinkage=0.3, random_state=7),
        partial(batch.klda, features=80, seed=7, gamma=0.2, shrinkage=0.3, cosine=False),
    ),
    "klda with cosines": (
        KLDA("cosine", features=80, gamma=0.2, shrinkage=0.3, random_state=7),
        partial(batch.klda, features=80, seed=7, gamma=0.2, shrinkage=0.3, cosine=True),
    ),
    "fecam": (FeCAM(1.0, 0.5, 0.5), partial(batch.fecam, gamma1=1.0, gamma2=0.5, power=0.5)),
    "rda": (StreamingRDA(0.7, 0.1), partial(batch.rda, share=0.7, shrinkage=0.1)),
    "knn": (KNN(7), partial(batch.knn, k=7, weighted=True)),
    "knn with equal votes": (KNN(7, weights="uniform"), partial(batch.knn, k=7, weighted=False)),
    "xdnn": (XDNN(), partial(batch.xdnn, farthest=True)),
    "xdnn, mended": (XDNN("mended"), partial(batch.xdnn, farthest=False)),
}


def stream_with_late_classes(seed: int) -> Stream:
    """Unit vectors; the last class comes after all others, once."""
    stream = random_stream(seed, samples=200, width=10 + seed, classes=6)
    return Stream(stream.unit, [*stream.y[:-1], max(stream.y[:-1]) + 1], stream.unit_queries)


def differences(scores: Scores) -> Scores:
    """A score may lack what is the same for all classes."""
    return scores - scores[:, :1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PAIRS)
def test_the_scores_are_those_of_a_batch(name: str, seed: int) -> None:
    stream = stream_with_late_classes(seed)
    model, expected_scores = PAIRS[name]
    scores = model.fit(stream.X, stream.y).learner_.answers().scores(stream.queries)
    expected = expected_scores(stream.X, np.array(stream.y), stream.queries)
    np.testing.assert_allclose(differences(scores), differences(expected), rtol=1e-7, atol=1e-7)


def test_few_samples_take_the_penalty_for_few() -> None:
    stream = random_stream(4, samples=20, width=8, classes=6)
    assert 0 < batch.fifth_of_each_class(np.array(stream.y)).sum() < 10
    expected = batch.least_squares(stream.unit, np.array(stream.y), stream.unit_queries)
    scores = LeastSquares().fit(stream.unit, stream.y).learner_.answers().scores(stream.unit_queries)
    np.testing.assert_allclose(scores, expected, atol=1e-9)


@pytest.mark.parametrize("model", [FeCAM(), StreamingRDA(), KLDA(features=50)], ids=str)
def test_the_order_does_not_matter_where_that_is_promised(model: Baseline) -> None:
    stream = random_stream(8, classes=6, samples=200)
    expected = model.fit(stream.unit, stream.y).predict_proba(stream.unit_queries)
    order = np.random.default_rng(1).permutation(200)
    again = model.fit(stream.unit[order], np.array(stream.y)[order]).predict_proba(stream.unit_queries)
    np.testing.assert_allclose(again, expected, atol=1e-7)


def test_knn_keeps_no_more_than_its_capacity_and_is_fair_to_classes() -> None:
    stream = random_stream(5, classes=6, width=4, samples=300)
    held = np.bincount(KNN(capacity=30).fit(stream.X, stream.y).learner_.rule.state()["kept_classes"])
    assert held.sum() == 30
    assert held.max() - held.min() <= 2


def test_xdnn_joins_the_farthest_as_published_and_the_nearest_when_mended() -> None:
    X = np.array([5.0, 0.0, 0.0]) + np.random.default_rng(2).normal(size=(60, 3))
    published, mended = (XDNN(variant, normalise=True).fit(X, [0] * 60) for variant in ("published", "mended"))
    assert published.learner_.rule.state()["counts"].tolist() != mended.learner_.rule.state()["counts"].tolist()
    assert max(mended.learner_.rule.state()["counts"]) > 1


def test_the_same_seed_draws_the_same_features_and_another_others() -> None:
    stream = random_stream(6, samples=60)
    for kind in (RanPAC, KLDA):
        one, same, other = (
            kind(features=30, random_state=seed).fit(stream.unit, stream.y).predict_proba(stream.unit_queries)
            for seed in (3, 3, 4)
        )
        np.testing.assert_array_equal(same, one)
        assert not np.array_equal(other, one)


def test_features_drawn_without_a_seed_are_those_of_the_saved_model(tmp_path: Path) -> None:
    stream = random_stream(6, samples=60)
    for model in (RanPAC(30, random_state=None), KLDA(features=30, random_state=None)):
        model.fit(stream.unit, stream.y).save(tmp_path / "m.exll")
        again = load(tmp_path / "m.exll")
        assert isinstance(again, Baseline)
        again.partial_fit(stream.unit, stream.y)
        model.partial_fit(stream.unit, stream.y)
        np.testing.assert_array_equal(again.predict_proba(stream.queries), model.predict_proba(stream.queries))
