"""Forgetting and merging against learning anew, on the development tasks.

``editing.py forget|drift|merge|sizes [--tasks NAME ...]`` prints tables in Markdown (docs/scale.md). A model is judged
when its stream has grown by some share; after an edit it is judged at once. So a model that never saw what another has
forgotten is compared twice: as it is, and judged at once, too.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import pickle
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll import ExLLClassifier, load, merge
from exll.learner.glocal.learner import GlocalLearner
from streams import ClusteredStream
from tasks import NINE, Task

SHARDS = (2, 8, 64)
EDITS, ALIVE, DRIFT_WIDTH = 10_000, 1_000, 128
SIZES = ((365, 256), (365, 1280), (2_000, 256), (2_000, 1280))
PER_CLASS = 10


def judged(model: ExLLClassifier) -> ExLLClassifier:
    """A copy that is judged by all it has learned, as after an edit."""
    copy: ExLLClassifier = pickle.loads(pickle.dumps(model))
    copy.learner_._outdated = True
    return copy


def covariance(model: ExLLClassifier) -> NDArray[Any]:
    scatter = model.learner_._statistics.scatter
    if scatter.triangle is None:
        rows = scatter.rows.filled
        return np.asarray(rows.T @ rows)
    lower = scatter.folded()
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T + scatter.pending.T @ scatter.pending)


def apart(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The largest difference, relative to the largest number."""
    return float(np.abs(one - other).max() / np.abs(other).max())


def class_means(model: ExLLClassifier) -> NDArray[Any]:
    return np.array([model.megacloud(label).mean for label in model.classes_.tolist()])


def accuracy(model: ExLLClassifier, task: Task, inference: Any = "fused") -> float:
    return float((model.predict(task.X_test, inference) == task.y_test).mean())


def forget(names: list[str]) -> None:
    print("| task | forgotten | means | covariance | global scores | same answers, as it is | judged at once |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        task = Task(name)
        order = task.order("iid", 0)
        gone = np.random.default_rng(1).random(len(order)) < 0.1
        refs = [f"{i}" for i in order]
        model = ExLLClassifier(records="vectors").fit(task.X[order], task.y[order], refs=refs)
        model.forget([ref for ref, out in zip(refs, gone, strict=True) if out])
        never = ExLLClassifier(records="vectors").fit(task.X[order[~gone]], task.y[order[~gone]])
        again = judged(never)
        same, same_judged = (
            float((model.predict(task.X_test) == other.predict(task.X_test)).mean()) for other in (never, again)
        )
        scores = [
            one.learner_.inference().scores(one.known_.scaling.spread(unit(task.X_test)), "global")[:, by_label(one)]
            for one in (model, again)
        ]
        print(
            f"| {name} | {gone.sum():,} of {len(gone):,} | {apart(class_means(model), class_means(never)):.0e} "
            f"| {apart(covariance(model), covariance(never)):.0e} | {apart(*scores):.0e} | {same:.2%} "
            f"| {same_judged:.2%} |",
            flush=True,
        )


def unit(X: NDArray[Any]) -> NDArray[np.float64]:
    wide = X.astype(np.float64)
    return np.asarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))


def by_label(model: ExLLClassifier) -> list[int]:
    return [model.learner_.labels.index(label) for label in model.classes_.tolist()]


def drift() -> None:
    """Random edits of a model of always about as many examples, then the same examples learned by another one."""
    rng = np.random.default_rng(0)
    X, y = ClusteredStream(DRIFT_WIDTH, 20).take(ALIVE + EDITS)
    alive: dict[str, tuple[int, Any]] = {f"{i}": (i, y[i]) for i in range(ALIVE)}
    model = ExLLClassifier(records="vectors").fit(X[:ALIVE], y[:ALIVE], refs=list(alive))
    model.learner_.gather()
    start, counts = time.perf_counter(), {"learn": 0, "forget": 0, "relabel": 0}
    for i in range(ALIVE, ALIVE + EDITS):
        kind = rng.choice(["learn", "forget", "relabel"], p=[0.4, 0.4, 0.2])
        ref = str(rng.choice(list(alive)))
        counts[kind] += 1
        if kind == "learn":
            model.partial_fit(X[i : i + 1], y[i : i + 1], refs=[f"{i}"])
            alive[f"{i}"] = i, y[i]
        elif kind == "forget":
            model.forget(ref)
            del alive[ref]
        else:
            label = rng.choice(model.classes_)
            model.relabel(ref, label.item())
            alive[ref] = alive[ref][0], label
    seconds = time.perf_counter() - start
    rows, labels = zip(*alive.values(), strict=True)
    other = ExLLClassifier(records="vectors").fit(X[list(rows)], list(labels))
    print(
        f"{EDITS:,} edits ({', '.join(f'{count:,} {kind}' for kind, count in counts.items())}) of {len(alive):,} "
        f"examples, width {DRIFT_WIDTH}: {1e6 * seconds / EDITS:.0f} us each; means differ by "
        f"{apart(class_means(model), class_means(other)):.1e}, covariance by "
        f"{apart(covariance(model), covariance(other)):.1e}"
    )


