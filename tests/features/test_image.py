import io
import os
import struct
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageFile, PngImagePlugin

import hostile
from exll.errors import ImageError
from exll.features.image import ImageSource, middle, open_regular_file, printable, read_image, resized
from hostile import HAS_HEIC, UPRIGHT, Hostile, encode, exif, heic, png, png_chunk, write_hostile_folder

Interpolation = Literal["bilinear", "bicubic", "lanczos", "nearest"]
How = Literal["short-side-crop", "squash"]
RNG = np.random.default_rng(5)
NOISE: NDArray[np.uint8] = RNG.integers(0, 256, (24, 40, 3), dtype=np.uint8)
PICTURE = Image.fromarray(NOISE)
ENCODED = {
    "jpeg": encode(PICTURE, "JPEG"),
    "progressive jpeg": encode(PICTURE, "JPEG", progressive=True),
    "png": encode(PICTURE, "PNG"),
    "palette png": encode(PICTURE.quantize(64), "PNG"),
    "webp": encode(PICTURE, "WEBP"),
    "lossless webp": encode(PICTURE, "WEBP", lossless=True),
    "gif": encode(PICTURE, "GIF"),
    "tiff": encode(PICTURE, "TIFF"),
    "lzw tiff": encode(PICTURE, "TIFF", compression="tiff_lzw"),
    "deflated tiff": encode(PICTURE, "TIFF", compression="tiff_adobe_deflate"),
    "bmp": encode(PICTURE, "BMP"),
    "avif": encode(PICTURE, "AVIF"),
    "avif with exif": encode(PICTURE, "AVIF", exif=exif(3)),
}
if HAS_HEIC:
    ENCODED |= {"heic": heic(PICTURE), "heic in tiles": heic(PICTURE, tile_size=16)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return write_hostile_folder(tmp_path_factory.mktemp("world"))


def pixels(source: ImageSource) -> NDArray[np.uint8]:
    picture = read_image(source)
    assert type(picture) is Image.Image
    assert picture.mode == "RGB"
    return np.asarray(picture)


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(ImageError) as caught:
        read_image(source, **options)
    message = str(caught.value)
    assert len(message) < 300
    assert message.isprintable()
    assert message.endswith((".", "?"))
    return message


def smooth(width: int, height: int) -> Image.Image:
    """Something with edges and slopes, as a photo has them."""
    small = np.random.default_rng(1).integers(0, 256, (height // 100, width // 100, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def resize(
    picture: Image.Image, how: How, size: int, resize_to: int, interpolation: Interpolation
) -> NDArray[np.uint8]:
    box = (0.0, 0.0, *picture.size) if how == "squash" else middle(picture.size, resize_to, size)
    return resized(picture, box, size, interpolation)


def test_every_good_file_of_the_hostile_folder_gives_a_picture(world: Hostile) -> None:
    assert len(world.good) > 100
    for path in sorted(world.good):
        assert pixels(path).size > 0, path


def test_every_bad_file_of_the_hostile_folder_is_refused_in_one_line(world: Hostile) -> None:
    assert len(world.bad) > 100
    for path in sorted(world.bad):
        assert refusal(path).startswith(printable(path) + ": "), path


@pytest.mark.filterwarnings("ignore")
def test_the_same_files_are_good_and_bad_where_warnings_are_no_errors(world: Hostile) -> None:
    for path in sorted(world.good):
        assert pixels(path).size > 0, path
    for path in sorted(world.bad):
        refusal(path)


def test_the_bytes_of_a_file_give_what_its_path_gives(world: Hostile) -> None:
    for path in sorted(path for path in world.good | world.bad if path.is_file() and os.access(path, os.R_OK)):
        content = path.read_bytes()
        if path in world.good:
            np.testing.assert_array_equal(pixels(content), pixels(path))
        else:
            assert refusal(path) == f"{printable(path)}: {refusal(content)}"


def test_the_hostile_folder_is_the_same_for_the_same_seed(world: Hostile, tmp_path: Path) -> None:
    again, other = write_hostile_folder(tmp_path / "again"), write_hostile_folder(tmp_path / "other", seed=1)
    first = contents(world)
    assert contents(again) == first
    assert contents(other).keys() == first.keys()
    assert contents(other) != first


def contents(world: Hostile) -> dict[str, bytes | None]:
    folder = Path(os.path.commonpath(world.good | world.bad))
    readable = {path: path.is_file() and os.access(path, os.R_OK) for path in world.good | world.bad}
    return {str(path.relative_to(folder)): path.read_bytes() if ok else None for path, ok in readable.items()}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_pictures_are_transposed_upright(format: str, orientation: int) -> None:
    stored = pixels(encode(PICTURE, format, lossless=True))
    transposed = encode(PICTURE, format, lossless=True, exif=exif(orientation))
    np.testing.assert_array_equal(pixels(transposed), UPRIGHT[orientation](stored))


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_a_compressed_tiff_is_transposed_once(orientation: int) -> None:
    transposed = encode(PICTURE, "TIFF", compression="tiff_lzw", exif=exif(orientation))
    np.testing.assert_array_equal(pixels(transposed), UPRIGHT[orientation](NOISE))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [("B", 1), ("H", 3), ("I", 4)])
def test_the_orientation_is_found_in_either_byte_order_and_behind_the_pixels(order: str, kind: tuple[str, int]) -> None:
    letter, number = kind
    value = struct.pack(order + letter, 6).ljust(4, b"\0")
    entries = struct.pack(order + "HHHI", 2, 0x010F, 2, 4) + b"abc\0" + struct.pack(order + "HHI", 0x0112, number, 1)
    block = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8) + entries + value
    rows = b"".join(b"\0" + row.tobytes() for row in NOISE)
    for content in (
        png(40, 24, rows, after=png_chunk(b"eXIf", block)),
        png(40, 24, rows, before=png_chunk(b"eXIf", b"Exif\0\0" + block)),
        png(40, 24, rows, before=png_chunk(b"tEXt", b"Raw profile type exif\0\nexif\n  99\n" + block.hex().encode())),
    ):
        np.testing.assert_array_equal(pixels(content), np.rot90(NOISE, -1))


