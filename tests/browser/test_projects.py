"""The Export and Project pages: downloads, programs that run, settings, several projects, the sample."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.checks import NARROW, Opener, Watched, check_keyboard
from browser.studio_page import SLOW, Studio, awake, choose, files_of, go, running
from pictures import picture
from served import png


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("it's home")) as studio:
        for kind, label in enumerate(("mug's", "pan")):
            studio.teach(label, *(png(kind, seed) for seed in range(8)))
        yield studio


@pytest.fixture
def studio(home: Studio, open_page: Opener) -> Studio:
    return home.with_pages(open_page)


def test_what_is_exported_is_imported_again_and_many_photos_become_a_table(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("project").page
    choose(page, page.get_by_role("button", name="Choose photos"), *files_of(tmp_path, 0, range(30, 55)))
    with page.expect_download() as download:
        page.get_by_role("link", name="Save predictions.csv").click(timeout=SLOW)
    rows = Path(download.value.path()).read_text().splitlines()
    assert rows[0].startswith("path,label")
    assert len(rows) == 26
    assert rows[-1].startswith("0-54.png,mug")
    go(page, "Export")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the photos").click()
    download.value.save_as(tmp_path / "photos.zip")
    go(page, "Project")
    choose(page, page.get_by_role("button", name="Choose a zip"), tmp_path / "photos.zip")
    expect(page.locator("#importing")).to_contain_text("16 files already here", timeout=SLOW)


def code(page: Page, name: str) -> str:
    return page.locator(f"#code-{name}").inner_text()


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_programs_on_the_page_run_as_they_are(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("export").page
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the model").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    picture(1, 90).save(tmp_path / "photo.jpg")
    assert run(tmp_path, sys.executable, "-c", code(page, "python")).split()[0] == "pan"
    said = run(tmp_path, "sh", "-c", code(page, "curl"))
    assert '"label":"pan"' in said.split("}")[0]
    if shutil.which("node") is not None:
        (tmp_path / "ask.mjs").write_text(code(page, "javascript"))
        assert run(tmp_path, "node", "ask.mjs").split()[0] == "pan"


def test_a_program_is_copied(studio: Studio) -> None:
    page = studio.open("export").page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name="Copy: Python")
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == code(page, "python")


def test_settings_are_kept_and_another_network_reads_all_photos_again(studio: Studio) -> None:
    watched = studio.open("project")
    page = watched.page
    settings = "**/api/project/settings"
    with page.expect_response(settings):
        page.get_by_label("Photos kept in the model file").select_option("5")
    with page.expect_response(settings):
        page.get_by_label("Keep unusual photos in the Inbox").uncheck()
    with page.expect_response(settings):
        page.get_by_label("How strict").press("Home")
    expect(page.locator("#strict-words")).to_contain_text("about 5 are called unusual")
    page.reload()
    awake(page)
    expect(page.get_by_label("Photos kept in the model file")).to_have_value("5")
    expect(page.get_by_label("Keep unusual photos in the Inbox")).not_to_be_checked()
    expect(page.locator("#strict-words")).to_contain_text("about 5 are called unusual")
    before = studio.counts()
    for name, value in (("network", "efficientnet_lite0"), ("preset", "paper")):
        page.locator(f"#{name}").select_option(value)
        page.get_by_role("button", name=f"Change the {name}").click()
        page.get_by_role("dialog").get_by_role("button", name=f"Change the {name}").click()
        expect(page.locator("#messages")).to_contain_text(f"The {name} is now {value}", timeout=SLOW)
        expect(page.locator(f"#{name}")).to_be_focused()
    assert studio.counts() == before
    assert studio.client.get("/api/project").json()["backbone"] == "efficientnet_lite0"
    assert studio.ask(png(1, 91))["label"] == "pan"
    # a stream of events that ends while the project is closed is no fault
    watched.faults[:] = [fault for fault in watched.faults if "/api/events" not in fault]


FILLED = {  # parts that come a moment after the page
    "export": ("#snippets",),
    "project": ("#about", "#network", "#preset", "#strict-words", "#project-list", "#sample"),
}


def check_everywhere(watched: Watched) -> None:
    watched.check()
    watched.page.set_viewport_size({"width": NARROW, "height": 900})
    watched.check()


def test_another_project_is_made_filled_with_the_sample_and_removed(studio: Studio) -> None:
    watched = studio.open("project")
    page = watched.page
    page.get_by_label("New project").fill("Küche 2")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").click()
    awake(page)
    expect(page.locator("#state")).to_have_text("Nothing taught yet.")
    with page.expect_navigation():
        page.get_by_role("link", name="Küche 2").click()  # the header leads to the list
    awake(page)
    assert page.url.endswith("/projects/K%C3%BCche%202/project#projects")
    expect(page.locator("#project-list .here")).to_contain_text("Küche 2")
    with page.expect_navigation():
        sample = page.get_by_role("button", name="Try the sample")
        assert sample.evaluate("button => (button.click(), button.textContent)") == "Making the sample …"
    awake(page)
    expect(page.locator("#state")).to_contain_text("I know 12 classes from 72", timeout=SLOW)
    go(page, "Export")
    assert "/projects/K%C3%BCche%202/api/predict" in code(page, "curl")
    assert 'exll.load("Küche 2.exll")' in code(page, "python")
    go(page, "Project")
    page.get_by_role("button", name="Remove Küche 2").click()
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    awake(page)
    expect(page.locator("#project-list li")).to_have_count(1)
    watched.faults[:] = [fault for fault in watched.faults if "/api/" not in fault]  # its streams and photos ended


@pytest.mark.parametrize("view", ["export", "project"])
def test_both_pages_are_readable_and_reached_by_keyboard(studio: Studio, view: str) -> None:
    for dark in (False, True):
        watched = studio.open(view, dark=dark)
        for filled in FILLED[view]:
            expect(watched.page.locator(filled).first).not_to_be_empty(timeout=SLOW)
        check_everywhere(watched)
    check_keyboard(watched.page)
