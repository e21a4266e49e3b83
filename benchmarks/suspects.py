"""Finding wrong labels on the development tasks: 5 % replaced at random.

The average precision of how ``suspects()`` ranks the examples; and of those it calls contradicted how many are wrong,
and how many of the wrong ones are among them.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import numpy as np
from sklearn.metrics import average_precision_score

from exll import ExLLClassifier
from tasks import Task


def measured(task: Task, seed: int) -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    classes, y = np.unique(task.y, return_inverse=True)
    wrong = rng.random(len(y)) < 0.05
    y[wrong] = (y[wrong] + rng.integers(1, len(classes), wrong.sum())) % len(classes)
    doubts = np.empty(len(y))
    found = ExLLClassifier(preset="paper", records="vectors").fit(task.X, y).suspects()
    for suspect in found.ranked:
        doubts[suspect.position] = suspect.doubt
    named = [suspect.position for suspect in found.contradicted()]
    right = int(wrong[named].sum())
    return float(average_precision_score(wrong, doubts)), right / max(1, len(named)), right / int(wrong.sum())


if __name__ == "__main__":
    for name in ("grocery81", "scene15", "miniplaces"):
        ranking, precision, recall = np.mean([measured(Task(name), seed) for seed in range(3)], axis=0)
        print(f"{name}: ranking {ranking:.3f}; contradicted: {precision:.3f} are wrong, {recall:.3f} of the wrong ones")
