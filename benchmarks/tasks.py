"""The development tasks: real features with a split, and the orders in which their streams are shown."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll import ExLLClassifier
from exll.types import InferenceName

NAMES: tuple[InferenceName, ...] = ("global", "local", "fused")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Task:
    def __init__(self, name: str, folder: Path = DATA) -> None:
        tasks = np.load(folder / "tasks.npz")
        data = np.load(folder / "features" / f"{tasks[f'{name}/dataset']}.npz")
        X, y = data["X"].astype(np.float32), data[str(tasks[f"{name}/label"])]
        train, test = tasks[f"{name}/train"], tasks[f"{name}/test"]
        self.X, self.y, self.X_test, self.y_test = X[train], y[train], X[test], y[test]

    def order(self, how: str, seed: int) -> NDArray[Any]:
        """``iid``: shuffled. ``class-iid``: one class after the other, shuffled among and within them."""
        rng = np.random.default_rng(seed)
        if how == "iid":
            return rng.permutation(len(self.y))
        classes = rng.permutation(np.unique(self.y))
        return np.concatenate([rng.permutation(np.flatnonzero(self.y == k)) for k in classes])

    def learned(self, how: str, seed: int, refresh_growth: float = 0.1) -> ExLLClassifier:
        order = self.order(how, seed)
        classifier = ExLLClassifier(preset="paper", refresh_growth=refresh_growth, records="none")
        return classifier.partial_fit(self.X[order], self.y[order])

    def accuracies(self, classifier: ExLLClassifier) -> NDArray[np.float64]:
        """Of global, local and fused inference, and of either of the first two."""
        right = [classifier.predict(self.X_test, name) == self.y_test for name in NAMES]
        return np.array([*(r.mean() for r in right), (right[0] | right[1]).mean()])
