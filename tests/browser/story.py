"""What the story of the studio is about: the things in front of its camera, and photos of others."""

import csv
import io
import zipfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Page

from browser.studio_page import SLOW, Studio
from exll.streams.household.scene import Recording, render
from pictures import picture
from served import PATIENCE, as_png

MUG, PAN, BOWL = 4, 7, 9  # kinds of pictures
SHOWN, STEPS = 150, 25  # frames of one thing before the other is shown (30 a second), and different ones among them

# The strip at the left, which the network does not see, says which thing is shown and how far its turn has gone.
IN_FRONT = """([isPan, latest]) => {
  const video = document.querySelector('#preview video');
  if (!video || !video.videoWidth) return false;
  const canvas = Object.assign(document.createElement('canvas'), {width: 40, height: 30});
  const context = canvas.getContext('2d');
  context.drawImage(video, 0, 0, 40, 30);
  const [red, green] = context.getImageData(1, 15, 1, 1).data;
  return red > 128 === isPan && green / 255 < latest;
}"""


def write_clip(path: Path) -> Path:
    """What a webcam sees: a mug and a pan in turns."""
    file = io.BytesIO()
    for kind, red in ((MUG, 0), (PAN, 255)):
        for step in range(STEPS):
            frame = Image.new("RGB", (320, 240), (red, 255 * step // STEPS, 0))
            frame.paste(picture(kind, step).resize((240, 240)), (40, 0))
            for _ in range(SHOWN // STEPS):
                frame.save(file, "JPEG", quality=85)
    path.write_bytes(file.getvalue())
    return path


def wait_for(page: Page, kind: int) -> None:
    """The camera shows this thing, and goes on for a while."""
    page.wait_for_function(IN_FRONT, arg=[kind == PAN, 0.4], timeout=SLOW)


def unknown(studio: Studio) -> bytes:
    """A photo that a program has asked about and that is like nothing known."""
    scenes = [render(Recording(0, thing, 1, "clutter", 1, "train"), 0, 96) for thing in ("ball", "book", "mug")]
    for scene in (*scenes, Image.new("RGB", (96, 96)), Image.new("RGB", (96, 96), "white")):
        if studio.ask(photo := as_png(scene))["level"] == "unknown":
            return photo
    raise AssertionError("everything is known")


def in_inbox(studio: Studio, photo: bytes) -> str:
    """The number of a photo that came there: it is kept after the answer."""
    for _ in range(10 * PATIENCE):
        for group in studio.client.get("/api/inbox").json()["groups"]:
            for found in group["photos"]:
                if studio.client.get(found["image"]).content == photo:
                    return str(found["id"])
    raise AssertionError("it did not come")


def two_things(path: Path) -> Path:
    both = Image.new("RGB", (240, 120))
    both.paste(picture(MUG, 90).resize((120, 120)), (0, 0))
    both.paste(picture(BOWL, 90).resize((120, 120)), (120, 0))
    both.save(path)
    return path


def content(client: httpx.Client, project: str = "") -> list[tuple[str | bytes, ...]]:
    """All that a dataset has of its photos, in the order of teaching."""
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"{project}/api/project/images").content))
    rows = csv.DictReader(io.StringIO(archive.read("manifest.csv").decode("utf-8-sig")))
    told = ("label", "role", "name", "box")
    return [
        (*(row[name] for name in told), *(archive.read(row[file]) for file in ("file", "source") if row[file]))
        for row in rows
    ]
