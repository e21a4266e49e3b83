"""A browser for the tests of pages: the system's own chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.checks import WIDE, Opener, Watched, watch
from browser.studio_page import Studio, running
from served import png

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # nobody else is ever asked
    "--use-fake-device-for-media-stream",  # a webcam that shows a moving pattern
    "--use-fake-ui-for-media-stream",
)
# The shell is the same browser without windows of its own, which take longer to open than our pages.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def clip() -> Path | None:
    """What the webcam shows over and over (MJPEG), where a module needs something else than the moving pattern."""
    return None


@pytest.fixture(scope="module")
def browser(clip: Path | None) -> Iterator[Browser]:
    """A fresh browser with a profile of its own. It ends with the module: while it runs, its thread has an event loop
    that would be in the way of other tests' own."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must look at the pages, and there is no chromium here.")
        pytest.skip("there is no chromium here")
    shown = [f"--use-file-for-fake-video-capture={clip}"] if clip else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=[*FLAGS, *shown], headless=True)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Opens a file or an address; at the end none of the pages may have complained or asked for anything else."""
    opened: list[Watched] = []

    def opener(address: Path | str, *, dark: bool = False, width: int = WIDE, allowed: str | None = None) -> Watched:
        url = address.resolve().as_uri() if isinstance(address, Path) else address
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            ignore_https_errors=True,  # a certificate that the studio made itself
        )
        watched = watch(context, allowed=allowed or url)
        opened.append(watched)
        watched.page.goto(url)
        return watched

    yield opener
    for watched in opened:
        watched.page.context.close()
    assert [fault for watched in opened for fault in watched.faults] == []


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("things")) as studio:
        yield studio


@pytest.fixture
def emptied(room: Studio) -> Iterator[Studio]:
    """Nothing is left to the next test. The pages are closed by then: they would ask for pictures that are gone."""
    yield room
    room.clear()


@pytest.fixture
def studio(emptied: Studio, open_page: Opener) -> Studio:
    """An empty project for this test."""
    return emptied.with_pages(open_page)


@pytest.fixture
def taught(studio: Studio) -> Studio:
    """Two classes with eight photos each."""
    for kind, label in enumerate(("mug", "pan")):
        studio.teach(label, *(png(kind, seed) for seed in range(8)))
    return studio
