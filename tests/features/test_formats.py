"""HEIC and AVIF, as telephones make them; what holds for every format is in test_image.py."""

import io
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, features

from exll.errors import ImageError
from exll.features.formats import FORMATS, image_format
from exll.features.image import read_image
from exll.installing import install_command
from hostile import HAS_HEIC, UPRIGHT, encode, exif, heic, with_announced_size

needs_heic = pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif")
HEIC = pytest.param("HEIC", marks=needs_heic)
SMALL = np.random.default_rng(4).integers(0, 256, (3, 5, 3), dtype=np.uint8)
PICTURE = Image.fromarray(SMALL).resize((80, 48), Image.Resampling.NEAREST)  # fields of 16 x 16
EXIF_ITEM, OTHER_ITEM = b"\0\0Exif\0", b"\0\0free\0"


def written(picture: Image.Image, format: str, **options: Any) -> bytes:
    if format == "HEIC":
        return heic(picture, quality=95, chroma=444, **options)
    return encode(picture, format, quality=95, subsampling="4:4:4", **options)


def fields(source: Any) -> NDArray[np.int_]:
    """The colours in the middle of the fields."""
    return np.asarray(read_image(source)).astype(int)[8::16, 8::16]


def in_tiles() -> bytes:
    content = heic(PICTURE.resize((200, 150)), tile_size=64)
    if b"grid" not in content:
        pytest.skip("this pillow-heif writes no tiles")
    return content


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(ImageError) as caught:
        read_image(source, **options)
    return str(caught.value)


@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_the_picture_is_read_from_bytes_and_from_a_path(format: str, tmp_path: Path) -> None:
    content = written(PICTURE, format)
    (tmp_path / "photo.jpg").write_bytes(content)
    for source in (content, tmp_path / "photo.jpg"):
        np.testing.assert_allclose(fields(source), SMALL, atol=8)


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_a_photo_is_transposed_once(format: str, orientation: int) -> None:
    transposed = written(PICTURE, format, exif=exif(orientation).tobytes())
    assert orientation == 1 or b"irot" in transposed or b"imir" in transposed
    np.testing.assert_allclose(fields(transposed), UPRIGHT[orientation](SMALL), atol=8)
    np.testing.assert_allclose(fields(transposed.replace(EXIF_ITEM, OTHER_ITEM)), UPRIGHT[orientation](SMALL), atol=8)


@needs_heic
def test_the_exif_of_a_heic_alone_transposes_nothing() -> None:
    transposed = written(PICTURE, "HEIC", exif=exif(6).tobytes())
    assert transposed.count(b"irot") == 1
    assert EXIF_ITEM in transposed
    np.testing.assert_allclose(fields(transposed.replace(b"irot", b"free")), SMALL, atol=8)


@needs_heic
def test_a_heic_that_pil_has_opened_is_not_transposed_again() -> None:
    from pillow_heif import HeifImageFile

    transposed = written(PICTURE, "HEIC", exif=exif(6).tobytes())
    opened = HeifImageFile(io.BytesIO(transposed))  # type: ignore[no-untyped-call]
    opened.info["exif"] = exif(6).tobytes()  # pillow-heif says 1 here; other plug-ins leave what the file says
    np.testing.assert_allclose(fields(opened), np.rot90(SMALL, -1), atol=8)


def avif_with_exif(block: Image.Exif) -> bytes:
    """PIL moves the orientation from EXIF to boxes, so it is written under another number, and that is changed."""
    block[0x0113] = 8
    content = written(PICTURE, "AVIF", exif=block)
    for order in "<>":
        content = content.replace(struct.pack(order + "HHI", 0x0113, 3, 1), struct.pack(order + "HHI", 0x0112, 3, 1))
    return content


def test_the_exif_of_an_avif_transposes_nothing() -> None:
    for boxes, expected in ((1, SMALL), (6, np.rot90(SMALL, -1))):
        content = avif_with_exif(exif(boxes))
        assert (b"irot" in content) == (boxes == 6)
        np.testing.assert_allclose(fields(content), expected, atol=8)


@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_a_broken_exif_block_neither_warns_nor_fails(format: str) -> None:
    block = exif(6)
    block[0x010F] = "some maker"
    whole = written(PICTURE, format, exif=block.tobytes())
    start = whole.index(b"II*\0" if b"II*\0" in whole else b"MM\0*")
    rng = np.random.default_rng(8)
    for _ in range(40):
        content = bytearray(whole)
        content[start : start + 22] = rng.bytes(22)
        np.testing.assert_allclose(fields(bytes(content)), np.rot90(SMALL, -1), atol=8)


@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_what_is_transparent_becomes_white(format: str) -> None:
    clear = PICTURE.convert("RGBA")
    clear.paste((9, 9, 9, 0), (0, 0, 16, 16))
    expected = SMALL.copy()
    expected[0, 0] = 255
    np.testing.assert_allclose(fields(written(clear, format)), expected, atol=8)


@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_a_grey_photo_is_read(format: str) -> None:
    np.testing.assert_allclose(
        fields(written(PICTURE.convert("L"), format))[:, :, 1], np.asarray(PICTURE.convert("L"))[8::16, 8::16], atol=8
    )


@needs_heic
def test_the_primary_image_of_a_heic_is_taken() -> None:
    others = [Image.new("RGB", (64, 64), colour) for colour in ("red", "lime")]
    for primary, expected in enumerate(([0, 0, 255], [255, 0, 0], [0, 255, 0])):
        content = heic(Image.new("RGB", (64, 64), "blue"), *others, primary_index=primary, quality=90, chroma=444)
        np.testing.assert_allclose(np.asarray(read_image(content))[32, 32], expected, atol=8)


