"""Speed and memory of learning and asking, as ratios measured side by side in one run (``make bench``).

Machines differ and are noisy, so nothing here is in seconds alone: every figure stands against a floor made of bare
BLAS calls with the same shapes and dtype, timed in between in the same process. BLAS runs on one thread.
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_variable] = "1"  # before numpy is loaded

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.linalg import blas, lapack
from threadpoolctl import threadpool_info

from exll import ExLLClassifier
from exll.learner.paper.learner import PaperLearner
from exll.types import InferenceName
from exll.vectors import normalise
from streams import ClusteredStream

BATCH = 64
FLOOR_REPEATS = 5
CLASSES = 100
LEARNED_BEFORE = 3200  # samples; then as many again are timed
LIMITED_WIDTH = 1280  # where the limits are promised; at smaller widths Python's share is larger
console = Console()


class Stopwatch:
    """Seconds spent in chosen functions of the engine while they run as usual."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def watching(self) -> Any:
        places = {"scores": (PaperLearner, "_block"), "refreshes": (PaperLearner, "_refresh")}
        originals = {part: getattr(*place) for part, place in places.items()}
        for part, place in places.items():
            setattr(*place, self._timed(part, originals[part]))
        try:
            yield
        finally:
            for part, place in places.items():
                setattr(*place, originals[part])

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            start = time.perf_counter()
            result = function(*args)
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            return result

        return timed


class Floor:
    """What no engine of this kind can avoid: the scatter's update, x times the precision, and the scores."""

    def __init__(self, width: int, dtype: type = np.float64) -> None:
        rng = np.random.default_rng(1)
        self.dtype = dtype
        self.rows: NDArray[Any] = np.ascontiguousarray(rng.normal(size=(BATCH, width)), dtype)
        self.row = self.rows[:1].copy()
        self.matrix: NDArray[Any] = np.asfortranarray(np.eye(width), dtype)
        self.scatter: NDArray[Any] = np.zeros((width, width), dtype, order="F")
        single = dtype is np.float32
        self._syrk = blas.ssyrk if single else blas.dsyrk
        self._symv = blas.ssymv if single else blas.dsymv

    def batch(self, means: NDArray[Any]) -> float:
        """Seconds per sample in batches."""
        return usual_seconds(partial(self.work, means), FLOOR_REPEATS) / BATCH

    def work(self, means: NDArray[Any]) -> None:
        """For one batch."""
        self._update()
        (self.rows @ self.matrix) @ means.T

    def single(self, means: NDArray[Any]) -> float:
        """Seconds per sample, one at a time: two products, and a share of the scatter's update."""
        products = usual_seconds(lambda: means @ self._symv(1.0, self.matrix, self.row[0], lower=1), 9)
        return products + usual_seconds(self._update, 5) / BATCH

    def _update(self) -> None:
        self._syrk(1.0, self.rows.T, beta=1.0, c=self.scatter, lower=1, overwrite_c=1)


def usual_seconds(work: Callable[[], object], repeats: int) -> float:
    """The median: what the work usually takes, on a machine that others use too."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def learn(
    classifier: ExLLClassifier,
    stream: ClusteredStream,
    samples: int,
    batch: int,
    floor: Callable[[NDArray[Any]], float],
) -> tuple[float, float]:
    """Seconds spent learning, and the floor's seconds for the same samples, timed every 1,000 samples in between."""
    spent = floor_spent = 0.0
    for _ in range(0, samples, 1000):
        for X, y in stream.batches(1000, batch):
            start = time.perf_counter()
            classifier.partial_fit(X, y)
            spent += time.perf_counter() - start
        floor_spent += 1000 * floor(all_means(classifier))
    return spent, floor_spent


def over_single_precision(preset: str, width: int) -> float:
    """Learning samples 3,201 to 6,400 in batches against the same products in single precision, in turns. In seconds of
    this process alone: others on the machine count little."""
    stream, floor, classifier = ClusteredStream(width, CLASSES), Floor(width, np.float32), ExLLClassifier(preset=preset)
    for X, y in stream.batches(LEARNED_BEFORE, BATCH):
        classifier.partial_fit(X, y)
    spent = floor_spent = 0.0
    for X, y in stream.batches(LEARNED_BEFORE, BATCH):
        spent += own_seconds(partial(classifier.partial_fit, X, y))
        floor_spent += own_seconds(partial(floor.work, all_means(classifier).astype(np.float32)))
    return spent / floor_spent


def own_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def all_means(classifier: ExLLClassifier) -> NDArray[np.float64]:
    learner = classifier.learner_
    return np.concatenate([learner._prototypes.vectors, learner._megaclouds.vectors])


def inversion_seconds(width: int) -> float:
    """The cheapest way to invert at every sample: by Cholesky, in place."""
    matrix = np.asfortranarray(np.eye(width) + 0.1)
    return usual_seconds(lambda: lapack.dpotri(lapack.dpotrf(matrix, lower=1)[0], lower=1), 3)


def predict_ratio(classifier: ExLLClassifier, stream: ClusteredStream, inference: InferenceName) -> float:
    """Fused, local or global prediction of 4,096 rows against one bare product of the same shapes."""
    X, _ = stream.take(4096)
    unit = normalise(X)
    means = {
        "fused": all_means(classifier),
        "local": classifier.learner_._prototypes.vectors,
        "global": classifier.learner_._megaclouds.vectors,
    }[inference].copy()
    classifier.predict(X[:1])  # the precision is there from now on
    ratios = []
    for _ in range(5):
        bare = usual_seconds(lambda: unit @ means.T, 1)
        ratios.append(usual_seconds(lambda: classifier.predict(X, inference), 1) / bare)
    return statistics.median(ratios)


