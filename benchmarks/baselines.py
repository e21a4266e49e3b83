"""The baselines on the development tasks: accuracy at the end of the stream, and time per sample.

Raw features (the published protocols) and unit vectors; shuffled (iid) and one class after the other (class-iid).
Learners may be named; without names all are measured.
"""

import argparse
import time
from typing import Any

import numpy as np

from exll.baselines import baseline
from exll.baselines.base import Baseline
from tasks import NINE, Task

LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "NCM": ("ncm", {}),
    "SLDA": ("slda", {}),
    "SLDA, centred": ("slda", {"variant": "centred"}),
    "SOvR": ("sovr", {}),
    "Naive Bayes": ("naive-bayes", {}),
    "Naive Bayes, hayes": ("naive-bayes", {"variant": "hayes"}),
    "Perceptron": ("perceptron", {}),
    "Fine-Tune": ("fine-tune", {}),
    "Replay 2": ("replay", {"per_class": 2}),
    "Replay 20": ("replay", {"per_class": 20}),
    "CBCL": ("cbcl", {}),
}


def measured(model: Baseline, task: Task, how: str) -> tuple[float, float]:
    """Accuracy and microseconds per sample learned."""
    order = task.order(how, 0)
    X, y = task.X[order], task.y[order]
    start = time.perf_counter()
    model.fit(X, y)
    microseconds = 1e6 * (time.perf_counter() - start) / len(y)
    return float((model.predict(task.X_test) == task.y_test).mean()), microseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="*", metavar="LEARNER", help=f"some of: {'; '.join(LEARNERS)}")
    chosen = parser.parse_args().learners or list(LEARNERS)
    if unknown := [title for title in chosen if title not in LEARNERS]:
        parser.error(f"there is no learner {unknown[0]!r} here, but {'; '.join(LEARNERS)}")
    tasks = [Task(name) for name in NINE]
    print("| mean of nine tasks | raw, iid | raw, class-iid | unit, iid | unit, class-iid | µs a sample |")
    print("|---|---|---|---|---|---|")
    for title in chosen:
        name, parameters = LEARNERS[title]
        figures = []
        for normalise in (False, True):
            for how in ("iid", "class-iid"):
                model = baseline(name, normalise=normalise, **parameters)
                figures.append(np.mean([measured(model, task, how) for task in tasks], axis=0))
        accuracies = " | ".join(f"{accuracy:.3f}".lstrip("0") for accuracy, _ in figures)
        print(f"| {title} | {accuracies} | {np.mean([us for _, us in figures]):.0f} |", flush=True)


if __name__ == "__main__":
    main()