def test_a_picture_that_was_transposed_is_not_transposed_again() -> None:
    once = read_image(encode(PICTURE, "PNG", exif=exif(6)))
    assert once.info == {}
    np.testing.assert_array_equal(pixels(once), np.asarray(once))
    np.testing.assert_array_equal(pixels(encode(once, "PNG")), np.asarray(once))


def test_broken_exif_neither_warns_nor_transposes() -> None:
    whole = exif(6).tobytes()
    for block in [
        *(whole[:n] for n in range(6, len(whole) - 6)),
        b"Exif\0\0nonsense",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
    ]:
        assert read_image(encode(PICTURE, "JPEG", exif=block)).size == PICTURE.size
    assert read_image(encode(PICTURE, "JPEG", exif=exif(99))).size == PICTURE.size


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_16_bit_grey_is_scaled_and_not_clipped(format: str) -> None:
    deep = np.array([[0, 128, 129, 257, 32768, 65535]], np.uint16)
    expected = [0, 0, 1, 1, 128, 255]
    assert pixels(encode(Image.fromarray(deep), format))[0, :, 0].tolist() == expected
    assert pixels(Image.fromarray(deep.astype(np.int32)))[0, :, 1].tolist() == expected
    assert pixels(Image.fromarray(deep.astype(">u2")))[0, :, 2].tolist() == expected


def test_32_bit_grey_out_of_range_is_refused() -> None:
    for value in (-1, 65536, 2**31 - 1):
        content = encode(Image.fromarray(np.full((2, 2), value, np.int32)), "TIFF")
        assert "from 0 to 65535" in refusal(content)


def test_float_pictures_go_to_1_or_to_255() -> None:
    for values in ([0.0, 0.5, 1.0], [0.0, 127.6, 255.0]):
        content = encode(Image.fromarray(np.array([values], np.float32)), "TIFF")
        assert pixels(content)[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.5, 256.0])
def test_other_float_pictures_are_refused(value: float) -> None:
    refusal(encode(Image.fromarray(np.array([[0.5, value]], np.float32)), "TIFF"))


def test_one_bit_is_black_and_white() -> None:
    picture = Image.fromarray(np.array([[True, False, True]]))
    for format in ("PNG", "TIFF", "BMP", "GIF"):
        assert pixels(encode(picture, format))[0].tolist() == [[255] * 3, [0] * 3, [255] * 3]