def test_the_first_frame_of_a_moving_avif_is_taken() -> None:
    content = written(PICTURE, "AVIF", save_all=True, append_images=[Image.new("RGB", PICTURE.size, "lime")])
    assert content[8:12] == b"avis"
    np.testing.assert_allclose(fields(content), SMALL, atol=8)


@needs_heic
def test_the_preview_inside_a_heic_is_never_shown_instead_of_it() -> None:
    large = PICTURE.resize((800, 480))
    content = heic(large, thumbnails=[200])
    assert content.count(b"thmb") == 1
    assert read_image(content, at_least=40).size == (800, 480)


@needs_heic
def test_a_photo_in_tiles_is_read_whole_or_refused() -> None:
    content = in_tiles()
    whole = read_image(content)
    assert whole.size == (200, 150)
    for length in range(len(content) - 300, len(content), 7):
        assert "the file ends before its pixels do" in refusal(content[:length])
    # What some telephones add behind a photo does not make it damaged.
    for after in (b"SEFT", b"\0\0\0\x10mpvd12345678", b"\xff" * 40, b"\0" * 40):
        assert read_image(content + after).tobytes() == whole.tobytes()


@needs_heic
def test_a_box_that_is_too_long_for_32_bits_or_goes_to_the_end_is_read() -> None:
    content = heic(PICTURE)
    place = content.index(b"mdat") - 4
    size = len(content) - place
    to_the_end = content[:place] + bytes(4) + content[place + 4 :]
    assert read_image(to_the_end).size == PICTURE.size
    long = content[:place] + struct.pack(">I4sQ", 1, b"mdat", size + 8) + content[place + 8 :]
    assert "ends before its pixels" in refusal(long[:-9])
    assert "ends before its pixels" not in refusal(long)  # whole, but its pixels lie elsewhere now


@pytest.mark.parametrize(("format", "announced"), [pytest.param("HEIC", 30_000, marks=needs_heic), ("AVIF", 16_000)])
def test_a_size_over_the_limit_is_refused_by_the_header(format: str, announced: int) -> None:
    photo = Image.new("RGB", (64, 64))
    content = with_announced_size(written(photo, format), photo.size, (announced, announced))
    assert f"has {announced} x {announced} pixels; at most 100,000,000 are read" in refusal(content)
    assert "64 x 64 pixels; at most 4,095 are read" in refusal(written(photo, format), most_pixels=4095)
    assert read_image(written(photo, format), most_pixels=4096).size == photo.size


@needs_heic
def test_pixels_that_are_cropped_or_put_together_count_as_well() -> None:
    cropped = heic(PICTURE)
    assert b"clap" in cropped
    assert read_image(cropped).size == (80, 48)
    assert "80 x 64 pixels; at most 5,119 are read" in refusal(cropped, most_pixels=5119)
    tiles = with_announced_size(in_tiles(), (200, 150), (20, 20))
    assert "200 x 150 pixels; at most 29,999 are read" in refusal(tiles, most_pixels=29_999)
    assert "size signaled" in refusal(tiles)  # found out by libheif after it has decoded


@pytest.mark.parametrize("format", [HEIC, "AVIF"])
def test_opening_decodes_no_pixel(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = FORMATS[format](io.BytesIO(written(PICTURE, format)))
    kind = type(opened)
    monkeypatch.setattr(kind, "load", lambda self: pytest.fail("decoded"))
    refusal(written(PICTURE, format), most_pixels=3839)


def test_a_heic_without_its_decoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    head = struct.pack(">I4s4s4x4s", 20, b"ftyp", b"heic", b"mif1")
    sentence = f"reading HEIC photos needs pillow-heif: {install_command('heic')}."
    assert refusal(head) == sentence
    (tmp_path / "photo.heic").write_bytes(head)
    assert refusal(tmp_path / "photo.heic") == f"{tmp_path}/photo.heic: {sentence}"


def test_an_avif_without_its_decoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    content = written(PICTURE, "AVIF")
    monkeypatch.setattr(features, "check", lambda name: name != "avif")
    assert refusal(content) == "reading AVIF images needs a Pillow with AVIF in it: pip install --upgrade pillow."


@pytest.mark.parametrize(
    ("major", "others", "format"),
    [
        ("heic", ["mif1", "heic"], "HEIC"),
        ("heix", ["mif1"], "HEIC"),
        ("hevc", ["msf1"], "HEIC"),
        ("mif1", ["heic", "miaf"], "HEIC"),
        ("mif1", [], "HEIC"),
        ("avif", ["mif1"], "AVIF"),
        ("avis", ["msf1"], "AVIF"),
        ("mif1", ["miaf", "MA1B", "avif"], "AVIF"),
        ("mif1", ["mif1", "miaf", "1pic", "tmap", "MA1B", "abcd", "avif"], "AVIF"),
        ("isom", ["avif"], None),
        ("qt  ", [], None),
    ],
)
def test_brands_tell_heic_avif_and_videos_apart(major: str, others: list[str], format: str | None) -> None:
    brands = b"".join(brand.encode() for brand in others)
    head = struct.pack(">I4s4s4x", 16 + len(brands), b"ftyp", major.encode()) + brands
    assert image_format(head) == format
    assert image_format(head + b"avifheic") == format  # what follows the box does not count
    assert (f"({format}: " if format else "it looks like a video") in refusal(head)


@needs_heic
def test_pil_learns_nothing_of_heic() -> None:
    read_image(written(PICTURE, "HEIC"))
    assert "HEIF" not in Image.OPEN
    assert ".heic" not in Image.registered_extensions()
