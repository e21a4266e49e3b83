import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageCms

import icc
from exll.features import colour
from exll.features.formats import FORMATS
from exll.features.image import read_image
from hostile import HAS_HEIC, encode, exif, heic, png, png_chunk

RNG = np.random.default_rng(7)
NOISE: NDArray[np.uint8] = RNG.integers(0, 256, (24, 40, 3), dtype=np.uint8)
PICTURE = Image.fromarray(NOISE)
# Flat fields that survive a lossy format, with colours at the edge of the gamut and well inside.
FIELDS = np.array([[0, 255, 0], [255, 0, 0], [250, 120, 40], [90, 160, 120], [200, 200, 200], [30, 20, 60]], np.uint8)
FLAT = Image.fromarray(FIELDS[None].repeat(32, 1).repeat(32, 0))
P3 = icc.rgb_profile(icc.DISPLAY_P3, name="Display P3")
ADOBE = icc.rgb_profile(icc.ADOBE_RGB, 563 / 256)
LOSSLESS = ["PNG", "WEBP", "TIFF"]
LOSSY = ["JPEG", "AVIF", pytest.param("HEIC", marks=pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif"))]


def pixels(source: Any, **options: Any) -> NDArray[np.uint8]:
    return np.asarray(read_image(source, **options))


def written(picture: Image.Image, format: str, **options: Any) -> bytes:
    if format == "HEIC":
        return heic(picture, quality=90, **options)
    return encode(picture, format, quality=95, lossless=True, **options)


def fields(source: bytes) -> NDArray[np.uint8]:
    """The colours in the middle of the fields."""
    return pixels(source)[16, 16::32]


@pytest.mark.parametrize("format", LOSSLESS)
@pytest.mark.parametrize(
    ("profile", "primaries", "gamma"), [(P3, icc.DISPLAY_P3, None), (ADOBE, icc.ADOBE_RGB, 563 / 256)]
)
def test_a_wide_gamut_is_converted_as_the_formula_says(
    format: str, profile: bytes, primaries: tuple[icc.Point, ...], gamma: float | None
) -> None:
    expected = icc.to_srgb(NOISE, primaries, gamma)
    assert np.abs(expected - NOISE).max() > 50
    assert np.abs(pixels(written(PICTURE, format, icc_profile=profile)) - expected).max() <= 2


@pytest.mark.parametrize("format", LOSSY)
def test_a_wide_gamut_is_converted_in_lossy_formats(format: str) -> None:
    plain = fields(written(FLAT, format))
    np.testing.assert_allclose(plain, FIELDS, atol=5)
    expected = icc.to_srgb(plain, icc.DISPLAY_P3)
    assert np.abs(expected - plain).max() > 20
    assert np.abs(fields(written(FLAT, format, icc_profile=P3)) - expected).max() <= 2


@pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif")
def test_a_heic_that_names_display_p3_by_numbers_is_converted() -> None:
    for primaries, transfer, converted in ((12, 13, True), (1, 13, False), (12, 16, False), (9, 16, False)):
        content = heic(FLAT, quality=90, color_primaries=primaries, transfer_characteristics=transfer)
        plain = fields(content.replace(b"colrnclx", b"freenclx"))
        expected = icc.to_srgb(plain, icc.DISPLAY_P3) if converted else plain
        assert np.abs(fields(content) - expected).max() <= 2


def test_an_avif_that_names_display_p3_by_numbers_is_converted() -> None:
    content = written(FLAT, "AVIF")
    codes = b"colrnclx\0\x01\0\x0d"
    assert content.count(codes) == 1
    plain = fields(content)
    assert (
        np.abs(fields(content.replace(codes, b"colrnclx\0\x0c\0\x0d")) - icc.to_srgb(plain, icc.DISPLAY_P3)).max() <= 2
    )
    np.testing.assert_array_equal(fields(content.replace(codes, b"colrnclx\0\x0c\0\x10")), plain)


def test_numbers_that_differ_between_the_images_of_an_avif_are_ignored() -> None:
    content = written(FLAT, "AVIF").replace(b"colrnclx\0\x01\0\x0d", b"colrnclx\0\x0c\0\x0d")
    assert "nclx_profile" in FORMATS["AVIF"](io.BytesIO(content)).info
    content += b"\0\0\0\x14freecolrnclx\0\x01\0\x0d"
    assert "nclx_profile" not in FORMATS["AVIF"](io.BytesIO(content)).info
    np.testing.assert_array_equal(fields(content), fields(written(FLAT, "AVIF")))


def test_our_display_p3_is_the_one_of_the_formula() -> None:
    content = encode(PICTURE, "PNG", icc_profile=colour.DISPLAY_P3)
    assert np.abs(pixels(content) - icc.to_srgb(NOISE, icc.DISPLAY_P3)).max() <= 2


@pytest.mark.parametrize(
    "profile",
    [
        ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
        icc.rgb_profile(icc.SRGB, name="c2"),
        icc.srgb_profile_of_1998(),
        icc.rgb_profile([(x + 0.00003, y) for x, y in icc.SRGB]),  # nearly sRGB: some colours would change by 1
    ],
)
def test_an_srgb_photo_keeps_its_very_pixels_whatever_its_profile_is_called(profile: bytes) -> None:
    for format in ("PNG", "JPEG", "WEBP", "TIFF", "AVIF"):
        np.testing.assert_array_equal(
            pixels(written(PICTURE, format, icc_profile=profile)), pixels(written(PICTURE, format))
        )


def test_a_profile_is_not_believed_to_be_srgb_by_its_name() -> None:
    content = encode(PICTURE, "PNG", icc_profile=icc.rgb_profile(icc.SRGB, 1.0, name="sRGB linear"))
    assert np.abs(pixels(content) - icc.encoded(NOISE / 255)).max() <= 2


def test_each_profile_is_examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    transform = ImageCms.ImageCmsTransform

    def build(*parts: Any, **options: Any) -> ImageCms.ImageCmsTransform:
        built.append(parts)
        return transform(*parts, **options)

    monkeypatch.setattr(ImageCms, "ImageCmsTransform", build)
    colour._converter.cache_clear()
    for _ in range(3):
        for profile in (P3, icc.rgb_profile(icc.SRGB)):
            pixels(encode(PICTURE, "JPEG", icc_profile=profile))
    assert len(built) == 2


def test_a_grey_photo_is_converted_by_a_grey_profile() -> None:
    levels = np.arange(256, dtype=np.uint8)[None].repeat(2, 0)
    expected = icc.encoded((levels / 255) ** 1.8)
    content = encode(Image.fromarray(levels), "PNG", icc_profile=icc.grey_profile(1.8))
    assert np.abs(pixels(content)[:, :, 0] - expected).max() <= 2
    deep = encode(Image.fromarray(levels.astype(np.uint16) * 257), "PNG", icc_profile=icc.grey_profile(1.8))
    np.testing.assert_array_equal(pixels(deep), pixels(content))
    same = encode(Image.fromarray(levels), "PNG", icc_profile=icc.grey_profile(icc.SRGB_CURVE))
    np.testing.assert_array_equal(pixels(same)[:, :, 0], levels)


def test_a_grey_photo_is_converted_by_an_rgb_profile_too() -> None:
    levels = np.arange(256, dtype=np.uint8)[None]
    content = encode(Image.fromarray(levels), "PNG", icc_profile=ADOBE)
    found = pixels(content)
    assert np.abs(found[:, :, 1] - icc.encoded((levels / 255) ** (563 / 256))).max() <= 2
    assert np.ptp(found.astype(int), axis=2).max() <= 1


@pytest.mark.parametrize("format", ["JPEG", "TIFF"])
def test_cmyk_is_converted_by_its_profile(format: str) -> None:
    inks = {"paper": (0, 0, 0, 0), "cyan": (255, 0, 0, 0), "black": (0, 0, 0, 255)}
    found = {}
    for name, ink in inks.items():
        content = encode(Image.new("CMYK", (16, 16), ink), format, icc_profile=icc.cmyk_profile())
        found[name] = pixels(content)[8, 8].astype(int)
    np.testing.assert_allclose(found["paper"], 255, atol=3)
    np.testing.assert_allclose(found["black"], 0, atol=3)
    # Lab (70, -35, -40): a blue that is lighter than the full cyan of no profile, and by the formulas of CIE this.
    np.testing.assert_allclose(found["cyan"], _lab_to_srgb(70, -35, -40), atol=4)


def _lab_to_srgb(lightness: float, a: float, b: float) -> NDArray[Any]:
    y = (lightness + 16) / 116
    cubes = np.array([y + a / 500, y, y - b / 200])
    xyz = np.where(cubes > 6 / 29, cubes**3, 3 * (6 / 29) ** 2 * (cubes - 4 / 29)) * icc.D50
    return icc.encoded(np.clip(np.linalg.solve(icc._to_d50() @ icc._to_xyz(icc.SRGB), xyz), 0, 1))


def test_a_profile_for_other_channels_is_ignored() -> None:
    for picture, profile in (
        (PICTURE, icc.grey_profile(1.8)),
        (PICTURE, icc.cmyk_profile()),
        (PICTURE.convert("L"), icc.cmyk_profile()),
        (PICTURE.convert("CMYK"), P3),
        (PICTURE.convert("CMYK"), icc.grey_profile(1.8)),
        (PICTURE.quantize(16), icc.grey_profile(1.8)),
    ):
        plain = pixels(encode(picture, "TIFF"))
        np.testing.assert_array_equal(pixels(encode(picture, "TIFF", icc_profile=profile)), plain)


def test_a_broken_profile_is_ignored() -> None:
    plain = pixels(encode(PICTURE, "PNG"))
    head, no_curves = P3[:128], P3.replace(b"rTRC", b"xTRC")
    for profile in (b"x", head, P3[:200], no_curves, P3.replace(b"acsp", b"nope"), bytes(300), RNG.bytes(500)):
        np.testing.assert_array_equal(pixels(encode(PICTURE, "PNG", icc_profile=profile)), plain)
    too_large = P3 + bytes(colour.LARGEST_PROFILE)
    np.testing.assert_array_equal(
        pixels(encode(PICTURE, "TIFF", icc_profile=too_large)), pixels(encode(PICTURE, "TIFF"))
    )


@pytest.mark.fuzz
@pytest.mark.parametrize("profile", [P3, icc.cmyk_profile(), icc.grey_profile(1.8)], ids=["rgb", "cmyk", "grey"])
def test_a_damaged_profile_gives_a_picture(profile: bytes) -> None:
    mode = {b"RGB ": "RGB", b"CMYK": "CMYK", b"GRAY": "L"}[profile[16:20]]
    picture = PICTURE.convert(mode)
    rng = np.random.default_rng(2)
    for _ in range(200):
        damaged = bytearray(profile[: rng.integers(130, len(profile))] if rng.random() < 0.2 else profile)
        for place in rng.integers(0, min(len(damaged), 400), size=3):
            damaged[place] = rng.integers(0, 256)
        assert read_image(encode(picture, "TIFF", icc_profile=bytes(damaged))).size == PICTURE.size


def test_colours_are_converted_before_what_is_transparent_becomes_white() -> None:
    clear = np.dstack([NOISE, RNG.integers(0, 256, NOISE.shape[:2], dtype=np.uint8)])
    opaque = clear[:, :, 3:] / 255
    expected = opaque * icc.to_srgb(NOISE, icc.DISPLAY_P3) + (1 - opaque) * 255
    for content in (
        encode(Image.fromarray(clear), "PNG", icc_profile=P3),
        encode(Image.fromarray(clear), "WEBP", icc_profile=P3, lossless=True, exact=True),
    ):
        assert np.abs(pixels(content) - expected).max() <= 2
    grey = Image.fromarray(clear[:, :, 2:])
    assert grey.mode == "LA"
    expected = opaque * icc.encoded((clear[:, :, 2:3] / 255) ** 1.8) + (1 - opaque) * 255
    assert np.abs(pixels(encode(grey, "PNG", icc_profile=icc.grey_profile(1.8))) - expected).max() <= 2


def test_the_colours_of_a_palette_are_converted() -> None:
    few = PICTURE.quantize(16)
    content = encode(few, "PNG", icc_profile=P3)
    expected = icc.to_srgb(np.asarray(few.convert("RGB")), icc.DISPLAY_P3)
    assert np.abs(pixels(content) - expected).max() <= 2
    few.info["transparency"] = few.getpixel((0, 0))
    clear = pixels(encode(few, "PNG", icc_profile=P3))
    assert clear[0, 0].tolist() == [255] * 3


def test_draft_decoding_converts_colours_as_well() -> None:
    large = FLAT.resize((FLAT.width * 8, FLAT.height * 8), Image.Resampling.NEAREST)
    content = encode(large, "JPEG", quality=95, icc_profile=P3, exif=exif(3))
    small = pixels(content, at_least=16)
    assert small.shape[:2] == (32, 192)
    np.testing.assert_allclose(small[16, 16::32][::-1], icc.to_srgb(FIELDS, icc.DISPLAY_P3), atol=4)


def test_a_pil_image_is_converted_once_and_left_alone() -> None:
    lazy = Image.open(io.BytesIO(encode(PICTURE, "PNG", icc_profile=P3)))
    once = read_image(lazy)
    assert "icc_profile" not in once.info
    assert lazy.info["icc_profile"] == P3
    np.testing.assert_array_equal(np.asarray(lazy), NOISE)
    np.testing.assert_array_equal(pixels(once), np.asarray(once))


def test_a_png_with_a_gamma_and_no_profile_stays_as_it_is() -> None:
    rows = b"".join(b"\0" + row.tobytes() for row in NOISE)
    content = png(40, 24, rows, before=png_chunk(b"gAMA", (55555).to_bytes(4, "big")))
    np.testing.assert_array_equal(pixels(content), NOISE)
