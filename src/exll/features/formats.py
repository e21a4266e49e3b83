"""The image formats that are read: how each is recognised and opened.

PIL's classes are called directly, not through Image.open: that one warns at a global limit, and neither the limit nor
the filter for warnings can be set for one thread alone. Nor is pillow-heif registered with PIL: no state is touched.
"""

import io
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from PIL import Image, features
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from exll.features.heif_boxes import announced_sizes, ends_early
from exll.installing import install_command

HEAD_BYTES = 64  # the first bytes of a file, enough to tell its format

HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
AVIF_BRANDS = frozenset({b"avif", b"avis"})
# These say only that there are images inside. The brands after them say of which kind.
CONTAINER_BRANDS = frozenset({b"mif1", b"mif2", b"msf1", b"miaf"})

EXIF_ITEM = re.compile(rb"(infe(?:\x02.{7}|\x03.{9}))Exif", re.DOTALL)
COLOUR_CODES = re.compile(rb"colrnclx(.{4})", re.DOTALL)


class MissingDecoderError(ImportError):
    """A format that is read elsewhere, but not with what is installed here; its text says what to install."""


class _Jpeg(JpegImageFile):
    def _read_dpi_from_exif(self) -> None:
        """Left out: nobody asks for the resolution, and a broken EXIF block would warn here."""


def _png(file: BinaryIO) -> ImageFile:
    """PIL brings every depth but grey of 16 bits to 8 bits, and leaves the transparent colour as the file has it."""
    picture = PngImageFile(file)
    clear, stored = picture.info.get("transparency"), picture.tile[0].args if picture.tile else None
    if stored == "L;2" and isinstance(clear, int):
        picture.info["transparency"] = (clear & 3) * 85
    elif stored == "L;4" and isinstance(clear, int):
        picture.info["transparency"] = (clear & 15) * 17
    elif stored == "RGB;16B" and isinstance(clear, tuple):
        picture.info["transparency"] = tuple(level >> 8 for level in clear)
    return picture


def _webp(file: BinaryIO) -> Image.Image:
    """The first frame, around which no memory is left of the decoder; it is decoded here and not in load()."""
    reader = WebPImageFile(file)
    pixels, _, _ = reader._get_next()
    picture = Image.frombuffer(reader.rawmode, reader.size, pixels)
    picture.info = reader.info
    return picture


def _heic(file: BinaryIO) -> ImageFile:
    """Only the boxes are read here. libheif decodes in load(), and refuses an image that is larger than announced."""
    content = file.read()
    if ends_early(content):
        # Telephones store a photo in tiles, and libheif would leave out those that are missing.
        raise OSError("the file ends before its pixels do")
    try:
        from pillow_heif import HeifImageFile

        picture: ImageFile = HeifImageFile(io.BytesIO(content))  # type: ignore[no-untyped-call]
    except ImportError as error:
        raise MissingDecoderError(f"reading HEIC photos needs pillow-heif: {install_command('heic')}.") from error
    return picture


def _avif(file: BinaryIO) -> ImageFile:
    """Only the boxes are read here. libavif decodes in load(), and scales to the size announced what has another one.
    Its own limit of 16384 x 16384 pixels holds for what it decodes."""
    if not features.check("avif"):
        raise MissingDecoderError("reading AVIF images needs a Pillow with AVIF in it: pip install --upgrade pillow.")
    from PIL.AvifImagePlugin import AvifImageFile

    class Avif(AvifImageFile):
        def load(self) -> Any:
            if self.tile and self._decoder is not None:
                pixels = self._decoder.get_frame(0)[0]
                self._decoder, self.fp = None, io.BytesIO(pixels)  # what the decoder holds is not needed any more
            return ImageFile.load(self)

    content = file.read()
    # PIL would parse the EXIF block, and warn or fail where it is broken. Nothing in it is needed: the orientation of
    # an AVIF stands in boxes of its own. Under another name the block is passed over.
    picture = Avif(io.BytesIO(EXIF_ITEM.sub(rb"\1free", content)))
    codes = set(COLOUR_CODES.findall(content))
    if len(codes) == 1:  # PIL does not say which belong to which image
        primaries, transfer = struct.unpack(">HH", codes.pop())
        picture.info["nclx_profile"] = {"color_primaries": primaries, "transfer_characteristics": transfer}
    return picture


# TIFF and GIF ask PIL's limit of pixels by themselves; that warning, if it is an error, becomes an ImageError.
FORMATS: dict[str, Callable[[BinaryIO], Image.Image]] = {
    "JPEG": _Jpeg,
    "PNG": _png,
    "WebP": _webp,
    "GIF": GifImageFile,
    "TIFF": TiffImageFile,
    "BMP": BmpImageFile,
    "HEIC": _heic,
    "AVIF": _avif,
}


def image_format(head: bytes) -> str | None:
    """The name in FORMATS of a file that begins so; HEAD_BYTES are enough.

    >>> image_format(b"GIF89a")
    'GIF'
    """
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WebP"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "TIFF"
    if head[4:8] == b"ftyp":
        return _format_by_brand(head)
    return "BMP" if head.startswith(b"BM") else None


def sizes_before_opening(name: str, head: bytes, file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Widths and heights for which a decoder takes memory, where PIL does not give them before it does."""
    if name == "WebP":
        yield webp_canvas(head)
    elif name in ("HEIC", "AVIF"):
        yield from announced_sizes(file.read())
        file.seek(0)


def webp_canvas(head: bytes) -> tuple[int, int]:
    """Width and height from the header, since PIL's decoder takes the memory for them as soon as it is made."""
    kind, after = head[12:16], head[20:30]
    if kind == b"VP8X":
        return int.from_bytes(after[4:7], "little") + 1, int.from_bytes(after[7:10], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(after[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", after, 6)
    return width & 0x3FFF, height & 0x3FFF


def _format_by_brand(head: bytes) -> str | None:
    """HEIC, AVIF and videos share one container, which begins with a box of four-letter brands."""
    brand = head[8:12]
    if brand in CONTAINER_BRANDS:
        box = head[: int.from_bytes(head[:4], "big")]
        others = {box[at : at + 4] for at in range(16, len(box), 4)}
        return "AVIF" if others & AVIF_BRANDS and not others & HEIC_BRANDS else "HEIC"
    if brand in HEIC_BRANDS:
        return "HEIC"
    return "AVIF" if brand in AVIF_BRANDS else None
