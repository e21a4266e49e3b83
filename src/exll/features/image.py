"""Reads images of any origin: an upright RGB picture, or one sentence that says why not."""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from exll.errors import ImageError
from exll.features.decoder_bytes import WEBP_BYTES, decoder_bytes, picture_bytes
from exll.features.decoding_memory import DECODING
from exll.features.formats import FORMATS, HEAD_BYTES, MissingDecoderError, image_format, sizes_before_opening
from exll.features.other_kinds import looks_like
from exll.features.upright import RGB_BYTES, exif_orientation, is_upright_rgb, scaled, upright_rgb

ImageSource: TypeAlias = str | os.PathLike[str] | bytes | NDArray[Any] | Image.Image
MOST_PIXELS = 100_000_000
MOST_SCANS = 100
MOST_PIXELS_KEPT = 16_000_000  # larger pictures are reduced after they were decoded, where that is enough

# A JPEG is decoded at a fraction of its size only while this many times the needed side remains.
DRAFT_MARGIN = 2
LONGEST_NAME, LONGEST_REASON = 120, 80

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def read_image(source: ImageSource, *, at_least: int | None = None, most_pixels: int = MOST_PIXELS) -> Image.Image:
    """An upright RGB picture of its own, or an ImageError in one sentence, which begins with the path if there is one.

    A source is a path, the bytes of a file, an array (height, width[, channels]) or a PIL image. The content decides on
    the format, not the name. Of several images in a file the first or the primary one is read. Colours are converted
    to sRGB by the profile in the file. What is transparent becomes white. ``at_least`` is the shortest side that will
    be needed: it lets a large JPEG be decoded at 1/2, 1/4 or 1/8, and reduces other pictures of over 16 megapixels.

    All threads together take at most 460 MB for decoding: they wait for one another, and an image that takes more alone
    is refused.

    >>> read_image(np.zeros((2, 3), np.uint8)).size
    (3, 2)
    >>> read_image("nowhere.jpg")
    Traceback (most recent call last):
    exll.errors.ImageError: nowhere.jpg: there is no such file.
    """
    if isinstance(source, Image.Image):
        with _plain_errors("", source.format or "PIL"):
            _check_size(source.size, "", most_pixels)
            with DECODING.claim(picture_bytes(source) + RGB_BYTES * source.width * source.height):
                source.load()
                return upright_rgb(source, _orientation(source), 1, "")
    if isinstance(source, np.ndarray):
        return _from_array(source, most_pixels)
    if isinstance(source, bytes):
        return _decoded(io.BytesIO(source), "", at_least, most_pixels)
    if isinstance(source, str | os.PathLike):
        where = f"{printable(source)}: "
        with open_regular_file(source) as file, _plain_errors(where, "file"):
            return _decoded(file, where, at_least, most_pixels)
    raise ImageError(f"an image must be a path, bytes, an array or a PIL image; got {type(source).__name__}.")


def middle(size: tuple[int, int], resize_to: int, crop: int) -> tuple[float, float, float, float]:
    """The part of a picture that would lie in the middle crop after its short side became ``resize_to``.

    Resizing this part alone gives the same pixels (PIL's filters look past its edges), and a picture of 1 x 100000 is
    never blown up to full width.
    """
    short = min(size)
    box = []
    for side in size:
        resized = resize_to * side // short
        start = (resized - crop) // 2
        box.append((start * side / resized, (start + crop) * side / resized))
    (left, right), (top, bottom) = box
    return left, top, right, bottom


def resized(
    image: Image.Image,
    box: tuple[float, float, float, float],
    size: int,
    interpolation: Literal["bilinear", "bicubic", "lanczos", "nearest"],
) -> NDArray[np.uint8]:
    """A part of an RGB picture as (size, size, 3)."""
    return np.array(image.resize((size, size), FILTERS[interpolation], box), np.uint8)