def memory_ratio(width: int, samples: int) -> tuple[float, int]:
    """Peak rise of traced memory while learning, the input excluded, against the bytes of the model that came out."""
    X, y = ClusteredStream(width, CLASSES).take(samples)
    tracemalloc.start()
    classifier = ExLLClassifier(preset="paper")
    for start in range(0, samples, BATCH):
        classifier.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / classifier.nbytes_, classifier.nbytes_


def glocal_over_paper(width: int, samples: int) -> dict[str, float]:
    """What the default preset costs over the paper's: both learn the same batches and answer the same questions in
    turns."""
    stream = ClusteredStream(width, CLASSES)
    models = {preset: ExLLClassifier(preset=preset) for preset in ("glocal", "paper")}
    learning = dict.fromkeys(models, 0.0)
    for X, y in stream.batches(samples, BATCH):
        for preset, model in models.items():
            learning[preset] += usual_seconds(partial(model.partial_fit, X, y), 1)
    ratios = {f"learn in batches of {BATCH}": learning["glocal"] / learning["paper"]}
    X, y = stream.take(1000)
    ratios["learn one at a time"] = _ratio(
        [
            {p: usual_seconds(partial(m.partial_fit, x[None], [k]), 1) for p, m in models.items()}
            for x, k in zip(X, y, strict=True)
        ]
    )
    X, _ = stream.take(4096)
    for rows, name in ((4096, "predict 4,096"), (1, "predict one")):
        for model in models.values():
            model.predict(X[:1])  # the answers are there from now on
        ratios[name] = _ratio(
            [{p: usual_seconds(partial(m.predict, X[:rows]), 1) for p, m in models.items()} for _ in range(9)]
        )
    return ratios


def _ratio(seconds: list[dict[str, float]]) -> float:
    glocal, paper = (statistics.median(turn[preset] for turn in seconds) for preset in ("glocal", "paper"))
    return glocal / paper


def measure(width: int, samples: int, table: Table) -> None:
    stream, floor, watch = ClusteredStream(width, CLASSES), Floor(width), Stopwatch()
    classifier = ExLLClassifier(preset="paper")
    half = samples // 2
    with console.status(f"d = {width}: samples 1 to {half:,}"):
        first, first_floor = learn(classifier, stream, half, BATCH, floor.batch)
    with console.status(f"d = {width}: samples {half + 1:,} to {samples:,}"), watch.watching():
        second, second_floor = learn(classifier, stream, half, BATCH, floor.batch)
    name = f"d = {width}"
    prototypes = classifier.n_prototypes_

    def row(what: str, ratio: float, limit: str, remark: str = "") -> None:
        table.add_row(name, what, f"{ratio:.2f}", limit if width == LIMITED_WIDTH else "", remark)

    means = all_means(classifier)
    single_precision = Floor(width, np.float32).batch(means.astype(np.float32)) / floor.batch(means)
    row("floor of a batch, float32 / float64", single_precision, "", "what single precision would save")
    row(
        f"learn in batches of {BATCH} / floor, samples {half + 1:,} to {samples:,}",
        second / second_floor,
        "<= 3",
        f"{second / half * 1e6:.0f} us per sample, {prototypes} prototypes",
    )
    for part in ("refreshes", "scores"):
        row(f"  of which {part} / floor", watch.seconds[part] / second_floor, "")
    bookkeeping = second - sum(watch.seconds.values())
    row("  of which scatter and bookkeeping / floor", bookkeeping / second_floor, "")
    row(
        f"learn in batches of {BATCH} / floor, all {samples:,}", (first + second) / (first_floor + second_floor), "<= 6"
    )
    for preset, limit in (("paper", "<= 3.5"), ("glocal", "<= 6")):
        with console.status(f"d = {width}: {preset} against single precision"):
            ratio = over_single_precision(preset, width)
        row(f"{preset}: learn in batches of {BATCH} / floor in float32, samples 3,201 to 6,400", ratio, limit)
    inversion = inversion_seconds(width)
    row(
        "inverting per sample / learn in batches",
        inversion / (second / half),
        ">= 100",
        f"{inversion * 1e3:.0f} ms an inversion",
    )
    inferences: tuple[InferenceName, ...] = ("fused", "local", "global")
    for inference in inferences:
        limit = "<= 1.5" if inference == "fused" else ""
        row(f"predict ({inference}) / one bare product", predict_ratio(classifier, stream, inference), limit)
    with console.status(f"d = {width}: one sample at a time"):
        single, single_floor = learn(classifier, stream, samples // 10, 1, floor.single)
    row(
        "learn one at a time / its floor",
        single / single_floor,
        "<= 3",
        f"{single / (samples // 10) * 1e6:.0f} us per sample",
    )
    with console.status(f"d = {width}: memory"):
        memory, nbytes = memory_ratio(width, samples)
    row("peak memory while learning / nbytes_", memory, "<= 2", f"{nbytes / 1e6:.1f} MB model")
    with console.status(f"d = {width}: glocal beside paper"):
        ratios = glocal_over_paper(width, samples)
    for what, ratio in ratios.items():
        row(f"glocal / paper: {what}", ratio, "<= 2" if what.startswith("learn") else "<= 1.5")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, nargs="*", default=[576, 1280], help="feature widths (default 576 1280)")
    parser.add_argument("--samples", type=int, default=20_000, help="length of the stream (default 20000)")
    options = parser.parse_args()
    threads = {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}
    table = Table(title=f"paper preset, {CLASSES} classes, {options.samples:,} samples, BLAS threads: {threads}")
    for column in ("width", "what", "ratio", "limit", ""):
        table.add_column(column, justify="right" if column == "ratio" else "left")
    for width in options.width:
        measure(width, options.samples, table)
        table.add_section()
    console.print(table)


if __name__ == "__main__":
    main()
