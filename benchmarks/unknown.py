"""Examples of nothing: how many inputs of classes that were never taught are called unknown, and what it costs.

Of 81 kinds of groceries some are taught, and some are "nothing": 1, 3 or 10 training photos of each are given to
``learn_unknown``. Test photos are of both. Every draw has other classes; intervals are 95% of the mean over draws.
"""

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exll import ExLLClassifier
from tasks import DATA, Task

GIVEN = (0, 1, 3, 10)  # examples of nothing per class


class Setting(NamedTuple):
    classes: int
    photos: int  # per class at most
    nothing: int  # classes that are never taught
    draws: int


SETTINGS = (
    Setting(61, 1000, 20, 10),
    Setting(20, 20, 10, 20),
    Setting(10, 5, 5, 40),
    Setting(2, 3, 5, 80),
)


def shares(task: Task, preset: str, setting: Setting, seed: int) -> NDArray[np.float64]:
    """Per number of examples given: unknown of the classes that were not taught; of the others unknown, and right and
    not unknown; taught photos that are unknown, with and without vectors in the records."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.unique(task.y))
    taught, nothing = np.split(classes[: setting.classes + setting.nothing], [setting.classes])
    rows = [rng.permutation(np.flatnonzero(task.y == k))[: setting.photos] for k in taught]
    order = rng.permutation(np.concatenate(rows))
    of_nothing = [rng.permutation(np.flatnonzero(task.y == k)) for k in nothing]
    models = [ExLLClassifier(preset, records=kind).fit(task.X[order], task.y[order]) for kind in ("vectors", "refs")]
    known, unknown = np.isin(task.y_test, taught), np.isin(task.y_test, nothing)
    right = models[0].predict(task.X_test[known]) == task.y_test[known]
    found = []
    for before, count in zip((0, *GIVEN), GIVEN, strict=False):
        if count:
            for model in models:
                model.learn_unknown(task.X[np.concatenate([own[before:count] for own in of_nothing])])
        lost = is_unknown(models[0], task.X_test[known])
        of_taught = [is_unknown(model, task.X[order]).mean() for model in models]
        found.append(
            [is_unknown(models[0], task.X_test[unknown]).mean(), lost.mean(), (right & ~lost).mean(), *of_taught]
        )
    return np.array(found)


def is_unknown(model: ExLLClassifier, X: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.array([answer.level == "unknown" for answer in model.answers(X)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presets", nargs="+", default=["glocal", "paper"])
    parser.add_argument("--draws", type=int, help="of every setting, instead of its own number")
    chosen = parser.parse_args()
    task = Task("grocery81", DATA)
    print("| preset, taught | given | not taught: unknown | taught: unknown | taught: right | own photos: unknown |")
    print("|---|---|---|---|---|---|")
    for preset in chosen.presets:
        for setting in SETTINGS:
            draws = np.array([shares(task, preset, setting, seed) for seed in range(chosen.draws or setting.draws)])
            means, errors = draws.mean(axis=0), 1.96 * draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
            for row, count in enumerate(GIVEN):
                cells = [f"{100 * means[row, i]:.1f} ± {100 * errors[row, i]:.1f}" for i in range(3)]
                own = f"{100 * means[row, 3]:.2f}, {100 * means[row, 4]:.2f}"
                name = f"{preset}, {setting.classes} classes of {setting.photos}, {setting.nothing} not"
                print(f"| {name} | {count} | {' | '.join(cells)} | {own} |", flush=True)


if __name__ == "__main__":
    main()