def test_what_is_transparent_becomes_white() -> None:
    clear = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 0, 0, 128]]], np.uint8)
    expected = [[10, 20, 30], [255, 255, 255], [127, 127, 127]]
    for source in (clear, Image.fromarray(clear), encode(Image.fromarray(clear), "PNG")):
        assert pixels(source)[0].tolist() == expected
    for format in ("WEBP", "TIFF"):
        assert pixels(encode(Image.fromarray(clear), format, lossless=True))[0, 1].tolist() == [255] * 3
    grey = Image.fromarray(np.array([[[9, 255], [9, 0]]], np.uint8))
    assert grey.mode == "LA"
    for picture in (grey, grey.convert("La")):
        assert pixels(picture)[0].tolist() == [[9] * 3, [255] * 3]


def test_transparent_colours_of_a_palette_or_a_key_become_white() -> None:
    palette = Image.new("P", (3, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90])
    palette.putdata([0, 1, 2])
    for content in (encode(palette, "PNG", transparency=1), encode(palette, "GIF", transparency=1)):
        assert pixels(content)[0].tolist() == [[10, 20, 30], [255, 255, 255], [70, 80, 90]]
    several = encode(palette, "PNG", transparency=bytes([0, 255, 0]))
    assert pixels(several)[0].tolist() == [[255, 255, 255], [40, 50, 60], [255, 255, 255]]
    key = encode(Image.fromarray(NOISE[:1, :2]), "PNG", transparency=tuple(NOISE[0, 1].tolist()))
    assert pixels(key)[0].tolist() == [NOISE[0, 0].tolist(), [255] * 3]


def test_one_clear_grey_among_65536_becomes_white() -> None:
    deep = np.array([[0, 4660, 4661, 65535]], ">u2")
    for clear, expected in ((4660, [0, 255, 18, 255]), (0, [255, 18, 18, 255]), (9, [0, 18, 18, 255])):
        content = png(
            4, 1, b"\0" + deep.tobytes(), before=png_chunk(b"tRNS", clear.to_bytes(2, "big")), colour=0, depth=16
        )
        assert pixels(content)[0].tolist() == [[level] * 3 for level in expected]
        assert pixels(Image.open(io.BytesIO(content)))[0, :, 0].tolist() == expected


@pytest.mark.parametrize(
    ("colour", "depth", "row", "clear", "expected"),
    [
        (0, 2, b"\x1b", [2], [0, 85, 255, 255]),
        (0, 4, b"\x5a\xa5", [5], [255, 170, 170, 255]),
        (0, 16, struct.pack(">4H", 0, 4660, 4661, 65535), [4660], [0, 255, 18, 255]),
        (4, 16, struct.pack(">8H", 4660, 65535, 4660, 0, 0, 65535, 0, 0), None, [18, 255, 0, 255]),
        (2, 16, struct.pack(">12H", *(4660,) * 3, *(18,) * 3, *(5000,) * 3, *(0,) * 3), [4660] * 3, [255, 0, 19, 0]),
    ],
    ids=["grey of 2 bits", "grey of 4 bits", "grey of 16 bits", "grey of 16 bits with alpha", "colours of 16 bits"],
)
@pytest.mark.parametrize("at_least", [None, 1])
def test_what_is_transparent_in_a_png_of_any_depth_becomes_white(
    colour: int,
    depth: int,
    row: bytes,
    clear: list[int] | None,
    expected: list[int],
    at_least: int | None,
) -> None:
    before = b"" if clear is None else png_chunk(b"tRNS", struct.pack(f">{len(clear)}H", *clear))
    content = png(4, 1, b"\0" + row, before=before, colour=colour, depth=depth)
    assert np.asarray(read_image(content, at_least=at_least))[0, :, 0].tolist() == expected


def test_cmyk_keeps_its_colours_in_a_jpeg_of_adobe_and_in_a_tiff() -> None:
    cyan = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    assert pixels(encode(cyan, "TIFF"))[3, 3].tolist() == [0, 255, 255]
    jpeg = encode(cyan, "JPEG")
    assert b"Adobe" in jpeg
    np.testing.assert_allclose(pixels(jpeg)[3, 3], [0, 255, 255], atol=3)


