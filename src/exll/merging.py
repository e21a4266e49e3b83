"""One model of several: a placeholder that learns again what the models remember of their samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from exll.estimator import ExLLClassifier
from exll.parameters import parameter_names
from exll.vision import ImageLearner


def merge(models: Sequence[Any]) -> Any:
    """One model of several of one kind, in their order. They must remember vectors (records="vectors")."""
    first = models[0].classifier
    merged = ExLLClassifier(**{name: getattr(first, name) for name in parameter_names(type(first))})
    pictures: dict[int, bytes] = {}
    for model in models:
        learner = model.classifier.learner_
        before = merged.learner_.sample_count if hasattr(merged, "known_") else 0
        if isinstance(model, ImageLearner):
            pictures |= {before + i: picture for i, picture in model._kept_thumbnails()._pictures.items()}
        rows = learner._records.at(range(learner.sample_count))
        class_of = dict(zip(learner._prototypes.ids.tolist(), learner._prototypes.class_of.tolist(), strict=True))
        merged.partial_fit(
            np.array([record.vector for _, record in rows], np.float32),
            [learner.labels[class_of[prototype]] for prototype, _ in rows],
            refs=[record.ref for _, record in rows],
        )
    if not isinstance(models[0], ImageLearner):
        return merged
    found = ImageLearner(models[0].backbone, thumbnails=models[0].thumbnails, thumbnail_side=models[0].thumbnail_side)
    found.classifier = merged
    found._kept_thumbnails()._pictures = pictures
    return found
