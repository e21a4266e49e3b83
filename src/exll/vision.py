"""``ImageLearner``: a backbone and a learner together, for people who hold images and not vectors."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from exll.errors import BackboneError, InputError
from exll.estimator import ExLLClassifier, Prediction
from exll.explain.evidence_map import EvidenceMap, evidence_map
from exll.explain.explanation import Explanation
from exll.explain.explanation_page import Case, worth_leaving_out
from exll.explain.rules import Rule
from exll.features.backbone import BUILT_IN, Backbone, find_backbone
from exll.features.image import ImageSource, read_image
from exll.learner.model_file import ModelFile
from exll.learner.preset import DEFAULT_PRESET
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
        backbone: str | os.PathLike[str] | Backbone = BUILT_IN,
        preset: str = DEFAULT_PRESET,
        refresh_growth: float = 0.1,
        records: RecordsKind = "vectors",
        threads: int | None = None,
        max_prototypes: int | None = None,
    ) -> None:
        self.backbone = backbone if isinstance(backbone, Backbone) else Backbone(backbone, threads)
        self.classifier = ExLLClassifier(preset, refresh_growth, records, max_prototypes)

    @overload
    def learn(self, image: ImageSource, label: Label, ref: str | None = None) -> None: ...
    @overload
    def learn(
        self, image: list[ImageSource], label: Sequence[Label], ref: Sequence[str | None] | None = None
    ) -> None: ...
    def learn(self, image: Any, label: Any, ref: Any = None) -> None:
        """Learn an image, or a list of them in order. ``ref`` is its name in explanations; a path names itself."""
        images, labels, refs = (image, label, ref) if isinstance(image, list) else ([image], [label], [ref])
        if not images:
            raise InputError("there is no image to learn in an empty list.")
        names = [
            os.fspath(source) if name is None and isinstance(source, str | os.PathLike) else name
            for source, name in zip(images, check_refs(refs, len(images)) or [None] * len(images), strict=True)
        ]
        self.learn_vectors(self.backbone.features(images), labels, names)

    def learn_vectors(self, vectors: NDArray[Any], labels: Sequence[Label], refs: Sequence[str | None]) -> None:
        """Learn images whose vectors this learner's backbone made before."""
        self._check_width(vectors)
        self.classifier.partial_fit(vectors, labels, refs=refs)

    @overload
    def predict(self, image: ImageSource, inference: InferenceName = "fused") -> Prediction: ...
    @overload
    def predict(self, image: list[ImageSource], inference: InferenceName = "fused") -> list[Prediction]: ...
    def predict(self, image: Any, inference: InferenceName = "fused") -> Prediction | list[Prediction]:
        """What an image is, with its probability and the runner-up; a list for a list."""
        several = isinstance(image, list)
        if several and not image:
            return []
        predictions = self.predict_vectors(self.backbone.features(image if several else [image]), inference)
        return predictions if several else predictions[0]

    def predict_vectors(self, vectors: NDArray[Any], inference: InferenceName = "fused") -> list[Prediction]:
        self._check_width(vectors)
        return self.classifier.answers(vectors, inference)

    def explain(self, image: ImageSource) -> Explanation:
        """Why an image is taken for what it is: hit, near hit, near miss, contributions."""
        return self.classifier.explain(self.backbone.features([image])[0])

    def evidence_map(self, image: ImageSource, label: Label, against: Label | None = None) -> EvidenceMap:
        """Where in an image the evidence for a class lies, or for it and against another."""
        check_is_fitted(self.classifier)
        asked = self.classifier.learner_.inference()
        numbers = []
        for name in (label, against):
            if name is not None and name not in asked.labels:
                raise InputError(f"there is no class {name!r}.")
            numbers.append(None if name is None else asked.labels.index(name))
        k, other = numbers
        assert k is not None
        return evidence_map(asked, self.backbone.feature_map(image), k, other)

    def case(self, image: ImageSource, name: str) -> Case:
        """All that a page can show of why an image is taken for what it is; ``name`` is what to call the image."""
        vector = self.backbone.features([image])[0]
        explanation = self.classifier.explain(vector)
        label, runner_up = explanation.label, explanation.runner_up
        maps = []
        if self.backbone.has_map:
            maps = [self.evidence_map(image, label, other) for other in dict.fromkeys((None, runner_up))]
        return Case(
            name=name,
            explanation=explanation,
            without=tuple(self.classifier.without(vector, j) for j in worth_leaving_out(explanation)),
            picture=read_image(image),
            crop=self.backbone.preprocessing.crop(image),
            maps=tuple(maps),
            facts={
                "preset": self.classifier.preset,
                "backbone": self.backbone.name,
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
        backbone = {"name": self.backbone.name, "identity": self.backbone.identity}
        if self.backbone.path != find_backbone(BUILT_IN):  # which comes with the package, wherever that lies
            backbone["path"] = str(self.backbone.path.resolve())
        self.classifier._write(path, {"kind": KIND, "backbone": backbone})

    @classmethod
    def _from_file(
        cls, file: ModelFile, backbone: str | os.PathLike[str] | None = None, threads: int | None = None
    ) -> Self:
        classifier = ExLLClassifier._from_file(file)
        known = file.facts["backbone"]
        found = Backbone(backbone, threads) if backbone is not None else _find(known, threads)
        if found.identity != known["identity"]:
            raise BackboneError(
                f"this model was taught with the backbone {known['name']} (identity {known['identity'][:12]}), and "
                f"{found.path} is another one (identity {found.identity[:12]}); vectors of the two cannot be mixed."
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


def _find(known: dict[str, Any], threads: int | None) -> Backbone:
    try:
        path = known.get("path")
        return Backbone(path if path is not None and Path(path).is_file() else known["name"], threads)
    except BackboneError as error:
        raise BackboneError(
            f"this model was taught with the backbone {known['name']}, which is not found here: {error} "
            "Name its file with backbone=... (--backbone on the command line)."
        ) from error
