"""``load``: whatever was saved, as what it was."""

import os
from typing import Any

from exll.baselines import baseline_class
from exll.baselines.base import KIND as BASELINE
from exll.errors import DAMAGED, ExLLError, InputError, ModelFileError
from exll.estimator import KIND as CLASSIFIER
from exll.estimator import ExLLClassifier
from exll.saving.model_file import read_model
from exll.vision import KIND as IMAGE_LEARNER
from exll.vision import ImageLearner


def load(
    path: str | os.PathLike[str],
    *,
    backbone: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Any:
    """Give back what was saved, an ExLLClassifier, an ImageLearner or a baseline; going on from it equals never having
    stopped.

    ``backbone`` says where the network of an ImageLearner lies now, if it is no longer where it was; it must be the
    same one.
    """
    file = read_model(path)
    kind = file.metadata.get("kind")
    try:
        if kind == CLASSIFIER:
            return ExLLClassifier._from_file(file)
        if kind == BASELINE:
            return baseline_class(file.metadata["learner"])._from_file(file)
        if kind == IMAGE_LEARNER:
            return ImageLearner._from_file(file, backbone, threads)
    except InputError as error:  # a parameter that this version does not know
        raise ModelFileError(f"{path} does not hold a whole model: {error}") from error
    except ExLLError:
        raise
    except DAMAGED as error:
        raise ModelFileError(f"{path} does not hold a whole model: {error}.") from error
    raise ModelFileError(f"{path} holds a model of kind {kind!r}, which this exll does not know.")
