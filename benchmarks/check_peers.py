"""What other people's learners can and cannot do: the facts behind the table in docs/comparison.md.

``pip install -e . river scikit-learn``, then ``python benchmarks/check_peers.py``. With Avalanche (``pip install
'exll[peers]'``, which brings torch, by default with several GB of GPU packages) it and a trained network are checked,
too. A library that is not installed is left out with a sentence. The vectors are made up. Nothing is timed, and no
figure here says how well a learner does on photos.
"""

import argparse
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.vectors import normalise
from streams import ClusteredStream

WIDTH, CLASSES, UNSEEN = 64, 8, 2
Facts = Iterator[tuple[str, object]]


class Data:
    """Vectors of unit length: eight classes that are taught, and two that are not."""

    def __init__(self) -> None:
        stream = ClusteredStream(WIDTH, CLASSES + UNSEEN, spread=0.6)
        self.X, self.y = self._known(stream, 800)
        self.questions, self.truths = self._known(stream, 800)
        X, y = stream.take(800)
        self.unseen = np.asarray(normalise(X), np.float32)[y >= CLASSES]
        self.in_turn = np.argsort(self.y, kind="stable")  # all of one class, then all of the next
        self.first = np.array([int(np.flatnonzero(self.y == k)[0]) for k in range(CLASSES)])

    def _known(self, stream: ClusteredStream, rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        X, y = stream.take(rows)
        return np.asarray(normalise(X), np.float32)[y < CLASSES], y[y < CLASSES]

    def orders(self, taught: Callable[[NDArray[np.int64]], Any], answers: Callable[[Any], Any]) -> Facts:
        """How often the answers are right after one example per class, all mixed, and one class after the other."""
        orders = {"one example per class": self.first, "mixed": np.arange(len(self.y)), "in turn": self.in_turn}
        for name, rows in orders.items():
            right = np.mean(np.asarray(answers(taught(rows))) == self.truths)
            yield f"right, {name}", f"{right:.1%}"


def attempt(action: Callable[[], object]) -> str:
    try:
        return f"works: {action()}"
    except Exception as error:  # whatever the library says is the fact
        return f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"


def runs_code(dumps: Callable[[object], bytes], loads: Callable[[bytes], object]) -> str:
    """Whether loading a file of this kind runs what somebody put into it."""

    class Payload:
        def __reduce__(self) -> Any:
            return os.putenv, ("CHECK_PEERS", "1")

    loads(dumps(Payload()))
    return "loading it ran code from the file"


def check_exll(data: Data) -> Facts:
    import exll

    def taught(rows: NDArray[np.int64], **options: Any) -> Any:
        names = [f"{row}.jpg" for row in rows]
        return exll.ExLLClassifier(records="vectors", **options).partial_fit(data.X[rows], data.y[rows], refs=names)

    yield from data.orders(taught, lambda model: model.predict(data.questions))
    model = taught(np.arange(len(data.y)))
    for name, X in {"taught": data.questions, "not taught": data.unseen}.items():
        levels = [answer.level for answer in model.answers(X)]
        shares = ", ".join(f"{level} {levels.count(level) / len(levels):.1%}" for level in ("unusual", "unknown"))
        yield f"classes that were {name}", shares
    yield "reasons", [example.name for example in model.explain(data.questions[0]).hit.examples[:3]]
    yield "a class later", attempt(lambda: model.partial_fit(data.unseen[:1], [CLASSES]).classes_.tolist())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.exll"
        model.save(path)
        yield "file", f"safetensors, {path.stat().st_size:,} bytes; exll.load gives a {type(exll.load(path)).__name__}"
        path.write_bytes(pickle.dumps(model.classes_))
        yield "a pickle named .exll", attempt(lambda: exll.load(path))
    halves = [taught(np.arange(len(data.y))[half::2]) for half in (0, 1)]
    merged = exll.merge(halves)
    yield "merged of two", f"right {np.mean(merged.predict(data.questions) == data.truths):.1%}"
    for preset in ("glocal", "paper"):
        with_it, without = (taught(np.arange(start, 200), preset=preset) for start in (0, 1))
        with_it.forget(["0.jpg"])
        gap = np.abs(with_it.predict_proba(data.questions) - without.predict_proba(data.questions)).max()
        other = int(np.sum(with_it.predict(data.questions) != without.predict(data.questions)))
        yield f"forget one of 200, {preset}", f"{other} other labels than never having seen it; probabilities {gap:.0e}"


def check_river(data: Data) -> Facts:
    base, neighbors = import_module("river.base"), import_module("river.neighbors")
    bayes = import_module("river.naive_bayes")

    def rows_of(X: Any) -> list[dict[int, float]]:
        return [dict(enumerate(x)) for x in X.tolist()]

    def teach(model: Any, rows: NDArray[np.int64]) -> Any:
        for x, k in zip(rows_of(data.X[rows]), data.y[rows].tolist(), strict=True):
            model.learn_one(x, k)
        return model

    learners: dict[str, Callable[[], Any]] = {
        "GaussianNB": lambda: bayes.GaussianNB(),
        "KNNClassifier, 50 kept (LazySearch)": lambda: neighbors.KNNClassifier(engine=neighbors.LazySearch()),
        "KNNClassifier, all kept": lambda: neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=10**6)),
    }
    questions = rows_of(data.questions)
    for name, new in learners.items():

        def taught(rows: NDArray[np.int64], new: Callable[[], Any] = new) -> Any:
            return teach(new(), rows)

        for fact, value in data.orders(taught, lambda model: [model.predict_one(x) for x in questions]):
            yield f"{name}: {fact}", value
    model = teach(learners["KNNClassifier, all kept"](), np.arange(len(data.y)))
    unseen = [max(model.predict_proba_one(x).values()) for x in rows_of(data.unseen)]
    yield "classes not taught", f"predict_one names a taught class; mean probability {np.mean(unseen):.0%}"
    score = import_module("river.anomaly").HalfSpaceTrees(seed=0).score_one(questions[0])
    yield "river.anomaly", f"a separate detector; HalfSpaceTrees.score_one gives a number ({score:.2f})"
    nearest, _ = model._nn.search((questions[0], None), n_neighbors=3)
    yield "reasons of kNN", f"only the private model._nn.search: {len(nearest)} stored (x, label) without names"
    yield "a class later", attempt(lambda: model.learn_one(questions[0], "new") or sorted(map(str, model.classes)))
    names = ("save", "merge", "unlearn_one", "forget_one")
    yield "methods of base.Classifier", {name: hasattr(base.Classifier, name) for name in names}
    statistics = [import_module("river.stats").Mean() for _ in range(2)]
    for value, mean in enumerate(statistics):
        mean.update(float(value))
    yield "statistics merge", f"stats.Mean of 0 + stats.Mean of 1: {(statistics[0] + statistics[1]).get()}"
    yield "classifiers merge", attempt(lambda: bayes.GaussianNB() + bayes.GaussianNB())
    yield "pickle", runs_code(pickle.dumps, pickle.loads)


