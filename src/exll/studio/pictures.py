"""Images on disk under the hash of their content. No name that anybody sent reaches the disk."""

import contextlib
import hashlib
import io
import re
from collections.abc import Container, Iterable
from pathlib import Path

from PIL import Image

from exll.explain.thumbnails import QUALITY, shrunk
from exll.features.image import read_image
from exll.saving.whole_files import flush_folder, write_whole
from exll.studio.errors import MissingError

SIDE = 256
MEDIA_TYPES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WebP": "image/webp",
    "GIF": "image/gif",
    "TIFF": "image/tiff",
    "BMP": "image/bmp",
    "HEIC": "image/heic",
    "AVIF": "image/avif",
}
SHOWN_BY_BROWSERS = frozenset({"JPEG", "PNG", "WebP", "GIF"})
LONGEST_SIDE_SHOWN = 4096
DIGEST = re.compile(r"[0-9a-f]{64}")


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def encoded(picture: Image.Image, format: str = "WEBP") -> bytes:
    file = io.BytesIO()
    picture.save(file, format, quality=QUALITY, method=2)  # half the time for 6 % more bytes
    return file.getvalue()


def thumbnail_of(picture: Image.Image) -> bytes:
    return encoded(shrunk(picture, SIDE))


def for_browsers(content: bytes, format: str | None) -> tuple[bytes, str]:
    """An image with its media type: as it is where every browser shows its format, else as a WebP, upright and in sRGB.

    Of AVIF only newer browsers know, of HEIC hardly any. A WebP has at most 16383 pixels a side.
    """
    if format in SHOWN_BY_BROWSERS:
        return content, MEDIA_TYPES[format]
    return encoded(shrunk(read_image(content, at_least=LONGEST_SIDE_SHOWN), LONGEST_SIDE_SHOWN)), MEDIA_TYPES["WebP"]


class Pictures:
    """``images/ab/DIGEST`` and ``thumbnails/ab/DIGEST.webp``: folders that stay small however many images there are."""

    def __init__(self, folder: Path) -> None:
        self._images = folder / "images"
        self._thumbnails = folder / "thumbnails"
        for kind in (self._images, self._thumbnails):
            for start in range(256):
                (kind / f"{start:02x}").mkdir(parents=True, exist_ok=True)
            flush_folder(kind)
        flush_folder(folder)

    def keep(self, digest: str, content: bytes) -> None:
        """Flushed to the disk when this returns."""
        path = self._path(self._images, digest)
        if path.exists():  # written whole or not at all, so it is this content
            return
        write_whole(path, content)

    def keep_thumbnail(self, digest: str, content: bytes) -> None:
        """May be lost in a power cut; then it is made again when it is needed."""
        write_whole(self._path(self._thumbnails, digest, ".webp"), content, flush=False)

    def image_path(self, digest: str) -> Path:
        return self._path(self._images, digest)

    def image(self, digest: str) -> bytes:
        try:
            return self.image_path(digest).read_bytes()
        except FileNotFoundError as error:
            raise MissingError("this photo is no longer on the disk.", "It may have been removed for good.") from error

    def thumbnail(self, digest: str) -> bytes:
        path = self._path(self._thumbnails, digest, ".webp")
        with contextlib.suppress(FileNotFoundError):
            return path.read_bytes()
        content = thumbnail_of(read_image(self.image(digest), at_least=SIDE))
        self.keep_thumbnail(digest, content)
        return content

    def remove(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self._path(self._images, digest).unlink(missing_ok=True)
            self._path(self._thumbnails, digest, ".webp").unlink(missing_ok=True)

    def has(self, digest: str) -> bool:
        return self._path(self._images, digest).exists()

    def tidy(self, known: Container[str]) -> None:
        """Remove files that never became an example, because a request was broken off."""
        for folder in (self._images, self._thumbnails):
            for path in folder.glob("*/*"):
                if path.name.removesuffix(".webp") not in known:
                    path.unlink(missing_ok=True)

    def nbytes(self) -> int:
        """Bytes of images and thumbnails on the disk."""
        files = (path for folder in (self._images, self._thumbnails) for path in folder.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files)

    def _path(self, folder: Path, digest: str, suffix: str = "") -> Path:
        if not DIGEST.fullmatch(digest):
            raise MissingError("there is no such image.")
        return folder / digest[:2] / f"{digest}{suffix}"
