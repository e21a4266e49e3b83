"""``merge``: makes one model from several, as if one model had been taught everything.

Counts, means and covariance are exact sums, whatever the order of the models. Prototypes are joined and brought back to
their number by the same rule that made them, so those depend a little on the order. What a model judges itself by is
drawn anew from all samples, and judged anew.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, TypeVar

import numpy as np

from exll.editing import with_places
from exll.errors import InputError, InputTypeError
from exll.estimator import ExLLClassifier
from exll.kept_thumbnails import KeptThumbnails
from exll.labels import kind_of
from exll.scaling import Directions, Known
from exll.types import Label
from exll.vision import ImageLearner

Model = TypeVar("Model", ExLLClassifier, ImageLearner)

NAMED = 3
RELEARN = "teach one model with both data instead"


@dataclass(frozen=True)
class Conflict:
    """One example that the models have learned under several labels."""

    name: str
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        return f"{self.name} was learned as {' and as '.join(map(repr, self.labels))}"


def merge(models: Iterable[Model], *, use_up: bool = False) -> Model:
    """Make one model from several of the same kind. They stay as they are, unless they may be used up, which saves the
    memory of a copy of each.

    Classes with the same label become one. All must have the same network, or vectors of the same width, and the same
    parameters. :func:`conflicts` says beforehand which examples have several labels.

    >>> one = ExLLClassifier().fit([[1.0, 0.1] * 40], ["mug"])
    >>> two = ExLLClassifier().fit([[0.1, 1.0] * 40, [1.0, 0.2] * 40], ["pan", "mug"])
    >>> merged = merge([one, two])
    >>> merged.classes_, merged.megacloud("mug").count
    (array(['mug', 'pan'], dtype='<U3'), 2)
    """
    parts: list[Model] = _listed(models)
    check_mergeable(parts)
    first = parts[0]
    classifiers = [part.classifier for part in parts]
    starts, pictures = _starts(classifiers), [_thumbnails_of(part) for part in parts]
    if isinstance(first, ExLLClassifier):
        return _merged(classifiers, starts, use_up)
    merged = copy.copy(first)
    merged.classifier = _merged(classifiers, starts, use_up)
    most, side = max(part.thumbnails for part in parts), max(part.thumbnail_side for part in parts)
    merged._kept = KeptThumbnails(most, side, merged.classifier.learner_)
    for kept, position in zip(pictures, starts, strict=True):
        if kept is not None:
            merged._kept.absorb(kept, position)
    return merged


def conflicts(models: Iterable[Model]) -> list[Conflict]:
    """The examples that models have learned under several labels: of one name, or of the same vector.

    >>> one = ExLLClassifier(records="vectors").fit([[1.0, 0.1] * 40], ["mug"], refs=["1.jpg"])
    >>> two = ExLLClassifier(records="vectors").fit([[1.0, 0.1] * 40], ["cup"], refs=["2.jpg"])
    >>> print(*conflicts([one, two]))
    1.jpg was learned as 'mug' and as 'cup'
    """
    labels_of: dict[Any, list[Label]] = {}
    names: dict[Any, str] = {}
    for model in _listed(models):
        _check_taught(model)
        learner = model.classifier.learner_
        for k, label in enumerate(learner.labels):
            for _, _, record in learner.remembered_class(k):
                keys: list[Any] = [] if record.ref is None else [record.ref]
                if record.codes is not None:
                    keys.append(record.codes.tobytes())
                for key in keys:
                    names.setdefault(key, record.name)
                    if label not in labels_of.setdefault(key, []):
                        labels_of[key].append(label)
    found = [Conflict(names[key], tuple(labels)) for key, labels in labels_of.items() if len(labels) > 1]
    return list(dict.fromkeys(found))


def check_mergeable(models: Sequence[Any], names: Sequence[str] = ()) -> None:
    """Whether these models can become one, or one clear sentence that names them."""
    if len(models) < 2:
        raise InputError(f"merging takes at least two models; got {len(models)}.")
    called = names or [f"model {number}" for number in range(1, len(models) + 1)]
    for model in models:
        _check_taught(model)
    first = _facts(models[0])
    for name, model in zip(called[1:], models[1:], strict=True):
        for (what, mine, shown), (_, theirs, shown_too) in zip(first, _facts(model), strict=True):
            if mine != theirs:
                raise InputError(f"{called[0]} has the {what} {shown}, and {name} has {shown_too}; {RELEARN}.")
    if any(type(model.classifier.known_.scaling) is not Directions for model in models):
        raise InputError(
            f"these models keep the lengths of vectors, each in its own units; {RELEARN}, or learn them in Python with "
            "lengths='ignored'."
        )


def _listed(models: Any) -> list[Any]:
    if not hasattr(models, "__iter__"):
        raise InputTypeError(f"models must be a list of models; got {type(models).__name__}.")
    return list(models)


def _check_taught(model: Any) -> None:
    if not isinstance(model, ExLLClassifier | ImageLearner):
        raise InputTypeError(f"only models of ExLL can be merged; got {type(model).__name__}.")
    if not hasattr(model.classifier, "learner_"):
        raise InputError("a model that has learned nothing cannot be merged.")


def _facts(model: Any) -> list[tuple[str, Any, str]]:
    """What must be the same in all models: its name, its value, and how that is shown. Errors name the first."""
    learner, network = model.classifier.learner_, model.backbone
    identity = None if network is None else network.identity
    shown = "None" if network is None else f"{network.name} (identity {network.identity[:12]})"
    features = getattr(model.classifier, "feature_names_in_", np.array([])).tolist()
    return [
        ("kind", *2 * (type(model).__name__,)),
        ("network", identity, shown),
        ("width", learner.width, str(learner.width)),
        *((what, value, repr(value)) for what, value in learner.parameters._asdict().items()),
        ("kind of labels", *2 * (kind_of(learner.labels[0]),)),
        ("names of features", features, ", ".join(features[:NAMED]) + (", ..." if features[NAMED:] else "") or "None"),
    ]


def _thumbnails_of(model: ExLLClassifier | ImageLearner) -> KeptThumbnails | None:
    return model._kept_thumbnails() if isinstance(model, ImageLearner) else None


def _merged(classifiers: Sequence[ExLLClassifier], starts: Sequence[int], use_up: bool) -> ExLLClassifier:
    first, *others = classifiers
    learner = first.learner_ if use_up else copy.deepcopy(first.learner_)
    for other in others:
        learner.absorb(other.learner_ if use_up else copy.deepcopy(other.learner_))
    merged = copy.copy(first)
    merged.known_ = Known(learner, first.known_.scaling, first.known_.lengths)
    for other in others:
        merged._join_nothing(other)
    merged.lessons_ = [
        lesson
        for classifier, start in zip(classifiers, starts, strict=True)
        for lesson in with_places(classifier.lessons_, partial(add, start))
    ]
    return merged


def _starts(classifiers: Sequence[ExLLClassifier]) -> list[int]:
    """Where the samples of each begin in the stream of all."""
    starts = [0]
    for classifier in classifiers[:-1]:
        starts.append(starts[-1] + classifier.learner_.learned_count)
    return starts
