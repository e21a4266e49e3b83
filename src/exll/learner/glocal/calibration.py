"""Calibration: labelled inputs from where a model is used set its confidence, and what it calls unusual and unknown.

They are never learned. The model keeps their vectors, so that the numbers are always those of the model as it is now,
also when it has learned more since, and so that all of it can be taken back.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exll.learner.glocal.judgement import Judgement, share_above
from exll.learner.glocal.temperature import fit_temperature, inverse_temperature
from exll.learner.inference import Limits, Measured
from exll.types import Indices, Matrix, Tensors, Vector

MOST = 1000  # inputs; of more, the newest count
LEAST = 20  # before there are so many, they change nothing


class CalibrationInputs:
    """What the model was calibrated with: unit vectors and the numbers of their classes."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.vectors = np.empty((0, width), np.float32)
        self.classes = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self.classes)

    def add(self, X: NDArray[np.floating], classes: Indices) -> None:
        self.vectors = np.concatenate([self.vectors, X.astype(np.float32)])[-MOST:]
        self.classes = np.concatenate([self.classes, classes])[-MOST:]

    def clear(self) -> None:
        self.vectors, self.classes = self.vectors[:0], self.classes[:0]

    def merge(self, kept: int, absorbed: int) -> None:
        """Follow a merge of classes."""
        self.classes = np.where(self.classes == absorbed, kept, self.classes)
        self.classes = self.classes - (self.classes > absorbed)

    def remove_class(self, k: int) -> None:
        """Its inputs go with it; the later classes move up by one place."""
        kept = self.classes != k
        self.vectors, self.classes = self.vectors[kept], self.classes[kept]
        self.classes = self.classes - (self.classes > k)

    def absorb(self, other: "CalibrationInputs", numbers: Indices) -> None:
        """Those of another learner, whose classes have these numbers here."""
        if len(other):
            self.add(other.vectors, numbers[other.classes])

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.classes.nbytes

    def state(self) -> Tensors:
        return {"vectors": self.vectors, "classes": self.classes} if len(self) else {}

    def restore(self, state: Tensors, classes: int) -> None:
        if not state:
            return
        self.vectors, self.classes = np.array(state["vectors"], np.float32), np.array(state["classes"], np.int64)
        if self.vectors.shape != (len(self.classes), self._width) or len(self) > MOST:
            raise ValueError("the calibration has vectors of another number or width")
        if not ((self.classes >= 0) & (self.classes < classes)).all():
            raise ValueError("the calibration is for a class that is not there")


@dataclass(frozen=True)
class Calibrated:
    """Confidence and limits by calibration, in place of those that a model has from its own samples."""

    intercept: float
    slope: float
    inputs: Measured
    own: Judgement

    @classmethod
    def by(cls, scores: Matrix, measured: Measured, truth: Indices, own: Judgement) -> "Calibrated":
        """``scores`` are the fused ones of the inputs."""
        return cls(*fit_temperature(scores, measured.novelty, truth), measured, own)

    def inverse_temperature(self, novelty: Vector) -> Vector:
        return inverse_temperature(self.intercept, self.slope, novelty)

    def limits(self, false_alarms: float) -> Limits:
        """Together, unusual and unknown inputs are to be as many as asked for."""
        novelty, similarity = self.inputs
        here = -share_above(-similarity, self.own.unknown_share(false_alarms))
        least = min(self.own.limits(false_alarms).similarity, here)
        known = similarity >= least
        unknown = 1.0 - float(known.mean())
        left = (false_alarms - unknown) / (1.0 - unknown)
        return Limits(share_above(novelty[known], max(left, 0.0)), least)