def shards(task: Task, kind: str, count: int) -> Iterator[NDArray[Any]]:
    order = task.order("iid", 0)
    if kind == "class":
        order = order[np.argsort(task.y[order], kind="stable")]
    return (shard for shard in np.array_split(order, count) if len(shard))


def merge_shards(names: list[str], records: Any) -> None:
    print(
        "| task | shards | one model | merged | difference | global | reversed | in a tree | s to merge | s to renew |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        task = Task(name)
        order = task.order("iid", 0)
        one = ExLLClassifier(records=records).fit(task.X[order], task.y[order])
        right, right_global = accuracy(one, task), accuracy(judged(one), task, "global")
        for kind in ("iid", "class"):
            for count in SHARDS:
                models = [
                    ExLLClassifier(records=records).fit(task.X[rows], task.y[rows])
                    for rows in shards(task, kind, count)
                ]
                start = time.perf_counter()
                merged = merge(models)
                middle = time.perf_counter()
                merged.learner_.renew()
                end = time.perf_counter()
                found = accuracy(merged, task)
                print(
                    f"| {name} | {count} {kind} | {right:.4f} | {found:.4f} | {100 * (found - right):+.2f} "
                    f"| {100 * (accuracy(merged, task, 'global') - right_global):+.2f} "
                    f"| {100 * (accuracy(merge(models[::-1]), task) - found):+.2f} "
                    f"| {100 * (accuracy(in_a_tree(models), task) - found):+.2f} "
                    f"| {middle - start:.2f} | {end - middle:.2f} |",
                    flush=True,
                )


def in_a_tree(models: list[ExLLClassifier]) -> ExLLClassifier:
    while len(models) > 1:
        pairs = [models[i : i + 2] for i in range(0, len(models), 2)]
        models = [merge(pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return models[0]


def sizes() -> None:
    """What travels and what a merge takes: two shards with some samples of every class each, as workers gather them."""
    print(
        "| classes | width | samples per shard | MB of a shard | s to load | s to merge two | MB merged | s to renew |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for classes, width in SIZES:
        models = []
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{i}.exll" for i in range(2)]
            stream = ClusteredStream(width, classes)
            for path in paths:
                X, y = stream.take(PER_CLASS * classes)
                model = ExLLClassifier(records="refs").fit(X[:1], y[:1])
                model.learner_.gather()
                model.partial_fit(X[1:], y[1:])
                model.save(path)
            nbytes = sum(path.stat().st_size for path in paths) / 2
            start = time.perf_counter()
            models = [load(path, ExLLClassifier) for path in paths]
            loaded = time.perf_counter()
            first, second = (model.learner_ for model in models)
            first.absorb(second)
            merged = time.perf_counter()
            assert isinstance(first, GlocalLearner)
            first.renew()
            renewed = time.perf_counter()
            models[0].save(paths[0])
            print(
                f"| {classes:,} | {width:,} | {PER_CLASS * classes:,} | {nbytes / 1e6:.0f} "
                f"| {(loaded - start) / 2:.2f} | {merged - loaded:.2f} "
                f"| {paths[0].stat().st_size / 1e6:.0f} | {renewed - merged:.1f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["forget", "drift", "merge", "sizes"])
    parser.add_argument("--tasks", nargs="*", default=list(NINE))
    parser.add_argument("--records", default="refs", help="of the models that are merged")
    given = parser.parse_args()
    if given.what == "forget":
        forget(given.tasks)
    elif given.what == "drift":
        drift()
    elif given.what == "merge":
        merge_shards(given.tasks, given.records)
    else:
        sizes()


if __name__ == "__main__":
    main()
