import numpy as np
import pytest
from PIL import Image

from exll.features import image, upright
from exll.features.image import read_image
from hostile import UPRIGHT, encode, exif

NOISE = np.random.default_rng(8).integers(0, 256, (37, 53, 4), dtype=np.uint8)
PICTURE = Image.fromarray(NOISE, "RGBA")
DEEP = Image.fromarray(NOISE[:, :, 0].astype(np.uint16) * 257)
SOURCES = {
    "colour": encode(PICTURE.convert("RGB"), "PNG"),
    "alpha": encode(PICTURE, "PNG"),
    "palette": encode(PICTURE.convert("RGB").quantize(16), "PNG", transparency=3),
    "grey": encode(PICTURE.convert("LA"), "PNG"),
    "16 bits": encode(DEEP, "PNG"),
    "floats": encode(Image.fromarray(NOISE[:, :, 0].astype(np.float32) / 255), "TIFF"),
    "cmyk": encode(PICTURE.convert("RGB").convert("CMYK"), "TIFF"),
    "webp": encode(PICTURE, "WEBP", lossless=True),
}


@pytest.mark.parametrize("name", SOURCES)
def test_strips_give_the_picture_that_the_whole_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.asarray(read_image(SOURCES[name]))
    for pixels in (1, 53, 53 * 5, 53 * 36):
        monkeypatch.setattr(upright, "STRIP_PIXELS", pixels)
        np.testing.assert_array_equal(np.asarray(read_image(SOURCES[name])), whole)


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_strips_are_put_where_they_belong(orientation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upright, "STRIP_PIXELS", 53 * 5)
    content = encode(PICTURE.convert("RGB"), "PNG", exif=exif(orientation))
    np.testing.assert_array_equal(np.asarray(read_image(content)), UPRIGHT[orientation](NOISE[:, :, :3]))


@pytest.mark.parametrize("name", SOURCES)
def test_a_large_picture_is_reduced_to_no_less_than_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_image(SOURCES[name])
    monkeypatch.setattr(upright, "STRIP_PIXELS", 53 * 5)
    assert read_image(SOURCES[name], at_least=4).size == (53, 37)
    monkeypatch.setattr(image, "MOST_PIXELS_KEPT", 1000)
    for at_least, factor in ((19, 1), (9, 2), (6, 3), (4, 4), (1, 18)):
        reduced = read_image(SOURCES[name], at_least=at_least)
        assert reduced.tobytes() == whole.reduce(factor).tobytes()


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_a_reduced_picture_is_upright_too(orientation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upright, "STRIP_PIXELS", 53 * 5)
    monkeypatch.setattr(image, "MOST_PIXELS_KEPT", 1000)
    stored = np.asarray(PICTURE.convert("RGB").reduce(3))
    content = encode(PICTURE.convert("RGB"), "PNG", exif=exif(orientation))
    np.testing.assert_array_equal(np.asarray(read_image(content, at_least=6)), UPRIGHT[orientation](stored))
