"""Finding wrong labels on the development tasks: none, 2, 5 or 10 % replaced at random.

The average precision of how ``suspects()`` ranks the examples; what share of all it calls contradicted, how many of
those are wrong, and how many of the wrong ones are among them; and the share of wrong labels that it estimates.
"""

import os
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import numpy as np
from sklearn.metrics import average_precision_score

from exll import ExLLClassifier
from tasks import Task

SHARES = (0.0, 0.02, 0.05, 0.1)


class Measured(NamedTuple):
    ranking: float
    named: float
    precision: float
    recall: float
    estimate: float


def measured(task: Task, seed: int, share: float = 0.05) -> Measured:
    rng = np.random.default_rng(seed)
    classes, y = np.unique(task.y, return_inverse=True)
    wrong = rng.random(len(y)) < share
    y[wrong] = (y[wrong] + rng.integers(1, len(classes), wrong.sum())) % len(classes)
    doubts = np.empty(len(y))
    found = ExLLClassifier(preset="paper", records="vectors").fit(task.X, y).suspects()
    for suspect in found.ranked:
        doubts[suspect.position] = suspect.doubt
    named = [suspect.position for suspect in found.contradicted()]
    right = int(wrong[named].sum())
    ranking = float(average_precision_score(wrong, doubts)) if wrong.any() else 1.0
    shares = len(named) / len(y), right / max(1, len(named)), right / max(1, int(wrong.sum()))
    return Measured(ranking, *shares, found.wrong_labels)


if __name__ == "__main__":
    for name in ("grocery81", "scene15", "miniplaces"):
        for share in SHARES:
            mean = Measured(*np.mean([measured(Task(name), seed, share) for seed in range(3)], axis=0))
            words = "; ".join(f"{what} {value:.3f}" for what, value in mean._asdict().items())
            print(f"{name}, {share:.0%} wrong: {words}")
