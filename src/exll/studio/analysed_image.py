"""From the bytes of a file to a vector: checked by decoding, never by name; decoded once, run once."""

import io
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exll.errors import ImageError, InputError
from exll.explain.thumbnails import shrunk
from exll.features.backbone import OnnxBackbone, Seen
from exll.features.formats import HEAD_BYTES, image_format
from exll.features.image import read_image
from exll.features.regions import PixelBox, cut_out
from exll.studio.errors import UnreadableError
from exll.studio.pictures import digest_of
from exll.vectors import check_rows

MOST_PIXELS = 64_000_000
SIDE = 512  # of the picture that is kept beside the features
REGION_SIDE, REGION_QUALITY = 1536, 95


@dataclass(frozen=True)
class AnalysedImage:
    """A file and what the network made of it."""

    digest: str
    content: bytes
    format: str
    seen: Seen

    @property
    def vector(self) -> NDArray[np.float32]:
        return self.seen.vector

    @property
    def nbytes(self) -> int:
        maps = 0 if self.seen.maps is None else self.seen.maps.nbytes
        return len(self.content) + 3 * SIDE**2 + maps


def analyse(content: bytes, backbone: OnnxBackbone, box: PixelBox | None = None) -> AnalysedImage:
    """Raises UnreadableError. A region of an image goes on as an image of its own."""
    try:
        if box is not None:
            content = _region_file(content, box)
        seen = backbone.see(backbone.prepare(content, most_pixels=MOST_PIXELS))
    except UnreadableError:
        raise
    except ImageError as error:
        raise UnreadableError(str(error), _hint(content)) from error
    try:
        check_rows(seen.vector[None])
    except InputError as error:
        raise UnreadableError(
            "the network finds no features in this photo, so it cannot be learned.", "Use another photo."
        ) from error
    small = replace(seen, picture=shrunk(seen.picture, SIDE))
    return AnalysedImage(digest_of(content), content, image_format(content[:HEAD_BYTES]) or "", small)


def _region_file(content: bytes, box: PixelBox) -> bytes:
    """The region as a JPEG: the same bytes for the same image and box, so that it is not taught twice."""
    image = read_image(content, most_pixels=MOST_PIXELS)
    try:
        region = cut_out(image, box)
    except ImageError as error:
        raise UnreadableError(str(error), "Send a box that lies within the image.") from error
    file = io.BytesIO()
    shrunk(region, REGION_SIDE).save(file, "JPEG", quality=REGION_QUALITY, subsampling=0)
    return file.getvalue()


def _hint(content: bytes) -> str:
    if not content:
        return "Use another file."
    if image_format(content[:HEAD_BYTES]) is None:
        return "If it is a photo, save it as JPEG or PNG."
    return "Use another photo, or save this one again, smaller or in another format."
