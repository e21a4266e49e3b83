"""One cell of the grid: one learner, one data set through one backbone, one order, one seed."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.bench import metrics
from exll.bench.features import FeatureSet
from exll.bench.learners import LearnerSpec, bytes_of, parameters_of
from exll.bench.machine import machine_facts
from exll.bench.protocol import Task, nothing_to_ask
from exll.bench.questions import Questions, top_5
from exll.linalg.threads import one_blas_thread
from exll.streams.example import Example

FORMAT = 2
STREAM_PARTS = 10  # the stream in so many parts, each with its share of right answers before learning


@dataclass(frozen=True)
class Cell:
    """What is to be run, and where its features are."""

    learner: LearnerSpec
    task: Task
    seed: int
    backbone: str  # its name in reports
    data: str  # identity of the features
    folder: Path

    @property
    def key(self) -> str:
        """A SHA-256 over everything that determines the numbers."""
        task = self.task
        identity = {
            "format": FORMAT,
            "learner": self.learner.metadata(),
            "data": self.data,
            "order": task.order,
            "seed": self.seed,
            "evaluation": asdict(task.evaluation),
            "test_then_train": task.test_then_train,
            **task.conditions.identity,
        }
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.learner.name}, {self.task.label}, {self.backbone}, seed {self.seed}"

    def metadata(self) -> dict[str, Any]:
        return {
            "learner": self.learner.name,
            "dataset": self.task.shown,
            "options": {**self.task.options, **self.task.conditions.shown},
            "order": self.task.order,
            "backbone": self.backbone,
            "seed": self.seed,
            "axis": self.task.axis,
            "offline": self.learner.offline,
        }

    def run(self) -> dict[str, Any]:
        """Learn the stream once and count; a failure is a result too, so that one cell never stops a grid."""
        try:
            with one_blas_thread():
                return {"result": _Run(self, FeatureSet.load(self.folder)).whole() | {"machine": machine_facts()}}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}


class _Run:
    def __init__(self, cell: Cell, features: FeatureSet) -> None:
        task = cell.task
        self.stream, test = task.conditions.parts(features.train, features.test, task.order, cell.seed)
        self.labels = task.conditions.labels(self.stream, cell.seed)  # what the learner is told
        self.learned = 0  # examples of the stream whose label has arrived
        if not test:
            raise nothing_to_ask([task])
        task.conditions.check_delay(task.evaluation.points(self.stream))
        self.cell = cell
        self.vectors = features.vectors
        self.test, self.truths = test, np.array([example.label for example in test])
        self.questions = self._rows(test)
        self.learner = cell.learner.new(cell.seed)
        self.variants = cell.learner.reported
        self.seen: set[str] = set()
        self.seconds = {"learning": 0.0, "asking": 0.0, "last_asking": 0.0}
        self.part_of = np.arange(len(self.stream)) * STREAM_PARTS // max(len(self.stream), STREAM_PARTS)
        self.ahead = {variant: np.zeros(len(self.stream), np.bool_) for variant in self.variants}
        self.answerable = 0  # of the examples asked ahead, those of a class that had been learned

    def whole(self) -> dict[str, Any]:
        begun = time.perf_counter()
        points, curve = self.cell.task.evaluation.points(self.stream), []
        per_class: dict[str, list[metrics.PerClass]] = {variant: [] for variant in self.variants}
        start, right = 0, {}
        for end in points:
            self._learn(start, end)
            right = self._ask()
            for variant in self.variants:
                per_class[variant].append(metrics.per_class(right[variant], self.truths, self.seen))
            accuracies = {variant: metrics.of_seen(right[variant], self.truths, self.seen) for variant in self.variants}
            curve.append({"examples": end, "classes": len(self.seen), "accuracy": accuracies})
            start = end
        answers = {variant: self._answer(right[variant], per_class[variant]) for variant in self.variants}
        questions = Questions(self.test, self.vectors)
        for variant, arguments in self.variants.items():
            answers[variant] |= self._test_then_train(variant)
            answers[variant]["top_5"] = top_5(self.learner, arguments, self.questions, self.truths)
            answers[variant]["right"] = questions.right(right[variant])
        return {
            "variants": answers,
            "asked": questions.facts(),
            "stream_parts": np.bincount(self.part_of).tolist(),
            "either_right": self._either_right(right),
            "curve": curve,
            "examples": len(self.stream),
            "questions": len(self.test),
            "classes": len(self.seen),
            "width": int(self.vectors.shape[1]),
            "parameters": parameters_of(self.learner),
            "bytes": bytes_of(self.learner),
            "seconds": {**self.seconds, "total": time.perf_counter() - begun},
        }

    def _learn(self, start: int, end: int) -> None:
        ahead = self.cell.task.test_then_train
        for first in range(start, end, ahead or end - start or 1):
            came = min(end, first + (ahead or end - start))
            if ahead and self.seen:
                examples = self.stream[first:came]
                X, y = self._rows(examples), np.array([example.label for example in examples])
                self.answerable += int(np.isin(y, sorted(self.seen)).sum())
                for variant, arguments in self.variants.items():
                    answers = self.learner.predict(X, **arguments).astype(str)
                    self.ahead[variant][first : first + len(y)] = answers == y
            arrived = slice(self.learned, max(self.learned, came - self.cell.task.conditions.delay))
            self.learned = arrived.stop
            if arrived.start == arrived.stop:
                continue
            X, y = self._rows(self.stream[arrived]), self.labels[arrived]
            begun = time.perf_counter()
            self._partial_fit(X, y)
            self.seconds["learning"] += time.perf_counter() - begun
            self.seen.update(example.label for example in self.stream[arrived])

    def _test_then_train(self, variant: str) -> dict[str, Any]:
        """The share of the stream that was answered rightly before it was learned, and the count in each of its parts.

        None where not one example was asked whose class had been learned, as in a stream shorter than a block, or where
        every block is of new classes: 0 for every learner would say nothing about any.
        """
        right = self.ahead[variant]
        parts = np.bincount(self.part_of, right).astype(int).tolist()
        share = metrics.top_1(right)
        return {"test_then_train": share, "right_by_part": parts} if self.answerable else {"test_then_train": None}

    def _partial_fit(self, X: NDArray[np.float32], y: NDArray[np.str_]) -> None:
        if self.seen or not _wants_classes(self.learner):
            self.learner.partial_fit(X, y)
        else:
            self.learner.partial_fit(X, y, classes=np.unique([example.label for example in self.stream]))

    def _ask(self) -> dict[str, metrics.Right]:
        begun = time.perf_counter()
        right = {
            variant: self.learner.predict(self.questions, **arguments).astype(str) == self.truths
            for variant, arguments in self.variants.items()
        }
        self.seconds["last_asking"] = (time.perf_counter() - begun) / len(self.variants)
        self.seconds["asking"] += time.perf_counter() - begun
        return right

    def _answer(self, right: metrics.Right, points: list[metrics.PerClass]) -> dict[str, Any]:
        factors = sorted({example.factor for example in self.test if example.factor is not None})
        of = np.array([example.factor or "" for example in self.test])
        return {
            "accuracy": metrics.top_1(right),
            "forgetting": metrics.forgetting(points),
            "backward_transfer": metrics.backward_transfer(points),
            "factors": {factor: metrics.top_1(right[of == factor]) for factor in factors},
        }

    def _either_right(self, right: dict[str, metrics.Right]) -> float | None:
        by_inference = {arguments.get("inference"): variant for variant, arguments in self.variants.items()}
        if not {"global", "local"} <= by_inference.keys():
            return None
        return metrics.either_right(right[by_inference["global"]], right[by_inference["local"]])

    def _rows(self, examples: list[Example]) -> NDArray[np.float32]:
        return np.asarray(self.vectors[np.array([example.row for example in examples])], np.float32)


def _wants_classes(learner: Any) -> bool:
    """scikit-learn's own learners need all classes in the first call; ours do not."""
    return type(learner).__module__.startswith("sklearn.")
