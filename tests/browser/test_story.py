"""The whole way through the studio, from an empty project to a copy of it, as a person goes it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.checks import NARROW, WIDE, Opener, Watched, check_axe, check_width
from browser.story import BOWL, MUG, PAN, content, in_inbox, two_things, unknown, wait_for, write_clip
from browser.studio_page import (
    SLOW,
    Studio,
    all_sent,
    ask_about,
    awake,
    bar,
    card,
    choose,
    drop_from_disk,
    files_of,
    running,
    see_count,
)
from pictures import picture
from served import as_png

WATCH = """label => {
  window.widths = [];
  const look = () => {
    const fill = document.querySelector(`.guess[data-label="${label}"] .fill`);
    if (fill) window.widths.push(parseFloat(fill.style.width || 0));
    requestAnimationFrame(look);
  };
  look();
}"""
MOVED = "() => Math.min(...window.widths) < 10 && window.widths.at(-1) > 50"
LOST = "document.activeElement === document.body"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("camera") / "things.mjpeg")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Studio]:
    with running(tmp_path / "things") as studio:
        yield studio


@pytest.fixture
def studio(server: Studio, open_page: Opener) -> Studio:
    """An empty project in a server of its own."""
    return server.with_pages(open_page)


def visit(watched: Watched, view: str) -> Page:
    page = watched.page
    if page.locator("#menu").is_visible():
        page.locator("#menu").click()
    with page.expect_navigation():
        page.locator(f'#pages a[href$="/{view}"]').click()
    awake(page)
    return page


def check(page: Page) -> None:
    check_axe(page)
    check_width(page)


def record(page: Page, label: str, kind: int) -> None:
    page.get_by_label("New class").fill(label)
    page.keyboard.press("Enter")
    if page.locator("#live").inner_text() == "Use the camera":
        page.locator("#live").click()
    wait_for(page, kind)
    hold = card(page, label).locator(".hold")
    hold.hover()
    page.evaluate(WATCH, label)
    page.mouse.down()
    expect(hold).to_have_text(re.compile(r"Recording ([4-9]|\d\d)"), timeout=SLOW)
    if kind == PAN:
        page.wait_for_function(MOVED, timeout=SLOW)  # its bar grew while the button was held
        expect(hold).to_have_text(re.compile("Recording"))
    page.mouse.up()
    expect(hold).to_have_text("Hold to record")


def draw(page: Page, left: float, right: float) -> None:
    layer = page.locator(".layer").bounding_box()
    assert layer is not None
    page.mouse.move(layer["x"] + left * layer["width"], layer["y"] + 0.04 * layer["height"])
    page.mouse.down()
    page.mouse.move(layer["x"] + right * layer["width"], layer["y"] + 0.96 * layer["height"], steps=3)
    page.mouse.up()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_from_an_empty_project_to_a_copy_of_it(studio: Studio, tmp_path: Path, width: int) -> None:
    watched = studio.open("", width=width)
    page = watched.page
    expect(page.locator("#start")).to_be_visible()
    check(page)
    record(page, "mug", MUG)
    record(page, "pan", PAN)
    wait_for(page, MUG)
    expect(page.locator("#says")).to_contain_text("mug", timeout=SLOW)
    page.locator("#live").click()

    files_of(tmp_path / "bowl", BOWL, range(10))
    page.locator("#drop").scroll_into_view_if_needed()
    drop_from_disk(page, "#drop", tmp_path / "bowl")
    page.get_by_label("Hold out every fifth photo").check()
    page.get_by_role("button", name="Teach as bowl").click()
    all_sent(page)
    see_count(page, "bowl", 8)

    ask_about(page, *files_of(tmp_path, BOWL, range(40, 41)))
    expect(page.locator("#says")).to_contain_text("bowl")
    bar(page, "mug").click()
    expect(page.locator("#did")).to_contain_text('Taught as "mug"', timeout=SLOW)
    page.locator("#did-undo").click()
    expect(page.locator("#level")).not_to_contain_text("Taught as", timeout=SLOW)
    bar(page, "bowl").click()
    see_count(page, "bowl", 9)
    expect(page.locator(".guess.best")).to_contain_text("bowl", timeout=SLOW)

    expect(page.locator("#score a")).to_have_text(re.compile(r"Right on [\d.]+% of 2 held-out photos"), timeout=SLOW)
    check(page)
    visit(watched, "evaluation")
    expect(page.locator("#result")).to_contain_text(re.compile(r"right on \d of 2 held-out photos"), timeout=SLOW)
    check(page)

    number = in_inbox(studio, unknown(studio))
    visit(watched, "inbox")
    group = page.locator(".group", has=page.get_by_alt_text(f"Photo {number}", exact=True))
    group.get_by_placeholder("another name").fill("cup")
    group.get_by_role("button", name="Teach", exact=True).click()
    expect(page.locator("#messages")).to_contain_text('taught as "cup"')
    check(page)

    visit(watched, "workbench")
    ask_about(page, two_things(tmp_path / "shelf.png"))
    page.get_by_role("button", name="Draw a region").click()
    for left, right, label in ((0.02, 0.48, "mug"), (0.52, 0.98, "spoon")):
        draw(page, left, right)
        page.get_by_label("Teach this region as").fill(label)
        page.keyboard.press("Enter")
        expect(page.locator(".viewer")).to_contain_text(f'Taught the region as "{label}".')
    check(page)
    page.keyboard.press("Escape")
    assert not page.evaluate(LOST)
    taught = studio.counts()
    assert taught["spoon"] == 1

    visit(watched, "history")
    page.get_by_label("Save the project").fill("all things")
    page.keyboard.press("Enter")
    expect(page.locator(".version")).to_contain_text("5 classes")
    visit(watched, "classes")
    page.get_by_role("button", name="Delete pan").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete pan").click()
    expect(page.locator(".class")).to_have_count(4)
    check(page)
    visit(watched, "history")
    page.get_by_role("button", name="Return to it: all things").click()
    page.get_by_role("dialog").get_by_role("button", name="Return to it").click()
    expect(page.locator("#messages")).to_contain_text('Returned to "all things"')
    assert studio.counts() == taught
    page.keyboard.press("Control+z")
    expect(page.locator("#redo")).to_be_visible()
    assert "pan" not in studio.counts()
    page.keyboard.press("Control+Shift+z")
    expect(page.locator("#redo")).to_be_hidden()
    assert studio.counts() == taught
    check(page)

    visit(watched, "export")
    check(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the photos").click()
    download.value.save_as(tmp_path / "photos.zip")
    visit(watched, "project")
    known = page.locator("#state").inner_text()
    page.get_by_label("New project").fill("copy")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").click()
    awake(page)
    visit(watched, "project")
    choose(page, page.get_by_role("button", name="Choose a zip"), tmp_path / "photos.zip")
    expect(page.locator("#state")).to_have_text(known, timeout=SLOW)
    copied = content(studio.client, "/projects/copy")
    assert copied == content(studio.client)
    assert [row[1] for row in copied].count("held out") == 2
    assert sum(len(row) == 6 for row in copied) == 2  # regions, with their whole photo
    check(page)


def tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"the Tab key does not come to {wanted}")


def edited(page: Page) -> None:
    """After an edit the focus is somewhere useful."""
    page.wait_for_timeout(400)  # lists are drawn anew
    assert not page.evaluate(LOST)


def visit_by_key(page: Page, view: str) -> None:
    tab_to(page, page.locator(f'#pages a[href$="/{view}"]'))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    awake(page)


def choose_by_key(page: Page, photo: Path) -> None:
    with page.expect_file_chooser() as chooser:  # Tab gives the browser time to listen
        tab_to(page, page.get_by_role("button", name="Choose a photo"))
        page.keyboard.press("Enter")
    chooser.value.set_files(photo)


def record_by_key(page: Page, label: str, kind: int) -> None:
    tab_to(page, page.get_by_label("New class"))
    page.keyboard.type(label)
    page.keyboard.press("Enter")
    hold = card(page, label).locator(".hold")
    expect(hold).to_be_focused()
    if page.locator("#live").inner_text() == "Use the camera":
        page.keyboard.press("Space")  # switches it on
    wait_for(page, kind)
    page.keyboard.down("Space")
    expect(hold).to_have_text(re.compile(r"Recording ([4-9]|\d\d)"), timeout=SLOW)
    page.keyboard.up("Space")
    expect(card(page, label).locator("img").nth(3)).to_be_visible(timeout=SLOW)
    edited(page)
    expect(hold).to_be_focused()


def test_the_keyboard_alone_goes_the_same_way(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("").page
    record_by_key(page, "mug", MUG)
    record_by_key(page, "pan", PAN)

    choose_by_key(page, *files_of(tmp_path, MUG, range(70, 71)))
    expect(page.locator("#says")).to_contain_text("mug", timeout=SLOW)
    tab_to(page, bar(page, "pan"))
    page.keyboard.press("Enter")
    expect(page.locator("#did")).to_contain_text('Taught as "pan"', timeout=SLOW)
    edited(page)
    page.keyboard.press("Control+z")
    expect(page.locator("#redo")).to_be_visible()
    edited(page)
    tab_to(page, bar(page, "mug"))
    page.keyboard.press("Enter")
    expect(page.locator("#did")).to_contain_text('Taught as "mug"', timeout=SLOW)
    edited(page)

    studio.teach("bowl", *(as_png(picture(BOWL, seed)) for seed in range(9)))
    in_inbox(studio, unknown(studio))
    visit_by_key(page, "inbox")
    tab_to(page, page.get_by_placeholder("another name").first)
    page.keyboard.type("cup")
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text('taught as "cup"')
    edited(page)

    visit_by_key(page, "workbench")
    choose_by_key(page, two_things(tmp_path / "shelf.png"))
    tab_to(page, page.get_by_role("button", name="Draw a region"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Region")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    tab_to(page, page.get_by_label("Teach this region as"))
    page.keyboard.type("handle")
    page.keyboard.press("Enter")
    expect(page.locator(".viewer")).to_contain_text('Taught the region as "handle".')
    edited(page)
    page.keyboard.press("Escape")
    edited(page)

    visit_by_key(page, "history")
    tab_to(page, page.get_by_label("Save the project"))
    page.keyboard.type("by key")
    page.keyboard.press("Enter")
    expect(page.locator(".version")).to_contain_text("5 classes")
    edited(page)
    tab_to(page, page.locator("#undo"))
    page.keyboard.press("Enter")
    expect(page.locator("#redo")).to_be_visible()
    edited(page)
    assert "handle" not in studio.counts()
    tab_to(page, page.get_by_role("button", name="Return to it: by key"))
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # the answer has the focus
    expect(page.locator("#messages")).to_contain_text('Returned to "by key"')
    edited(page)
    assert "handle" in studio.counts()
