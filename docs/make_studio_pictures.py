"""Takes the pictures of the studio that docs/studio.md shows: python docs/make_studio_pictures.py, some minutes.

Teaches a studio the drawn objects of the household and looks at its pages. Needs chromium and the extra "dev".
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from exll.streams.household.scene import Recording, render

PICTURES = Path(__file__).with_name("pictures")
THINGS = ("mug", "bottle", "banana", "scissors", "clock", "plate")
FILMED = (("size", 1), ("size", 2), ("illumination", 1), ("clutter", 1))
WIDE, NARROW, COLOURS = {"width": 1100, "height": 820}, {"width": 390, "height": 844}, 128
COMMAND = [sys.executable, "-u", "-c", "from exll.cli.main import run; run()", "studio"]


def drawn(
    thing: str, take: str = "train", frame: int = 0, filmed: tuple[str, int] = FILMED[0], which: int = 1
) -> bytes:
    file = io.BytesIO()
    render(Recording(0, thing, which, *filmed, take), frame, 192).save(file, "JPEG", quality=92)
    return file.getvalue()


def teach(client: httpx.Client) -> None:
    for thing in THINGS:
        images = [drawn(thing, frame=4 * i, filmed=filmed, which=i % 3 + 1) for filmed in FILMED for i in range(4)]
        files = [("files", (f"{thing} {i}.jpg", image)) for i, image in enumerate(images)]
        client.post("/api/teach", data={"label": thing}, files=files).raise_for_status()
    for label, image in (("bottle", drawn("clock", frame=9)), ("plate", drawn("clock", frame=0))):
        files = [("files", ("photo.jpg", image))]
        client.post("/api/teach", data={"label": label, "two_labels": "true"}, files=files).raise_for_status()


def ask(page: Page, image: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a photo").click()
    chooser.value.set_files({"name": "new.jpg", "mimeType": "image/jpeg", "buffer": image})
    page.locator("#correction h2").wait_for()


def take(browser: Browser, address: str) -> None:
    def opened(view: str, dark: bool = False, narrow: bool = False) -> Page:
        page = browser.new_page(viewport=NARROW if narrow else WIDE, color_scheme="dark" if dark else "light")
        page.goto(f"{address}{view}")
        page.get_by_text("I know 6 classes").wait_for()
        return page

    save(opened("teach"), "teach")
    asked = opened("ask")
    ask(asked, drawn("mug", "test", which=2))
    asked.get_by_role("button", name="Why “").click()
    save(asked, "ask")
    save(opened("classes"), "classes")
    mapped = opened("map", dark=True)
    mapped.locator("circle[data-label='banana']").first.hover()
    save(mapped, "map")
    checked = opened("check")
    checked.locator(".verdict").nth(1).wait_for()
    save(checked, "check")
    telephone = opened("ask", dark=True, narrow=True)
    ask(telephone, drawn("scissors", "test", which=3))
    save(telephone, "phone")


def save(page: Page, name: str) -> None:
    page.wait_for_timeout(1500)  # the stream of events never lets the network rest
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS).save(PICTURES / f"studio-{name}.png", optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = str(Path(folder) / "kitchen")
        studio = subprocess.Popen([*COMMAND, project, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True)
        try:
            assert studio.stdout is not None
            address = studio.stdout.readline().split(" is open at ")[1].split()[0]
            with httpx.Client(base_url=address, timeout=120) as client:
                teach(client)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                take(browser, address)
                browser.close()
        finally:
            studio.terminate()
            studio.wait()


if __name__ == "__main__":
    main()
