"""From the bytes of a file to what the network sees: checked by decoding, never by name."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image as Picture

from exll.errors import ImageError, InputError
from exll.features.backbone import Backbone
from exll.features.formats import HEAD_BYTES, image_format
from exll.features.image import read_image
from exll.studio.pictures import digest_of
from exll.vectors import check_rows

MOST_PIXELS = 64_000_000


@dataclass(frozen=True)
class Seen:
    """An image, decoded and looked at."""

    digest: str
    content: bytes
    format: str
    picture: Picture
    vector: NDArray[np.float32]


def see(content: bytes, backbone: Backbone) -> Seen:
    """Raises ImageError in one sentence."""
    picture = read_image(content, at_least=backbone.preprocessing.resize_to, most_pixels=MOST_PIXELS)
    vector = backbone.features([picture])[0]
    try:
        check_rows(vector[None])
    except InputError as error:
        raise ImageError("the network sees nothing in this image that could be learned.") from error
    return Seen(digest_of(content), content, image_format(content[:HEAD_BYTES]) or "", picture, vector)
