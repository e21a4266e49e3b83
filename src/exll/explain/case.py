"""An explanation together with what an image adds to it: everything that a page of one answer needs, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from PIL import Image

from exll.explain.evidence_map import EvidenceMap
from exll.explain.explanation import Explanation
from exll.features.looks import Box
from exll.types import Label


@dataclass(frozen=True)
class Case:
    """One answer about one input.

    Without a ``picture`` it is the explanation of a vector; without ``maps`` the network gives no feature map.
    """

    name: str
    explanation: Explanation
    picture: Image.Image | None = None
    boxes: tuple[Box, ...] = ()  # where in the picture the network looked
    maps: tuple[EvidenceMap, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    truth: Label | None = None  # where somebody knows it
