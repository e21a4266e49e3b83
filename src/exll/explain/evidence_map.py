r"""Where in an image the evidence lies: the score of a class taken apart by place, exactly.

It is the fused score but for what the best prototype adds: the whole class, and the lift where there is one.

The vector is a sum over looks of the mean of a feature map over its P places, $v = \sum_l \tfrac1P\sum_p f_{lp}$, and
$x = v/|v|$. A score $w^T x + b$ (with a lift, w is that of the piece on which x lies) is therefore a sum over looks and
places of $w^T f_{lp} / (P |v|)$, plus the offset b, which belongs to no place and is shown as a number. Each place is
laid where it is in the picture, and spread over its neighbourhood so that its sum stays the same. Map plus offset is
the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from exll.features.backbone import Seen
from exll.features.looks import Box
from exll.learner.inference import Inference
from exll.types import Label, Matrix

# Blue to white to orange: told apart by every kind of colour vision.
AGAINST, FOR = np.array([33, 102, 172]), np.array([230, 97, 1])
STRONGEST = 0.75
GRID = 32  # rows and columns of a map, laid over the whole picture


@dataclass(frozen=True)
class EvidenceMap:
    """Evidence by place for a class, or for one class and against another; ``values.sum() + offset`` is the score."""

    label: Label
    against: Label | None
    values: Matrix  # (rows, columns), over the whole picture
    offset: float

    @property
    def score(self) -> float:
        return float(self.values.sum() + self.offset)


def evidence_map(inference: Inference, seen: Seen, k: int, against: int | None = None) -> EvidenceMap:
    """The score of class k, or its difference to another, over the places of a picture."""
    assert seen.maps is not None
    maps = seen.maps.astype(np.float64)  # (looks, width, rows, columns)
    vector = maps.mean(axis=(2, 3)).sum(axis=0)
    norm = float(np.linalg.norm(vector))
    weights, offset = inference.linear_score(vector / norm, k)
    if against is not None:
        other_weights, other_offset = inference.linear_score(vector / norm, against)
        weights, offset = weights - other_weights, offset - other_offset
    places = np.tensordot(maps, weights, axes=(1, 0)) / (maps.shape[2] * maps.shape[3] * norm)
    values = sum(
        (_laid(look, box) for look, box in zip(places, seen.boxes, strict=True)),
        start=np.zeros((GRID, GRID)),
    )
    return EvidenceMap(inference.labels[k], None if against is None else inference.labels[against], values, offset)


def _laid(places: Matrix, box: Box) -> Matrix:
    """The places of one look on the grid over the picture, with the same sum."""
    left, top, right, bottom = box
    laid: Matrix = _shares(places.shape[0], top, bottom) @ places @ _shares(places.shape[1], left, right).T
    return laid


def _shares(places: int, start: float, stop: float) -> Matrix:
    """Shares of each place between two points of a side (0 to 1) on the grid, (GRID, places); columns sum to 1."""
    middles = start + (np.arange(places) + 0.5) * (stop - start) / places
    grid = (np.arange(GRID) + 0.5) / GRID
    width = max((stop - start) / places, 1 / GRID)
    shares = np.maximum(0.0, 1.0 - np.abs(grid[:, None] - middles) / width)
    normalised: Matrix = shares / shares.sum(axis=0)
    return normalised


def overlay(picture: Image.Image, evidence: EvidenceMap) -> Image.Image:
    """The picture in grey, tinted orange where places count more than the average one, and blue where less.

    The offset, which belongs to no place, cancels much of the map: what tells places apart is how they differ.
    """
    seen = evidence.values != 0.0  # of places outside every look nothing is known
    difference = np.where(seen, evidence.values - evidence.values[seen].mean(), 0.0) if seen.any() else evidence.values
    strongest = float(np.abs(difference).max()) or 1.0
    relative = Image.fromarray((difference / strongest).astype(np.float32))
    smooth = np.asarray(relative.resize(picture.size, Image.Resampling.BICUBIC)).clip(-1, 1)[:, :, None]
    tint = np.where(smooth > 0, FOR, AGAINST)
    strength = STRONGEST * np.abs(smooth)
    pixels: NDArray[np.uint8] = np.asarray(picture)
    grey = pixels.mean(axis=2, keepdims=True)  # colours of the photo would be taken for evidence
    return Image.fromarray((grey * (1 - strength) + tint * strength).round().astype(np.uint8))


def outlined(picture: Image.Image, boxes: Sequence[Box]) -> Image.Image:
    """A picture with the looks that are not all of it drawn as frames."""
    drawn = picture.copy()
    draw = ImageDraw.Draw(drawn)
    width, height = picture.size
    for left, top, right, bottom in boxes:
        if (left, top, right, bottom) != (0, 0, 1, 1):
            frame = (left * width, top * height, right * width - 1, bottom * height - 1)
            for thickness, colour in ((2, "black"), (1, "white")):  # seen on light and on dark
                draw.rectangle(frame, outline=colour, width=thickness)
    return drawn