def open_regular_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file opened for reading, or one sentence. Only regular files are opened: a pipe would wait forever."""
    file, shown = Path(os.fsdecode(path)), printable(path)
    try:
        kind = file.stat().st_mode
        if stat.S_ISREG(kind):
            return file.open("rb")
    except FileNotFoundError as error:
        if file.is_symlink():
            raise ImageError(f"{shown}: the link leads nowhere.") from error
        raise ImageError(f"{shown}: there is no such file.") from error
    except (OSError, ValueError) as error:
        raise ImageError(f"{shown}: the file cannot be opened ({_reason(error)}).") from error
    if stat.S_ISDIR(kind):
        raise ImageError(f"{shown}: this is a folder, not an image.")
    raise ImageError(f"{shown}: this is a pipe or a device, not a file.")


def printable(text: str | os.PathLike[str], longest: int = LONGEST_NAME) -> str:
    r"""A path or a message fit for one line: odd characters escaped, the middle of a long one left out.

    >>> printable("two\nlines.jpg")
    'two\\nlines.jpg'
    """
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in os.fsdecode(text))
    if len(plain) <= longest:
        return plain
    half = (longest - 3) // 2
    return f"{plain[:half]}...{plain[-half:]}"


def _decoded(file: BinaryIO, where: str, at_least: int | None, most_pixels: int) -> Image.Image:
    head = file.read(HEAD_BYTES)
    if not head:
        raise ImageError(f"{where}the image is empty (0 bytes).")
    name = image_format(head)
    if name is None:
        raise ImageError(f"{where}the image is none of {', '.join(FORMATS)}; it looks like {looks_like(head)}.")
    file.seek(0)
    if name == "JPEG":
        # A progressive file may hold any number of scans over all its pixels, in a few bytes each.
        scans = file.read().count(b"\xff\xda")
        if scans > MOST_SCANS:
            raise ImageError(f"{where}the image has {scans:,} scans; at most {MOST_SCANS} are decoded.")
        file.seek(0)
    with _plain_errors(where, name):
        sizes = list(sizes_before_opening(name, head, file))
        for size in sizes:
            _check_size(size, where, most_pixels)
        pixels = max((width * height for width, height in sizes), default=0)
        if name != "WebP":
            return _opened(name, file, where, at_least, most_pixels, pixels)
        # Its decoder takes memory as soon as it is made.
        _check_memory(WEBP_BYTES * pixels, sizes[0], where)
        with DECODING.claim(WEBP_BYTES * pixels):
            return _opened(name, file, where, at_least, most_pixels, pixels)


def _opened(name: str, file: BinaryIO, where: str, at_least: int | None, most_pixels: int, pixels: int) -> Image.Image:
    picture = FORMATS[name](file)
    size = picture.size
    _check_size(size, where, most_pixels)
    pixels, side = max(pixels, size[0] * size[1]), DRAFT_MARGIN * max(1, at_least or 0)
    if at_least is not None and name == "JPEG":  # a HEIC would give an embedded preview instead
        picture.draft(None, (side, side))
    reduces = at_least is not None and name != "JPEG" and pixels > MOST_PIXELS_KEPT
    factor = max(1, min(size) // side) if reduces else 1
    needed = decoder_bytes(name, picture, pixels, file)
    _check_memory(needed, size, where)
    with DECODING.claim(max(needed, _bytes_with_result(picture, factor))):
        try:
            return _loaded(picture, factor, where)
        finally:
            picture.close()
            del picture  # and with it its decoder, before the claim ends


def _loaded(picture: Image.Image, factor: int, where: str) -> Image.Image:
    picture.load()
    orientation = _orientation(picture)
    if factor == 1 and is_upright_rgb(picture, orientation):
        upright = picture._new(picture.im)  # without a copy: nobody else has these pixels
    else:
        _check_memory(_bytes_with_result(picture, factor), picture.size, where)
        upright = upright_rgb(picture, orientation, factor, where)
    upright.info = {}  # an orientation left here would be applied a second time by whoever asks next
    return upright


def _orientation(picture: Image.Image) -> int:
    """To be asked for after loading: in a PNG it may follow the pixels. libheif transposes a HEIC by its boxes, which
    alone count there, so that its EXIF must not do it once more."""
    return 1 if picture.format == "HEIF" else exif_orientation(picture.info)


def _bytes_with_result(picture: Image.Image, factor: int) -> int:
    return picture_bytes(picture) + RGB_BYTES * picture.width * picture.height // factor**2


def _check_memory(needed: int, size: tuple[int, int], where: str) -> None:
    if needed > DECODING.limit:
        raise ImageError(
            f"{where}the image has {size[0]} x {size[1]} pixels, and decoding it takes {needed // 10**6} MB of memory; "
            f"at most {DECODING.limit // 10**6} MB are taken."
        )


@contextmanager
def _plain_errors(where: str, name: str) -> Iterator[None]:
    """PIL fails in many ways on damaged data (OSError, SyntaxError, KeyError ...): all become one sentence."""
    try:
        yield
    except ImageError:
        raise
    except MissingDecoderError as error:
        raise ImageError(f"{where}{error}") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"{where}the image has more pixels than PIL is set to read.") from error
    except MemoryError as error:
        raise ImageError(f"{where}the image needs more memory than there is.") from error
    except Exception as error:
        raise ImageError(
            f"{where}the image cannot be read; it may be cut short or damaged ({name}: {_reason(error)})."
        ) from error


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return printable(" ".join(text.split()).rstrip(".") or type(error).__name__, LONGEST_REASON)


def _check_size(size: tuple[int, int], where: str, most_pixels: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise ImageError(f"{where}the image has no pixels ({width} x {height}).")
    if width * height > most_pixels:
        raise ImageError(f"{where}the image has {width} x {height} pixels; at most {most_pixels:,} are read.")


def _from_array(array: NDArray[Any], most_pixels: int) -> Image.Image:
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
        hint = " Is the channel axis first?" if array.ndim == 3 and array.shape[0] in (1, 3, 4) else ""
        raise ImageError(
            f"the image must be (height, width) or (height, width, 1, 3 or 4 channels); got {array.shape}.{hint}"
        )
    _check_size((array.shape[1], array.shape[0]), "", most_pixels)
    with DECODING.claim(array.size + 2 * RGB_BYTES * array.shape[0] * array.shape[1]):
        pixels = _as_uint8(np.asarray(array))
        if pixels.ndim == 3 and pixels.shape[2] == 1:
            pixels = pixels[:, :, 0]
        return upright_rgb(Image.fromarray(pixels), 1, 1, "")


def _as_uint8(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return array
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind == "u" and array.dtype.itemsize == 2:
        return scaled(array, 1 / 257)
    if array.dtype.kind == "f":
        lowest, highest = array.min(), array.max()
        if not (lowest >= 0 and highest <= 1):
            raise ImageError(
                f"the image is of {array.dtype} and must hold numbers from 0 to 1; they go from {lowest:.6g} to "
                f"{highest:.6g}. Divide them by 255, or use uint8?"
            )
        return scaled(array, 255)
    raise ImageError(f"the image must be of uint8, uint16, bool, or floats from 0 to 1; got {array.dtype}.")
