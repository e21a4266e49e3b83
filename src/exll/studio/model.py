"""A learner, the snapshot of it that answers, and how far in the log both are."""

import contextlib
import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exll.errors import LearningInterruptedError
from exll.estimator import ExLLClassifier, Prediction
from exll.features.backbone import OnnxBackbone
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.studio.edits import Change, moved_class
from exll.studio.errors import ConflictError
from exll.studio.store import Row
from exll.vision import ImageLearner

Result = TypeVar("Result")


class Model:
    """What was learned from one generation of the log up to a position.

    ``learner`` belongs to the one thread that teaches it. ``snapshot`` is a copy that never changes: whoever asks takes
    it once, so that a whole answer is of one moment. It holds at least what was acknowledged. It is made by the first
    who asks after that, so that many photos taught one by one cost one copy; afterwards nobody waits.
    """

    def __init__(self, backbone: OnnxBackbone, preset: str, generation: int) -> None:
        self.learner = ImageLearner(backbone, preset)
        self.generation = generation
        self.position = 0
        self._version = 0  # how often it has changed
        self._acknowledged = 0  # the version that everybody is to know
        self._copying = threading.Lock()
        self._copied = 0, ImageLearner(backbone, preset)  # the snapshot and its version
        self._remembering = threading.Lock()
        self._remembered: dict[str, tuple[int, Any]] = {}

    @property
    def knows_something(self) -> bool:
        return hasattr(self.snapshot.classifier, "learner_")

    def go_on_from(self, classifier: ExLLClassifier, position: int) -> None:
        """From a checkpoint."""
        self.learner.classifier, self.position = classifier, position
        self._version += 1

    def learn(self, rows: Sequence[Row]) -> None:
        """One at a time: sums of several rows at once differ in their last bits from sums one by one, and a replay is
        to give the very same model."""
        for row in rows:
            if row.label:
                self.learner.learn_vectors(row.vector[None], [row.label], [str(row.id)], groups=[row.clip])
            else:
                self.learner.classifier.learn_unknown(row.vector[None], [str(row.id)])
            self.position = max(self.position, row.id)  # undo brings back older ones
            self._version += 1

    def edit(self, changes: Sequence[Change], counts: Mapping[str, int], rows: Sequence[Row]) -> None:
        """Follow a step that changed examples which were learned before. ``counts`` are those after it, and ``rows``
        the examples that it changed, as far as they are not deleted now. Where this raises, the model is neither the
        old nor the new one."""
        _ = self.snapshot  # of what was acknowledged: nobody is to copy half of a step
        classifier, moved = self.learner.classifier, moved_class(changes, counts)
        if moved is not None:
            classifier.rename_class(*moved, merge=True)
        else:
            if gone := [str(change.example) for change in changes if change.before]:
                classifier.forget(gone)
            if nothing := [str(change.example) for change in changes if change.before == ""]:
                classifier.forget_unknown(nothing)
            self.learn(rows)
            classifier.learner_.renew()  # here, so that nobody who asks waits for it
        self._version += 1

    def acknowledge(self) -> None:
        """What was learned until now is known to all who ask from now on."""
        self._acknowledged = self._version

    @property
    def snapshot(self) -> ImageLearner:
        return self._newest_copy()[1]

    def _newest_copy(self) -> tuple[int, ImageLearner]:
        if self._copied[0] < self._acknowledged:
            with self._copying:
                if self._copied[0] < self._acknowledged:
                    self._copy()
        return self._copied

    def _copy(self) -> None:
        snapshot, classifier = copy.copy(self.learner), copy.copy(self.learner.classifier)
        version = self._version  # read before the copy, which may hold more
        with contextlib.suppress(LearningInterruptedError):  # then a replay is on its way, and the old one answers
            if hasattr(classifier, "learner_"):  # examples of nothing may come first
                classifier.learner_ = classifier.learner_.publish()
            snapshot.classifier = classifier
            self._copied = version, snapshot

    def predict(self, vector: NDArray[np.float32], false_alarms: float = FALSE_ALARMS) -> Prediction:
        return self.taught().predict_vectors(vector[None], false_alarms=false_alarms)[0]

    def remembered(self, name: str, make: Callable[[ExLLClassifier], Result]) -> Result:
        """What takes seconds to make, such as a map: made once for as long as the model stays as it is."""
        with self._remembering:
            version, snapshot = self._newest_copy()
            if name not in self._remembered or self._remembered[name][0] != version:
                self._remembered[name] = version, make(snapshot.classifier)
            return cast(Result, self._remembered[name][1])

    def taught(self) -> ImageLearner:
        """The snapshot, if anything was taught."""
        if not self.knows_something:
            raise ConflictError("nothing was taught yet.", "Teach at least one photo first.")
        return self.snapshot
