"""Makes the recording of the Workbench that the README shows: python docs/make_recording.py DATA, two minutes.

DATA is GroceryStore's folder with ``train`` and ``test``, one sub-folder per class. Its photos are what the browser's
camera sees. Needs chromium and the extra "dev".
"""

import base64
import io
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
from make_studio_pictures import PICTURES, chromium, running, send
from PIL import Image
from playwright.sync_api import Locator, Page

TAUGHT = {"kiwi": "Kiwi", "avocado": "Avocado"}  # before the recording begins
TURNS = (  # in front of the camera, one after the other, over and over
    [f"train/Lemon/Lemon_{number:03d}.jpg" for number in (5, 25, 19)],
    [f"train/Banana/Banana_{number:03d}.jpg" for number in (1, 7, 13, 19)],
    ["test/Lemon/Lemon_012.jpg", "test/Lemon/Lemon_008.jpg"],
    ["test/Kiwi/Kiwi_014.jpg"],
)
LEMON, BANANA, NEW_LEMON, KIWI = range(len(TURNS))
RATE, TURN = 15, 6  # pictures per second of the camera, and seconds of one turn
VIEW, WIDTH = {"width": 1220, "height": 800}, 1000
EACH, LONGEST, LAST = 110, 150, 2500  # milliseconds between two pictures, that one stands at most, and the last one

# The strip at the left, which the page does not show, says which turn it is and how far it has gone.
IN_FRONT = """([turn, latest]) => {
  const video = document.querySelector('#preview video');
  const canvas = Object.assign(document.createElement('canvas'), {width: 64, height: 48});
  const context = canvas.getContext('2d');
  context.drawImage(video, 0, 0, 64, 48);
  const [red, green] = context.getImageData(2, 24, 1, 1).data;
  return Math.round(red / 60) === turn && green / 250 < latest;
}"""
POINTER = """() => {
  const dot = document.createElement('div');
  Object.assign(dot.style, {position: 'fixed', zIndex: 99, width: '22px', height: '22px', margin: '-11px',
    borderRadius: '50%', border: '2px solid #fff', background: 'rgb(214 84 0 / 75%)', pointerEvents: 'none',
    boxShadow: '0 0 0 1px rgb(0 0 0 / 40%)', left: '900px', top: '640px'});
  document.body.append(dot);
  const on = (kind, act) => addEventListener(kind, act, {capture: true, passive: true});
  on('pointermove', (event) => Object.assign(dot.style, {left: `${event.clientX}px`, top: `${event.clientY}px`}));
  on('pointerdown', () => (dot.style.transform = 'scale(1.5)'));
  on('pointerup', () => (dot.style.transform = ''));
}"""


