"""What a worker does: learn a shard, and merge two models. It knows nothing of Dask, nor of the other shards."""

import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.cluster.parts import Skipped
from exll.errors import BackboneError, ClusterError, OtherBackboneError, StreamError
from exll.estimator import ExLLClassifier
from exll.features.backbone import OnnxBackbone
from exll.features.cache import FeatureCache
from exll.features.own_backbone import Network, OwnBackbone
from exll.features.preprocessing import ResizeRule
from exll.loading import load
from exll.merging import merge
from exll.parameters import parameter_names
from exll.streams.example import Example
from exll.streams.feature_file import read_vectors
from exll.streams.stream import Stream, StreamKind
from exll.teaching import BATCH, Model, learn_batch, vectors_of
from exll.version import __version__
from exll.vision import ImageLearner

Part: TypeAlias = Path | bytes  # a model file: where a worker can read and write it, or its content
Job: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]  # a function of this module, and what it is called with


@dataclass(frozen=True)
class OnnxNetwork:
    """A network that a worker opens by itself, and only if it is the same one."""

    source: str
    resize: ResizeRule | None
    looks: int
    identity: str


@dataclass(frozen=True, eq=False)
class Task:
    """What all shards of a run have in common: where the data lie, and what their models are made of."""

    kind: StreamKind
    source: Path
    parameters: dict[str, Any]  # of the classifier
    network: OnnxNetwork | OwnBackbone | None
    thumbnails: dict[str, Any]
    cache: bool = False
    strict: bool = False
    version: str = __version__

    @classmethod
    def of(cls, model: Model, stream: Stream, cache: bool, strict: bool) -> "Task":
        classifier, pictures = model.classifier, {}
        network: OnnxBackbone | OnnxNetwork | OwnBackbone | None = model.backbone
        if isinstance(model, ImageLearner):
            pictures = {"thumbnails": model.thumbnails, "thumbnail_side": model.thumbnail_side}
        if isinstance(network, OnnxBackbone):
            _, resize, looks = network._arguments
            network = OnnxNetwork(network.source, resize, looks, network.identity)
        parameters = {name: getattr(classifier, name) for name in parameter_names(type(classifier))}
        return cls(stream.kind, stream.source.absolute(), parameters, network, pictures, cache, strict)

    def describe(self) -> dict[str, Any]:
        """What two runs must have in common to give the same shards."""
        network = None if self.network is None else self.network.identity
        return {**self.parameters, **self.thumbnails, "network": network}

    def check(self) -> None:
        if self.version != __version__:
            raise ClusterError(
                f"all machines must have the same exll: this is {self.version}, a worker has {__version__}."
            )

    def opened_network(self) -> Network | None:
        return _opened(self.network) if isinstance(self.network, OnnxNetwork) else self.network

    def new_model(self) -> Model:
        """A model for one shard."""
        network = self.opened_network()
        if network is None:
            return ExLLClassifier(**self.parameters)
        model = ImageLearner(network, **self.thumbnails)
        model.classifier = ExLLClassifier(**self.parameters)
        return model


def do(packed: bytes) -> Any:
    """A task that was packed by the client: the scheduler, which opens what it is given, need not open this."""
    function, arguments = pickle.loads(packed)
    return function(*arguments)


def learn_shard(
    task: Task, examples: Sequence[Example], seen: Path | None, into: Path | None
) -> tuple[Part | None, Skipped]:
    """The model of a shard (None where nothing could be learned), and what was skipped.

    ``seen`` is a file that the client sees, and that a worker must see as well. The model goes to ``into`` where the
    client reads the same folder, else its bytes are given.
    """
    task.check()
    if seen is not None and not seen.exists():
        raise StreamError(f"a worker does not see {seen}: every machine must have the data under the same path.")
    model = task.new_model()
    vectors = _vectors(task.source, _state(task.source)) if task.kind == "features" else None
    stream = Stream(task.kind, list(examples), task.source, vectors)
    cache = FeatureCache() if task.cache else None
    rows = zip(stream.examples, vectors_of(model, stream, cache=cache, readers=1), strict=True)
    skipped: Skipped = {}
    position = 0
    # From its first example on a model can leave to the last one what only a finished model needs.
    while batch := list(islice(rows, BATCH - position % BATCH if _gathers(model) else 1)):
        some, extracted = zip(*batch, strict=True)
        reasons = learn_batch(model, some, extracted, task.strict)
        skipped |= {place: why for place, why in enumerate(reasons, position) if why is not None}
        position += len(batch)
    learned = hasattr(model.classifier, "learner_")
    return _given(model, into) if learned else None, skipped


def _gathers(model: Model) -> bool:
    if not hasattr(model.classifier, "learner_"):
        return False
    model.classifier.learner_.gather()
    return True


def merge_parts(task: Task, left: Part, right: Part, into: Path | None) -> Part:
    """One model of two, in this order."""
    task.check()
    network = task.opened_network()
    return _given(merge([_loaded(part, network) for part in (left, right)], use_up=True), into)


def _loaded(part: Part, network: Network | None) -> Any:
    with _file() as file:
        if isinstance(part, bytes):
            file.write_bytes(part)
        return load(file if isinstance(part, bytes) else part, backbone=network)


def _given(model: Any, into: Path | None) -> Part:
    model.classifier.learner_.gather()  # it is judged when the last model is saved
    if into is not None:
        model.save(into)
        return into
    with _file() as file:
        model.save(file)
        return file.read_bytes()


@contextmanager
def _file() -> Iterator[Path]:
    """A place for a model file that nobody else knows."""
    with tempfile.TemporaryDirectory(prefix="exll-") as folder:
        yield Path(folder) / "part.exll"


@lru_cache(maxsize=1)
def _opened(network: OnnxNetwork) -> OnnxBackbone:
    """With one thread, since there are as many workers as cores; the same one for all tasks of a worker."""
    try:
        return OnnxBackbone(network.source, 1, network.resize, network.looks, network.identity)
    except OtherBackboneError as error:
        raise BackboneError(f"the network {error.source} of a worker is not the same as here.") from error


@lru_cache(maxsize=1)
def _vectors(source: Path, state: tuple[int, int]) -> NDArray[np.floating]:
    """Of a features file, once for all shards of a worker; ``state`` tells an altered file."""
    return read_vectors(source)


def _state(source: Path) -> tuple[int, int]:
    status = source.stat()
    return status.st_mtime_ns, status.st_size
