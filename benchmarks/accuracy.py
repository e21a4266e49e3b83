"""The study behind the preset ``glocal``: what each part gains, how honest its probabilities are, what is unknown.

``accuracy.py [parts|calibration|unknown|few|prototypes] [--features FILE.npz] [--tasks NAME ...] [--seeds N]``
prints tables in Markdown (docs/results.md). Without a file the development tasks are measured; a file needs X, y and
split (train, test).
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from exll import ExLLClassifier
from exll.baselines import baseline
from exll.learner.glocal.judgement import Evidence, Judgement
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import LeftOut
from exll.learner.glocal.review import Reviewed
from tasks import DATA, NINE, Task

TASKS = (*NINE, "fruits-all-videos")  # the tenth shares videos between train and test
UNKNOWN_TASKS = ("grocery81", "scene15", "miniplaces", "eth80-new-instances")
ORDERS = ("iid", "class-iid")
BINS = 15
FEW, EXAMPLES, DRAWS, MOST_ASKED = (2, 3, 6, 12), (4, 15), 16, 4000


def learned(task: Task, how: str, seed: int, **parameters: Any) -> ExLLClassifier:
    order = task.order(how, seed)
    return ExLLClassifier(records="none", **parameters).fit(task.X[order], task.y[order])


class Without(Reviewed):
    """A review that knows nothing of some parts of a score, so that the others are weighed without them."""

    def _evidence(self, *given: Any) -> Evidence:
        whole = super()._evidence(*given)
        with_group, alike = (_without(left, self.left_away) for left in (whole.with_group, whole.with_look_alikes))
        return replace(whole, with_group=with_group, with_look_alikes=alike)

    left_away: tuple[str, ...] = ()


PROTOTYPES, LIFT = ("towards_prototype",), ("towards_lifted", "lifted_nearness")


def _without(left_out: LeftOut, names: tuple[str, ...]) -> LeftOut:
    zeros: dict[str, Any] = {name: np.zeros_like(getattr(left_out, name)) for name in names}
    return replace(left_out, **zeros)


def parts(name: str, how: str, seed: int, folder: Path | None) -> dict[str, float]:
    """What each part of a score adds: one learned model, judged anew without it."""
    task = Task(name, folder or DATA)
    model = learned(task, how, seed)
    assert isinstance(model.learner_, GlocalLearner)
    reviewed, ridge = model.learner_._reviewed(), model.learner_._judgement.ridge

    def right(judgement: Judgement | None, inference: Any = "fused") -> float:
        """With other weights: what it learned does not depend on them."""
        assert judgement is not None
        assert isinstance(model.learner_, GlocalLearner)
        model.learner_._judgement, model.learner_._answers = judgement, None
        return float((model.predict(task.X_test, inference) == task.y_test).mean())

    def without(*names: str) -> Judgement | None:
        review = Without(**reviewed.__dict__)
        object.__setattr__(review, "left_away", names)
        return review.judgement(ridge)

    whole = reviewed.judgement(ridge)
    return {
        "cosine, ridge 0.2": right(Judgement()),
        "classes alone (global)": right(whole, "global"),
        "prototypes alone (local)": right(whole, "local"),
        "without prototypes and lift": right(without(*PROTOTYPES, *LIFT)),
        "without prototypes": right(without(*PROTOTYPES)),
        "without the lift": right(without(*LIFT)),
        "glocal": right(whole),
    }


def calibration(name: str, how: str, seed: int, folder: Path | None) -> dict[str, Any]:
    """Confidence and accuracy on the last fifth of the stream, not learned, and on the test set; false alarms."""
    task = Task(name, folder or DATA)
    order = task.order("iid", seed)
    cut = int(0.8 * len(order))
    model = ExLLClassifier(records="none").fit(task.X[order[:cut]], task.y[order[:cut]])
    rest = order[cut:][np.isin(task.y[order[cut:]], model.classes_)]
    held_out = _confidence(model.predict_proba(task.X[rest]), model.classes_, task.y[rest])
    alarms = float((model.novelty(task.X[rest]) > model.novelty_threshold()).mean())
    whole = learned(task, "iid", seed)
    slda = baseline("slda", normalise=True).fit(task.X[order], task.y[order])
    return {
        "held out": held_out,
        "false alarms": alarms,
        "test": _confidence(whole.predict_proba(task.X_test), whole.classes_, task.y_test),
        "test alarms": float((whole.novelty(task.X_test) > whole.novelty_threshold()).mean()),
        "uncalibrated": _confidence(slda.predict_proba(task.X_test), slda.classes_, task.y_test),
    }


def _confidence(
    probabilities: NDArray[Any], classes: NDArray[Any], truth: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    return probabilities.max(axis=1), classes[probabilities.argmax(axis=1)] == truth


def expected_calibration_error(sure: NDArray[Any], right: NDArray[Any]) -> float:
    """The mean distance between confidence and accuracy, in 15 bins of confidence."""
    place = np.clip((sure * BINS).astype(int), 0, BINS - 1)
    return float(sum(abs(right[place == b].mean() - sure[place == b].mean()) * (place == b).mean() for b in set(place)))


def unknown(name: str, how: str, seed: int, folder: Path | None) -> dict[str, float]:
    """How well novelty tells the classes left out, a quarter of all, from those that were taught."""
    task = Task(name, folder or DATA)
    classes = np.unique(task.y)
    left_out = np.random.default_rng(seed).permutation(classes)[: max(1, len(classes) // 4)]
    order = task.order("iid", seed)
    order = order[~np.isin(task.y[order], left_out)]
    model = ExLLClassifier(records="none").fit(task.X[order], task.y[order])
    strange = np.isin(task.y_test, left_out)
    inference = model.learner_.inference()
    unit = (task.X_test / np.linalg.norm(task.X_test, axis=1, keepdims=True)).astype(np.float64) - inference.origin
    rows = slice(len(inference.prototype_ids), None)
    norms = np.sqrt(np.vecdot(unit, inference.precision.apply(unit)))
    cosines = unit @ inference.products[rows].T / np.sqrt(inference.squared_norms[rows]) / norms[:, None]
    said = model.predict(task.X_test, unknown=None) == None  # noqa: E711 (elementwise)
    return {
        "novelty": float(roc_auc_score(strange, model.novelty(task.X_test))),
        "bare cosine": float(roc_auc_score(strange, -cosines.max(axis=1))),
        "unknowns named so": float(said[strange].mean()),
        "others named so": float(said[~strange].mean()),
    }


def few(name: str, how: str, seed: int, folder: Path | None) -> dict[str, float]:
    """Models of few classes, with four and with fifteen examples each: what they call unusual of more examples of these
    classes, and of those of all others, from the same pictures."""
    task = Task(name, folder or DATA)
    classes, rng, found = np.unique(task.y), np.random.default_rng(seed), dict[str, float]()
    for examples, count in product(EXAMPLES, FEW):
        if count >= len(classes):
            continue
        runs = []
        for _ in range(DRAWS):
            taught = rng.permutation(classes)[:count]
            order = rng.permutation(len(task.y))
            first = np.concatenate([np.flatnonzero(task.y[order] == label)[:examples] for label in taught])
            learned = rng.permutation(order[first])
            model = ExLLClassifier(records="none").fit(task.X[learned], task.y[learned])
            others = rng.permutation(np.setdiff1d(order, learned))[:MOST_ASKED]
            strange, novelty = ~np.isin(task.y[others], taught), model.novelty(task.X[others])
            said = novelty > model.novelty_threshold()
            if 0 < strange.sum() < len(strange):
                runs.append((roc_auc_score(strange, novelty), said[~strange].mean(), said[strange].mean()))
        for column, value in zip(
            ("AUROC", "false alarms", "unknown inputs found unusual"), np.mean(runs, axis=0), strict=True
        ):
            found[f"{count} classes of {examples}, {column}"] = float(value)
    return found


def prototypes(name: str, how: str, seed: int, folder: Path | None) -> dict[str, float]:
    """Shares of single examples and of the largest prototype in classes of 20 and more; purity by what is known of the
    examples beside their class."""
    task = Task(name, folder or DATA)
    order = task.order("iid", seed)
    found: dict[str, float] = {}
    for preset in ("paper", "glocal"):
        model = ExLLClassifier(preset=preset).fit(task.X[order], task.y[order])
        sizes = [
            [rule.support for rule in model.rules() if rule.label == label]
            for label in model.classes_
            if model.megacloud(label.item()).count >= 20
        ]
        if not sizes:
            return {}
        found[f"{preset}, prototypes per class"] = float(np.mean([len(own) for own in sizes]))
        found[f"{preset}, single"] = sum(own.count(1) for own in sizes) / sum(map(len, sizes))
        found[f"{preset}, largest share"] = max(max(own) / sum(own) for own in sizes)
        if (groups := task.groups) is not None:
            learner, pure = model.learner_, 0
            for prototype in learner.supports:
                inside = groups[order[[record.position for record in learner.records(prototype)]]]
                pure += int(np.unique(inside, return_counts=True)[1].max())
            found[f"{preset}, purity"] = pure / len(order)
    return found


def over_seeds(measure: Callable[..., dict[str, Any]], names: tuple[str, ...], options: Any) -> dict[str, list[Any]]:
    orders = ORDERS if measure is parts else ("iid",)
    cells = [(name, how, seed) for name in names for how in orders for seed in range(options.seeds)]
    runs = Parallel(options.jobs, verbose=5)(delayed(measure)(*cell, options.features) for cell in cells)
    found: dict[str, list[Any]] = {}
    for (name, how, _), run in zip(cells, runs, strict=True):
        found.setdefault(f"{name}, {how}" if len(orders) > 1 else name, []).append(run)
    return found


def print_means(found: dict[str, list[Any]]) -> None:
    found = {row: runs for row, runs in found.items() if all(runs)}  # few shots make no class of 20
    columns = list(dict.fromkeys(column for runs in found.values() for run in runs for column in run))
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row, runs in found.items():
        cells = [f"{np.mean([run[c] for run in runs]):.3f}" if c in runs[0] else "" for c in columns]
        print(f"| {row} | {' | '.join(cells)} |")


def print_parts(found: dict[str, list[Any]]) -> None:
    """Parts down, tasks across, and the mean of the nine."""
    for how in ORDERS:
        tasks = [row.removesuffix(f", {how}") for row in found if row.endswith(f", {how}")]
        print(f"\n| {how} | {' | '.join(tasks)} | mean of nine |\n|---|{'---|' * (len(tasks) + 1)}")
        for part in found[f"{tasks[0]}, {how}"][0]:
            means = {task: float(np.mean([run[part] for run in found[f"{task}, {how}"]])) for task in tasks}
            nine = float(np.mean([means[task] for task in tasks if task in NINE] or list(means.values())))
            print(f"| {part} | {' | '.join(f'{mean:.3f}' for mean in means.values())} | {nine:.3f} |")


def print_calibration(found: dict[str, list[Any]]) -> None:
    columns = ("held out, error", "false alarms", "test, error", "uncalibrated", "test, called unknown")
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row, runs in found.items():
        errors = {
            what: expected_calibration_error(
                *(np.concatenate(parts) for parts in zip(*(r[what] for r in runs), strict=True))
            )
            for what in ("held out", "test", "uncalibrated")
        }
        alarms, test_alarms = (float(np.mean([run[what] for run in runs])) for what in ("false alarms", "test alarms"))
        print(
            f"| {row} | {errors['held out']:.3f} | {alarms:.3f} | {errors['test']:.3f} | {errors['uncalibrated']:.3f} "
            f"| {test_alarms:.3f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="?", default="parts", choices=["parts", "calibration", "unknown", "few", "prototypes"]
    )
    parser.add_argument("--features", type=Path, help="an .npz with X, y and split, instead of the development tasks")
    parser.add_argument("--tasks", nargs="+", metavar="NAME", help="some of the development tasks")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    default = {"parts": TASKS, "unknown": UNKNOWN_TASKS, "few": UNKNOWN_TASKS}.get(options.what, NINE)
    names = (options.features.stem,) if options.features else tuple(options.tasks or default)
    measures = {"parts": parts, "calibration": calibration, "unknown": unknown, "few": few}
    measure = {**measures, "prototypes": prototypes}[options.what]
    show = {"parts": print_parts, "calibration": print_calibration}.get(options.what, print_means)
    show(over_seeds(measure, names, options))
