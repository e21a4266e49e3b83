"""One sample at a time: our learners beside other people's, on one stream of unit vectors.

Two things are timed, in processor time on one thread, all learners taking turns every few samples so that neighbours on
the machine meet them alike. *Learning*: each sample by itself, nothing asked. *Learning and answering*, at the end of
the stream: one sample is learned, then one question answered that has it in; what a learner puts off until it is asked
(a matrix to invert) is paid there. A peer that is not installed is left out with a sentence (``pip install
'exll[peers]'``).
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_variable] = "1"  # before numpy is loaded

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB

from exll import ExLLClassifier
from exll.baselines import SLDA
from exll.vectors import normalise
from streams import ClusteredStream

CLASSES = 20
TURN = 50
REFERENCE, PEER, PROMISED = "exll, paper", "Avalanche StreamingLDA", 5.0

Vectors = NDArray[np.float32]


class Learner(Protocol):
    def rows(self, X: Vectors) -> list[Any]:
        """Single samples in the form it takes them; not timed."""

    def learn(self, x: Any, k: int) -> None: ...

    def answer(self, x: Any) -> int: ...


class PartialFit:
    """Ours and scikit-learn's."""

    def __init__(self, model: Any, **first: Any) -> None:
        self._model = model
        self._first = first  # what the first call wants besides

    def rows(self, X: Vectors) -> list[Any]:
        return list(X[:, None, :])

    def learn(self, x: Any, k: int) -> None:
        self._model.partial_fit(x, [k], **self._first)
        self._first = {}

    def answer(self, x: Any) -> int:
        return int(self._model.predict(x)[0])


class River:
    """It takes a dictionary of features; making one is not timed."""

    def __init__(self, module: str, name: str) -> None:
        self._model = getattr(import_module(f"river.{module}"), name)()

    def rows(self, X: Vectors) -> list[Any]:
        return [dict(enumerate(x)) for x in X.tolist()]

    def learn(self, x: Any, k: int) -> None:
        self._model.learn_one(x, k)

    def answer(self, x: Any) -> int:
        return int(self._model.predict_one(x))


class Avalanche:
    """``fit`` is its own step for one sample; ``predict`` inverts (by pinverse) what changed since it was last asked.
    Its training loop around them is left out, and so is the backbone."""

    def __init__(self, width: int, classes: int) -> None:
        self._torch = torch = import_module("torch")
        torch.set_num_threads(1)
        self._model = import_module("avalanche.training.supervised.deep_slda").StreamingLDA(
            slda_model=torch.nn.Identity(),
            criterion=torch.nn.CrossEntropyLoss(),
            input_size=width,
            num_classes=classes,
            evaluator=None,
        )

    def rows(self, X: Vectors) -> list[Any]:
        return list(self._torch.from_numpy(X)[:, None, :])

    def learn(self, x: Any, k: int) -> None:
        self._model.fit(x, self._torch.tensor([k]))

    def answer(self, x: Any) -> int:
        return int(self._model.predict(x).argmax())


def learners(width: int, classes: int) -> dict[str, Callable[[], Learner]]:
    first = {"classes": np.arange(classes)}
    return {
        REFERENCE: lambda: PartialFit(ExLLClassifier("paper")),
        "exll, glocal": lambda: PartialFit(ExLLClassifier("glocal")),
        "our SLDA": lambda: PartialFit(SLDA(normalise=True)),
        PEER: lambda: Avalanche(width, classes),
        "River GaussianNB": lambda: River("naive_bayes", "GaussianNB"),
        "River SoftmaxRegression": lambda: River("linear_model", "SoftmaxRegression"),
        "scikit-learn GaussianNB": lambda: PartialFit(GaussianNB(), **first),
        "scikit-learn SGDClassifier": lambda: PartialFit(SGDClassifier(random_state=0), **first),
        "scikit-learn Perceptron": lambda: PartialFit(Perceptron(random_state=0), **first),
    }


