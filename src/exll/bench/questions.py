"""What is kept of the answers at the end: the five best classes, and which rows were right."""

import hashlib
import inspect
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.bench.metrics import Right, top_n
from exll.bench.results import packed
from exll.streams.example import Example
from exll.types import Matrix

TOP, BLOCK_ROWS = 5, 4096
SCORING = ("class_scores", "decision_function", "predict_proba")  # of a learner, the first that it has


def top_5(learner: Any, arguments: dict[str, Any], X: NDArray[np.float32], truths: NDArray[np.str_]) -> float | None:
    """None where five classes are all of them, or the learner only names one class."""
    score, classes = _scoring(learner, arguments), getattr(learner, "classes_", None)
    if score is None or classes is None or len(classes) <= TOP:
        return None
    names = np.asarray(classes).astype(str).tolist()
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, len(X), BLOCK_ROWS)]
    shares = [top_n(score(X[rows]), names, truths[rows], TOP) for rows in blocks]
    return float(np.average(shares, weights=[len(truths[rows]) for rows in blocks]))


class Questions:
    """The rows of the features that are asked, in the order of the file: learners can be compared row by row."""

    def __init__(self, test: list[Example], vectors: NDArray[np.float32]) -> None:
        places = np.array([example.row for example in test], np.int64)
        self._order = np.argsort(places)
        self._rows = places[self._order]
        self._examples = [test[place] for place in self._order]
        self._vectors = vectors

    def right(self, right: Right) -> str:
        return packed(right[self._order])

    def facts(self) -> dict[str, Any]:
        """``rows`` of all ``of`` of the file; a digest of their vectors; the number of each one's group, or None."""
        asked = np.zeros(len(self._vectors), np.bool_)
        asked[self._rows] = True
        groups = group_numbers(self._examples)
        return {
            "rows": packed(asked),
            "of": len(asked),
            "vectors": hashlib.sha256(self._vectors[self._rows].astype(np.float32).tobytes()).hexdigest()[:16],
            "groups": packed(groups) if len(set(groups)) < len(groups) else None,
        }


def group_numbers(examples: list[Example]) -> list[int]:
    """Examples that are not independent have one number: those of one object, one recording, or one named group.

    The numbers are hashes, so that they are the same whichever examples an order leaves out.

    >>> frames = [Example(f"{i}.jpg", "mug", video=video, row=i) for i, video in enumerate(("a", "a", "b", None))]
    >>> numbers = group_numbers(frames)
    >>> numbers[0] == numbers[1], len(set(numbers))
    (True, 3)
    """
    return [zlib.crc32("\0".join(_unit(example)).encode("utf-8", "surrogatepass")) for example in examples]


def _unit(example: Example) -> tuple[str, ...]:
    named = example.instance or example.video
    if named is not None:
        return "recording", example.label, named
    return ("group", example.group) if example.group is not None else ("row", str(example.row))


def _scoring(learner: Any, arguments: dict[str, Any]) -> Callable[[Any], Matrix] | None:
    for name in SCORING:
        method = getattr(learner, name, None)
        if callable(method) and arguments.keys() <= inspect.signature(method).parameters.keys():
            return partial(method, **arguments)
    return None
