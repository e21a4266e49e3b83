"""What the model says of itself where it is used: in new domains, in other clips, of unknown things.

``field.py [domains|clips|levels|calibrate|progress ...]`` prints tables in Markdown (docs/results.md), from features
in ../shared/data. Accuracy, mean confidence and levels of the preset glocal beside the accuracy of SLDA (centred).
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import spearmanr

from exll import ExLLClassifier
from exll.baselines import SLDA
from tasks import DATA, Task

ORDERS = 3
FALSE_ALARMS = 0.06
LEVEL_TASKS = ("grocery81", "eth80-new-instances", "fruits-new-videos", "scene15")
CALIBRATED_WITH, DRAWS, BINS = 100, 12, 10
RNG = np.random.default_rng


@dataclass(frozen=True)
class Stream:
    """What is learned, in order, and what is asked."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Asked:
    """What a model said of test rows."""

    right: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    levels: NDArray[np.str_]

    def share(self, *levels: str) -> float:
        return float(np.isin(self.levels, levels).mean())

    def calibration_error(self) -> float:
        """The mean gap between confidence and the share right, over bins of confidence."""
        bins = np.minimum((self.confidence * BINS).astype(int), BINS - 1)
        gaps = [
            (bins == i).mean() * abs(self.confidence[bins == i].mean() - self.right[bins == i].mean())
            for i in np.unique(bins)
        ]
        return float(sum(gaps))


def learned(stream: Stream) -> ExLLClassifier:
    return ExLLClassifier(records="none").fit(stream.X, stream.y)


def ask(model: ExLLClassifier, X: NDArray[Any], y: NDArray[Any]) -> Asked:
    answers = model.answers(X, false_alarms=FALSE_ALARMS)
    return Asked(
        np.array([answer.label for answer in answers]) == y,
        np.array([answer.probability for answer in answers]),
        np.array([answer.level for answer in answers]),
    )


def slda(stream: Stream) -> float:
    model = SLDA("centred", normalise=True).fit(stream.X, stream.y)
    return float((model.predict(stream.X_test) == stream.y_test).mean())


def read(name: str) -> dict[str, NDArray[Any]]:
    with np.load(DATA / "features" / f"{name}.npz") as file:
        arrays = dict(file)
    return {**arrays, "X": arrays["X"].astype(np.float32)}


def domains() -> None:
    """PACS, one domain left out."""
    data = read("pacs")
    print("| left out | SLDA, centred | glocal | difference | by order | mean confidence | unusual | unknown |")
    print("|---|---|---|---|---|---|---|---|")
    differences = []
    for domain, name in enumerate(data["domain_names"].tolist()):
        rows = np.flatnonzero(data["domain"] != domain)
        asked = data["domain"] == domain
        orders = [RNG(seed).permutation(rows) for seed in range(ORDERS)]
        streams = [Stream(data["X"][o], data["y"][o], data["X"][asked], data["y"][asked]) for o in orders]
        found = Parallel(2)(delayed(lambda s: (slda(s), ask(learned(s), s.X_test, s.y_test)))(s) for s in streams)
        rival, answers = float(np.mean([one for one, _ in found])), [asked for _, asked in found]
        accuracies = [float(asked.right.mean()) for asked in answers]
        differences.append(np.mean(accuracies) - rival)
        print(
            f"| {name} | {rival:.3f} | {np.mean(accuracies):.3f} | {differences[-1]:+.3f} | "
            f"{min(accuracies):.3f} to {max(accuracies):.3f} | {_said(answers)} |"
        )
    print(f"| mean | | | {np.mean(differences):+.3f} | | | | |")


def clips() -> None:
    """GTSRB: one clip, two clips or all clips of every class, with all frames or every fifth."""
    data = read("gtsrb")
    print("| frames | clips per class | SLDA, centred | glocal | mean confidence | unusual | unknown |")
    print("|---|---|---|---|---|---|---|")
    cases = [(split, name, clips) for split, name in ((0, "all"), (1, "every fifth")) for clips in (1, 2, None)]
    for split, name, per_class in cases:
        streams = [_of_clips(data, split, per_class, seed) for seed in range(ORDERS)]
        found = Parallel(2)(delayed(lambda s: (slda(s), ask(learned(s), s.X_test, s.y_test)))(s) for s in streams)
        answers = [asked for _, asked in found]
        rival, right = np.mean([one for one, _ in found]), np.mean([asked.right.mean() for asked in answers])
        print(f"| {name} | {per_class or 'all'} | {rival:.3f} | {right:.3f} | {_said(answers)} |")


