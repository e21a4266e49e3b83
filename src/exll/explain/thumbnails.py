"""From the name of a learned example to a small picture inside the page, or to words that say why there is none.

A picture comes from the example's file where that is found, else from the thumbnails that the model keeps of a few
examples of each prototype.
"""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from exll.errors import ImageError
from exll.explain.wording import counted, file_name
from exll.features.image import read_image
from exll.features.regions import PixelBox, cut_out, split_region_ref
from exll.streams.folder import is_image_name

SIDE = 160
QUALITY = 75
MOST_KEPT_PIXELS = 512 * 512


@dataclass(frozen=True)
class Thumbnail:
    """A picture as a data URI, or None and the reason in words."""

    name: str
    uri: str | None
    width: int = 0
    height: int = 0
    missing: str = ""


class Thumbnails:
    """Finds pictures of examples by their names. A name that is no whole path is looked for in each folder, the first
    one first; then under ``images``, where photos were moved to; then among ``kept``, the pictures in the model.
    ``kept_first`` is for pages that show pictures as small as those anyway: no file is read without need."""

    def __init__(
        self,
        folders: Sequence[Path] = (Path(),),
        side: int = SIDE,
        kept: Mapping[str, bytes] | None = None,
        images: Path | None = None,
        kept_first: bool = False,
    ) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._side = side
        self._kept = kept or {}
        self._images = images
        self._kept_first = kept_first
        self._asked: set[str] = set()
        self._missing: set[str] = set()

    def of(self, ref: str) -> Thumbnail:
        thumbnail = self._of(ref)
        if _was_file(ref):
            self._asked.add(ref)
        if _was_file(ref) and thumbnail.uri is None:
            self._missing.add(ref)
        return thumbnail

    def some(self, refs: Sequence[str], most: int) -> tuple[Thumbnail, ...]:
        """The first few that there are pictures of; where there are none at all, the first ones without."""
        found = list(islice((ref for ref in refs if self._has(ref)), most))
        return tuple(self.of(ref) for ref in found or refs[:most])

    def remark(self) -> str | None:
        """One sentence about the files that were asked for and not found; None where all were."""
        if not self._missing:
            return None
        return (
            f"{len(self._missing):,} of {counted(len(self._asked), 'picture')} were not found, neither as files nor in "
            "the model; --images ROOT says where they are now."
        )

    def _of(self, ref: str) -> Thumbnail:
        name = file_name(ref)
        if self._kept_first and ref in self._kept:
            return _from_model(self._kept[ref], name)
        path, box = self._place(ref)
        if path is not None:
            with suppress(ImageError):  # its words could quote the file, which need not be an image at all
                picture = read_image(path, at_least=self._side) if box is None else cut_out(read_image(path), box)
                return embedded(shrunk(picture, self._side), name)
        if ref in self._kept:
            return _from_model(self._kept[ref], name)
        if path is not None:
            return Thumbnail(name, None, missing="the file cannot be read as an image")
        return Thumbnail(name, None, missing="file not found" if _was_file(ref) else "no image kept")

    def _has(self, ref: str) -> bool:
        return ref in self._kept or self._place(ref)[0] is not None

    def _place(self, ref: str) -> tuple[Path | None, PixelBox | None]:
        """The file of an example, and the region of it; a file may be called like a region."""
        path, (image, box) = self._find(ref), split_region_ref(ref)
        return (path, None) if path is not None or box is None else (self._find(image), box)

    def _find(self, ref: str) -> Path | None:
        paths = [folder / ref for folder in self._folders]
        if self._images is not None:
            paths += [self._images / tail for tail in _tails(ref)]
        for path in paths:
            with suppress(OSError, ValueError):  # a name that no file system takes
                if path.is_file():
                    return path
        return None


def _was_file(ref: str) -> bool:
    """A frame of a video, a row of features or an image in memory never had a file of its own."""
    return is_image_name(split_region_ref(ref)[0])


def _tails(ref: str) -> list[str]:
    """A path without its first folders, the longest first. The last folder stays: it is often the class, and in another
    class there may be a file of the same name.

    >>> _tails("/photos/train/mug/1.jpg")
    ['photos/train/mug/1.jpg', 'train/mug/1.jpg', 'mug/1.jpg']
    """
    parts = [part for part in ref.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return ["/".join(parts[start:]) for start in range(max(1, len(parts) - 1))]


def _from_model(content: bytes, name: str) -> Thumbnail:
    """Decoded once with the usual limits: a model file may come from anybody."""
    try:
        picture = read_image(content, most_pixels=MOST_KEPT_PIXELS)
    except ImageError:
        return Thumbnail(name, None, missing="the picture in the model cannot be read")
    return Thumbnail(name, _data_uri(content), *picture.size)


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
    return _data_uri(file.getvalue())


def _data_uri(webp: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(webp).decode()}"