def installed(wanted: dict[str, Callable[[], Learner]]) -> Iterator[tuple[str, Learner]]:
    for name, new in wanted.items():
        try:
            yield name, new()
        except (ImportError, RuntimeError) as error:  # torch and torchvision that do not fit each other: RuntimeError
            print(f"{name} is left out: {' '.join(str(error).split())}.")


@dataclass
class Times:
    """Microseconds per sample, and the share of right answers."""

    learning: float = 0.0
    answering: float = 0.0
    both: float = 0.0
    accuracy: float = 0.0


def compare(width: int, samples: int, questions: int, pairs: int, wanted: list[str] | None = None) -> dict[str, Times]:
    """Every learner learns ``samples``, answers ``questions``, then learns and answers ``pairs`` in turns."""
    stream = ClusteredStream(width, CLASSES)
    X, y = _unit(stream, samples)
    questions_unit, truths = _unit(stream, questions)
    more, labels = _unit(stream, pairs)
    found = learners(width, CLASSES)
    taking_part = dict(installed({name: found[name] for name in wanted or found}))
    times = {name: Times() for name in taking_part}
    for start in range(0, samples, TURN):
        rows = slice(start, start + TURN)
        for name, learner in taking_part.items():
            times[name].learning += _microseconds(learner.learn, learner.rows(X[rows]), y[rows].tolist()) / samples
    for name, learner in taking_part.items():
        first, *others = learner.rows(questions_unit)
        right = learner.answer(first) == truths[0]  # whatever was put off is done now
        answers: list[int] = []
        spent = _microseconds(lambda x: answers.append(learner.answer(x)), others)  # noqa: B023
        times[name].answering = spent / len(others)
        times[name].accuracy = (right + sum(np.array(answers) == truths[1:])) / questions
    for row in range(pairs):
        for name, learner in taking_part.items():
            (x,), (question,) = learner.rows(more[row : row + 1]), learner.rows(questions_unit[row : row + 1])
            spent = _microseconds(learner.learn, [x], [int(labels[row])]) + _microseconds(learner.answer, [question])
            times[name].both += spent / pairs
    return times


def _unit(stream: ClusteredStream, rows: int) -> tuple[Vectors, NDArray[np.int64]]:
    X, y = stream.take(rows)
    return np.ascontiguousarray(normalise(X), np.float32), y


def _microseconds(step: Callable[..., object], *rows: list[Any]) -> float:
    start = time.process_time()
    for arguments in zip(*rows, strict=True):
        step(*arguments)
    return 1e6 * (time.process_time() - start)


def report(width: int, samples: int, times: dict[str, Times]) -> None:
    ours = times[REFERENCE]
    print(f"\nd = {width}, {CLASSES} classes, {samples:,} samples; in brackets: times what {REFERENCE} takes\n")
    print(f"| learner | learning, us | answering, us | learning and answering, us | accuracy |\n|{'---|' * 5}")
    for name, taken in times.items():
        cells = [
            f"{getattr(taken, part):,.0f} ({getattr(taken, part) / getattr(ours, part):.2g})"
            for part in ("learning", "answering", "both")
        ]
        print(f"| {name} | {' | '.join(cells)} | {taken.accuracy:.3f} |")
    if PEER in times:
        ratio = times[PEER].both / ours.both
        kept = "kept" if ratio >= PROMISED else "BROKEN"
        print(f"\n{PEER} / {REFERENCE}, learning and answering: {ratio:.1f}, promised at least {PROMISED:g}: {kept}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, nargs="*", default=[256, 1280], help="feature widths (default 256 1280)")
    parser.add_argument("--samples", type=int, default=2_000, help="length of the stream (default 2000)")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=10, help="how often one is learned and one answered (default 10)")
    parser.add_argument("--only", nargs="*", choices=list(learners(1, 1)), help="learners to measure (default all)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # what peers warn about while they are imported is theirs to mend
    for width in options.width:
        times = compare(width, options.samples, options.questions, options.pairs, options.only)
        report(width, options.samples, times)


if __name__ == "__main__":
    main()
