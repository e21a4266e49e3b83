"""``load``: opens any saved model as the class that it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, overload

from exll.baselines import baseline_class
from exll.baselines.base import KIND as BASELINE
from exll.baselines.base import Baseline
from exll.errors import DAMAGED, ExLLError, InputError, ModelFileError
from exll.estimator import KIND as CLASSIFIER
from exll.estimator import ExLLClassifier
from exll.features.own_backbone import Backbone, ClosedNetwork
from exll.kept_thumbnails import KeptThumbnails
from exll.saving.model_file import ModelFile, read_model
from exll.vision import KIND as IMAGE_LEARNER
from exll.vision import ImageLearner

AnyModel: TypeAlias = ExLLClassifier | ImageLearner | Baseline
Kind = TypeVar("Kind", bound=ExLLClassifier | ImageLearner | Baseline)


@overload
def load(
    path: str | os.PathLike[str],
    kind: type[Kind],
    *,
    backbone: str | os.PathLike[str] | Backbone | None = None,
    threads: int | None = None,
) -> Kind: ...
@overload
def load(
    path: str | os.PathLike[str],
    kind: None = None,
    *,
    backbone: str | os.PathLike[str] | Backbone | None = None,
    threads: int | None = None,
) -> AnyModel: ...
def load(
    path: str | os.PathLike[str],
    kind: type[Any] | None = None,
    *,
    backbone: str | os.PathLike[str] | Backbone | None = None,
    threads: int | None = None,
) -> Any:
    """Open a saved model: an ExLLClassifier, an ImageLearner or a baseline. It continues as if it had never been
    saved.

    ``kind`` is the class that the caller expects; a file that holds another is refused. An ImageLearner's file opens as
    an ExLLClassifier too: what it has learned, without its network. ``backbone`` says where the network of an
    ImageLearner is now, if it was moved, or it is the Python object that makes its vectors. It must be the same
    network.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"]).save(f"{folder}/things.exll")
    ...     load(f"{folder}/things.exll", ExLLClassifier).predict([[2.0, 0.3]])
    array(['mug'], dtype='<U3')
    """
    file = read_model(path)
    with _whole(path):
        return _opened(path, file, kind, backbone, threads)


def load_to_edit(path: str | os.PathLike[str]) -> ExLLClassifier | ImageLearner:
    """A model that can be edited and saved, thumbnails and all; an ImageLearner cannot be shown images, as its network
    is not opened."""
    file = read_model(path)
    with _whole(path):
        made_by = file.metadata.get("kind")
        if made_by == IMAGE_LEARNER:
            return ImageLearner._from_file(file, ClosedNetwork(file.metadata["backbone"], file.metadata["width"]))
        model = _opened(path, file, None)
    if isinstance(model, ExLLClassifier):
        return model
    raise ModelFileError(f"{path} holds the baseline {model.name}; only models of ExLL can be edited.")


def load_without_network(path: str | os.PathLike[str]) -> tuple[ExLLClassifier, dict[str, bytes]]:
    """What a model has learned, and the thumbnails that it keeps, by the names of their examples; vectors have none."""
    file = read_model(path)
    with _whole(path):
        classifier: ExLLClassifier = _opened(path, file, ExLLClassifier)
        if file.metadata["kind"] == CLASSIFIER:
            return classifier, {}
        return classifier, KeptThumbnails.of_file(file, classifier.learner_).by_name()


def _opened(
    path: str | os.PathLike[str],
    file: ModelFile,
    kind: type[Any] | None,
    backbone: str | os.PathLike[str] | Backbone | None = None,
    threads: int | None = None,
) -> Any:
    made_by = file.metadata.get("kind")
    if made_by == CLASSIFIER or (made_by == IMAGE_LEARNER and kind is ExLLClassifier):
        found: type[AnyModel] = ExLLClassifier
    elif made_by == IMAGE_LEARNER:
        found = ImageLearner
    elif made_by == BASELINE:
        found = baseline_class(file.metadata["learner"])
    else:
        raise ModelFileError(f"{path} holds a model of kind {made_by!r}, which this exll does not know.")
    if kind is not None and not issubclass(found, kind):
        raise ModelFileError(f"{path} holds a model of the class {found.__name__}, not {kind.__name__}.")
    if found is ImageLearner:
        return ImageLearner._from_file(file, backbone, threads)
    return found._from_file(file)


@contextmanager
def _whole(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of arrays that do not make a model become one sentence."""
    try:
        yield
    except InputError as error:  # a parameter that this version does not know
        raise ModelFileError(f"{path} does not hold a whole model: {error}") from error
    except ExLLError:
        raise
    except DAMAGED as error:
        raise ModelFileError(f"{path} does not hold a whole model: {error}.") from error
