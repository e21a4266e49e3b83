"""Takes the pictures of the studio that docs/studio.md shows: python docs/make_studio_pictures.py DATA, a minute.

DATA is GroceryStore's folder with ``train`` and ``test``, one sub-folder per class. Teaches a studio some photos of six
classes and looks at its pages. Needs chromium and the extra "dev".
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

PICTURES = Path(__file__).with_name("pictures")
CLASSES = {
    "avocado": "Avocado",
    "banana": "Banana",
    "kiwi": "Kiwi",
    "lemon": "Lemon",
    "orange": "Orange",
    "red pepper": "Red-Bell-Pepper",
}
ROUNDS, EACH = 4, 8  # photos of a class that are taught in one go, and how often
ASKED = ("lemon", "Lemon_022.jpg"), ("avocado", "Avocado_004.jpg")
WIDE, NARROW, COLOURS = {"width": 1280, "height": 820}, {"width": 390, "height": 844}, 256
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
COMMAND = [sys.executable, "-u", "-c", "from exll.cli.main import run; run()", "studio"]


def teach(client: httpx.Client, data: Path) -> None:
    def send(label: str, photos: list[Path], **more: str) -> None:
        files = [("files", (photo.name, photo.read_bytes())) for photo in photos]
        client.post("/api/teach", data={"label": label, **more}, files=files).raise_for_status()

    photos = {name: sorted((data / "train" / folder).iterdir()) for name, folder in CLASSES.items()}
    for start in range(ROUNDS):
        for name in CLASSES:
            send(name, photos[name][start::ROUNDS][:EACH])  # neighbours are nearly alike
    send("lemon", [photos["banana"][ROUNDS * EACH]])
    send("red pepper", [photos["banana"][0]], two_labels="true")


def ask(page: Page, photo: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a photo").click()
    chooser.value.set_files({"name": "new.jpg", "mimeType": "image/jpeg", "buffer": photo.read_bytes()})
    page.locator(".guess.best").wait_for()


def make_pictures(browser: Browser, address: str, data: Path) -> None:
    def opened(view: str, dark: bool = False, narrow: bool = False) -> Page:
        page = browser.new_page(viewport=NARROW if narrow else WIDE, color_scheme="dark" if dark else "light")
        page.goto(f"{address}{view}")
        page.get_by_text("I know 6 classes").wait_for()
        return page

    photos = [data / "test" / CLASSES[name] / file for name, file in ASKED]
    page = opened("workbench")
    ask(page, photos[0])
    save(page, "workbench")
    page.get_by_role("button", name="Why?").click()
    save(page, "why")
    save(opened("classes"), "classes")
    mapped = opened("map", dark=True)
    mapped.locator(".group[data-k='1']").first.click()
    save(mapped, "map")
    save(opened("sort?left=lemon&right=orange"), "sort")
    large = opened("classes")
    large.locator(".rule .photo").first.click()
    large.get_by_role("button", name="Draw a region").click()
    save(large, "viewer")
    checked = opened("check")
    checked.locator(".verdict").nth(1).wait_for()
    save(checked, "check")
    telephone = opened("workbench", dark=True, narrow=True)
    ask(telephone, photos[1])
    save(telephone, "phone")


def save(page: Page, name: str) -> None:
    page.wait_for_timeout(1500)  # the stream of events never lets the network rest
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS, kmeans=1).save(PICTURES / f"studio-{name}.png", optimize=True)


def main(data: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = str(Path(folder) / "groceries")
        studio = subprocess.Popen([*COMMAND, project, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True)
        try:
            assert studio.stdout is not None
            address = studio.stdout.readline().split(" is open at ")[1].split()[0]
            with httpx.Client(base_url=address, timeout=120) as client:
                teach(client, data)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
                make_pictures(browser, address, data)
                browser.close()
        finally:
            studio.terminate()
            studio.wait()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/make_studio_pictures.py DATA")
    main(Path(sys.argv[1]))
