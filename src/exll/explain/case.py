"""An explanation together with what an image adds to it: everything that a page of one answer needs, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from PIL import Image

from exll.explain.contributions import Without
from exll.explain.evidence_map import EvidenceMap
from exll.explain.explanation import Explanation
from exll.features.looks import Box

LARGEST_LEFT_OUT = 3


@dataclass(frozen=True)
class Case:
    """One answer about one input.

    Without a ``picture`` it is the explanation of a vector; without ``maps`` the network gives no feature map.
    """

    name: str
    explanation: Explanation
    without: tuple[Without, ...] = ()
    picture: Image.Image | None = None
    boxes: tuple[Box, ...] = ()  # where in the picture the network looked
    maps: tuple[EvidenceMap, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def worth_leaving_out(explanation: Explanation) -> list[int]:
    """The prototypes whose absence is most informative: the hit, the largest of the class, and the near miss."""
    largest = [part.prototype for part in explanation.contributions[:LARGEST_LEFT_OUT]]
    near_miss = [] if explanation.near_miss is None else [explanation.near_miss.prototype]
    return list(dict.fromkeys([explanation.hit.prototype, *largest, *near_miss]))
