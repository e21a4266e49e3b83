"""``ImageLearner``: a backbone and a learner together, for people who have images and not vectors."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from exll.editing import Found, names_of
from exll.errors import BackboneError, InputError
from exll.estimator import ExLLClassifier, Prediction
from exll.explain.case import Case
from exll.explain.contributions import Without
from exll.explain.evaluation import Evaluation
from exll.explain.evidence_map import EvidenceMap, evidence_map
from exll.explain.explanation import Explanation
from exll.explain.wording import counted
from exll.features.backbone import DEFAULT, Seen
from exll.features.image import ImageSource
from exll.features.own_backbone import Backbone, Network, as_network, opened_again
from exll.features.regions import region_ref
from exll.kept_thumbnails import PER_PROTOTYPE, SIDE, KeptThumbnails, Source, as_sources
from exll.knowledge import Knowledge
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.learner.preset import DEFAULT_PRESET
from exll.parameters import check_parameters
from exll.saving.model_file import ModelFile
from exll.stream_classifier import check_groups, check_refs
from exll.types import CountPairs, Group, InferenceName, Label, PairWeights, RecordsKind, Vector
from exll.version import __version__

KIND = "image-learner"


class ImageLearner(Knowledge):
    """Learns images one at a time and says what new ones are.

    An image is a path, the bytes of a file, an array (height, width[, channels]) or a PIL image; wherever one fits, so
    does a list of them. ``backbone`` is a name of ``exll backbone list``, an .onnx file, or any object that is a
    :class:`~exll.Backbone`.

    The model keeps small pictures of the ``thumbnails`` examples nearest each prototype, ``thumbnail_side`` pixels long
    at most, and saves them in its file, so that pages have pictures on every machine. 0 keeps none. With
    ``records="refs"`` they are the oldest examples of each prototype; with ``"none"`` no pictures are kept, because
    the model does not know their examples. Vectors that are learned without images have no pictures.

    >>> from PIL import Image
    >>> learner = ImageLearner(backbone="nano", preset="paper")
    >>> for colour in ("red", "blue", "red", "blue"):
    ...     learner.learn(Image.new("RGB", (64, 64), colour), colour, ref=f"{colour}.png")
    >>> learner.predict(Image.new("RGB", (80, 60), "blue"), inference="local").label
    'blue'
    >>> learner
    ImageLearner(backbone='nano', looks=2, preset='paper'): 2 classes, 4 examples
    """

    def __init__(
        self,
        backbone: str | os.PathLike[str] | Backbone | Network = DEFAULT,
        preset: str = DEFAULT_PRESET,
        refresh_growth: float = 0.1,
        records: RecordsKind = "vectors",
        threads: int | None = None,
        max_prototypes: int | None = None,
        looks: int | None = None,
        thumbnails: int = PER_PROTOTYPE,
        thumbnail_side: int = SIDE,
        count_pairs: CountPairs | None = None,
        pair_weights: PairWeights | None = None,
    ) -> None:
        values = {"preset": preset, "refresh_growth": refresh_growth, "records": records, "threads": threads}
        values |= {"max_prototypes": max_prototypes, "looks": looks}
        values |= {"thumbnails": thumbnails, "thumbnail_side": thumbnail_side}
        values |= {"count_pairs": count_pairs, "pair_weights": pair_weights}
        check_parameters(type(self).__name__, values)
        self.backbone = as_network(backbone, threads, looks)
        if looks not in (None, self.backbone.looks):
            raise InputError(f"looks={looks} was given, but the backbone was opened with looks={self.backbone.looks}.")
        self.classifier = ExLLClassifier(
            preset, refresh_growth, records, max_prototypes, "ignored", count_pairs, pair_weights
        )
        self._kept = KeptThumbnails(int(thumbnails), int(thumbnail_side))

    @property
    def thumbnails(self) -> int:
        """How many pictures are kept per prototype."""
        return self._kept.per_prototype

    @property
    def thumbnail_side(self) -> int:
        """The longer side of a kept picture, in pixels, at most."""
        return self._kept.side

    @overload
    def learn(
        self, image: ImageSource, label: Label, ref: str | None = None, box: Any = None, group: Group = None
    ) -> None: ...
    @overload
    def learn(
        self,
        image: list[ImageSource],
        label: Sequence[Label] | Label,
        ref: Sequence[str | None] | None = None,
        box: Sequence[Any] | None = None,
        group: Sequence[Group] | None = None,
    ) -> None: ...
    def learn(self, image: Any, label: Any, ref: Any = None, box: Any = None, group: Any = None) -> None:
        """Learn an image, or a list of them in order.

        One label for a list is the label of all. ``ref`` is the image's name in explanations; a path names itself.
        ``box`` (left, top, right, bottom), in pixels of the upright image, is the region that shows the thing, where
        the image shows others too. ``group`` names what it came with (a video, a day, a place), as in
        :meth:`ExLLClassifier.partial_fit`.

        >>> learner, image = ImageLearner("nano"), np.zeros((20, 40, 3), np.uint8)
        >>> learner.learn(image, "dark", ref="night.png")
        >>> learner.learn([image, image + 200], ["dark", "bright"])
        >>> learner.learn([image, image], "dark", box=[(0, 0, 20, 20), (20, 0, 40, 20)])
        >>> learner.megacloud("dark").count
        4
        """
        several = isinstance(image, list)
        images, labels, refs, boxes = (image, label, ref, box) if several else ([image], [label], [ref], [box])
        groups = group if several else [group]
        if not images:
            raise InputError("there is no image to learn in an empty list.")
        if several and isinstance(label, str | int | np.integer | np.bool_):
            labels = [label] * len(images)
        boxes = _check_boxes(boxes, len(images))
        refs = check_refs(refs, len(images)) or [None] * len(images)
        vectors = self.vectors(images, boxes)
        self.learn_vectors(vectors, labels, _refs_of(images, refs, boxes), images, boxes, groups)

    def learn_vectors(
        self,
        vectors: NDArray[Any],
        labels: Sequence[Label],
        refs: Sequence[str | None] | None = None,
        images: Sequence[ImageSource | None] | None = None,
        boxes: Sequence[Any] | None = None,
        groups: Sequence[Group] | None = None,
    ) -> None:
        """Learn images whose vectors this learner's backbone made before; ``images`` and ``boxes`` are what it made
        them of, for the thumbnails.

        >>> learner = ImageLearner("nano")
        >>> learner.learn_vectors(learner.vectors([np.zeros((8, 8, 3), np.uint8)]), ["black"])
        >>> learner.classes_
        array(['black'], dtype='<U5')
        """
        self._check_width(vectors)
        classifier, sources, start = self.classifier, as_sources(images, _check_boxes(boxes, len(vectors))), 0
        _, labels, refs = classifier._learnable(vectors, labels, refs, anew=not hasattr(classifier, "learner_"))
        groups = check_groups(groups, len(vectors))
        while start < len(vectors):
            count = classifier.learner_.learned_count if hasattr(classifier, "learner_") else 0
            rows = slice(start, start + self._kept.until_choice(count))
            names, together = refs and refs[rows], groups and groups[rows]
            classifier.partial_fit(vectors[rows], labels[rows], refs=names, groups=together)
            self._kept_thumbnails().learned(sources[rows])
            start = rows.stop

    @overload
    def learn_unknown(self, image: ImageSource, ref: str | None = None, box: Any = None) -> None: ...
    @overload
    def learn_unknown(
        self, image: list[ImageSource], ref: Sequence[str | None] | None = None, box: Sequence[Any] | None = None
    ) -> None: ...
    def learn_unknown(self, image: Any, ref: Any = None, box: Any = None) -> None:
        """Remember that an image, or each of a list, shows none of the classes: similar images are called unknown from
        then on, and nothing else changes. See :meth:`ExLLClassifier.learn_unknown`; ``ref`` and ``box`` are as in
        :meth:`learn`.

        >>> learner, greys = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 120, 255)]
        >>> learner.learn(greys[::2], ["black", "white"])
        >>> learner.learn_unknown(greys[1], ref="fog.png")
        >>> [answer.level for answer in learner.predict(greys)]
        ['usual', 'unknown', 'usual']
        """
        images, refs, boxes = (image, ref, box) if isinstance(image, list) else ([image], [ref], [box])
        if not images:
            raise InputError("there is no image to learn in an empty list.")
        boxes = _check_boxes(boxes, len(images))
        refs = check_refs(refs, len(images)) or [None] * len(images)
        self.classifier.learn_unknown(self.vectors(images, boxes), _refs_of(images, refs, boxes))

    def forget(
        self,
        refs: str | Sequence[str | None] | None = None,
        *,
        images: ImageSource | list[ImageSource] | None = None,
        labels: Label | Sequence[Label] | None = None,
        boxes: Any = None,
        groups: Group | Sequence[Group] = None,
    ) -> Self:
        """Forget examples, with their thumbnails: the model becomes the one that never saw them.

        By the names or groups that they were learned with; or, where the model keeps no vectors, by the images
        themselves, with their labels and boxes as in :meth:`learn`, where a path names itself. See
        :meth:`ExLLClassifier.forget`.

        >>> learner, images = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 9, 255)]
        >>> learner.learn(images, ["black", "black", "white"], ["1.png", "2.png", "3.png"])
        >>> learner.forget("2.png").megacloud("black").count
        1
        """
        classifier = self._taught()
        if images is None:
            if labels is not None or boxes is not None:
                raise InputError("labels and boxes are for images that are given again; give images, too.")
            classifier.forget(refs, groups=groups)
            return self
        if labels is None:
            raise InputError("images are given again with their labels: images and labels together.")
        if not isinstance(images, list):
            images, boxes = [images], [boxes]
        if not images:
            raise InputError("there is no image to forget in an empty list.")
        if isinstance(labels, str | int | np.integer | np.bool_):
            labels = [labels] * len(images)
        regions = _check_boxes(boxes, len(images))
        if refs is None and classifier.records == "refs":
            refs = _refs_of(images, [None] * len(images), regions)
        classifier.forget(refs, X=self.vectors(images, regions), y=labels, groups=groups)
        return self

    def forget_class(self, label: Label) -> Self:
        """Forget all examples of a class.

        >>> learner = ImageLearner("nano")
        >>> learner.learn([np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)], ["black", "white"])
        >>> learner.forget_class("white").classes_
        array(['black'], dtype='<U5')
        """
        self._taught().forget_class(label)
        return self

    def relabel(self, refs: str | Sequence[str], label: Label) -> Self:
        """Give examples another label, which may be that of a new class; their thumbnails follow.

        >>> learner, images = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 9, 255)]
        >>> learner.learn(images, ["black", "white", "white"], ["1.png", "2.png", "3.png"])
        >>> learner.relabel("2.png", "black").megacloud("black").count
        2
        """
        classifier, names = self._taught(), names_of(refs)
        with classifier._held():
            self._relabel(classifier._named(names), label)
        return self

    def _relabel(self, found: Sequence[Found], label: Label) -> None:
        """The lock is held, so that nobody saves an example without its thumbnail."""
        self._kept_thumbnails().moved(self.classifier._relabel(found, label))

    @overload
    def predict(
        self,
        image: ImageSource,
        inference: InferenceName = "fused",
        box: Any = None,
        *,
        false_alarms: float = FALSE_ALARMS,
    ) -> Prediction: ...
    @overload
    def predict(
        self,
        image: list[ImageSource],
        inference: InferenceName = "fused",
        box: Sequence[Any] | None = None,
        *,
        false_alarms: float = FALSE_ALARMS,
    ) -> list[Prediction]: ...
    def predict(
        self, image: Any, inference: InferenceName = "fused", box: Any = None, *, false_alarms: float = FALSE_ALARMS
    ) -> Prediction | list[Prediction]:
        """The answer for an image, or for the region ``box`` of it: label, probability, runner-up; a list for a list.

        ``level`` is "usual", "unusual" (unlike the images that were learned) or "unknown" (like nothing that was
        learned). ``false_alarms`` is the share of known things that may be called unusual or unknown.

        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
        >>> print(learner.predict(np.zeros((9, 9, 3), np.uint8)))
        black (the only class it knows)
        """
        self._taught()
        if not isinstance(image, list):
            return self.predict_vectors(self.vectors([image], [box]), inference, false_alarms=false_alarms)[0]
        vectors = self.vectors(image, box)
        return self.predict_vectors(vectors, inference, false_alarms=false_alarms) if image else []

    def predict_vectors(
        self, vectors: NDArray[Any], inference: InferenceName = "fused", *, false_alarms: float = FALSE_ALARMS
    ) -> list[Prediction]:
        """The answers for images whose vectors this learner's backbone made before.

        >>> learner = ImageLearner("nano")
        >>> vectors = learner.vectors([np.zeros((8, 8, 3), np.uint8)])
        >>> learner.learn_vectors(vectors, ["black"])
        >>> learner.predict_vectors(vectors)[0].label
        'black'
        """
        classifier = self._taught()
        self._check_width(vectors)
        return classifier.answers(vectors, inference, false_alarms=false_alarms)

    def vectors(self, images: list[ImageSource], boxes: Sequence[Any] | None = None) -> NDArray[np.float32]:
        """The vectors that the backbone makes of images, (images, width).

        >>> ImageLearner("nano").vectors([np.zeros((8, 8, 3), np.uint8)]).shape
        (1, 512)
        """
        if not images:
            return np.empty((0, self.backbone.width), np.float32)
        return self.backbone.features(images, _check_boxes(boxes, len(images)))

    @overload
    def novelty(self, image: ImageSource, box: Any = None) -> float: ...
    @overload
    def novelty(self, image: list[ImageSource], box: Sequence[Any] | None = None) -> Vector: ...
    def novelty(self, image: Any, box: Any = None) -> float | Vector:
        """How different an image is from what was learned; higher for less similar images. ``level`` follows from it.

        >>> learner, greys = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 9, 99, 255)]
        >>> learner.learn(greys[:3], ["black", "black", "grey"])
        >>> learner.novelty(greys).shape
        (4,)
        """
        classifier = self._taught()
        if not isinstance(image, list):
            return float(classifier.novelty(self.vectors([image], [box]))[0])
        return classifier.novelty(self.vectors(image, box)) if image else np.empty(0)

    def calibrate(self, images: list[ImageSource], labels: Sequence[Label], boxes: Sequence[Any] | None = None) -> Self:
        """Set the confidence, and what is called unusual and unknown, by labelled images from where the model is used.

        Nothing is learned from them: see :meth:`ExLLClassifier.calibrate`.

        >>> learner, images = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)]
        >>> learner.learn(images, ["black", "white"])
        >>> learner.calibrate(images, ["black", "white"]).calibration_count_
        2
        """
        self._taught().calibrate(self.vectors(images, boxes), labels)
        return self

    def see(self, image: ImageSource, box: Any = None) -> Seen:
        """An image, or the region ``box`` of it, decoded once and run through the network once. The result can be used
        instead of the image in all methods that explain.

        >>> seen = ImageLearner("nano").see(np.zeros((8, 8, 3), np.uint8))
        >>> seen.picture.size, seen.vector.shape
        ((8, 8), (512,))
        """
        return self.backbone.see(image, box)

    def explain(self, image: ImageSource | Seen, box: Any = None, *, false_alarms: float = FALSE_ALARMS) -> Explanation:
        """The reasons for the answer for an image: hit, near hit, near miss, contributions.

        >>> learner = ImageLearner("nano")
        >>> learner.learn([np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)], ["black", "white"])
        >>> explanation = learner.explain(np.zeros((8, 8, 3), np.uint8))
        >>> explanation.hit.label, explanation.near_miss.label
        ('black', 'white')
        """
        return self._taught().explain(self._vector(image, box), false_alarms=false_alarms)

    def evaluate(
        self,
        images: list[ImageSource],
        labels: Sequence[Label],
        inference: InferenceName = "fused",
        *,
        false_alarms: float = FALSE_ALARMS,
    ) -> Evaluation:
        """How often the answers for labelled images are right, wrong, unusual or unknown: in all, per class, by
        confidence, and which classes are confused. ``str()`` is a summary.

        >>> learner, greys = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 99, 255)]
        >>> learner.learn(greys, ["black", "grey", "white"])
        >>> learner.evaluate(greys, ["black", "grey", "grey"]).counts.best_guess_right
        2
        """
        refs = [os.fspath(source) if isinstance(source, str | os.PathLike) else None for source in images]
        classifier = self._taught()
        return classifier.evaluate(self.vectors(images), labels, refs, inference, false_alarms=false_alarms)

    def without(self, image: ImageSource | Seen, prototype: int, box: Any = None) -> Without:
        """The answer of global inference for an image if this prototype's examples had never been in its class.

        >>> learner = ImageLearner("nano")
        >>> learner.learn([np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)], ["black", "white"])
        >>> learner.without(np.zeros((8, 8, 3), np.uint8), prototype=0).global_label_after
        'white'
        """
        return self._taught().without(self._vector(image, box), prototype)

    def evidence_map(
        self, image: ImageSource | Seen, label: Label, against: Label | None = None, box: Any = None
    ) -> EvidenceMap:
        """Where in an image the evidence for a class lies, or for it and against another.

        >>> learner = ImageLearner("nano")
        >>> learner.learn([np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)], ["black", "white"])
        >>> learner.evidence_map(np.zeros((8, 8, 3), np.uint8), "black", against="white").values.shape
        (32, 32)
        """
        inference = self._taught().learner_.inference()
        if not self.backbone.has_map:
            raise BackboneError(
                f"the backbone {self.backbone.name} gives no feature map, so no evidence map can be made."
            )
        for name in (label, against):
            if name is not None and name not in inference.labels:
                raise InputError(f"there is no class {name!r}.")
        k, other = inference.labels.index(label), None if against is None else inference.labels.index(against)
        return evidence_map(inference, self._seen(image, box), k, other)

    def case(
        self, image: ImageSource | Seen, name: str, box: Any = None, *, false_alarms: float = FALSE_ALARMS
    ) -> Case:
        """All that a page can show about the answer for an image; ``name`` is the name of the image on the page.

        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
        >>> learner.case(np.zeros((8, 8, 3), np.uint8), "night.png").explanation.label
        'black'
        """
        classifier, seen = self._taught(), self._seen(image, box)
        explanation = self.explain(seen, false_alarms=false_alarms)
        label, runner_up = explanation.label, explanation.runner_up
        maps = []
        if self.backbone.has_map:
            maps = [self.evidence_map(seen, label, other) for other in dict.fromkeys((None, runner_up))]
        return Case(
            name=name,
            explanation=explanation,
            picture=seen.picture,
            boxes=seen.boxes,
            maps=tuple(maps),
            metadata={
                "preset": classifier.preset,
                "backbone": self.backbone.name,
                "looks": str(self.backbone.looks),
                "classes": f"{len(self.classes_):,}",
                "prototypes": f"{self.n_prototypes_:,}",
                "examples learned": f"{classifier.learner_.sample_count:,}",
                "made by": f"exll {__version__}",
            },
        )

    def kept_thumbnails(self) -> dict[str, bytes]:
        """The small pictures that the model keeps, as WebP files, by the name of their example.

        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black", ref="night.png")
        >>> list(learner.kept_thumbnails())
        ['night.png']
        """
        self._taught()
        return self._kept_thumbnails().by_name()

    def choose_thumbnails(self, images: Mapping[int, ImageSource]) -> None:
        """Keep thumbnails of what was learned before, chosen from images by their position in the stream (from 0).

        >>> learner, image = ImageLearner("nano"), np.zeros((8, 8, 3), np.uint8)
        >>> learner.learn_vectors(learner.vectors([image]), ["black"], ["night.png"])
        >>> learner.choose_thumbnails({0: image})
        >>> list(learner.kept_thumbnails())
        ['night.png']
        """
        self._taught()
        self._kept_thumbnails().choose_from({place: Source(image) for place, image in images.items()})

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, all that it remembers and its thumbnails included; without a network."""
        return self._taught().nbytes_ + self._kept_thumbnails().nbytes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the backbone's weights to one file; the file remembers which backbone it was.

        >>> import tempfile
        >>> from exll import load
        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     learner.save(f"{folder}/things.exll")
        ...     load(f"{folder}/things.exll")
        ImageLearner(backbone='nano', looks=2, preset='glocal'): 1 class, 1 example
        """
        metadata = {"kind": KIND, "backbone": self.backbone.metadata(), **self._kept.parameters()}
        self._taught()._write(path, metadata, self._kept_thumbnails().state)

    def __repr__(self) -> str:
        made_of = f"backbone={self.backbone.name!r}, looks={self.backbone.looks}, preset={self.classifier.preset!r}"
        learned = "nothing learned yet"
        if hasattr(self.classifier, "learner_"):
            learner = self.classifier.learner_
            learned = f"{counted(learner.class_count, 'class')}, {counted(learner.sample_count, 'example')}"
        return f"{type(self).__name__}({made_of}): {learned}"

    @classmethod
    def _from_file(
        cls, file: ModelFile, backbone: str | os.PathLike[str] | Backbone | None = None, threads: int | None = None
    ) -> Self:
        classifier = ExLLClassifier._from_file(file)
        learner = cls(opened_again(file.metadata["backbone"], backbone, threads))
        learner.classifier, learner._kept = classifier, KeptThumbnails.of_file(file, classifier.learner_)
        return learner

    def _kept_thumbnails(self) -> KeptThumbnails:
        """The pictures of what the classifier has learned: of another learner, or one that began anew, there are
        none yet."""
        learner = self.classifier.learner_
        if self._kept.learner is not learner:
            self._kept = KeptThumbnails(self.thumbnails, self.thumbnail_side, learner)
        return self._kept

    def _seen(self, image: ImageSource | Seen, box: Any) -> Seen:
        return image if isinstance(image, Seen) else self.see(image, box)

    def _vector(self, image: ImageSource | Seen, box: Any) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = image.vector if isinstance(image, Seen) else self.vectors([image], [box])[0]
        return vector

    def _check_width(self, vectors: NDArray[Any]) -> None:
        if np.ndim(vectors) != 2 or np.shape(vectors)[1] != self.backbone.width:
            raise InputError(
                f"vectors of the backbone {self.backbone.name} have {self.backbone.width} numbers; "
                f"got shape {np.shape(vectors)}."
            )


def _refs_of(images: list[Any], refs: Sequence[str | None], boxes: Sequence[Any]) -> list[str | None]:
    """A path names itself."""
    return [
        region_ref(os.fspath(source), box) if ref is None and isinstance(source, str | os.PathLike) else ref
        for source, ref, box in zip(images, refs, boxes, strict=True)
    ]


def _check_boxes(boxes: Any, count: int) -> list[Any]:
    """One box, or None, for each image."""
    if boxes is None:
        return [None] * count
    if len(boxes) != count:
        raise InputError(f"there must be one box for each image, or None; got {len(boxes)} for {count} images.")
    return list(boxes)