def write_clip(path: Path, data: Path) -> Path:
    """Photos that drift a little, as in a hand that is not quite still."""
    file = io.BytesIO()
    for turn, names in enumerate(TURNS):
        photos = [Image.open(data / name).convert("RGB") for name in names]
        for i in range(frames := RATE * TURN):
            at = len(photos) * i / frames
            photo, share = photos[int(at)], at % 1
            side, moved = photo.width * (0.84 + 0.1 * share), 0.06 * photo.width * share
            seen = photo.resize((480, 480), Image.Resampling.BICUBIC, (moved, moved, moved + side, moved + side))
            frame = Image.new("RGB", (640, 480), (60 * turn, 250 * i // frames, 0))
            frame.paste(seen, (80, 0))
            for _ in range(30 // RATE):  # chromium shows 30 per second
                frame.save(file, "JPEG", quality=90)
    path.write_bytes(file.getvalue())
    return path


class Recorder:
    """What a page shows, and what is done on it meanwhile."""

    def __init__(self, page: Page) -> None:
        self.page, self.pictures, self.times, self.at = page, list[bytes](), list[float](), (900.0, 640.0)
        self.newest: dict[str, Any] = {}
        self.browser = page.context.new_cdp_session(page)
        self.browser.on("Page.screencastFrame", lambda event: self.newest.update(event))
        self.browser.send("Page.startScreencast", {"format": "jpeg", "quality": 95})

    def watch(self, seconds: float) -> None:
        """The browser sends the next picture when the last was taken."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.page.wait_for_timeout(EACH)
            if self.newest:
                self.pictures.append(base64.b64decode(self.newest["data"]))
                self.times.append(time.monotonic())
                self.browser.send("Page.screencastFrameAck", {"sessionId": self.newest["sessionId"]})
                self.newest.clear()

    def go_to(self, place: Locator) -> None:
        box = place.bounding_box()
        assert box is not None
        to = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for share in (0.3, 0.7, 1.0):
            self.page.mouse.move(*(start + share * (end - start) for start, end in zip(self.at, to, strict=True)))
            self.watch(0.12)
        self.at = to

    def click(self, place: Locator) -> None:
        self.go_to(place)
        self.page.mouse.down()
        self.watch(0.12)
        self.page.mouse.up()

    def record(self, label: str, turn: int) -> None:
        self.click(self.page.locator("#new-label"))
        for letter in label:
            self.page.keyboard.type(letter)
            self.watch(0.1)
        self.page.keyboard.press("Enter")
        self.go_to(self.page.locator(f'.card[data-label="{label}"] .hold'))
        self.wait_for(turn)
        self.page.mouse.down()
        self.watch(2.8)
        self.page.mouse.up()
        self.watch(0.7)

    def wait_for(self, turn: int) -> None:
        """Not seen on the recording."""
        self.page.wait_for_function(IN_FRONT, arg=[turn, 0.2], timeout=2000 * TURN * len(TURNS))

    def save(self, path: Path) -> None:
        gaps = [round(1000 * (after - before)) for before, after in pairwise(self.times)]
        durations = [min(gap, LONGEST) for gap in gaps] + [LAST]
        first, *rest = (small(picture) for picture in self.pictures)
        first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, quality=68, method=4)
        sys.stdout.write(
            f"{path}: {len(durations)} pictures, {sum(durations) / 1000:.1f} s, {path.stat().st_size / 1e6:.2f} MB\n"
        )


def small(picture: bytes) -> Image.Image:
    shot = Image.open(io.BytesIO(picture))
    return shot.resize((WIDTH, WIDTH * shot.height // shot.width), Image.Resampling.LANCZOS)


def act(page: Page) -> Recorder:
    page.evaluate(POINTER)
    recorder = Recorder(page)
    recorder.click(page.locator("#live"))
    page.locator("#preview video").wait_for()
    recorder.watch(0.8)
    recorder.wait_for(BANANA)
    recorder.watch(0.8)
    recorder.record("banana", BANANA)
    recorder.record("lemon", LEMON)
    recorder.wait_for(NEW_LEMON)
    recorder.watch(1.2)
    recorder.click(page.locator("#explain"))
    page.locator("#evidence section").last.wait_for()
    recorder.watch(2.2)
    recorder.click(page.locator("#freeze"))
    recorder.wait_for(KIWI)
    recorder.watch(1.2)
    recorder.click(page.locator('.guess[data-label="kiwi"]'))
    recorder.watch(1.5)
    return recorder


def main(data: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, running("groceries") as address:
        clip = write_clip(Path(folder) / "clip.mjpeg", data)
        with httpx.Client(base_url=address, timeout=120) as client:
            for label, name in TAUGHT.items():
                for start in range(2):
                    send(client, label, sorted((data / "train" / name).iterdir())[4 * start : 32 + 4 * start : 8])
        flags = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
        with chromium(*flags, f"--use-file-for-fake-video-capture={clip}") as browser:
            page = browser.new_page(viewport=VIEW)
            page.goto(address)
            page.get_by_text("I know 2 classes").wait_for()
            page.wait_for_timeout(1500)  # all is drawn
            act(page).save(PICTURES / "studio.webp")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/make_recording.py DATA")
    main(Path(sys.argv[1]))
