"""Takes the pictures of pages that the documents show: python docs/make_pictures.py FOLDER, where exll demo has been.

Needs chromium and the extra "dev".
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from exll import load
from exll.explain.topology import topology_of
from exll.explain.topology_page import page as map_page

PICTURES = Path(__file__).with_name("pictures")
SHOTS = {"why": 1250, "rules": 800, "map": 700}  # pages, and how much of their height is shown
WIDTH, COLOURS = 1100, 128


def take(folder: Path) -> None:
    topology = topology_of(load(folder / "digits.exll").classifier.learner_)
    (folder / "map.html").write_text(map_page(topology, "digits.exll"), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, height in SHOTS.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme="light")
            page.goto((folder / f"{name}.html").resolve().as_uri())
            taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            taken.quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