def check_sklearn(data: Data) -> Facts:
    from sklearn.linear_model import SGDClassifier
    from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

    def taught(rows: NDArray[np.int64]) -> Any:
        return KNeighborsClassifier(n_neighbors=min(5, len(rows) // CLASSES)).fit(data.X[rows], data.y[rows])

    yield from data.orders(taught, lambda model: model.predict(data.questions))
    model = taught(np.arange(len(data.y)))
    yield "partial_fit", hasattr(model, "partial_fit")
    yield (
        "classes not taught",
        f"mean probability of the answer {model.predict_proba(data.unseen).max(axis=1).mean():.0%}",
    )
    distances = [float(np.median(model.kneighbors(X)[0][:, 0])) for X in (data.questions, data.unseen)]
    yield "kneighbors", f"median distance to the nearest: taught {distances[0]:.2f}, not taught {distances[1]:.2f}"
    limited = RadiusNeighborsClassifier(radius=0.5, outlier_label=-1).fit(data.X, data.y)
    outliers = [np.mean(limited.predict(X) == -1) for X in (data.questions, data.unseen)]
    yield "outlier_label with radius 0.5", f"given to {outliers[0]:.1%} of taught classes, {outliers[1]:.1%} of others"
    yield "reasons", f"kneighbors gives rows of the training data: {model.kneighbors(data.questions[:1])[1][0, :3]}"
    gradient = SGDClassifier(random_state=0).partial_fit(data.X[:50], data.y[:50], classes=np.arange(CLASSES))
    yield "SGDClassifier, a class later", attempt(lambda: gradient.partial_fit(data.unseen[:1], [CLASSES]))
    kept = np.array_equal(model._fit_X, data.X)
    yield "what is kept", f"every row as it came: {kept}; one without a row, or of two sets of rows, is fitted to those"
    yield "pickle and joblib", runs_code(pickle.dumps, pickle.loads)


def check_network(data: Data) -> Facts:
    """Two layers on the vectors, trained for some epochs: class after class as the stream brings them."""
    torch = import_module("torch")
    X, y = torch.from_numpy(data.X), torch.from_numpy(data.y)

    def trained(rows: NDArray[np.int64]) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        in_turn = np.array_equal(rows, data.in_turn)
        for part in [rows[data.y[rows] == k] for k in range(CLASSES)] if in_turn else [rows]:
            for _ in range(100):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(X[part]), y[part]).backward()
                optimizer.step()
        return model

    yield from data.orders(trained, lambda model: model(torch.from_numpy(data.questions)).argmax(1).numpy())
    model = trained(np.arange(len(data.y)))
    sure = torch.softmax(model(torch.from_numpy(data.unseen)), 1).amax(1).mean().item()
    yield "classes not taught", f"mean probability of the answer {sure:.0%}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        torch.save(model.state_dict(), path)
        yield "torch.load of weights", attempt(lambda: len(torch.load(path)))
        torch.save(model, path)
        yield "torch.load of a whole model", attempt(lambda: torch.load(path))


def check_avalanche(data: Data) -> Facts:
    torch, training = import_module("torch"), import_module("avalanche.training")
    benchmarks, models = import_module("avalanche.benchmarks"), import_module("avalanche.models")
    as_dataset = import_module("avalanche.benchmarks.utils").as_classification_dataset

    def lda(rows: NDArray[np.int64]) -> Any:
        model = import_module("avalanche.training.supervised.deep_slda").StreamingLDA(
            slda_model=torch.nn.Identity(),
            criterion=torch.nn.CrossEntropyLoss(),
            input_size=WIDTH,
            num_classes=CLASSES,
            evaluator=None,
        )
        for row in rows:
            model.fit(torch.from_numpy(data.X[row : row + 1]), torch.tensor([int(data.y[row])]))
        return model

    questions = torch.from_numpy(data.questions)
    for fact, value in data.orders(lda, lambda model: model.predict(questions).argmax(1).numpy()):
        yield f"StreamingLDA: {fact}", value
    model = lda(data.first)
    unseen = torch.from_numpy(data.unseen[:1])
    yield "StreamingLDA, a class later", attempt(lambda: model.fit(unseen, torch.tensor([CLASSES])))

    def set_of(X: Any, y: Any) -> Any:
        dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
        dataset.targets = y.tolist()
        return as_dataset(dataset)

    stream = benchmarks.class_incremental_benchmark(
        {"train": set_of(data.X, data.y), "test": set_of(data.questions, data.truths)},
        class_order=list(range(CLASSES)),
        num_experiences=CLASSES,
    )
    for name, options in {"Naive": {}, "Replay": {"mem_size": 200}}.items():
        torch.manual_seed(0)
        layers = torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.ReLU(), models.IncrementalClassifier(64, 1))
        strategy = getattr(training, name)(
            model=layers,
            optimizer=torch.optim.Adam(layers.parameters(), lr=0.003),
            criterion=torch.nn.CrossEntropyLoss(),
            train_mb_size=32,
            train_epochs=10,
            evaluator=None,
            **options,
        )
        for experience in stream.train_stream:
            strategy.train(experience, num_workers=0)
        right = (layers.eval()(questions).argmax(1).numpy() == data.truths).mean()
        outputs = layers[-1].classifier.out_features
        yield f"{name}: right, in turn", f"{right:.1%}; its last layer grew to {outputs} classes"


CHECKS: dict[str, Callable[[Data], Facts]] = {
    "exll": check_exll,
    "river": check_river,
    "scikit-learn": check_sklearn,
    "torch": check_network,
    "avalanche-lib": check_avalanche,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(CHECKS), default=list(CHECKS))
    warnings.simplefilter("ignore")
    data = Data()
    for package in parser.parse_args().only:
        try:
            print(f"\n{package} {version(package)}")
            for fact, value in CHECKS[package](data):
                print(f"  {fact}: {value}")
        except (ImportError, RuntimeError) as error:  # torch and torchvision that do not fit each other: RuntimeError
            print(f"  left out: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
