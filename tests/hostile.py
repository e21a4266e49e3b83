"""A folder of images as the world has them: odd, transposed, cut, bombs, and things that only look like images."""

import io
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CUTS = (0.02, 0.2, 0.5, 0.8, 0.95)
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
HAS_HEIC = find_spec("pillow_heif") is not None
# What has to be done to the stored pixels, written without PIL.
UPRIGHT: dict[int, Callable[[NDArray[Any]], NDArray[Any]]] = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: np.rot90(a, 1),
}


@dataclass(frozen=True)
class Hostile:
    """Every path that was written: the good ones can be read as an image, the bad ones cannot.

    A folder named like an image is bad, an image inside of it is good. Files without permissions are good for root.
    """

    good: frozenset[Path]
    bad: frozenset[Path]


def write_hostile_folder(folder: Path, seed: int = 0) -> Hostile:
    """About 200 files in class folders, the same for the same seed."""
    writer = _Writer(folder, np.random.default_rng(seed))
    for write in (_formats, _transposed, _cut, _bombs, _names, _places, _junk):
        write(writer)
    return Hostile(frozenset(writer.good), frozenset(writer.bad))


@dataclass
class _Writer:
    folder: Path
    rng: np.random.Generator
    good: set[Path] = field(default_factory=set)
    bad: set[Path] = field(default_factory=set)

    def path(self, name: str, good: bool) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.good if good else self.bad).add(path)
        return path

    def write(self, name: str, content: bytes, good: bool) -> Path:
        path = self.path(name, good)
        path.write_bytes(content)
        return path

    def picture(self, mode: str = "RGB", width: int = 40, height: int = 24) -> Image.Image:
        """Noise, so that a file which lost its end has lost pixels too."""
        if mode == "I;16":
            return Image.fromarray(self.rng.integers(0, 65536, (height, width), dtype=np.uint16))
        if mode == "I":
            return Image.fromarray(self.rng.integers(0, 65536, (height, width), dtype=np.int32))
        if mode == "F":
            return Image.fromarray(self.rng.random((height, width), dtype=np.float32))
        noise = Image.fromarray(self.rng.integers(0, 256, (height, width, 4), dtype=np.uint8), "RGBA")
        return noise if mode == "RGBA" else noise.convert("RGB").convert(mode)


def encode(picture: Image.Image, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, format, **options)
    return file.getvalue()


def heic(picture: Image.Image, *more: Image.Image, **options: Any) -> bytes:
    """Turned by the boxes of its container where the EXIF among the options says so, as telephones do it."""
    from pillow_heif import from_pillow

    file, content = io.BytesIO(), from_pillow(picture)
    for one in more:
        content.add_from_pillow(one)
    content.save(file, **options)
    return file.getvalue()


def exif(orientation: int) -> Image.Exif:
    block = Image.Exif()
    block[0x0112] = orientation
    return block


