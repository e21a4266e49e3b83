"""The paper preset on the development tasks: its figures by every reading of the paper, and what a fusion table
counted on test labels reaches.

``paper_preset.py readings|test_labels [--tasks NAME ...] [--seeds N] [--growth G]`` prints tables in Markdown
(docs/results.md). ``--growth 0`` inverts a matrix at every sample: seconds become minutes.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from exll import ExLLClassifier
from exll.learner.block import Block
from exll.learner.exll import Parameters, Placed
from exll.learner.paper.fusion import PairwiseFusion, SampleScores
from exll.learner.paper.learner import PaperBlock, PaperLearner
from exll.learner.preset import PRESETS
from exll.types import Indices, Matrix, PairWeights, Vector
from tasks import Task

TASKS = ("grocery81", "scene15", "miniplaces", "grocery81-5shot")
ORDERS = ("iid", "class-iid")


def readings(tasks: list[str], seeds: int, growth: float) -> None:
    """Pairs counted before and after, and the score of a class from its best prototype or from all of them. Where the
    prototypes lie depends on neither, so one pass makes all four tables."""
    PRESETS["readings"] = ReadingsLearner
    print("| task | order | refresh_growth | score of a class | global (M) | local (P) | fused, before | ", end="")
    print(f"fused, after | either right | prototypes |\n|{'---|' * 10}")
    for task, name, how in _streams(tasks):
        found: dict[str, list[list[float]]] = {}
        prototypes = []
        for seed in range(seeds):
            order = task.order(how, seed)
            model = ExLLClassifier("readings", growth, "none", lengths="ignored").fit(task.X[order], task.y[order])
            prototypes.append(model.n_prototypes_)
            for local, row in _accuracies_of_readings(task, model).items():
                found.setdefault(local, []).append(row)
        for local, rows in found.items():
            cells = f"{_with_spread(rows)} | {np.mean(prototypes):.0f}"
            print(f"| {name} | {how} | {growth:g} | {local} | {cells} |", flush=True)


def no_gain(block: PaperBlock, row: int, count: int, prototypes: Indices) -> Vector:
    """As if a lagging precision had the sample that is being placed."""
    return np.zeros(len(prototypes))


class ReadingsLearner(PaperLearner):
    """The paper's learner with a fusion table for every reading."""

    weights: ClassVar[PairWeights] = "one"

    def __init__(self, width: int, parameters: Parameters) -> None:
        super().__init__(width, parameters)
        self.tables = {(local, when): PairwiseFusion(self.weights) for local in LOCAL for when in ("before", "after")}

    def _answer(self, block: Block, row: int, k: int) -> int:
        assert isinstance(block, PaperBlock)
        self._count(self._scores(block, row), "before", k)
        return super()._answer(block, row, k)

    def _place(self, block: Block, row: int, k: int) -> Placed:
        placed = super()._place(block, row, k)
        assert isinstance(block, PaperBlock)
        self._count(self._scores(block, row), "after", k)
        return placed

    def _count(self, scores: SampleScores, when: str, k: int) -> None:
        self.tables["best prototype", when].learn(scores, k)
        classes = np.arange(len(scores.class_scores))
        summed = np.logaddexp.reduceat(*_by_class(scores.prototype_scores, scores.class_of))
        self.tables["log-sum-exp", when].learn(SampleScores(scores.class_scores, summed, classes), k)


LOCAL = ("best prototype", "log-sum-exp")


def _by_class(scores: Vector, class_of: Indices) -> tuple[Vector, Indices]:
    """Scores of prototypes, class by class, and where each class begins."""
    order = np.argsort(class_of, kind="stable")
    return scores[order], np.searchsorted(class_of[order], np.arange(class_of.max() + 1))


