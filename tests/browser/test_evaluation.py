"""The Evaluation page: the score, what is confused, the learning curve, and photos that are held out."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.checks import NARROW, WIDE, check_keyboard
from browser.studio_page import SLOW, Studio, awake, drop_from_disk, files_of, whole
from served import png

pytestmark = [pytest.mark.browser, pytest.mark.process]
LABELS = ("mug", "pan", "bowl")


@pytest.fixture
def taught(studio: Studio) -> Studio:
    for kind, label in enumerate(LABELS):
        studio.teach(label, *(png(kind, seed) for seed in range(10)))
    return studio


def held_out(studio: Studio) -> Studio:
    """Three photos of each; one of the mugs shows a pan."""
    for kind, label in enumerate(LABELS):
        studio.teach(label, *(png(kind, 50 + seed) for seed in range(3)), held_out="true")
    studio.teach("mug", png(1, 70), held_out="true")
    return studio


def score(page: Page) -> str:
    expect(page.locator("#result .large")).to_be_visible(timeout=SLOW)
    return page.locator("#result strong").first.inner_text()


def test_photos_are_held_out_measured_and_learned_again(taught: Studio) -> None:
    page = taught.open("evaluation").page
    expect(page.locator("#result")).to_contain_text("No photos are held out yet", timeout=SLOW)
    page.get_by_role("button", name="Hold out every fifth photo").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#held-out")).to_have_text("24 photos taught, 6 held out.", timeout=SLOW)
    assert re.fullmatch(r"The model is right on \d of 6 held-out photos\.", score(page))
    expect(page.get_by_role("button", name="Hold out every fifth photo")).to_be_focused()
    page.get_by_role("button", name="Learn the held-out photos").press("Enter")
    expect(page.locator("#result")).to_contain_text("No photos are held out yet", timeout=SLOW)
    expect(page.get_by_role("button", name="Hold out every fifth photo")).to_be_focused()
    page.locator("#undo").click()
    expect(page.locator("#held-out")).to_have_text("24 photos taught, 6 held out.", timeout=SLOW)


def test_a_cell_of_the_matrix_opens_its_photos_by_key_and_by_mouse(taught: Studio) -> None:
    page = held_out(taught).open("evaluation").page
    assert score(page).endswith("of 10 held-out photos.")
    cell = page.get_by_role("gridcell", name=re.compile("^1: mug called (pan|unknown)"))
    page.locator('#matrix td[tabindex="0"]').focus()
    start = page.evaluate("document.activeElement.cellIndex")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.cellIndex") == start + 1
    assert page.locator('#matrix td[tabindex="0"]').count() == 1
    cell.focus()
    page.keyboard.press("Enter")
    photo = page.locator("dialog .measured li")
    expect(photo).to_have_count(1)
    expect(photo).to_contain_text("True class: mug")
    expect(photo).to_contain_text("Answer: ")
    photo.get_by_role("button").press("Enter")  # large
    expect(page.locator("dialog .viewer img")).to_be_visible()
    for _ in range(2):
        page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    page.get_by_role("button", name=re.compile("See . wrong of mug")).click()
    expect(page.locator("dialog .measured li").first).to_contain_text("True class: mug")


def test_the_learning_curve_is_drawn_and_stands_in_a_table(taught: Studio) -> None:
    page = held_out(taught).open("evaluation").page
    drawn = page.locator("svg.curve")
    expect(drawn).to_have_attribute("aria-label", re.compile("After 3 photos of 3 classes, .* after 30 photos of 3"))
    page.get_by_role("button", name="In the order they were taught").click()
    expect(drawn).to_have_attribute("aria-label", re.compile("After 10 photos of 1 class,"), timeout=SLOW)
    page.get_by_text("As a table").click()
    rows = page.locator(".numbers tbody tr")
    expect(rows).to_have_count(drawn.locator("circle").count())
    expect(rows.last).to_contain_text("30")
    now = page.get_by_text("The last point is the model as it is now")
    expect(now).to_be_visible()
    taught.teach("bowl", png(2, 90))
    expect(page.get_by_role("button", name="Draw it again")).to_be_visible(timeout=SLOW)
    expect(now).to_have_count(0)
    page.get_by_role("button", name="Draw it again").click(timeout=SLOW)
    expect(drawn).to_have_attribute("aria-label", re.compile("after 31 photos of 3"), timeout=SLOW)
    expect(now).to_be_visible()


def test_what_was_never_taught_and_is_called_unknown_is_no_confusion(taught: Studio) -> None:
    page = taught.open("evaluation").page
    expect(page.locator("#held-out")).not_to_be_empty(timeout=SLOW)
    page.evaluate(
        "found => import('/static/js/confusion.js').then(({showConfusion}) => showConfusion(found))",
        {
            "confusion": [{"truth": name, "answer": None, "count": 2} for name in ("spoon", "mug")],
            "classes": [{"label": name, "taught": name == "mug", "examples": 2} for name in ("spoon", "mug")],
        },
    )
    assert page.locator("#confused li").all_inner_texts() == ['2 photos of "mug" called unknown']


def test_a_folder_is_held_out_with_its_sub_folders_as_classes(taught: Studio, tmp_path: Path) -> None:
    files_of(tmp_path / "other" / "MUG", 0, range(60, 64))
    files_of(tmp_path / "other" / "spoon", 4, range(2))
    page = taught.open("evaluation").page
    expect(page.locator("#held-out")).not_to_be_empty(timeout=SLOW)
    drop_from_disk(page, "h1", tmp_path / "other")  # anywhere on the page
    page.get_by_role("dialog", name='You have "mug". Use it?').get_by_role("button", name="Use it").click()
    expect(page.get_by_role("dialog", name="Hold out 6 photos of 2 classes?")).to_contain_text(
        "spoon: 2 photos, never taught"
    )
    page.get_by_role("button", name="Hold them out").click()
    expect(page.locator("#queue")).to_contain_text("6 photos held out.", timeout=SLOW)
    expect(page.locator("#held-out")).to_have_text("30 photos taught, 6 held out.", timeout=SLOW)
    assert score(page).endswith("of 4 held-out photos.")
    expect(page.locator("#result")).to_contain_text("2 more photos of classes that were never taught")


def test_the_page_is_quiet_readable_and_reached_by_keyboard(taught: Studio) -> None:
    watched = held_out(taught).open("evaluation")
    page = watched.page
    expect(page.locator("svg.curve")).to_be_visible(timeout=SLOW)
    names = check_keyboard(page)
    assert any("Hold out" in name for name in names)
    for width in (WIDE, NARROW):
        whole(page, width)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            watched.check()
    page.get_by_role("button", name=re.compile("See . wrong of mug")).click()
    expect(page.locator("dialog .measured li").first).to_be_visible()
    watched.check()


def test_the_small_score_stands_on_the_workbench_and_follows_changes(taught: Studio) -> None:
    page = taught.open("workbench").page
    expect(page.locator("#score")).to_be_hidden()
    held_out(taught)
    link = page.locator("#score a")
    expect(link).to_have_text(re.compile(r"Right on [\d.]+% of 10 held-out photos"), timeout=SLOW)
    taught.teach("bowl", png(2, 80), held_out="true")
    expect(link).to_have_text(re.compile(r"Right on [\d.]+% of 11 held-out photos"), timeout=SLOW)
    with page.expect_navigation():
        link.click()
    awake(page)
    assert score(page).endswith("of 11 held-out photos.")
