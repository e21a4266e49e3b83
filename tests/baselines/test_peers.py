"""Other people's implementations, where they are installed (``pip install 'exll[peers]'``)."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exll.baselines import SLDA
from support import random_stream
from tasks import Task

# What they warn about while they are imported is theirs to mend.
pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


def avalanche_scores(X: NDArray[np.float64], y: list[int], queries: NDArray[np.float64]) -> NDArray[np.float64]:
    torch = pytest.importorskip("torch")
    pytest.importorskip("avalanche")
    from avalanche.training.supervised.deep_slda import StreamingLDA

    peer = StreamingLDA(
        slda_model=torch.nn.Identity(),
        criterion=torch.nn.CrossEntropyLoss(),
        input_size=X.shape[1],
        num_classes=max(y) + 1,
        evaluator=None,
    )
    peer.muK, peer.cK, peer.Sigma = peer.muK.double(), peer.cK.double(), peer.Sigma.double()
    for x, k in zip(torch.from_numpy(X), y, strict=True):
        peer.fit(x[None, :], torch.tensor([k]))
    return np.asarray(peer.predict(torch.from_numpy(queries)))


def assert_equal_to_avalanche(X: NDArray[np.float64], y: list[int], queries: NDArray[np.float64]) -> None:
    expected = avalanche_scores(X, y, queries)
    scores = SLDA().fit(X, y).learner_.answers().scores(queries)
    np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())
    assert (scores.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.999


def test_slda_equals_avalanche_s() -> None:
    stream = random_stream(2, width=30, classes=7, samples=300, queries=200)
    assert_equal_to_avalanche(stream.X, stream.y, stream.queries)


@pytest.mark.data
def test_slda_equals_avalanche_s_on_real_features(data_folder: Path) -> None:
    task = Task("scene15", data_folder)
    order = task.order("iid", 0)
    numbers: dict[str, int] = {}
    y = [numbers.setdefault(label, len(numbers)) for label in task.y[order].tolist()]
    assert_equal_to_avalanche(task.X[order].astype(np.float64), y, task.X_test[:500].astype(np.float64))
