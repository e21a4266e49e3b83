"""A learner, the snapshot of it that answers, and how far in the log both are."""

import contextlib
import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exll.errors import LearningInterruptedError
from exll.estimator import ExLLClassifier, Prediction
from exll.features.backbone import OnnxBackbone
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.studio.errors import ConflictError
from exll.studio.store import Row
from exll.vision import ImageLearner

Result = TypeVar("Result")


class Model:
    """The replay of one generation of the log up to a position.

    ``learner`` belongs to the one thread that teaches it. ``snapshot`` is a copy that never changes: whoever asks takes
    it once, so that a whole answer is of one moment. It holds at least what was acknowledged. It is made by the first
    who asks after that, so that many photos taught one by one cost one copy; afterwards nobody waits.
    """

    def __init__(self, backbone: OnnxBackbone, preset: str, generation: int) -> None:
        self.learner = ImageLearner(backbone, preset)
        self.generation = generation
        self.position = 0
        self._acknowledged = 0
        self._copying = threading.Lock()
        self._copied = 0  # the position of the snapshot
        self._snapshot = ImageLearner(backbone, preset)
        self._remembering = threading.Lock()
        self._remembered: dict[str, tuple[int, Any]] = {}

    @property
    def knows_something(self) -> bool:
        return hasattr(self.snapshot.classifier, "learner_")

    def learn(self, rows: Sequence[Row]) -> None:
        """One at a time: sums of several rows at once differ in their last bits from sums one by one, and a replay is
        to give the very same model."""
        for row in rows:
            self.learner.learn_vectors(row.vector[None], [row.label], [str(row.id)])
            self.position = row.id

    def acknowledge(self) -> None:
        """What was learned until now is known to all who ask from now on."""
        self._acknowledged = self.position

    @property
    def snapshot(self) -> ImageLearner:
        if self._copied < self._acknowledged:
            with self._copying:
                if self._copied < self._acknowledged:
                    self._copy()
        return self._snapshot

    def _copy(self) -> None:
        snapshot, classifier = copy.copy(self.learner), copy.copy(self.learner.classifier)
        position = self.position  # read before the copy, which may hold more
        with contextlib.suppress(LearningInterruptedError):  # then a replay is on its way, and the old one answers
            snapshot.classifier, classifier.learner_ = classifier, classifier.learner_.publish()
            self._snapshot, self._copied = snapshot, position

    def predict(self, vector: NDArray[np.float32], false_alarms: float = FALSE_ALARMS) -> Prediction:
        return self.taught().predict_vectors(vector[None], false_alarms=false_alarms)[0]

    def remembered(self, name: str, make: Callable[[ExLLClassifier], Result]) -> Result:
        """What takes seconds to make, such as a map: made once for as long as nothing is learned."""
        with self._remembering:
            classifier = self.snapshot.classifier
            learned = classifier.learner_.sample_count
            if name not in self._remembered or self._remembered[name][0] != learned:
                self._remembered[name] = learned, make(classifier)
            return cast(Result, self._remembered[name][1])

    def taught(self) -> ImageLearner:
        """The snapshot, if anything was taught."""
        if not self.knows_something:
            raise ConflictError("nothing was taught yet.", "Teach at least one example first.")
        return self.snapshot
