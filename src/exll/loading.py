"""``load``: whatever was saved, as what it was."""

import os
from typing import Any, TypeAlias, TypeVar, overload

from exll.baselines import baseline_class
from exll.baselines.base import KIND as BASELINE
from exll.baselines.base import Baseline
from exll.errors import DAMAGED, ExLLError, InputError, ModelFileError
from exll.estimator import KIND as CLASSIFIER
from exll.estimator import ExLLClassifier
from exll.features.own_backbone import Backbone
from exll.saving.model_file import read_model
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
    """Give back what was saved, an ExLLClassifier, an ImageLearner or a baseline; going on from it equals never having
    stopped.

    ``kind`` is the class that the caller expects; a file that holds another is refused. An ImageLearner's file opens as
    an ExLLClassifier too: what it has learned, without its network. ``backbone`` says where the network of an
    ImageLearner lies now, if it is no longer where it was, or is the Python object that makes its vectors. It must be
    the same one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ExLLClassifier().fit([[1.0, 0.1], [0.1, 1.0]], ["mug", "pan"]).save(f"{folder}/things.exll")
    ...     load(f"{folder}/things.exll", ExLLClassifier).predict([[2.0, 0.3]])
    array(['mug'], dtype='<U3')
    """
    file = read_model(path)
    made_by = file.metadata.get("kind")
    try:
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
    except InputError as error:  # a parameter that this version does not know
        raise ModelFileError(f"{path} does not hold a whole model: {error}") from error
    except ExLLError:
        raise
    except DAMAGED as error:
        raise ModelFileError(f"{path} does not hold a whole model: {error}.") from error
