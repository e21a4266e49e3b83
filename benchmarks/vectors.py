"""Vectors as they are: measurements, offsets and units, beside linear discriminant analysis.

``python benchmarks/vectors.py`` prints the table of docs/results.md. Half of the data is learned, in a random order and
class by class, and the other half asked; means over ten halves.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split

from exll import ExLLClassifier

ORDERS = ("random", "class by class")
LEARNERS: dict[str, Callable[[], Any]] = {
    "glocal": lambda: ExLLClassifier(records="none"),
    "kept": lambda: ExLLClassifier(records="none", lengths="kept"),
    "ignored": lambda: ExLLClassifier(records="none", lengths="ignored"),
    "paper": lambda: ExLLClassifier("paper", records="none"),
}
OFFSETS = (0.0, 100.0, 1e3, 1e4)
SCALES = (1e-3, 1e3)


def data(seed: int) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    for name in ("iris", "wine", "breast_cancer", "digits"):
        found = getattr(datasets, f"load_{name}")()
        yield f"{name.replace('_', ' ')} ({found.data.shape[1]})", found.data, found.target
    yield "blobs (2)", *datasets.make_blobs(600, 2, centers=4, cluster_std=1.5, random_state=seed)[:2]
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 600)
    X = (rng.normal(size=(5, 16))[y] + rng.normal(size=(600, 16))) @ rng.normal(size=(16, 16))  # correlated
    for offset in OFFSETS:
        yield f"normal (16), offset {offset:g}", X + offset, y
    for scale in SCALES:
        yield f"normal (16), scale {scale:g}", scale * X, y
    units = 10.0 ** rng.uniform(-3, 3, 16)
    yield "normal (16), a unit for every feature", units * (X + 10.0), y


def in_order(y: NDArray[Any], order: str, seed: int) -> NDArray[np.intp]:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))
    if order == "random":
        return rows
    place = np.argsort(rng.permutation(int(y.max()) + 1))
    return rows[np.argsort(place[y[rows]], kind="stable")]


def measure(seeds: int) -> dict[str, dict[str, list[float]]]:
    """Accuracies by data and column."""
    found: dict[str, dict[str, list[float]]] = {}
    for seed in range(seeds):
        for name, X, y in data(seed):
            columns = found.setdefault(name, {})
            learned, asked, y_learned, y_asked = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # constant pixels
                discriminant = LinearDiscriminantAnalysis().fit(learned, y_learned)
            columns.setdefault("LDA", []).append(discriminant.score(asked, y_asked))
            for order in ORDERS:
                rows = in_order(y_learned, order, seed)
                for learner, make in LEARNERS.items():
                    model = make().fit(learned[rows], y_learned[rows])
                    columns.setdefault(f"{learner}, {order}", []).append(model.score(asked, y_asked))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    found = measure(parser.parse_args().seeds)
    columns = list(next(iter(found.values())))
    print(f"| data (features) | {' | '.join(columns)} |")
    print("|" + "---|" * (len(columns) + 1))
    for name, own in found.items():
        print(f"| {name} | {' | '.join(f'{np.mean(own[column]):.3f}'.lstrip('0') for column in columns)} |")


if __name__ == "__main__":
    main()