def test_the_first_of_several_frames_is_taken() -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    for format in ("GIF", "TIFF", "PNG", "WEBP", "MPO"):
        content = encode(frames[0], format, save_all=True, append_images=frames[1:], lossless=True)
        np.testing.assert_allclose(pixels(content)[5, 5], [255, 0, 0], atol=2, err_msg=format)


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(ENCODED["png"])
    np.testing.assert_array_equal(pixels(path), NOISE)
    np.testing.assert_array_equal(pixels(str(path)), NOISE)


def test_formats_off_the_list_are_refused_although_pil_reads_them() -> None:
    for format in ("PPM", "TGA", "ICO", "PCX", "EPS"):
        content = encode(PICTURE, format)
        Image.open(io.BytesIO(content)).close()
        assert "none of JPEG, PNG, WebP, GIF, TIFF, BMP, HEIC, AVIF" in refusal(content)


@pytest.mark.parametrize("name", ENCODED)
def test_a_cut_file_is_refused_unless_no_pixel_is_lost(name: str) -> None:
    content = ENCODED[name]
    whole = pixels(content)
    lengths = [*range(0, len(content) - 40, 11), *range(len(content) - 40, len(content))]
    refused = 0
    for length in lengths:
        try:
            left = pixels(content[:length])
        except ImageError:
            refused += 1
        else:
            np.testing.assert_array_equal(left, whole)
    assert refused >= len(lengths) - 25  # a PNG may lack the mark of its end


@pytest.mark.parametrize("name", ENCODED)
def test_damage_gives_a_picture_or_an_image_error_and_nothing_else(name: str) -> None:
    content = ENCODED[name]
    rng = np.random.default_rng(3)
    outcomes = set()
    for _ in range(150):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content) if rng.random() < 0.5 else 100, size=2):
            damaged[place] = rng.integers(0, 256)
        try:
            outcomes.add(read_image(bytes(damaged)).mode)
        except ImageError as error:
            outcomes.add("refused" if str(error).isprintable() else str(error))
    assert "refused" in outcomes <= {"RGB", "refused"}


def test_a_large_jpeg_is_decoded_small_and_resized_to_nearly_the_same() -> None:
    photo = encode(smooth(4000, 3000), "JPEG", quality=90)
    full = read_image(photo)
    assert full.size == (4000, 3000)
    for at_least, width in ((100, 500), (187, 500), (188, 1000), (375, 1000), (376, 2000), (750, 2000), (751, 4000)):
        assert read_image(photo, at_least=at_least).width == width
    draft = read_image(photo, at_least=180)
    for how in get_args(How):
        crops = [resize(picture, how, 160, 180, "bilinear") for picture in (full, draft)]
        assert np.abs(crops[0].astype(int) - crops[1]).mean() < 4