def png(
    width: int, height: int, rows: bytes, *, before: bytes = b"", after: bytes = b"", colour: int = 2, depth: int = 8
) -> bytes:
    """A PNG made by hand, with any chunks before and after its pixels."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    pixels = png_chunk(b"IDAT", zlib.compress(rows))
    return PNG_SIGNATURE + header + before + pixels + after + png_chunk(b"IEND", b"")


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def tiff(width: int, height: int, *, strip_count: int = 1) -> bytes:
    """A grey TIFF of 8 bits made by hand, with four bytes of pixels whatever its header claims."""
    long = 4
    entries = [
        (256, long, 1, width),
        (257, long, 1, height),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, long, strip_count, 8),
        (277, 3, 1, 1),
        (278, long, 1, max(height, 1)),
        (279, long, 1, 4),
    ]
    directory = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<I", 12) + b"\0\0\0\0" + struct.pack("<H", len(entries)) + directory + b"\0" * 4


def gif(width: int, height: int, frame: tuple[int, int] | None = None) -> bytes:
    """A GIF made by hand whose only frame may be larger than its screen."""
    frame_width, frame_height = frame or (width, height)
    screen = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes((9, 9, 9, 200, 200, 200))
    return screen + b"," + struct.pack("<HHHHB", 0, 0, frame_width, frame_height, 0) + b"\x02\x02\x4c\x01\0;"


def bmp(width: int, height: int) -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 64, 0, 0, 54) + header + b"\0" * 64


def webp(kind: bytes, content: bytes) -> bytes:
    body = b"WEBP" + kind + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", len(body)) + body


def jpeg_with_size(content: bytes, width: int, height: int) -> bytes:
    """A JPEG whose header is made to claim another size."""
    place = next(found for start in (b"\xff\xc0\0", b"\xff\xc2\0") if (found := content.find(start)) >= 0) + 5
    return content[:place] + struct.pack(">HH", height, width) + content[place + 4 :]


def with_announced_size(content: bytes, size: tuple[int, int], announced: tuple[int, int]) -> bytes:
    """A HEIC or an AVIF whose boxes are made to claim another size."""
    old, new = (b"ispe\0\0\0\0" + struct.pack(">II", *numbers) for numbers in (size, announced))
    assert old in content
    return content.replace(old, new)


def every_format(writer: _Writer) -> dict[str, bytes]:
    """A plain picture in each format and each way of packing it, by a name with its extension."""
    picture = writer.picture()
    heics = {"plain.heic": heic(picture), "tiles.heic": heic(picture, tile_size=16)} if HAS_HEIC else {}
    return {
        **heics,
        "plain.avif": encode(picture, "AVIF"),
        "baseline.jpg": encode(picture, "JPEG"),
        "progressive.jpg": encode(picture, "JPEG", progressive=True),
        "plain.png": encode(picture, "PNG"),
        "lossy.webp": encode(picture, "WEBP"),
        "lossless.webp": encode(picture, "WEBP", lossless=True),
        "plain.gif": encode(picture, "GIF"),
        "raw.tif": encode(picture, "TIFF"),
        "lzw.tif": encode(picture, "TIFF", compression="tiff_lzw"),
        "deflate.tif": encode(picture, "TIFF", compression="tiff_adobe_deflate"),
        "plain.bmp": encode(picture, "BMP"),
    }


def _formats(writer: _Writer) -> None:
    for name, content in every_format(writer).items():
        writer.write(f"formats/{name}", content, good=True)
    modes = {
        "jpg": ("L", "RGB", "CMYK"),
        "png": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"),
        "webp": ("L", "RGB", "RGBA"),
        "avif": ("L", "RGB", "RGBA"),
        "gif": ("1", "L", "P", "RGB", "RGBA"),
        "tif": ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16", "I", "F"),
        "bmp": ("1", "L", "P", "RGB", "RGBA"),
    }
    formats = {"jpg": "JPEG", "tif": "TIFF"}
    for extension, names in modes.items():
        for mode in names:
            content = encode(writer.picture(mode), formats.get(extension, extension.upper()))
            writer.write(f"formats/mode {mode.replace(';', ' ')}.{extension}", content, good=True)
    palette = writer.picture("P")
    frames = [writer.picture() for _ in range(3)]
    odd = {
        "one clear colour.png": encode(palette, "PNG", transparency=3),
        "many clear colours.png": encode(palette, "PNG", transparency=bytes(range(256))),
        "clear grey.png": encode(writer.picture("L"), "PNG", transparency=7),
        "clear.gif": encode(palette, "GIF", transparency=3),
        "moving.gif": encode(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "moving.png": encode(frames[0], "PNG", save_all=True, append_images=frames[1:]),
        "moving.webp": encode(frames[0], "WEBP", save_all=True, append_images=frames[1:]),
        "pages.tif": encode(frames[0], "TIFF", save_all=True, append_images=frames[1:]),
        "two pictures.jpg": encode(frames[0], "MPO", save_all=True, append_images=frames[1:]),
        "jpeg inside.tif": encode(frames[0], "TIFF", compression="jpeg"),
        "packbits.tif": encode(frames[0], "TIFF", compression="packbits"),
        "fax.tif": encode(writer.picture("1"), "TIFF", compression="group4"),
        "big.tif": encode(frames[0], "TIFF", big_tiff=True),
        "sampled 420.jpg": encode(frames[0], "JPEG", subsampling=2, quality=30),
        "sampled 444.jpg": encode(frames[0], "JPEG", subsampling=0, quality=95),
        "one pixel.png": encode(writer.picture("RGB", 1, 1), "PNG"),
        "one pixel.jpg": encode(writer.picture("RGB", 1, 1), "JPEG"),
        "a line.png": encode(writer.picture("RGB", 3000, 1), "PNG"),
        "a column.jpg": encode(writer.picture("RGB", 1, 3000), "JPEG"),
        "more after the end.jpg": encode(frames[0], "JPEG") + b"and then some" * 9,
        "broken exif.jpg": encode(frames[0], "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x09\0\x1a\x01\x05\0\xff\xff"),
        "exif of noise.jpg": encode(frames[0], "JPEG", exif=b"Exif\0\0" + writer.rng.bytes(60)),
        "broken profile.jpg": encode(frames[0], "JPEG", icc_profile=writer.rng.bytes(100)),
        "broken profile.png": encode(frames[0], "PNG", icc_profile=writer.rng.bytes(100)),
    }
    for name, content in odd.items():
        writer.write(f"formats/{name}", content, good=True)
    nan = np.full((8, 8), np.nan, np.float32)
    writer.write("formats/nan.tif", encode(Image.fromarray(nan), "TIFF"), good=False)
    writer.write("formats/below zero.tif", encode(Image.fromarray(np.full((8, 8), -5, np.int32)), "TIFF"), good=False)


def _transposed(writer: _Writer) -> None:
    picture = writer.picture()
    for orientation in range(1, 9):
        for extension, format in (("jpg", "JPEG"), ("png", "PNG"), ("webp", "WEBP"), ("tif", "TIFF"), ("avif", "AVIF")):
            content = encode(picture, format, exif=exif(orientation))
            writer.write(f"transposed/{orientation}.{extension}", content, good=True)
        if HAS_HEIC:
            content = heic(picture, exif=exif(orientation).tobytes())
            writer.write(f"transposed/{orientation}.heic", content, good=True)
    writer.write("transposed/99.jpg", encode(picture, "JPEG", exif=exif(99)), good=True)


def _cut(writer: _Writer) -> None:
    for name, content in every_format(writer).items():
        stem, extension = name.split(".")
        for share in CUTS:
            writer.write(f"cut/{stem} {share:.0%}.{extension}", content[: int(share * len(content))], good=False)


def _bombs(writer: _Writer) -> None:
    zeros = zlib.compress(bytes(30_000_000), 9)
    row = b"\0" + writer.rng.bytes(12)
    text = png_chunk(b"zTXt", b"Comment\0\0" + zeros)
    million = zlib.compress(bytes(1_000_000), 9)
    many_texts = b"".join(png_chunk(b"zTXt", b"%d\0\0" % i + million) for i in range(80))
    small = encode(writer.picture(), "JPEG")
    moving = encode(writer.picture(), "WEBP", save_all=True, append_images=[writer.picture()])
    avif = encode(writer.picture(), "AVIF")
    canvas = (12_999).to_bytes(3, "little") * 2
    vp8x = b"\0" * 4 + b"\xff\xff\xff" + b"\xff\xff\0"
    vp8l = b"\x2f" + struct.pack("<I", 16383 | 16383 << 14) + b"\0" * 8
    vp8 = b"\x10\0\0\x9d\x01\x2a" + struct.pack("<HH", 16383, 16383) + b"\0" * 8
    bombs = {
        "60000.png": png(60_000, 60_000, b"\0" * 99),
        "largest.png": png(2**31 - 1, 2**31 - 1, b"\0" * 99),
        "nothing.png": png(0, 4, b""),
        "no height.png": png(4, 0, b""),
        "text.png": png(4, 1, row, before=text),
        "text at the end.png": png(4, 1, row, after=text),
        "foreign text.png": png(4, 1, row, before=png_chunk(b"iTXt", b"Comment\0\1\0\0\0" + zeros)),
        "profile.png": png(4, 1, row, before=png_chunk(b"iCCP", b"profile\0\0" + zeros)),
        "many texts.png": png(4, 1, row, before=many_texts),
        "endless chunk.png": PNG_SIGNATURE + struct.pack(">I", 2**31 - 1) + b"IHDR" + b"\0" * 99,
        "65535.gif": gif(65_535, 65_535),
        "nothing.gif": gif(0, 0),
        "frame over the edge.gif": gif(10, 10, (65_535, 65_535)),
        "60000.bmp": bmp(60_000, 60_000),
        "largest.bmp": bmp(2**31 - 1, 2**31 - 1),
        "negative.bmp": bmp(-60_000, -60_000),
        "nothing.bmp": bmp(0, 0),
        "60000.tif": tiff(60_000, 60_000),
        "largest.tif": tiff(2**32 - 1, 2**32 - 1),
        "nothing.tif": tiff(0, 0),
        "endless tag.tif": tiff(2, 2, strip_count=2**30),
        "canvas.webp": webp(b"VP8X", vp8x),
        "canvas around small frames.webp": moving[:24] + canvas + moving[30:],
        "lossless.webp": webp(b"VP8L", vp8l),
        "lossy.webp": webp(b"VP8 ", vp8),
        "65500.jpg": jpeg_with_size(small, 65_500, 65_500),
        "nothing.jpg": jpeg_with_size(small, 0, 0),
        "16000.avif": with_announced_size(avif, (40, 24), (16_000, 16_000)),
        "60000.avif": with_announced_size(avif, (40, 24), (60_000, 60_000)),
        "nothing.avif": with_announced_size(avif, (40, 24), (0, 0)),
    }
    if HAS_HEIC:
        photo, size = heic(writer.picture("RGB", 64, 64)), (64, 64)
        bombs["30000.heic"] = with_announced_size(photo, size, (30_000, 30_000))
        bombs["largest.heic"] = with_announced_size(photo, size, (2**31 - 1, 2**31 - 1))
        bombs["nothing.heic"] = with_announced_size(photo, size, (0, 0))
    for name, content in bombs.items():
        writer.write(f"bombs/{name}", content, good=False)


def _names(writer: _Writer) -> None:
    picture = encode(writer.picture(), "JPEG")
    for name in (
        "two\nlines.jpg",
        "tab\tand bell\a.jpg",
        "émoji 🦉.jpg",
        "日本語.jpg",
        "right \u202eto left.jpg",
        os.fsdecode(b"not utf-8 \xff\xfe.jpg"),
        "x" * 251 + ".jpg",
        "--help.jpg",
        "-.jpg",
        " spaces .jpg ",
        "100% {of} $it 'is' \"quoted\".jpg",
        "no extension",
        "UPPER.JPG",
        "two.dots..jpg",
        ".hidden.jpg",
    ):
        writer.write(f"names/{name}", picture, good=True)
    writer.write("names/bad\nlines.jpg", b"no image\n" * 3, good=False)
    writer.write("names/" + "y" * 251 + ".png", picture[:100], good=False)
    writer.write("names/really a png.jpg", encode(writer.picture(), "PNG"), good=True)
    writer.write("names/really a jpeg.gif", picture, good=True)
    writer.write("names/really a gif.bmp", encode(writer.picture(), "GIF"), good=True)
    writer.write("names/really a webp.txt", encode(writer.picture(), "WEBP"), good=True)
    writer.write("names/really a text.png", b"This is a text.\n", good=False)
    writer.write("names/really a page.jpg", b"<!DOCTYPE html><title>404 Not Found</title>", good=False)
    writer.write("names/really a ppm.png", encode(writer.picture(), "PPM"), good=False)
    writer.write("names/really a drawing.png", b'<svg xmlns="http://www.w3.org/2000/svg"/>', good=False)
    writer.write("names/really postscript.jpg", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", good=False)


def _places(writer: _Writer) -> None:
    picture = encode(writer.picture(), "JPEG")
    target = writer.write("places/target.jpg", picture, good=True)
    writer.path("places/empty folder.jpg", good=False).mkdir()
    writer.path("places/full folder.jpg", good=False).mkdir()
    writer.write("places/full folder.jpg/inside.jpg", picture, good=True)
    writer.path("places/link.jpg", good=True).symlink_to(target.name)
    writer.path("places/link to a link.jpg", good=True).symlink_to("link.jpg")
    writer.path("places/link to nowhere.jpg", good=False).symlink_to("gone.jpg")
    writer.path("places/link to a folder.jpg", good=False).symlink_to("empty folder.jpg")
    writer.path("places/link to itself.jpg", good=False).symlink_to("link to itself.jpg")
    writer.path("places/loop one.jpg", good=False).symlink_to("loop two.jpg")
    writer.path("places/loop two.jpg", good=False).symlink_to("loop one.jpg")
    writer.path("places/link to a device.jpg", good=False).symlink_to("/dev/zero")
    for name in ("unreadable.jpg", "unreadable.png"):
        writer.write(f"places/{name}", picture, good=IS_ROOT).chmod(0)
    os.mkfifo(writer.path("places/pipe.jpg", good=False))


def _junk(writer: _Writer) -> None:
    for extension in ("jpg", "png", "webp", "gif", "tif", "bmp", "heic", "avif"):
        writer.write(f"junk/empty.{extension}", b"", good=False)
        writer.write(f"junk/random.{extension}", b"\x01" + writer.rng.bytes(2000), good=False)
    boxes = (b"\0\0\0\x10ftypheic\0\0\0\0", b"\0\0\0\x11ftypavif\0\0\0\0\0")
    starts = (b"\xff\xd8\xff", PNG_SIGNATURE, b"RIFF\x10\0\0\0WEBPVP8 ", b"GIF89a", b"II*\0", b"MM\0*", b"BM", *boxes)
    for start in starts:
        name = start[:4].hex()
        writer.write(f"junk/only a start {name}.jpg", start, good=False)
        writer.write(f"junk/noise after a start {name}.jpg", start + b"\xf7" + writer.rng.bytes(500), good=False)
    writer.write("junk/.DS_Store", b"\0\0\0\x01Bud1" + b"\0" * 100, good=False)
    writer.write("junk/._x.jpg", b"\0\x05\x16\x07\0\x02\0\0Mac OS X        " + b"\0" * 60, good=False)
    writer.write("junk/Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, good=False)
    writer.write("junk/desktop.ini", b"[.ShellClassInfo]\r\n", good=False)
    writer.write("junk/zeros.jpg", bytes(1000), good=False)
    writer.write("junk/pointer.jpg", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", good=False)
