import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from exll.errors import ImageError
from exll.features import image
from exll.features.decoding_memory import DecodingMemory
from exll.features.image import read_image
from hostile import HAS_HEIC, encode, heic, jpeg_with_size, png, webp, with_announced_size

PATIENCE = 60  # seconds after which a thread is taken for stuck

READ_AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from exll.errors import ImageError
from exll.features.image import read_image

def read(path):
    try:
        return read_image(path, at_least=256).size
    except ImageError as error:
        return str(error)

with ThreadPoolExecutor(6) as pool:
    for path, result in zip(sys.argv[1:], pool.map(read, sys.argv[1:])):
        print(path.rsplit("/")[-1], result)
# Not ru_maxrss, which begins with the size of the process that started this one.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


def in_thread(work: object) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_claims_that_do_not_fit_wait_their_turn_and_nobody_overtakes() -> None:
    memory, order = DecodingMemory(10), []
    waiting = []
    with memory.claim(6):
        for name, size in (("large", 8), ("small", 1)):  # the small one would fit at once

            def work(name: str = name, size: int = size) -> None:
                with memory.claim(size):
                    order.append(name)

            waiting.append(in_thread(work))
            while len(memory._queue) < len(waiting):
                pass
        assert order == []
    for thread in waiting:
        thread.join(PATIENCE)
    assert order == ["large", "small"]


def test_the_bytes_held_at_once_stay_within_the_limit() -> None:
    memory, lock, held, most = DecodingMemory(100), threading.Lock(), 0, 0
    rng = np.random.default_rng(2)

    def work(sizes: list[int]) -> None:
        nonlocal held, most
        for size in sizes:
            with memory.claim(size):
                with lock:
                    held += size
                    most = max(most, held)
                with lock:
                    held -= size

    threads = [in_thread(partial(work, rng.integers(1, 101, 200).tolist())) for _ in range(8)]
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert held == 0 < most <= 100


def test_a_thread_never_waits_for_itself_and_an_error_gives_the_memory_back() -> None:
    memory = DecodingMemory(10)

    def work() -> None:
        with memory.claim(10), memory.claim(10), memory.claim(3):
            pass
        with pytest.raises(KeyError), memory.claim(10):
            raise KeyError
        with memory.claim(99):  # all there is
            pass

    thread = in_thread(work)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_threads_read_images_one_after_the_other_where_only_one_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "DECODING", DecodingMemory(40 * 24 * 8))
    content = encode(Image.new("RGBA", (40, 24)), "PNG")
    sizes = []
    threads = [in_thread(lambda: sizes.append(read_image(content).size)) for _ in range(12)]
    for thread in threads:
        thread.join(PATIENCE)
    assert sizes == [(40, 24)] * 12


@pytest.mark.parametrize(
    ("content", "taken"),
    [
        (webp(b"VP8X", b"\0" * 4 + (7999).to_bytes(3, "little") * 2), 768),
        (jpeg_with_size(encode(Image.new("CMYK", (16, 16)), "JPEG", progressive=True), 9000, 9000), 653),
        (png(10_000, 10_000, b"", colour=6), None),
        (with_announced_size(encode(Image.new("RGB", (64, 64)), "AVIF"), (64, 64), (8400, 8400)), 592),
    ],
    ids=["WebP", "JPEG", "PNG", "AVIF"],
)
def test_an_image_that_takes_more_than_the_limit_alone_is_refused_before_it_is_decoded(
    content: bytes, taken: int | None
) -> None:
    with pytest.raises(ImageError) as caught:
        read_image(content, at_least=256)
    if taken is None:  # 400 MB for its pixels, and little more where it is reduced
        assert "cut short" in str(caught.value)
    else:
        assert f"decoding it takes {taken} MB of memory; at most 460 MB are taken." in str(caught.value)


def test_a_copy_that_does_not_fit_beside_the_picture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "DECODING", DecodingMemory(40 * 24 * 8 - 1))
    clear = Image.new("RGBA", (40, 24))
    with pytest.raises(ImageError, match="the image has 40 x 24 pixels, and decoding it takes 0 MB"):
        read_image(encode(clear, "PNG"))
    assert read_image(encode(clear.convert("RGB"), "PNG")).size == (40, 24)


def large_images(folder: Path) -> list[Path]:
    """One of 100 megapixels and others of 25, in small files: six at once would take far more than the limit."""
    side = 5000
    frames = [Image.new("P", (side, side), colour) for colour in (3, 5)]
    rgb = Image.new("RGB", (side, side), (9, 99, 200))
    contents = {
        "100 MP.png": png(10_000, 10_000, bytes(10_000 * (1 + 3 * 10_000))),
        "plain.png": encode(rgb, "PNG", compress_level=1),
        "clear.png": encode(rgb.convert("RGBA"), "PNG", compress_level=1),
        "deep.png": encode(Image.new("I;16", (side, side), 999), "PNG", compress_level=1),
        "plain.jpg": encode(rgb, "JPEG"),
        "progressive.jpg": encode(rgb, "JPEG", progressive=True),
        "cmyk.jpg": encode(rgb.convert("CMYK"), "JPEG", progressive=True),
        "moving.gif": encode(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "pages.tif": encode(rgb, "TIFF", compression="tiff_lzw", save_all=True, append_images=frames[1:]),
        "plain.avif": encode(rgb, "AVIF", speed=10),
        "plain.webp": encode(rgb, "WEBP", lossless=True, method=0),
    }
    if HAS_HEIC:
        contents["plain.heic"] = heic(rgb, quality=10, enc_params={"preset": "ultrafast"})
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the most memory that a process had")
def test_large_images_decoded_in_six_threads_take_less_than_700_mb(tmp_path: Path) -> None:
    command = [sys.executable, "-c", READ_AT_ONCE, *map(str, large_images(tmp_path))]
    *results, most = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert all(result.endswith(")") for result in results), results
    assert int(most) * 1024 < 700_000_000
