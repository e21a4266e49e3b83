"""A studio in a process of its own, and what a person does on its pages."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect

from browser.checks import WIDE, Opener, Watched
from commands import exll
from exll.learner.glocal.judgement import FALSE_ALARMS
from pictures import picture
from served import PATIENCE, png, start

VIEWS = ("workbench", "inbox", "classes", "map", "check", "evaluation", "history", "export", "project")
SLOW = 60_000  # milliseconds: several tests may share this machine
expect.set_options(timeout=30_000)
HANDED = """([files, kind, where]) => {
  const transfer = new DataTransfer();
  for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name, {type: 'image/png'}));
  const target = document.querySelector(where);
  const given = {bubbles: true, cancelable: true};
  target.dispatchEvent(kind === 'paste' ? new ClipboardEvent(kind, {...given, clipboardData: transfer})
    : new DragEvent(kind, {...given, dataTransfer: transfer}));
}"""

QUEUED = "import('/static/js/queue.js').then((queue) => queue.started.then(() => queue.queued()))"


class Studio:
    """A server, and pages of it."""

    def __init__(self, client: httpx.Client, open_page: Opener | None = None) -> None:
        self.client, self._open_page = client, open_page
        self.address = str(client.base_url)

    def with_pages(self, open_page: Opener) -> "Studio":
        return Studio(self.client, open_page)

    def open(self, view: str, *, dark: bool = False, width: int = WIDE) -> Watched:
        """A page that may ask nobody but this server."""
        assert self._open_page is not None
        watched = self._open_page(f"{self.address}{view}", dark=dark, width=width, allowed=self.address)
        awake(watched.page)
        return watched

    def teach(self, label: str, *images: bytes, **fields: str) -> None:
        files = [("files", (f"{i}.png", image)) for i, image in enumerate(images)]
        response = self.client.post("/api/teach", data={"label": label, **fields}, files=files)
        assert response.json()["taught"] == len(images), response.text

    def level(self, image: Path, share: float) -> str:
        """What is said of an image at that share of false alarms."""
        return str(self.ask(image.read_bytes(), false_alarms=share)["level"])

    def ask(self, image: bytes, **fields: float) -> dict[str, Any]:
        response = self.client.post("/api/predict", data=fields, files={"file": ("asked.png", image)})
        prediction: dict[str, Any] = response.json()["prediction"]
        return prediction

    def clear(self) -> None:
        """Back to an empty project, of which nothing can be undone."""
        self.client.post("/api/project/settings", json={"false_alarms": FALSE_ALARMS})
        for label in self.counts():
            assert self.client.post("/api/classes/delete", json={"label": label}).is_success
        deadline = time.monotonic() + PATIENCE
        while self.client.post("/api/project/purge").status_code == 409:  # a rebuild is under way
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def counts(self) -> dict[str, int]:
        return {found["label"]: found["examples"] for found in self.client.get("/api/classes").json()["classes"]}


@contextmanager
def running(folder: Path) -> Iterator[Studio]:
    process, address = start(folder)
    try:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            yield Studio(client)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def awake(page: Page) -> None:
    """The page's scripts have run and heard of the server."""
    page.wait_for_load_state("load")
    expect(page.locator("#state")).not_to_be_empty(timeout=SLOW)


def until(page: Page, happened: Callable[[], object]) -> None:
    """Until what Playwright tells this test of has happened."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it does not happen"
        page.wait_for_timeout(20)


def all_sent(page: Page) -> None:
    """The server has answered for every photo of the queue."""
    while page.evaluate(QUEUED):
        page.wait_for_timeout(50)


def go(page: Page, title: str) -> None:
    with page.expect_navigation():
        page.get_by_role("link", name=title, exact=True).click()
    awake(page)


def files_of(folder: Path, kind: int, seeds: range) -> list[Path]:
    """Pictures of one kind on the disk, as a person has them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{kind}-{seed}.png" for seed in seeds]
    for path, seed in zip(paths, seeds, strict=True):
        picture(kind, seed).save(path)
    return paths


def choose(page: Page, button: Locator, *paths: Path) -> None:
    with page.expect_file_chooser() as chooser:
        button.click()
    chooser.value.set_files(list(paths))


def hand(page: Page, way: str, where: str, *images: tuple[int, int]) -> None:
    """Drop or paste pictures, given as kind and seed."""
    files = [[f"{kind}-{seed}.png", list(png(kind, seed))] for kind, seed in images]
    page.evaluate(HANDED, [files, way, where])


def drop_from_disk(page: Page, where: str, *paths: Path) -> None:
    """As a person drags files or folders from the desktop: the browser itself reads them."""
    box = page.locator(where).bounding_box()
    assert box is not None
    dragged = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": dragged})
    session.detach()


def card(page: Page, label: str) -> Locator:
    return page.locator(f'.card[data-label="{label}"]')


def count(page: Page, label: str) -> Locator:
    return card(page, label).locator(".count strong")


def see_count(page: Page, label: str, examples: int) -> None:
    expect(count(page, label)).to_have_text(str(examples), timeout=SLOW)


def ask_about(page: Page, image: Path) -> None:
    with page.expect_response("**/api/predict", timeout=SLOW):
        choose(page, page.get_by_role("button", name="Choose a photo"), image)


def share(page: Page, label: str) -> float:
    """How long the bar of a class is, from 0 to 1."""
    width = bar(page, label).locator(".fill").evaluate("fill => fill.style.width")
    return float(width.rstrip("%") or 0) / 100


def bar(page: Page, label: str) -> Locator:
    return page.locator(f'.guess[data-label="{label}"]')


def whole(page: Page, width: int = WIDE) -> None:
    """High enough that no picture waits to be scrolled to."""
    page.set_viewport_size({"width": width, "height": 6000})


def settled(page: Page) -> None:
    """The model has learned the last change."""
    expect(page.locator("#state")).to_contain_text("I know", timeout=SLOW)


def predict_by_command(model: Path, image: Path) -> dict[str, Any]:
    done = exll("predict", model, image, "--json", "--no-cache")
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer
