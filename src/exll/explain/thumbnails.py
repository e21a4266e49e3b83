"""From the name of a learned example to a small picture inside the page, or to words that say why there is none.

Models remember names and never images, so a picture can be shown only while its file is where it was.
"""

import base64
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from exll.errors import ImageError
from exll.explain.wording import file_name
from exll.features.image import read_image
from exll.features.regions import cut_out, split_region_ref
from exll.streams.folder import is_image_name

SIDE = 160
QUALITY = 75


@dataclass(frozen=True)
class Thumbnail:
    """A picture as a data URI, or None and the reason in words."""

    name: str
    uri: str | None
    width: int = 0
    height: int = 0
    missing: str = ""


class Thumbnails:
    """Finds the files of examples. A name that is no whole path is looked for in each folder, the first one first."""

    def __init__(self, folders: Sequence[Path] = (Path(),), side: int = SIDE) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._side = side

    def of(self, ref: str) -> Thumbnail:
        (image, box), name = split_region_ref(ref), file_name(ref)
        path = self._find(ref)  # a file may be called like a region
        if path is None and box is not None:
            path = self._find(image)
        else:
            box = None
        if path is None:
            # What was a frame of a video, a row of features or an image in memory never had a file of its own.
            return Thumbnail(name, None, missing="file not found" if is_image_name(image) else "no image kept")
        try:
            picture = read_image(path, at_least=self._side) if box is None else cut_out(read_image(path), box)
        except ImageError:  # its words could quote the file, which need not be an image at all
            return Thumbnail(name, None, missing="the file cannot be read as an image")
        return embedded(shrunk(picture, self._side), name)

    def _find(self, ref: str) -> Path | None:
        for folder in self._folders:
            with suppress(OSError, ValueError):  # a name that no file system takes
                if (folder / ref).is_file():
                    return folder / ref
        return None


def folders_of(model: Path, lessons: Iterable[dict[str, Any]]) -> list[Path]:
    """Where the names in a model may lead: from here, from its file, from beside what it was taught."""
    return [Path(), model.parent, *(Path(lesson["source"]).parent for lesson in lessons)]


def embedded(picture: Image.Image, name: str) -> Thumbnail:
    return Thumbnail(name, data_uri(picture), *picture.size)


def shrunk(picture: Image.Image, side: int) -> Image.Image:
    """A copy whose longer side is at most so long."""
    small = picture.copy()
    small.thumbnail((side, side))
    return small


def data_uri(picture: Image.Image) -> str:
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"
