"""A stream of the size of Places-365: what a sample costs as the stream grows, and what 1.8 million would take.

365 classes of 1280 features, made block by block and never held. Only learning is timed, in batches, on the wall; the
processor's time stands beside it, and on one core (``--cores 1``) is what counts, since neighbours come and go. The
model as it was after 10,000 samples is put aside in a file: in the end it and the final model learn the same blocks in
turns.
"""

import argparse
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from exll import ExLLClassifier, load
from speed import BATCH as FLOOR_BATCH
from speed import FLOOR_REPEATS, Floor, all_means
from streams import ClusteredStream

CLASSES, WIDTH = 365, 1280
PLACES = 1_803_460  # training images of Places-365
BATCH = 1_000
EARLY = 10_000
SHORT, TURNS = 250, 24  # rows of a block and blocks, where two models learn in turns
MOST_GROWTH, MOST_SECONDS, MOST_BYTES = 1.5, 20 * 60, 1.5e9


@dataclass(frozen=True)
class Mark:
    """The model after so many samples; the cost is the mean over the samples since the mark before."""

    samples: int
    microseconds: float  # on the wall, or of the processor where only one core may work
    processor: float
    prototypes: int
    nbytes: int
    peak: int  # of the process, bytes


class Learning:
    """A model on its stream, with a clock that runs while it learns."""

    def __init__(self, preset: str, stream: ClusteredStream, cores: int = 1) -> None:
        self.stream = stream
        self.cores = cores
        self.model = ExLLClassifier(preset=preset)
        self.samples = 0
        self.start_bytes = peak_bytes()

    def go_to(self, samples: int) -> Mark:
        before, counting, processor = self.samples, 0.0, 0.0
        while self.samples < samples:
            X, y = self.stream.take(min(BATCH, samples - self.samples))
            cost = learn_seconds(self.model, X, y, self.samples)
            counting += cost.counting(self.cores)
            processor += cost.processor
            self.samples += len(X)
        return Mark(
            samples,
            1e6 * counting / (samples - before),
            1e6 * processor / (samples - before),
            self.model.n_prototypes_,
            self.model.nbytes_,
            peak_bytes(),
        )


class Seconds(NamedTuple):
    processor: float
    wall: float

    def counting(self, cores: int) -> float:
        return self.processor if cores == 1 else self.wall


def learn_seconds(model: ExLLClassifier, X: NDArray[np.float32], y: NDArray[np.int64], first: int) -> Seconds:
    """Every sample has a name, as an image of a folder would."""
    refs = [f"{label:03d}/{first + row:08d}.jpg" for row, label in enumerate(y.tolist())]
    return seconds_of(lambda: model.partial_fit(X, y, refs=refs))


def seconds_of(work: Callable[[], object]) -> Seconds:
    processor, wall = time.process_time(), time.perf_counter()
    work()
    return Seconds(time.process_time() - processor, time.perf_counter() - wall)


