"""``ImageLearner``: a backbone and a learner together, for people who hold images and not vectors."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from exll.errors import BackboneError, InputError
from exll.estimator import ExLLClassifier, Prediction
from exll.explain.case import Case, worth_leaving_out
from exll.explain.evidence_map import EvidenceMap, evidence_map
from exll.explain.explanation import Explanation
from exll.explain.rules import Rule
from exll.features.backbone import DEFAULT, Backbone, Seen
from exll.features.image import ImageSource
from exll.features.regions import region_ref
from exll.learner.preset import DEFAULT_PRESET
from exll.saving.model_file import ModelFile
from exll.stream_classifier import check_is_fitted, check_refs
from exll.types import InferenceName, Label, RecordsKind, RuleLevel
from exll.version import __version__

KIND = "image-learner"


class ImageLearner:
    """Learns images one at a time and says what new ones are.

    An image is a path, the bytes of a file, an array (height, width[, channels]) or a PIL image; wherever one fits, so
    does a list of them.

    >>> from PIL import Image
    >>> eye = ImageLearner(backbone="nano", preset="paper")
    >>> for colour in ("red", "blue", "red", "blue"):
    ...     eye.learn(Image.new("RGB", (64, 64), colour), colour, ref=f"{colour}.png")
    >>> eye.predict(Image.new("RGB", (80, 60), "blue"), inference="local").label
    'blue'
    """

    def __init__(
        self,
        backbone: str | os.PathLike[str] | Backbone = DEFAULT,
        preset: str = DEFAULT_PRESET,
        refresh_growth: float = 0.1,
        records: RecordsKind = "vectors",
        threads: int | None = None,
        max_prototypes: int | None = None,
        looks: int | None = None,
    ) -> None:
        if isinstance(backbone, Backbone):
            if looks not in (None, backbone.looks):
                raise InputError(f"looks={looks} is asked for, and the backbone was opened with {backbone.looks}.")
            self.backbone = backbone
        else:
            self.backbone = Backbone(backbone, threads, looks=looks)
        self.classifier = ExLLClassifier(preset, refresh_growth, records, max_prototypes)

    @overload
    def learn(self, image: ImageSource, label: Label, ref: str | None = None, box: Any = None) -> None: ...
    @overload
    def learn(
        self,
        image: list[ImageSource],
        label: Sequence[Label],
        ref: Sequence[str | None] | None = None,
        box: Sequence[Any] | None = None,
    ) -> None: ...
    def learn(self, image: Any, label: Any, ref: Any = None, box: Any = None) -> None:
        """Learn an image, or a list of them in order.

        ``ref`` is its name in explanations; a path names itself. ``box`` (left, top, right, bottom), in pixels of the
        upright image, is the region that shows the thing, where the image shows others too.
        """
        several = isinstance(image, list)
        images, labels, refs, boxes = (image, label, ref, box) if several else ([image], [label], [ref], [box])
        if not images:
            raise InputError("there is no image to learn in an empty list.")
        boxes = _check_boxes(boxes, len(images))
        refs = check_refs(refs, len(images)) or [None] * len(images)
        vectors = self.backbone.features(images, boxes)
        names = [
            region_ref(os.fspath(source), region) if ref is None and isinstance(source, str | os.PathLike) else ref
            for source, ref, region in zip(images, refs, boxes, strict=True)
        ]
        self.learn_vectors(vectors, labels, names)

    def learn_vectors(self, vectors: NDArray[Any], labels: Sequence[Label], refs: Sequence[str | None]) -> None:
        """Learn images whose vectors this learner's backbone made before."""
        self._check_width(vectors)
        self.classifier.partial_fit(vectors, labels, refs=refs)

    @overload
    def predict(self, image: ImageSource, inference: InferenceName = "fused", box: Any = None) -> Prediction: ...
    @overload
    def predict(
        self, image: list[ImageSource], inference: InferenceName = "fused", box: Sequence[Any] | None = None
    ) -> list[Prediction]: ...
    def predict(self, image: Any, inference: InferenceName = "fused", box: Any = None) -> Prediction | list[Prediction]:
        """What an image, or the region ``box`` of it, is: label, probability, runner-up; a list for a list."""
        several = isinstance(image, list)
        if several and not image:
            return []
        images, boxes = (image, box) if several else ([image], [box])
        vectors = self.backbone.features(images, _check_boxes(boxes, len(images)))
        predictions = self.predict_vectors(vectors, inference)
        return predictions if several else predictions[0]

    def predict_vectors(self, vectors: NDArray[Any], inference: InferenceName = "fused") -> list[Prediction]:
        self._check_width(vectors)
        return self.classifier.answers(vectors, inference)

    def see(self, image: ImageSource, box: Any = None) -> Seen:
        """An image, or the region ``box`` of it, decoded once and run through the network once. Wherever an image is
        explained, what this gives does as well."""
        return self.backbone.see(image, box)

    def explain(self, image: ImageSource | Seen, box: Any = None) -> Explanation:
        """Why an image is taken for what it is: hit, near hit, near miss, contributions."""
        vector = image.vector if isinstance(image, Seen) else self.backbone.features([image], [box])[0]
        return self.classifier.explain(vector)

    def evidence_map(
        self, image: ImageSource | Seen, label: Label, against: Label | None = None, box: Any = None
    ) -> EvidenceMap:
        """Where in an image the evidence for a class lies, or for it and against another."""
        check_is_fitted(self.classifier)
        if not self.backbone.has_map:
            raise BackboneError(f"the backbone {self.backbone.name} gives no feature map.")
        asked = self.classifier.learner_.inference()
        numbers = []
        for name in (label, against):
            if name is not None and name not in asked.labels:
                raise InputError(f"there is no class {name!r}.")
            numbers.append(None if name is None else asked.labels.index(name))
        k, other = numbers
        assert k is not None
        return evidence_map(asked, image if isinstance(image, Seen) else self.see(image, box), k, other)

    def case(self, image: ImageSource | Seen, name: str, box: Any = None) -> Case:
        """All that a page can show of why an image is taken for what it is; ``name`` is what to call the image."""
        seen = image if isinstance(image, Seen) else self.see(image, box)
        explanation = self.explain(seen)
        label, runner_up = explanation.label, explanation.runner_up
        maps = []
        if self.backbone.has_map:
            maps = [self.evidence_map(seen, label, other) for other in dict.fromkeys((None, runner_up))]
        return Case(
            name=name,
            explanation=explanation,
            without=tuple(self.classifier.without(seen.vector, j) for j in worth_leaving_out(explanation)),
            picture=seen.picture,
            boxes=seen.boxes,
            maps=tuple(maps),
            metadata={
                "preset": self.classifier.preset,
                "backbone": self.backbone.name,
                "looks": str(self.backbone.looks),
                "classes": f"{len(self.classes_):,}",
                "prototypes": f"{self.classifier.n_prototypes_:,}",
                "examples learned": f"{self.classifier.learner_.sample_count:,}",
                "made by": f"exll {__version__}",
            },
        )

    @property
    def classes_(self) -> NDArray[Any]:
        return self.classifier.classes_

    def rules(self, level: RuleLevel = "prototype") -> list[Rule]:
        return self.classifier.rules(level)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the backbone's weights to one file; the file remembers which backbone it was."""
        backbone = {"name": self.backbone.name, "identity": self.backbone.identity, "looks": self.backbone.looks}
        if self.backbone.path is not None:  # which others need not have
            backbone["path"] = self.backbone.source
        self.classifier._write(path, {"kind": KIND, "backbone": backbone})

    @classmethod
    def _from_file(
        cls, file: ModelFile, backbone: str | os.PathLike[str] | None = None, threads: int | None = None
    ) -> Self:
        classifier = ExLLClassifier._from_file(file)
        known = file.metadata["backbone"]
        looks = known.get("looks", 1)  # which files of before did not say
        found = Backbone(backbone, threads, looks=looks) if backbone is not None else _find(known, threads, looks)
        if found.identity != known["identity"]:
            raise BackboneError(
                f"this model was taught with the backbone {known['name']} (identity {known['identity'][:12]}), and "
                f"{found.source} is another one (identity {found.identity[:12]}); vectors of the two cannot be mixed."
            )
        learner = cls(found)
        learner.classifier = classifier
        return learner

    def _check_width(self, vectors: NDArray[Any]) -> None:
        if np.ndim(vectors) != 2 or np.shape(vectors)[1] != self.backbone.width:
            raise InputError(
                f"vectors of the backbone {self.backbone.name} have {self.backbone.width} numbers; "
                f"got shape {np.shape(vectors)}."
            )


def _check_boxes(boxes: Any, count: int) -> list[Any]:
    """One box, or None, for each image."""
    if boxes is None:
        return [None] * count
    if len(boxes) != count:
        raise InputError(f"there must be one box for each image, or None; got {len(boxes)} for {count} images.")
    return list(boxes)


def _find(known: dict[str, Any], threads: int | None, looks: int) -> Backbone:
    try:
        path = known.get("path")
        return Backbone(path if path is not None and Path(path).is_file() else known["name"], threads, looks=looks)
    except BackboneError as error:
        raise BackboneError(
            f"this model was taught with the backbone {known['name']}, which is not found here: {error} "
            "Name its file with backbone=... (--backbone on the command line)."
        ) from error