def test_draft_decoding_keeps_orientation_and_refuses_cut_files() -> None:
    photo = encode(smooth(1600, 1200), "JPEG", exif=exif(6))
    assert read_image(photo, at_least=100).size == (300, 400)
    refusal(photo[: len(photo) // 2], at_least=100)


def test_at_least_changes_nothing_but_the_size_of_large_jpegs() -> None:
    for content in ENCODED.values():
        for at_least in (1, 12, 24, 5000):
            if at_least > 12 or not content.startswith(b"\xff\xd8"):
                np.testing.assert_array_equal(np.asarray(read_image(content, at_least=at_least)), pixels(content))
    lazy = Image.open(io.BytesIO(ENCODED["jpeg"]))
    assert read_image(lazy, at_least=1).size == (40, 24) == lazy.size
    assert read_image(NOISE, at_least=1).size == (40, 24)
    assert "at most 900" in refusal(ENCODED["jpeg"], at_least=1, most_pixels=900)


# A HEIC holds 64 x 64 pixels at least: see test_formats.py.
@pytest.mark.parametrize("source", [*(v for k, v in ENCODED.items() if "heic" not in k), NOISE, PICTURE])
def test_pictures_over_the_limit_are_refused_and_pictures_at_the_limit_read(source: ImageSource) -> None:
    assert read_image(source, most_pixels=960).size == (40, 24)
    assert "40 x 24 pixels; at most 959 are read" in refusal(source, most_pixels=959)


def test_the_limit_is_checked_before_a_pixel_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = Image.open(io.BytesIO(ENCODED["png"]))
    for plugin in (ImageFile.ImageFile, Image.Image):
        monkeypatch.setattr(plugin, "load", lambda self: pytest.fail("decoded"))
    for source in (*ENCODED.values(), lazy):
        refusal(source, most_pixels=959)


def test_our_limit_holds_and_not_that_of_pil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 900)
    for name, content in ENCODED.items():
        if "tiff" in name:  # asks PIL's limit by itself
            assert "more pixels than PIL is set to read" in refusal(content)
        else:
            assert read_image(content).size == (40, 24)


@pytest.mark.process
@pytest.mark.filterwarnings("ignore")
def test_bombs_take_little_memory(world: Hostile) -> None:
    """In a process of its own which may take 150 MB more than it has; 60000 x 60000 pixels would take gigabytes."""
    bombs = [str(path) for path in sorted(world.bad) if path.parent.name == "bombs"]
    assert len(bombs) > 20
    code = """
import resource, sys, warnings
from exll.errors import ImageError
from exll.features.image import read_image
warnings.simplefilter("ignore")
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 150_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    try:
        read_image(path)
    except ImageError as error:
        print(error)
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the size of a process is not told here")
    done = subprocess.run([sys.executable, "-c", code, *bombs], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [refusal(path) for path in bombs]


def test_lack_of_memory_is_an_image_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ImageFile.ImageFile, "load", fail)
    assert refusal(ENCODED["png"]) == "the image needs more memory than there is."


def test_a_file_that_is_missing_empty_or_a_folder_is_refused_by_its_path(tmp_path: Path) -> None:
    empty, link, loop = tmp_path / "empty.jpg", tmp_path / "link.jpg", tmp_path / "loop.jpg"
    empty.touch()
    link.symlink_to("gone.jpg")
    loop.symlink_to("loop.jpg")
    assert refusal(tmp_path / "gone.jpg") == f"{tmp_path}/gone.jpg: there is no such file."
    assert refusal(empty) == f"{empty}: the image is empty (0 bytes)."
    assert refusal(tmp_path) == f"{tmp_path}: this is a folder, not an image."
    assert refusal(link) == f"{link}: the link leads nowhere."
    assert refusal(loop) == f"{loop}: the file cannot be opened (Too many levels of symbolic links)."
    assert refusal(empty / "below.jpg") == f"{empty}/below.jpg: the file cannot be opened (Not a directory)."
    assert "the file cannot be opened" in refusal("zero\0byte.jpg")
    assert "the file cannot be opened" in refusal("x" * 5000)
    assert "there is no such file" in refusal("lone \ud800.jpg") or "cannot be opened" in refusal("lone \ud800.jpg")
    assert refusal(b"") == "the image is empty (0 bytes)."


def test_a_file_we_may_not_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.png"
    path.write_bytes(ENCODED["png"])
    path.chmod(0)
    if hostile.IS_ROOT:  # root may read everything, so stop being root for a moment
        os.seteuid(65534)
    try:
        assert refusal(path) == f"{path}: the file cannot be opened (Permission denied)."
    finally:
        if hostile.IS_ROOT:
            os.seteuid(0)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and cannot be read")
def test_a_file_on_a_failing_disk_is_refused() -> None:
    assert "(file: Input/output error)" in refusal("/proc/self/mem")


def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jpg"
    os.mkfifo(pipe)
    messages: list[str] = []
    for path in (pipe, Path("/dev/zero"), Path("/dev/stdin")):
        thread = threading.Thread(target=lambda path=path: messages.append(refusal(path)), daemon=True)
        thread.start()
        thread.join(5)
        assert not thread.is_alive(), path
    assert messages[0] == f"{pipe}: this is a pipe or a device, not a file."
    assert messages[1] == "/dev/zero: this is a pipe or a device, not a file."


def test_open_regular_file_gives_the_content(tmp_path: Path) -> None:
    path = tmp_path / "some.bin"
    path.write_bytes(b"abc")
    with open_regular_file(path) as file:
        assert file.read() == b"abc"
    with pytest.raises(ImageError, match="folder"):
        open_regular_file(tmp_path)


def test_names_are_made_printable_and_short() -> None:
    assert printable("a\nb\r\x1b[31m\udcff.jpg") == r"a\nb\r\x1b[31m\udcff.jpg"
    assert printable("émoji 🦉.jpg") == "émoji 🦉.jpg"
    long = printable(Path("folder") / ("x" * 1000 + ".jpg"))
    assert len(long) <= 120
    assert long.startswith("folder/xxx")
    assert long.endswith("xxx.jpg")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2", bool, np.float16, np.float32, np.float64])
def test_arrays_of_every_kind_give_the_same_picture(dtype: Any) -> None:
    largest = {"u": np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 0, "b": 1, "f": 1}[np.dtype(dtype).kind]
    black_and_white = RNG.integers(0, 2, (5, 7)).astype(bool)
    for channels in ((), (1,), (3,)):
        grey = np.broadcast_to(black_and_white.reshape(5, 7, *(1,) * len(channels)), (5, 7, *channels))
        array = (grey * np.array(largest, dtype)).astype(dtype)
        before = array.copy()
        found = read_image(array)
        assert (found.size, found.mode) == ((7, 5), "RGB")
        np.testing.assert_array_equal(np.asarray(found), np.where(black_and_white, 255, 0)[:, :, None].repeat(3, 2))
        np.testing.assert_array_equal(array, before)


def test_colours_of_arrays_keep_their_order_and_views_are_read() -> None:
    np.testing.assert_array_equal(pixels(NOISE), NOISE)
    np.testing.assert_array_equal(pixels(NOISE[::2, ::-3]), NOISE[::2, ::-3])
    np.testing.assert_array_equal(pixels(NOISE.astype(np.uint16) * 257), NOISE)
    np.testing.assert_array_equal(pixels(NOISE / 255), NOISE)


def test_a_picture_does_not_share_memory_with_its_array() -> None:
    array = NOISE.copy()
    picture = read_image(array)
    array[:] = 0
    np.testing.assert_array_equal(np.asarray(picture), NOISE)


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros((2, 2), np.float32) + 1.5, "numbers from 0 to 1; they go from 1.5 to 1.5"),
        (np.array([[0.0, -0.1]]), "they go from -0.1 to 0"),
        (np.array([[0.0, np.nan]]), "nan"),
        (np.array([[0.0, np.inf]]), "inf"),
        (np.zeros((2, 2), np.int64), "got int64"),
        (np.zeros((2, 2), np.uint32), "got uint32"),
        (np.zeros((2, 2), complex), "got complex128"),
        (np.array([["a", "b"]]), "got <U1"),
        (np.array([[None]]), "got object"),
        (np.zeros(5, np.uint8), "got (5,)"),
        (np.zeros((), np.uint8), "got ()"),
        (np.zeros((2, 2, 2), np.uint8), "got (2, 2, 2)"),
        (np.zeros((1, 2, 2, 3), np.uint8), "got (1, 2, 2, 3)"),
        (np.zeros((3, 20, 20), np.uint8), "Is the channel axis first?"),
        (np.zeros((0, 4), np.uint8), "no pixels (4 x 0)"),
        (np.zeros((4, 0, 3), np.float32), "no pixels (0 x 4)"),
    ],
)
def test_other_arrays_are_refused_in_one_sentence(array: NDArray[Any], part: str) -> None:
    assert part in refusal(array)


@pytest.mark.parametrize("source", [None, 3, [1, 2], io.BytesIO(b""), object])
def test_other_things_are_refused_by_their_type(source: Any) -> None:
    assert refusal(source) == f"an image must be a path, bytes, an array or a PIL image; got {type(source).__name__}."


def test_pil_images_are_left_as_they_are() -> None:
    palette = Image.open(io.BytesIO(encode(PICTURE.quantize(8), "PNG", transparency=1, exif=exif(6))))
    palette.load()
    for picture in (palette, PICTURE, PICTURE.convert("RGBA"), PICTURE.convert("I;16"), PICTURE.convert("F")):
        before = (picture.mode, picture.size, picture.tobytes(), dict(picture.info), picture.getpalette())
        result = read_image(picture)
        result.paste("red", (0, 0, *result.size))
        assert (picture.mode, picture.size, picture.tobytes(), dict(picture.info), picture.getpalette()) == before


def test_pil_images_are_transposed_upright_and_refused_when_broken() -> None:
    transposed = Image.open(io.BytesIO(encode(PICTURE, "PNG", exif=exif(6))))
    np.testing.assert_array_equal(pixels(transposed), np.rot90(NOISE, -1))
    assert "PNG: image file is truncated" in refusal(Image.open(io.BytesIO(ENCODED["png"][:500])))
    closed = Image.open(io.BytesIO(ENCODED["png"]))
    closed.close()
    refusal(closed)


def test_threads_read_what_one_thread_reads_and_no_global_state_changes(world: Hostile) -> None:
    def outcome(path: Path) -> bytes | str:
        try:
            return read_image(path, at_least=5).tobytes()
        except ImageError as error:
            return str(error)

    state = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, PngImagePlugin.MAX_TEXT_CHUNK)
    filters = list(warnings.filters)
    paths = sorted(world.good | world.bad)
    expected = [outcome(path) for path in paths]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(outcome, paths + paths)) == expected + expected
    assert state == (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, PngImagePlugin.MAX_TEXT_CHUNK)
    assert list(warnings.filters) == filters


@pytest.mark.parametrize("interpolation", get_args(Interpolation))
@pytest.mark.parametrize("size", [(64, 48), (48, 64), (50, 50), (37, 301), (500, 33), (301, 120)])
def test_short_side_crop_is_resizing_and_then_cutting(size: tuple[int, int], interpolation: Interpolation) -> None:
    picture = smooth(1600, 1200).resize(size)
    short = min(size)
    for resize_to, crop in ((32, 28), (33, 28), (28, 28), (70, 64)):
        whole = picture.resize(
            (resize_to * size[0] // short, resize_to * size[1] // short), Image.Resampling[interpolation.upper()]
        )
        left, top = (whole.width - crop) // 2, (whole.height - crop) // 2
        expected = np.asarray(whole)[top : top + crop, left : left + crop].astype(int)
        found = resize(picture, "short-side-crop", crop, resize_to, interpolation)
        assert found.shape == (crop, crop, 3)
        assert found.dtype == np.uint8
        if interpolation == "nearest":  # halfway between two pixels, rounding may choose either for a row or a column
            assert (found == expected).mean() > 0.8
        else:
            assert np.abs(found - expected).max() <= 2


def test_the_crop_is_the_middle_of_the_long_side() -> None:
    stripes = np.repeat(np.arange(0, 250, 2, dtype=np.uint8)[None, :], 25, 0)
    crop = resize(read_image(stripes), "short-side-crop", 25, 25, "bilinear")
    np.testing.assert_array_equal(crop[:, :, 0], stripes[:, 50:75])
    np.testing.assert_array_equal(
        resize(read_image(stripes.T), "short-side-crop", 25, 25, "bilinear")[:, :, 0], stripes.T[50:75]
    )


@pytest.mark.parametrize("interpolation", get_args(Interpolation))
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (3, 2), (1, 100_000), (100_000, 1), (7, 5)])
def test_tiny_and_thin_pictures_are_resized_without_a_border(
    size: tuple[int, int], interpolation: Interpolation
) -> None:
    picture = Image.new("RGB", size, (10, 200, 90))
    for how in get_args(How):
        found = resize(picture, how, 224, 256, interpolation)
        np.testing.assert_array_equal(found, np.broadcast_to(np.array([10, 200, 90], np.uint8), (224, 224, 3)))


@pytest.mark.parametrize("interpolation", get_args(Interpolation))
def test_squash_takes_the_whole_picture(interpolation: Interpolation) -> None:
    expected = np.asarray(PICTURE.resize((16, 16), Image.Resampling[interpolation.upper()]))
    found = resize(PICTURE, "squash", 16, 99, interpolation)
    np.testing.assert_array_equal(found, expected)
    found[:] = 0  # an array of its own
    np.testing.assert_array_equal(np.asarray(PICTURE), NOISE)


def test_a_jpeg_of_very_many_scans_is_refused_unread() -> None:
    encoded = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(encoded, "JPEG", progressive=True)
    content = encoded.getvalue()
    assert read_image(content).size == (64, 64)
    scan = content.rindex(b"\xff\xda")
    repeated = content[:-2] + content[scan:-2] * 200 + content[-2:]
    with pytest.raises(ImageError, match="scans; at most 100"):
        read_image(repeated)
