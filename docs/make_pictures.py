"""Takes the pictures of pages that the README shows: python docs/make_pictures.py MODEL PHOTO.

The model must know where its photos are, so that the pages can show them: run this where ``exll learn`` ran. The
pictures in the README are of a model of twelve classes of GroceryStore (``exll learn fruit --model fruit.exll
--max-prototypes 3``, with folders called apple, avocado, ...) and of its test photo Orange_034.jpg. Needs chromium and
the extra "dev".
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from exll import ImageLearner, load
from exll.cli.explain import write_page as write_explanation
from exll.cli.rules import write_page as write_rules
from exll.explain.topology import topology_of
from exll.explain.topology_page import page as map_page

PICTURES = Path(__file__).with_name("pictures")
SHOTS = {"why": (860, 1345), "rules": (1100, 1225), "map": (1100, 700)}  # pages, and the size of the window
COLOURS = 256
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def write_pages(model: Path, photo: Path, folder: Path) -> None:
    learner = load(model, ImageLearner)
    write_explanation(learner, photo, model, folder / "why.html")
    write_rules(learner.rules(), model, learner.classifier, folder / "rules.html")
    topology = topology_of(learner.classifier.learner_)
    (folder / "map.html").write_text(map_page(topology, model.name), encoding="utf-8")


def take(folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        for name, (width, height) in SHOTS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            page.goto((folder / f"{name}.html").resolve().as_uri())
            taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            taken.quantize(COLOURS, kmeans=1).save(PICTURES / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python docs/make_pictures.py MODEL PHOTO")
    with tempfile.TemporaryDirectory() as temporary:
        write_pages(Path(sys.argv[1]), Path(sys.argv[2]), Path(temporary))
        take(Path(temporary))
