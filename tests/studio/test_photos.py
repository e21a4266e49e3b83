"""Photos in formats that browsers cannot show: taught and asked like all others, and shown as something else."""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import exll.studio
import icc
from exll.features.formats import FORMATS
from exll.features.image import read_image
from exll.streams.folder import IMAGE_SUFFIXES, is_image_name
from exll.studio.pictures import LONGEST_SIDE_SHOWN, MEDIA_TYPES, for_browsers
from hostile import HAS_HEIC, encode, exif, heic
from pictures import picture
from served import Served, png

STATIC = Path(exll.studio.__file__).parent / "static" / "js"
P3 = icc.rgb_profile(icc.DISPLAY_P3)
needs_heic = pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif")


def photo(format: str, seed: int = 1) -> bytes:
    """Lying on its side and in Display P3, as a telephone makes it."""
    lying = picture(0, seed).convert("RGB").resize((5, 4)).resize((80, 64))
    if format == "HEIC":
        return heic(lying, exif=exif(6).tobytes(), icc_profile=P3)
    return encode(lying, format, exif=exif(6), icc_profile=P3)


@pytest.mark.parametrize("format", [pytest.param("HEIC", marks=needs_heic), "AVIF", "TIFF"])
def test_a_photo_is_shown_as_a_picture_that_every_browser_knows(studio: Served, format: str) -> None:
    content = photo(format)
    (number,) = studio.taught("mug", content)
    studio.taught("pan", png(1, 1), png(1, 2))
    asked = studio.ask(photo(format, 2), "/api/explain").json()
    assert studio.ask(content).json()["taught_as"][0]["id"] == number
    expected = {f"/api/examples/{number}/image": content, asked["image"]: photo(format, 2)}
    for address, original in expected.items():
        response = studio.client.get(address)
        assert response.headers["content-type"] == "image/webp"
        shown = Image.open(io.BytesIO(response.content))
        assert (shown.format, shown.size) == ("WEBP", (64, 80))
        difference = np.asarray(shown.convert("RGB")).astype(int) - np.asarray(read_image(original))
        assert np.abs(difference).mean() < 6
    assert studio.client.get(f"/api/examples/{number}/thumbnail").status_code == 200
    with zipfile.ZipFile(io.BytesIO(studio.client.get("/api/project/images").content)) as archive:
        (name,) = (name for name in archive.namelist() if name.startswith("mug/"))
        assert is_image_name(name)
        assert archive.read(name) == content


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WebP", "GIF"])
def test_what_every_browser_shows_goes_out_as_it_came(format: str) -> None:
    content = encode(picture(0, 1), format.upper())
    assert for_browsers(content, format) == (content, MEDIA_TYPES[format])


def test_a_picture_too_long_for_webp_is_shown_smaller() -> None:
    content, media_type = for_browsers(encode(Image.new("RGB", (20_000, 40), "red"), "TIFF"), "TIFF")
    assert media_type == "image/webp"
    assert Image.open(io.BytesIO(content)).size == (LONGEST_SIDE_SHOWN, 8)


def test_every_format_has_a_media_type_and_a_name_that_the_pages_take() -> None:
    assert MEDIA_TYPES.keys() == FORMATS.keys()
    script = (STATIC / "dropzone.js").read_text()
    (known,) = re.findall(r"PICTURE = /(.*)/i;", script)
    assert all(re.search(known, f"photo{suffix}") for suffix in IMAGE_SUFFIXES)
    assert not re.search(known, "photo.mp4")
    (accepted,) = re.findall(r'PICTURES = "(.*)";', script)
    assert {".heic", ".heif", ".hif", ".avif"} <= set(accepted.split(","))
