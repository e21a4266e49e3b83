"""Damaged files of every small kind: what comes out is a picture, an array or an error of ours."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from exll.errors import ImageError, StreamError
from exll.features.image import read_image
from exll.streams.feature_file import read_features
from hostile import HAS_HEIC, encode, exif, heic, png, png_chunk

MUTATIONS = 300
RNG = np.random.default_rng(11)
NOISE = RNG.integers(0, 256, (24, 40, 4), dtype=np.uint8)
CLEAR = Image.fromarray(NOISE, "RGBA")
PICTURE = CLEAR.convert("RGB")
DEEP = Image.fromarray(RNG.integers(0, 65536, (24, 40), dtype=np.uint16))
GREY_ROWS = b"".join(b"\0" + row.astype(">u2").tobytes() for row in np.asarray(DEEP))
FRAMES = [PICTURE.transpose(Image.Transpose.ROTATE_180)]

IMAGES = {
    "jpeg": encode(PICTURE, "JPEG", exif=exif(6)),
    "progressive jpeg": encode(PICTURE, "JPEG", progressive=True, subsampling=0),
    "cmyk jpeg": encode(PICTURE.convert("CMYK"), "JPEG"),
    "png": encode(PICTURE, "PNG", exif=exif(8)),
    "png with alpha": encode(CLEAR, "PNG"),
    "palette png": encode(PICTURE.quantize(16), "PNG", transparency=bytes(range(16))),
    "clear 16-bit png": png(40, 24, GREY_ROWS, before=png_chunk(b"tRNS", b"\1\2"), colour=0, depth=16),
    "gif": encode(PICTURE, "GIF", save_all=True, append_images=FRAMES, transparency=3),
    "tiff": encode(PICTURE, "TIFF"),
    "lzw tiff": encode(CLEAR, "TIFF", compression="tiff_lzw"),
    "float tiff": encode(Image.fromarray(NOISE[:, :, 0].astype(np.float32)), "TIFF"),
    "bmp": encode(PICTURE, "BMP"),
    "palette bmp": encode(PICTURE.quantize(16), "BMP"),
    "webp": encode(PICTURE, "WEBP"),
    "lossless webp": encode(CLEAR, "WEBP", lossless=True, exif=exif(3)),
    "moving webp": encode(PICTURE, "WEBP", save_all=True, append_images=FRAMES),
    "avif": encode(CLEAR, "AVIF"),
}
if HAS_HEIC:
    IMAGES |= {"heic": heic(PICTURE), "heic in tiles": heic(PICTURE, tile_size=16)}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, numbers made extreme, pieces left out, repeated or moved; mostly near the beginning."""
    result = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(0, len(result) if rng.random() < 0.5 else min(len(result), 200)))
        length = int(rng.integers(1, 40))
        match rng.integers(0, 6):
            case 0:
                result[place] = rng.integers(0, 256)
            case 1:
                result[place] ^= 1 << int(rng.integers(0, 8))
            case 2:
                extreme = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF][rng.integers(0, 6)]
                result[place : place + 4] = struct.pack("<I" if rng.random() < 0.5 else ">I", extreme)
            case 3:
                del result[place : place + length]
            case 4:
                result[place:place] = result[place : place + length]
            case _:
                result[place : place + length] = rng.bytes(length)
        if not result:
            break
    return bytes(result)


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IMAGES)
def test_a_damaged_image_gives_a_picture_or_one_sentence(name: str) -> None:
    rng, refusals = np.random.default_rng(17), []
    assert read_image(IMAGES[name]).mode == "RGB"
    for number in range(MUTATIONS):
        try:
            picture = read_image(damaged(IMAGES[name], rng), at_least=8 if number % 2 else None, most_pixels=10**6)
        except ImageError as error:
            refusals.append(str(error))
        else:
            assert picture.mode == "RGB", number
            assert np.asarray(picture).size > 0
    assert refusals
    assert all(sentence.isprintable() and sentence.endswith(".") for sentence in refusals)


def feature_files() -> dict[str, bytes]:
    rows = {
        "X": RNG.normal(size=(4, 3)).astype(np.float32),
        "y": np.array([1, 0, 1, 1]),
        "class_names": np.array(["cup", "mug"]),
        "split": np.array(["train", "test", "train", ""]),
        "frame": np.arange(4),
        "path": np.array([b"a.jpg", b"b.jpg", b"", b"d.jpg"]),
    }
    stored, deflated = io.BytesIO(), io.BytesIO()
    np.savez(stored, allow_pickle=False, **rows)
    np.savez_compressed(deflated, allow_pickle=False, **rows)
    return {"stored": stored.getvalue(), "deflated": deflated.getvalue()}


FEATURE_FILES = feature_files()


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FEATURE_FILES)
@pytest.mark.parametrize("inside", [False, True])
def test_a_damaged_feature_file_gives_vectors_or_one_sentence(name: str, inside: bool, tmp_path: Path) -> None:
    rng, refusals, source = np.random.default_rng(19), [], tmp_path / "features.npz"
    for number in range(MUTATIONS):
        content = FEATURE_FILES[name]
        source.write_bytes(damaged_inside(content, rng) if inside else damaged(content, rng))
        try:
            examples, vectors = read_features(source, "train" if number % 3 == 0 else None)
        except StreamError as error:
            refusals.append(str(error))
        else:
            assert vectors.dtype == np.float32
            for example in examples:
                example.label.encode(errors="surrogatepass")
    assert refusals
    assert all(sentence.isprintable() and sentence.endswith(".") for sentence in refusals)


def damaged_inside(content: bytes, rng: np.random.Generator) -> bytes:
    """One array of the file damaged and packed again, so that no checksum gives it away."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = names[rng.integers(0, len(names))]
        for name in names:
            new.writestr(name, damaged(old.read(name), rng) if name == chosen else old.read(name))
    return file.getvalue()
