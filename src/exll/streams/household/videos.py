"""The household as a data set: every object recorded under every factor and level, once to learn and once to ask."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL.Image import Image

from exll.errors import StreamError
from exll.streams.dataset import Dataset
from exll.streams.example import Example
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import FACTORS, LEVELS, Recording, render
from exll.streams.orderings import few_shot
from exll.streams.stream import Stream

NAME = "household"


@dataclass(frozen=True)
class Household:
    """The settings of the renderer, and from an example to its picture. Nothing is drawn before it is asked for.

    >>> home = Household(frames=2)
    >>> example = home.dataset().train.examples[0]
    >>> example.ref, home.picture(example).size
    ('train/ball-1/clutter-1#0', (128, 128))
    """

    seed: int = 0
    instances: int = 3
    frames: int = 6
    test_frames: int = 2
    size: int = 128

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 0 if name == "seed" else 1
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise StreamError(f"household: {name} must be a whole number of at least {least}; got {value!r}.")

    def dataset(self) -> Dataset:
        """Videos to learn and other videos of the same objects to ask, as in OpenLORIS."""
        return self._dataset(NAME, self._stream("train", self.frames), self._stream("test", self.test_frames))

    def long_tailed(self, fewest: float = 0.04) -> Dataset:
        """The same test videos, but from class to class ever fewer frames to learn, down to this share, as in
        Places-LT."""
        rng = np.random.default_rng([self.seed, 1])
        whole = self._stream("train", self.frames).examples
        shares = np.geomspace(1.0, fewest, len(CATEGORIES))
        kept: list[Example] = []
        for share, label in zip(shares, rng.permutation(sorted(CATEGORIES)), strict=True):
            own = [example for example in whole if example.label == label]
            kept += few_shot(own, rng, max(1, round(share * len(own))))
        stream = Stream("rendered", kept, Path(NAME))
        return self._dataset(f"{NAME}-lt", stream, self._stream("test", self.test_frames))

    def stills(self) -> Dataset:
        """One frame per video and no test part, as in F-SIOL-310: examples that an order leaves out are asked about."""
        return self._dataset(f"{NAME}-stills", self._stream("test", 1), None)

    def picture(self, example: Example) -> Image:
        assert example.video is not None
        assert example.frame is not None
        split, thing, scene = example.video.split("/")
        category, instance = thing.rsplit("-", 1)
        factor, level = scene.rsplit("-", 1)
        recording = Recording(self.seed, category, int(instance), factor, int(level), split)
        return render(recording, example.frame, self.size)

    def _dataset(self, name: str, train: Stream, test: Stream | None) -> Dataset:
        return Dataset(name, train, test, picture=self.picture, identity=self._identity(train))

    def _identity(self, stream: Stream) -> str:
        """The settings, and some pixels: another version of the renderer, or of what it draws with, is other data."""
        digest = hashlib.sha256(json.dumps(asdict(self)).encode())
        step = max(1, len(stream.examples) // 40)
        for example in stream.examples[::step]:
            digest.update(self.picture(example).tobytes())
        return digest.hexdigest()

    def _stream(self, split: str, frames: int) -> Stream:
        examples = [
            Example(
                f"{split}/{category}-{instance}/{factor}-{level}#{frame}",
                category,
                instance=f"{category}-{instance}",
                video=f"{split}/{category}-{instance}/{factor}-{level}",
                frame=frame,
                factor=factor,
                level=level,
            )
            for category in CATEGORIES
            for instance in range(1, self.instances + 1)
            for factor in FACTORS
            for level in range(1, LEVELS + 1)
            for frame in range(frames)
        ]
        return Stream("rendered", examples, Path(NAME))
