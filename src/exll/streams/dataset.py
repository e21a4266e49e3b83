"""A data set of a benchmark: what is learned, what is asked about, and how its images are resized."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from exll.errors import StreamError
from exll.features.preprocessing import ResizeRule
from exll.streams.example import Example
from exll.streams.stream import Stream

if TYPE_CHECKING:
    from PIL.Image import Image

Picture: TypeAlias = "Path | Image"

SQUASHED = ResizeRule("squash")
CENTRE_CROP = ResizeRule("short-side-crop", margin=256 / 224)


def picture_on_disk(example: Example) -> Picture:
    """The image file of an example."""
    assert example.path is not None
    return example.path


@dataclass(frozen=True, eq=False)
class Dataset:
    """Two streams apart, or one (``test`` is None): then whatever an order leaves out is the test set."""

    name: str
    train: Stream
    test: Stream | None
    resize: ResizeRule | None = None  # None: as the backbone wants it
    picture: Callable[[Example], Picture] = picture_on_disk
    identity: str = ""  # what else tells this data from other data: the settings of a renderer

    def fingerprint(self) -> str:
        """What tells this data from other data, wherever it lies (64 hexadecimal digits)."""
        streams = [stream.fingerprint() for stream in (self.train, self.test) if stream is not None]
        return hashlib.sha256(json.dumps([self.identity, *streams]).encode()).hexdigest()

    @property
    def examples(self) -> list[Example]:
        """All of them, those to learn first."""
        return [*self.train.examples, *(self.test.examples if self.test is not None else [])]


def missing(name: str, looked_for: Path, layout: str, where_to_get: str) -> StreamError:
    """One sentence for data that is not there: what was looked for, and whose data it is."""
    return StreamError(f"{name}: there is no {looked_for}; expected {layout}. {where_to_get}")


def is_whole_number(text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdecimal()
