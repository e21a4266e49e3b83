r"""Where in an image the evidence lies: the global score taken apart by place, exactly and without gradients.

The feature vector is the mean of the feature map over its P places, $f = \tfrac1P\sum_p f_p$, and $x = f/|f|$. A score
that is linear in x, $w^T x + b$, is therefore a sum over places of $w^T f_p / (P |f|)$, plus the offset b, which
belongs to no place and is shown as a number. Map plus offset is the score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from exll.learner.inference import Inference
from exll.types import Label, Matrix

# Blue to white to orange: told apart by every kind of colour vision.
AGAINST, FOR = np.array([33, 102, 172]), np.array([230, 97, 1])
STRONGEST = 0.75


@dataclass(frozen=True)
class EvidenceMap:
    """Evidence by place for a class, or for one class and against another; ``values.sum() + offset`` is the score."""

    label: Label
    against: Label | None
    values: Matrix  # (rows, columns)
    offset: float

    @property
    def score(self) -> float:
        return float(self.values.sum() + self.offset)


def evidence_map(
    asked: Inference, feature_map: NDArray[np.floating], k: int, against: int | None = None
) -> EvidenceMap:
    """The global score of class k, or its difference to another, over the places of a (width, rows, columns) map."""
    local = len(asked.prototype_ids)
    weights, offset = asked.weights[local + k], float(asked.biases[local + k])
    if against is not None:
        weights, offset = weights - asked.weights[local + against], offset - float(asked.biases[local + against])
    places = feature_map.astype(np.float64)
    length = float(np.linalg.norm(places.mean(axis=(1, 2))))
    values = np.tensordot(weights, places, axes=1) / (places.shape[1] * places.shape[2] * length)
    other = None if against is None else asked.labels[against]
    return EvidenceMap(asked.labels[k], other, np.asarray(values), offset)


def overlay(crop: NDArray[np.uint8], evidence: EvidenceMap) -> Image.Image:
    """The crop that the network saw, tinted orange where places speak for the class and blue where against it."""
    strongest = float(np.abs(evidence.values).max()) or 1.0
    relative = Image.fromarray((evidence.values / strongest).astype(np.float32))
    size = crop.shape[1], crop.shape[0]
    smooth = np.asarray(relative.resize(size, Image.Resampling.BICUBIC)).clip(-1, 1)[:, :, None]
    tint = np.where(smooth > 0, FOR, AGAINST)
    strength = STRONGEST * np.abs(smooth)
    grey = crop.mean(axis=2, keepdims=True)  # colours of the photo would be taken for evidence
    return Image.fromarray((grey * (1 - strength) + tint * strength).round().astype(np.uint8))
