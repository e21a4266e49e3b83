"""Takes the pictures of the studio that docs/studio.md shows: python docs/make_studio_pictures.py DATA, a minute.

DATA is GroceryStore's folder with ``train`` and ``test``, one sub-folder per class. Teaches a studio some photos of six
classes, asks about others, and looks at its pages. Needs chromium and the extra "dev".
"""

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
ASKED = ("kiwi", "Kiwi_026.jpg"), ("avocado", "Avocado_004.jpg")
NOT_TAUGHT = ("Pineapple", "Cabbage", "Red-Beet")  # asked about by a program
WIDE, NARROW = (1280, 820), (390, 844)
LARGEST, COLOURS = 250_000, (256, 160, 96)  # bytes of a picture, and how many colours it may have
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
COMMAND = [sys.executable, "-u", "-c", "from exll.cli.main import run; run()", "studio"]


def teach(client: httpx.Client, data: Path) -> None:
    photos = {name: sorted((data / "train" / folder).iterdir()) for name, folder in CLASSES.items()}
    for start in range(ROUNDS):
        for name in CLASSES:
            send(client, name, photos[name][start::ROUNDS][:EACH])  # neighbours are nearly alike
    for name, folder in CLASSES.items():
        send(client, name, sorted((data / "test" / folder).iterdir())[-12:], held_out="true")
    client.post("/api/versions", json={"name": "before the bananas got mixed up"}).raise_for_status()
    send(client, "lemon", [photos["banana"][ROUNDS * EACH]])
    send(client, "red pepper", [photos["banana"][0]], two_labels="true")
    for name in ("kitchen", "toolbox"):
        client.post("/api/projects", json={"name": name}).raise_for_status()


def fill_inbox(client: httpx.Client, data: Path) -> None:
    for folder in NOT_TAUGHT:
        for photo in sorted((data / "test" / folder).iterdir())[:5]:
            client.post("/api/predict", files={"file": (photo.name, photo.read_bytes())}).raise_for_status()


def ask(page: Page, photo: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a photo").click()
    chooser.value.set_files({"name": "new.jpg", "mimeType": "image/jpeg", "buffer": photo.read_bytes()})
    page.locator(".guess.best").wait_for()


def make_pictures(browser: Browser, address: str, data: Path) -> None:
    def opened(view: str, size: tuple[int, int] = WIDE, dark: bool = False) -> Page:
        width, height = size
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
        page.goto(f"{address}{view}")
        page.get_by_text("I know 6 classes").wait_for()
        return page

    photos = [data / "test" / CLASSES[name] / file for name, file in ASKED]
    page = opened("workbench")
    ask(page, photos[0])
    save(page, "workbench")
    page.get_by_role("button", name="Why?").click()
    save(page, "why")
    phone = opened("workbench", NARROW, dark=True)
    ask(phone, photos[1])
    save(phone, "phone")
    inbox = opened("inbox")
    inbox.locator(".group").nth(1).wait_for()
    save(inbox, "inbox")
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
    measured = opened("evaluation", (1280, 1390))
    measured.locator("svg.curve").wait_for(timeout=120_000)
    save(measured, "evaluation")
    for view in ("history", "export", "project"):
        save(opened(view), view)


def save(page: Page, name: str) -> None:
    page.wait_for_timeout(1500)  # the stream of events never lets the network rest
    page.evaluate("scrollTo(0, 0)")
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"studio-{name}.png"
    for colours in COLOURS:
        shot.quantize(colours, kmeans=1).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            return


@contextmanager
def running(name: str) -> Iterator[str]:
    """The address of a studio with an empty project of that name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*COMMAND, str(Path(folder) / name), "--port", "0", "--no-browser"]
        studio = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert studio.stdout is not None
            yield studio.stdout.readline().split(" is open at ")[1].split()[0]
        finally:
            studio.terminate()
            studio.wait()


def send(client: httpx.Client, label: str, photos: list[Path], **more: str) -> None:
    files = [("files", (photo.name, photo.read_bytes())) for photo in photos]
    client.post("/api/teach", data={"label": label, **more}, files=files).raise_for_status()


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*QUIET, *flags])
        yield browser
        browser.close()


def main(data: Path) -> None:
    with running("groceries") as address:
        with httpx.Client(base_url=address, timeout=120) as client:
            teach(client, data)
            fill_inbox(client, data)
        with chromium() as browser:
            make_pictures(browser, address, data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/make_studio_pictures.py DATA")
    main(Path(sys.argv[1]))