def _said(answers: list[Asked]) -> str:
    """Mean confidence, and the shares of unusual and unknown."""
    numbers = [(asked.confidence.mean(), asked.share("unusual"), asked.share("unknown")) for asked in answers]
    return " | ".join(f"{number:.3f}" for number in np.mean(numbers, axis=0))


def _of_clips(data: dict[str, NDArray[Any]], split: int, per_class: int | None, seed: int) -> Stream:
    rng, learned_rows = RNG(seed), data["split"] == split
    found = []
    for k in np.unique(data["y"]).tolist():
        own = learned_rows & (data["y"] == k)
        for video in rng.permutation(np.unique(data["video"][own]))[:per_class]:
            rows = np.flatnonzero(own & (data["video"] == video))
            found.append(rows[np.argsort(data["frame"][rows])])
    order = np.concatenate([found[i] for i in rng.permutation(len(found))])
    asked = data["split"] == 2
    return Stream(data["X"][order], data["y"][order], data["X"][asked], data["y"][asked])


def _without_some_classes(name: str, seed: int) -> tuple[Stream, NDArray[np.bool_]]:
    """A quarter of the classes is never learned; which test rows are of those."""
    task = Task(name)
    order, classes = task.order("iid", seed), np.unique(task.y)
    left_out = RNG(seed).permutation(classes)[: len(classes) // 4]
    order = order[~np.isin(task.y[order], left_out)]
    return Stream(task.X[order], task.y[order], task.X_test, task.y_test), np.isin(task.y_test, left_out)


def levels() -> None:
    """What is said of known and of unknown things."""
    print("| task | known: usual | unusual | unknown | never learned: usual | unusual | unknown |")
    print("|---|---|---|---|---|---|---|")
    for name in LEVEL_TASKS:
        shares = np.zeros(6)
        for seed in range(ORDERS):
            stream, new = _without_some_classes(name, seed)
            asked = ask(learned(stream), stream.X_test, stream.y_test).levels
            shares += [
                np.mean(asked[rows] == level) for rows in (~new, new) for level in ("usual", "unusual", "unknown")
            ]
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares / ORDERS)} |")


def calibrate() -> None:
    """100 photos of one half of the test rows, asked about the other half."""
    print("| task | calibration error before | after, mean and range | unusual or unknown, mean and range |")
    print("|---|---|---|---|")
    for name in (*LEVEL_TASKS, "miniplaces"):
        task = Task(name)
        order = task.order("iid", 0)
        model = ExLLClassifier(records="none").fit(task.X[order], task.y[order])
        before = ask(model, task.X_test, task.y_test).calibration_error()
        found = list(_calibrated(model, task))
        errors, unusual = [a.calibration_error() for a in found], [a.share("unusual", "unknown") for a in found]
        print(f"| {name} | {before:.3f} | {_range(errors)} | {_range(unusual)} |")


def _calibrated(model: ExLLClassifier, task: Task) -> Iterator[Asked]:
    for seed in range(DRAWS):
        rows = RNG(seed).permutation(len(task.y_test))
        half = len(rows) // 2
        given, rest = rows[: min(half, CALIBRATED_WITH)], rows[half:]
        model.forget_calibration().calibrate(task.X_test[given], task.y_test[given])
        yield ask(model, task.X_test[rest], task.y_test[rest])


def _range(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def progress() -> None:
    """The rank correlation of what is expected of a class with its accuracy on test rows."""
    print("| task | by samples like those learned | by samples from elsewhere | mean expected elsewhere | mean right |")
    print("|---|---|---|---|---|")
    for name in ("grocery81", "grocery43", "miniplaces", "scene15"):
        task = Task(name)
        order = task.order("iid", 0)
        model = ExLLClassifier(records="none").fit(task.X[order], task.y[order])
        expected, answers = model.learner_.expected(), model.predict(task.X_test)
        assert expected is not None
        right = np.array([(answers[task.y_test == k] == k).mean() for k in model.learner_.labels])
        ranks = [float(spearmanr(one, right)[0]) for one in (expected.like_these, expected.new_groups)]
        print(
            f"| {name} | {ranks[0]:.2f} | {ranks[1]:.2f} | {np.nanmean(expected.new_groups):.3f} | {right.mean():.3f} |"
        )


TABLES = {one.__name__: one for one in (domains, clips, levels, calibrate, progress)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    for wanted in parser.parse_args().tables or TABLES:
        print(f"\n{TABLES[wanted].__doc__}\n")
        TABLES[wanted]()