def peak_bytes() -> int:
    """Of this process since it began, everything counted."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


@dataclass(frozen=True)
class Turns:
    """Microseconds per sample of two models that learned the same blocks in turns; refreshes stand apart."""

    early: float
    late: float
    floor: float  # bare BLAS calls with the shapes of the later model
    refresh: float  # one of them

    @property
    def growth(self) -> float:
        return self.late / self.early


def in_turns(early: ExLLClassifier, late: ExLLClassifier, stream: ClusteredStream, turns: int, cores: int = 1) -> Turns:
    steps: dict[str, list[float]] = {"early": [], "late": [], "floor": []}
    refreshing: list[float] = []
    floor, means = Floor(WIDTH), all_means(late)
    for _ in range(turns):
        X, y = stream.take(SHORT)
        for name, model in (("early", early), ("late", late)):
            learner = model.learner_
            due = learner._precision.next_refresh <= learner.sample_count + len(X)
            cost = 1e6 * learn_seconds(model, X, y, 0).counting(cores) / len(X)
            (refreshing if due else steps[name]).append(cost)
        bare = seconds_of(lambda: floor.batch(means)).counting(cores)
        steps["floor"].append(1e6 * bare / (FLOOR_REPEATS * FLOOR_BATCH))
    medians = {name: float(np.median(costs)) for name, costs in steps.items()}
    refresh = SHORT * max(0.0, float(np.median(refreshing)) - medians["early"])
    return Turns(**medians, refresh=refresh)


@dataclass(frozen=True)
class Forecast:
    """Of a longer stream, all of it."""

    law: str
    misfit: float  # root mean square, in prototypes
    prototypes: float
    seconds: float
    peak: float


Counts = NDArray[np.float64]


def forecasts(marks: list[Mark], turns: Turns, start_bytes: int, samples: int) -> list[Forecast]:
    """What a longer stream would take, by two laws of how prototypes grow; the one that fits better comes first.

    Time: the mean cost over the later half of the marks, refreshes in it, and for every prototype more what one costs
    by the two models that learned in turns (at least 0), summed along the growth. Memory: the model's bytes are fitted
    to prototypes and samples; the peak, above what the process held before, keeps its ratio to them.
    """
    n, cost, prototypes, nbytes = (
        np.array([getattr(mark, name) for mark in marks], np.float64)
        for name in ("samples", "microseconds", "prototypes", "nbytes")
    )
    later = slice(len(marks) // 2, None)
    slope = max(0.0, (turns.late - turns.early) / (prototypes[-1] - prototypes[0]))
    terms = np.column_stack([np.ones_like(n), prototypes, n])
    scale = terms.max(axis=0)
    weights = np.linalg.lstsq(terms / scale, nbytes, rcond=None)[0] / scale
    ratio = (marks[-1].peak - start_bytes) / marks[-1].nbytes
    along = np.linspace(0, samples, 1001)[1:]
    found = []
    for law, growth in growth_laws(n, prototypes).items():
        end = float(growth(along)[-1])
        mean_cost = cost[later].mean() + slope * (growth(along).mean() - prototypes[later].mean())
        found.append(
            Forecast(
                law,
                misfit=float(np.sqrt(np.mean((growth(n) - prototypes) ** 2))),
                prototypes=end,
                seconds=1e-6 * samples * float(mean_cost),
                peak=start_bytes + ratio * float(weights @ [1.0, end, samples]),
            )
        )
    return sorted(found, key=lambda forecast: forecast.misfit)


def growth_laws(n: Counts, prototypes: Counts) -> dict[str, Callable[[Counts], Counts]]:
    """Prototypes after so many samples: records of a random sequence grow by the logarithm, crowds by a power."""
    logarithmic = np.polyfit(np.log(n), prototypes, 1)
    power = np.polyfit(np.log(n), np.log(prototypes), 1)
    return {
        "a + b ln n": lambda at: np.maximum(0.0, np.polyval(logarithmic, np.log(at))),
        "a n^b": lambda at: np.asarray(np.exp(np.polyval(power, np.log(at)))),
    }


def verdict(name: str, value: float, limit: float, unit: str) -> str:
    kept = "kept" if value <= limit else "BROKEN"
    return f"{name}: {value:.2f}{unit}, promised at most {limit:g}{unit}: {kept}"


def measure(preset: str, samples: int, every: int, cores: int) -> None:
    learning = Learning(preset, ClusteredStream(WIDTH, CLASSES), cores)
    clock = "processor" if cores == 1 else "wall"
    print(f"preset {preset}, {CLASSES} classes, d = {WIDTH}, {samples:,} samples; cores: {cores}; clock: {clock}\n")
    columns = ("samples", "us per sample", "us of processors", "prototypes", "model MB", "peak MB", "threads")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    marks = []
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder) / "early.exll"
        for stop in range(every, samples + 1, every):
            marks.append(learning.go_to(stop))
            if stop == EARLY:
                learning.model.save(aside)
            print(_row(marks[-1]), flush=True)
        early = load(aside, ExLLClassifier)
        turns = in_turns(early, learning.model, learning.stream, TURNS, cores)
    print(
        f"\nin turns, without refreshes, us per sample: {turns.early:.0f} from {EARLY:,} on, {turns.late:.0f} from "
        f"{samples:,} on (bare BLAS calls of its shapes: {turns.floor:.0f}); a refresh: {turns.refresh / 1e3:.0f} ms"
    )
    expected = forecasts(marks, turns, learning.start_bytes, PLACES)
    print(f"\nall {PLACES:,} samples of Places-365, the law that fits better first:")
    for foretold in expected:
        print(
            f"  {foretold.law} (misfit {foretold.misfit:.0f}): {foretold.prototypes:,.0f} prototypes, "
            f"{foretold.seconds / 60:.1f} min, {foretold.peak / 1e9:.2f} GB"
        )
    print(verdict(f"cost of a sample at {samples:,} / at {EARLY:,}, in turns", turns.growth, MOST_GROWTH, ""))
    print(verdict("all of Places-365", expected[0].seconds / 60, MOST_SECONDS / 60, " min"))
    print(verdict("its peak memory", expected[0].peak / 1e9, MOST_BYTES / 1e9, " GB"))


def _row(mark: Mark) -> str:
    return (
        f"| {mark.samples:,} | {mark.microseconds:.0f} | {mark.processor:.0f} | {mark.prototypes:,} "
        f"| {mark.nbytes / 1e6:.0f} | {mark.peak / 1e6:.0f} | {threading.active_count()} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000, help="length of the stream (default 100000)")
    parser.add_argument("--preset", choices=["paper", "glocal"], default="paper")
    parser.add_argument("--cores", type=int, default=2, help="cores that learning may use (default 2)")
    options = parser.parse_args()
    if options.samples < 2 * EARLY:
        parser.error(f"--samples must be at least {2 * EARLY}, to compare with the first {EARLY}.")
    with threadpool_limits(limits=options.cores, user_api="blas"):
        measure(options.preset, options.samples, EARLY, options.cores)


if __name__ == "__main__":
    main()
