"""Small pictures of learned examples, kept in the model file, so that pages have pictures without the photos.

The learner knows nothing of images. So the pictures are kept beside it, by the position of their sample in the stream,
and the learner says which samples are nearest the centre of their prototype.
"""

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from exll.errors import ImageError, InputError
from exll.explain.thumbnails import shrunk
from exll.features.formats import image_format, webp_canvas
from exll.features.image import ImageSource, read_image
from exll.features.regions import cut_out
from exll.learner.exll import ExLL
from exll.parameters import check_parameters
from exll.saving.model_file import ModelFile
from exll.types import Tensors

PER_PROTOTYPE, SIDE = 3, 96
QUALITY = 50  # with it a photo of 96 pixels takes 1.8 kB, and one recognises what it shows
BLOCK = 64  # samples: which of them are kept is decided whenever the stream has grown by so many
THREADS = 8


class Source(NamedTuple):
    """Where a picture comes from: an image, and the region of it that was learned."""

    image: ImageSource
    box: Any = None


class KeptThumbnails:
    """At most ``per_prototype`` pictures of the samples nearest each centre, and all of the last few samples.

    Which samples are kept depends on the sequence of samples alone: it is decided at counts that are multiples of
    ``BLOCK``, and until then every new sample has its picture. A photo of a whole block is read only if it is kept.
    """

    def __init__(self, per_prototype: int, side: int, learner: ExLL | None = None) -> None:
        self.per_prototype, self.side, self.learner = per_prototype, side, learner
        self._pictures: dict[int, bytes] = {}

    @classmethod
    def of_file(cls, file: ModelFile, learner: ExLL) -> Self:
        """What the file of an ImageLearner keeps; in those of before there are no pictures. Raises one of ``DAMAGED``
        where these are no pictures of this learner."""
        per_prototype, side = file.metadata.get("thumbnails", PER_PROTOTYPE), file.metadata.get("thumbnail_side", SIDE)
        kept = cls(per_prototype, side, learner)
        check_parameters("ImageLearner", kept.parameters())
        kept.restore(file.tensors)
        return kept

    def parameters(self) -> dict[str, int]:
        """As an ImageLearner and its file name them."""
        return {"thumbnails": self.per_prototype, "thumbnail_side": self.side}

    def until_choice(self, count: int) -> int:
        """How many samples may be learned after so many before :meth:`learned` has to be called."""
        return BLOCK - count % BLOCK

    def learned(self, sources: Sequence[Source | None]) -> None:
        """The learner has just learned samples with these pictures."""
        assert self.learner is not None
        if not self.per_prototype or self.learner.parameters.records == "none":
            return
        count = self.learner.learned_count
        new = {i: source for i, source in enumerate(sources, count - len(sources)) if source is not None}
        kept = {*self._pictures, *new}
        if count % BLOCK == 0:
            kept = self.learner.nearest_of(kept, self.per_prototype)
        self._keep({i: picture for i, picture in self._pictures.items() if i in kept}, new, kept)

    def choose_from(self, sources: Mapping[int, Source]) -> None:
        """Keep pictures for all that was learned before, by position: those nearest the centres of now."""
        assert self.learner is not None
        self._keep({}, sources, self.learner.nearest_of(sources, self.per_prototype))

    def _keep(self, old: Mapping[int, bytes], new: Mapping[int, Source], kept: Iterable[int]) -> None:
        wanted = sorted(set(kept) & set(new))
        made = zip(wanted, self._made([new[i] for i in wanted]), strict=True)
        # one assignment, so that whoever saves meanwhile finds the old ones or the new ones
        self._pictures = {**old, **{i: picture for i, picture in made if picture is not None}}

    def _made(self, sources: list[Source]) -> list[bytes | None]:
        if len(sources) < 2:
            return [self._small(source) for source in sources]
        with ThreadPoolExecutor(min(len(sources), os.cpu_count() or 1, THREADS), "exll-thumbnail") as pool:
            return list(pool.map(self._small, sources))

    def _small(self, source: Source) -> bytes | None:
        """The same bytes whether the vector came from the cache or not; None where the image is gone by now."""
        try:
            if source.box is None:
                picture = read_image(source.image, at_least=self.side)
            else:
                picture = cut_out(read_image(source.image), source.box)
        except ImageError:
            return None
        file = io.BytesIO()
        shrunk(picture, self.side).save(file, "WEBP", quality=QUALITY)
        return file.getvalue()

    def moved(self, positions: Mapping[int, int]) -> None:
        """Some samples stand at other positions now."""
        self._pictures = dict(sorted((positions.get(i, i), picture) for i, picture in self._pictures.items()))

    def absorb(self, other: "KeptThumbnails", positions: int) -> None:
        """Those of another learner, whose positions are counted on from so many."""
        assert self.learner is not None
        if not self.per_prototype:
            return
        together = {**self._pictures, **{i + positions: picture for i, picture in other._pictures.items()}}
        kept = self.learner.nearest_of(together, self.per_prototype)
        self._pictures = {i: picture for i, picture in together.items() if i in kept}

    def _leave_forgotten(self) -> None:
        """The picture of a sample goes with its record; and merged models have fewer prototypes than each had."""
        if self.learner is None or not self._pictures:
            return
        kept = {record.position for record in self.learner.records_at(self._pictures)}
        if len(kept) > self.per_prototype * self.learner.prototype_count + BLOCK:
            kept = self.learner.nearest_of(kept, self.per_prototype)
        self._pictures = {i: picture for i, picture in self._pictures.items() if i in kept}

    def by_name(self) -> dict[str, bytes]:
        """The pictures by the name of their example."""
        if self.learner is None:
            return {}
        return {record.name: self._pictures[record.position] for record in self.learner.records_at(self._pictures)}

    @property
    def nbytes(self) -> int:
        pictures = self._pictures.values()
        return sum(len(picture) for picture in pictures) + 16 * len(pictures)

    def state(self) -> Tensors:
        """Arrays of a model file; empty where nothing is kept."""
        self._leave_forgotten()
        pictures = dict(sorted(self._pictures.items()))
        if not pictures:
            return {}
        offsets = np.cumsum([0, *(len(picture) for picture in pictures.values())])
        return {
            "thumbnails.positions": np.array(list(pictures), np.int64),
            "thumbnails.offsets": offsets.astype(np.int64),
            "thumbnails.webp": np.frombuffer(b"".join(pictures.values()), np.uint8),
        }

    def restore(self, state: Tensors) -> None:
        """Go on with the pictures of a file, none of which is decoded yet."""
        assert self.learner is not None
        if "thumbnails.positions" not in state:
            return
        positions, offsets = state["thumbnails.positions"].tolist(), state["thumbnails.offsets"].tolist()
        content = state["thumbnails.webp"].tobytes()
        if positions != sorted(set(positions)) or not 0 <= positions[0] <= positions[-1] < self.learner.learned_count:
            raise ValueError("a thumbnail belongs to no sample")
        if offsets != sorted(offsets) or offsets[0] != 0 or offsets[-1] != len(content):
            raise ValueError("the offsets of the thumbnails do not fit")
        pictures = [content[start:stop] for start, stop in pairwise(offsets)]
        for picture in pictures:
            _check_is_small(picture, self.side)
        self._pictures = dict(zip(positions, pictures, strict=True))


def as_sources(images: Sequence[ImageSource | None] | None, boxes: Sequence[Any]) -> list[Source | None]:
    """An image and the region of it for each box; None where there is no image."""
    if images is None:
        return [None] * len(boxes)
    if len(images) != len(boxes):
        raise InputError(
            f"there must be one image for each vector, or None; got {len(images)} for {len(boxes)} vectors."
        )
    return [None if image is None else Source(image, box) for image, box in zip(images, boxes, strict=True)]


def _check_is_small(content: bytes, side: int) -> None:
    """Whether the header is that of a plain WebP (one frame, nothing beside it) of at most this size."""
    plain = image_format(content) == "WebP" and content[12:16] == b"VP8 " and len(content) > 30
    if not plain or int.from_bytes(content[4:8], "little") != len(content) - 8:
        raise ValueError("a thumbnail is not a WebP picture")
    if not 0 < min(webp_canvas(content)) <= max(webp_canvas(content)) <= side or len(content) > 4 * side * side + 1024:
        raise ValueError("a thumbnail is larger than those that are kept")