def _accuracies_of_readings(task: Task, model: ExLLClassifier) -> dict[str, list[float]]:
    """Global, local, fused before and after, either right."""
    learner = model.learner_
    assert isinstance(learner, ReadingsLearner)
    global_scores, best, rows = _scores(task.X_test, model)
    inference = learner.inference()
    starts = inference.first_prototype
    locals_: dict[str, Matrix] = {"best prototype": best, "log-sum-exp": np.logaddexp.reduceat(rows, starts, axis=1)}
    truth = _numbers(task.y_test, model)
    found = {}
    for local, local_scores in locals_.items():
        one, other = (scores.argmax(axis=1) == truth for scores in (global_scores, local_scores))
        fused = [
            float((learner.tables[local, when].labels(global_scores, local_scores) == truth).mean())
            for when in ("before", "after")
        ]
        found[local] = [float(one.mean()), float(other.mean()), *fused, float((one | other).mean())]
    return found


def test_labels(tasks: list[str], seeds: int, growth: float) -> None:
    """Fused accuracy by tables of pairs that are counted on the stream, on the training rows once more when all was
    learned, on one half of the test rows for the other half, and on all test rows with their own labels."""
    columns = "better of M and P | either right | the stream | training rows again | half of the test rows | test rows"
    print(f"| task | order | {columns} |\n|{'---|' * 8}")
    for task, name, how in _streams(tasks):
        runs = []
        for seed in range(seeds):
            model = task.learned(how, seed, growth)
            accuracies = task.accuracies(model)
            again, asked = (_scores(X, model)[:2] for X in (task.X, task.X_test))
            truth, taught = _numbers(task.y_test, model), _numbers(task.y, model)
            half = np.random.default_rng(seed).permutation(len(truth)) % 2 == 0
            halves = [
                (_counted([s[a] for s in asked], truth[a]).labels(*(s[~a] for s in asked)) == truth[~a]).mean()
                for a in (half, ~half)
            ]
            runs.append(
                [
                    max(accuracies[:2]),
                    accuracies[3],
                    accuracies[2],
                    float((_counted(again, taught).labels(*asked) == truth).mean()),
                    float(np.mean(halves)),
                    float((_counted(asked, truth).labels(*asked) == truth).mean()),
                ]
            )
        print(f"| {name} | {how} | {_means(runs)} |", flush=True)


def _counted(scores: Any, truth: Indices) -> PairwiseFusion:
    """A table counted on rows with their labels."""
    fusion, classes = PairwiseFusion(), np.arange(scores[0].shape[1])
    for class_scores, local_scores, k in zip(*scores, truth.tolist(), strict=True):
        fusion.learn(SampleScores(class_scores, local_scores, classes), k)
    return fusion


def _scores(X: NDArray[Any], model: ExLLClassifier) -> tuple[Matrix, Matrix, Matrix]:
    """Of global and of local inference, and of every prototype."""
    inference = model.learner_.inference()
    unit = X.astype(np.float64) / np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    dots = inference.dots(unit)
    return *inference.global_and_local(dots), inference.row_scores(dots)[:, : len(inference.prototype_ids)]


def _numbers(y: NDArray[Any], model: ExLLClassifier) -> Indices:
    """Class numbers in the order of first sight; -1 for a class that was never learned."""
    number_of = {label: k for k, label in enumerate(model.learner_.labels)}
    return np.array([number_of.get(label, -1) for label in y.tolist()], np.int64)


def _streams(tasks: list[str]) -> Iterator[tuple[Task, str, str]]:
    for name in tasks:
        task = Task(name)
        yield from ((task, name, how) for how in ORDERS)


def _means(runs: Any) -> str:
    return " | ".join(f"{mean:.3f}" for mean in np.mean(runs, axis=0))


def _with_spread(runs: Any) -> str:
    return " | ".join(f"{m:.3f} ± {s:.3f}" for m, s in zip(np.mean(runs, axis=0), np.std(runs, axis=0), strict=True))


if __name__ == "__main__":
    tables = {"readings": readings, "test_labels": test_labels}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=tables)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--growth", type=float, default=0.1, help="refresh_growth [default: 0.1]")
    parser.add_argument("--without-own-sample", action="store_true", help="readings without the correction of E2")
    parser.add_argument("--weights", choices=["one", "confidence"], default="one", help="pair_weights of readings")
    options = parser.parse_args()
    ReadingsLearner.weights = options.weights
    if options.without_own_sample:
        PaperBlock.gain_of_own_sample = no_gain  # type: ignore[assignment,method-assign]
    tables[options.table](options.tasks, options.seeds, options.growth)
