"""The baselines on the development tasks: accuracy at the end of the stream, time per sample, and time to ask once.

Raw features (the published protocols) and unit vectors; shuffled (iid) and one class after the other (class-iid).
Learners may be named; without names all are measured.
"""

import argparse
import time
from typing import Any

import numpy as np

from exll.bench.learners import BUILT_IN
from tasks import NINE, Task

LEARNERS = {
    "NCM": "ncm",
    "SLDA": "slda",
    "SLDA, centred": "slda-centred",
    "SOvR": "sovr",
    "Naive Bayes": "naive-bayes",
    "Naive Bayes, hayes": "naive-bayes-hayes",
    "Perceptron": "perceptron",
    "Fine-Tune": "fine-tune",
    "Replay 2": "replay-2pc",
    "Replay 20": "replay-20pc",
    "CBCL": "cbcl",
    "RLS": "rls",
    "RanPAC": "ranpac",
    "KLDA": "klda",
    "KLDA, cosine": "klda-cosine",
    "FeCAM": "fecam",
    "RDA": "rda",
    "k-NN": "knn",
    "xDNN": "xdnn",
    "xDNN, mended": "xdnn-mended",
    "LDA, offline": "offline-lda",
    "logistic regression, offline": "offline-logistic",
}


def measured(model: Any, task: Task, how: str) -> tuple[float, float, float]:
    """Accuracy, microseconds per sample learned, and seconds for all questions."""
    order = task.order(how, 0)
    X, y = task.X[order], task.y[order]
    start = time.perf_counter()
    model.partial_fit(X, y)
    learned = time.perf_counter()
    accuracy = float((model.predict(task.X_test) == task.y_test).mean())
    return accuracy, 1e6 * (learned - start) / len(y), time.perf_counter() - learned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="*", metavar="LEARNER", help=f"some of: {'; '.join(LEARNERS)}")
    chosen = parser.parse_args().learners or list(LEARNERS)
    if unknown := [title for title in chosen if title not in LEARNERS]:
        parser.error(f"there is no learner {unknown[0]!r} here, but {'; '.join(LEARNERS)}")
    tasks = [Task(name) for name in NINE]
    print("| mean of nine tasks | raw, iid | raw, class-iid | unit, iid | unit, class-iid | µs per sample | s to ask |")
    print("|---|---|---|---|---|---|---|")
    for title in chosen:
        cells, times = [], []
        for name in (LEARNERS[title], f"{LEARNERS[title]}-unit"):
            for how in ("iid", "class-iid"):
                if name not in BUILT_IN:
                    cells.append("")
                    continue
                accuracy, *seconds = np.mean([measured(BUILT_IN[name].new(0), task, how) for task in tasks], axis=0)
                cells.append(f"{accuracy:.3f}".lstrip("0"))
                times.append(seconds)
        if not cells[-1]:
            cells = [*cells[2:], *cells[:2]]  # an offline learner has unit vectors alone
        learning, asking = np.mean(times, axis=0)
        print(f"| {title} | {' | '.join(cells)} | {learning:.0f} | {asking:.1f} |", flush=True)


if __name__ == "__main__":
    main()
