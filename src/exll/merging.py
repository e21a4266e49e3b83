"""``merge``: models that were taught apart become one, as if one had been taught everything.

Counts, means and covariance are exact sums, whatever the order of the models. Prototypes are joined and brought back to
their number by the same rule that made them, so those depend a little on the order. What a model judges itself by is
drawn anew from all samples, and judged anew.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from exll.errors import InputError, InputTypeError
from exll.estimator import ExLLClassifier
from exll.kept_thumbnails import KeptThumbnails
from exll.learner.preset import new_learner
from exll.scaling import Directions, Known
from exll.types import Label
from exll.vision import ImageLearner

Model = TypeVar("Model", ExLLClassifier, ImageLearner)

RELEARN = "teach one model with both data instead"


@dataclass(frozen=True)
class Conflict:
    """One example that the models have learned under several labels."""

    name: str
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        return f"{self.name} was learned as {' and as '.join(map(repr, self.labels))}"


def merge(models: Iterable[Model]) -> Model:
    """One model of several, all of the same kind; they stay as they are.

    Classes with the same label become one. All must have the same network, or vectors of the same width, and the same
    parameters. :func:`conflicts` says beforehand which examples have several labels.

    >>> one = ExLLClassifier().fit([[1.0, 0.1] * 40], ["mug"])
    >>> two = ExLLClassifier().fit([[0.1, 1.0] * 40, [1.0, 0.2] * 40], ["pan", "mug"])
    >>> merged = merge([one, two])
    >>> merged.classes_, merged.megacloud("mug").count
    (array(['mug', 'pan'], dtype='<U3'), 2)
    """
    parts = list(models)
    check_mergeable(parts)
    first = parts[0]
    if isinstance(first, ExLLClassifier):
        return _merged([part.classifier for part in parts])
    merged = copy.copy(first)
    merged.classifier = _merged([part.classifier for part in parts])
    merged._kept = KeptThumbnails(first.thumbnails, first.thumbnail_side, merged.classifier.learner_)
    for part, position in zip(parts, _starts([part.classifier for part in parts]), strict=True):
        merged._kept.absorb(part._kept_thumbnails(), position)
    return merged


def conflicts(models: Sequence[Model]) -> list[Conflict]:
    """The examples that models have learned under several labels: of one name, or of the same vector."""
    labels_of: dict[Any, list[Label]] = {}
    names: dict[Any, str] = {}
    for model in models:
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


def check_mergeable(models: Sequence[Any]) -> None:
    """Whether these models can become one, or one clear sentence."""
    if len(models) < 2:
        raise InputError(f"merging takes at least two models; got {len(models)}.")
    for model in models:
        if not isinstance(model, ExLLClassifier | ImageLearner):
            raise InputTypeError(f"only models of ExLL can be merged; got {type(model).__name__}.")
        if not hasattr(model.classifier, "learner_"):
            raise InputError("a model that has learned nothing cannot be merged.")
    first = models[0]
    for number, model in enumerate(models[1:], 2):
        for what, mine, theirs in zip(_FACTS, _facts(first), _facts(model), strict=True):
            if mine != theirs:
                raise InputError(f"model {number} has the {what} {theirs!r}, and model 1 has {mine!r}; {RELEARN}.")
    if any(type(model.classifier.known_.scaling) is not Directions for model in models):
        raise InputError(
            f"these models keep the lengths of vectors, each in its own units; {RELEARN}, or use lengths='ignored'."
        )


_FACTS = ("kind", "network", "width", "preset", "parameters", "kind of labels")


def _facts(model: Any) -> tuple[Any, ...]:
    classifier = model.classifier
    parameters = classifier.learner_.parameters
    network = (
        None if model.backbone is None else (model.backbone.name, model.backbone.identity[:12], model.backbone.looks)
    )
    labels = type(classifier.learner_.labels[0]).__name__
    return type(model).__name__, network, classifier.learner_.width, parameters.preset, tuple(parameters), labels


def _merged(classifiers: Sequence[ExLLClassifier]) -> ExLLClassifier:
    first = classifiers[0]
    learner = new_learner(first.learner_.width, first.learner_.parameters)
    for classifier in classifiers:
        learner.absorb(copy.deepcopy(classifier.learner_))
    merged = copy.copy(first)
    merged.known_ = Known(learner, first.known_.scaling, first.known_.lengths)
    merged.lessons_ = [
        {**lesson, "spans": [[begin + start, count] for begin, count in lesson.get("spans", [])]}
        for classifier, start in zip(classifiers, _starts(classifiers), strict=True)
        for lesson in classifier.lessons_
    ]
    return merged


def _starts(classifiers: Sequence[ExLLClassifier]) -> list[int]:
    """Where the samples of each begin in the stream of all."""
    starts = [0]
    for classifier in classifiers[:-1]:
        starts.append(starts[-1] + classifier.learner_.learned_count)
    return starts
