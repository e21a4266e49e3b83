"""Undo and redo by button and key, whose step it is, and versions."""

import pytest
from playwright.sync_api import expect

from browser.checks import NARROW, WIDE
from browser.studio_page import SLOW, Studio
from served import png

pytestmark = [pytest.mark.browser, pytest.mark.process]


@pytest.fixture
def studio(studio: Studio) -> Studio:
    for kind, label in enumerate(("mug", "pan")):
        studio.teach(label, *(png(kind, seed) for seed in range(4)))
    return studio


def test_undo_and_redo_by_button_and_by_key(studio: Studio) -> None:
    page = studio.open("history").page
    undo, redo = page.locator("#undo"), page.locator("#redo")
    expect(undo).to_have_text('↶ Undo: Taught 4 photos of "pan" (a program)', timeout=SLOW)
    undo.click()
    expect(redo).to_be_visible()
    assert studio.counts() == {"mug": 4}
    expect(page.locator(".step.undone")).to_contain_text('Taught 4 photos of "pan".')
    page.locator("body").press("Control+Shift+Z")
    expect(redo).to_be_hidden()
    assert studio.counts() == {"mug": 4, "pan": 4}
    page.get_by_label("Save the project").fill("x")
    page.get_by_label("Save the project").press("Control+z")  # belongs to the field
    assert studio.counts() == {"mug": 4, "pan": 4}
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(redo).to_be_visible()
    assert studio.counts() == {"mug": 4}
    redo.click()  # a button that goes away gives the focus to the one beside it
    expect(redo).to_be_hidden()
    assert page.evaluate("document.activeElement.id") == "undo"


def test_a_step_that_came_in_between_is_not_undone_unseen(studio: Studio) -> None:
    watched = studio.open("history")
    page = watched.page
    expect(page.locator("#undo")).to_contain_text('"pan"', timeout=SLOW)
    page.route("**/api/undo", lambda route: (studio.teach("jug", png(2, 0)), route.continue_()))  # type: ignore[func-returns-value]
    page.locator("#undo").click()
    expect(page.locator("#messages")).to_contain_text('The last step is now: Taught 1 photo of "jug".')
    assert studio.counts() == {"mug": 4, "pan": 4, "jug": 1}
    assert len(watched.faults) == 1  # the browser itself tells of the refusal
    watched.faults.clear()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_version_is_saved_and_returned_to(studio: Studio, width: int) -> None:
    watched = studio.open("history", width=width)
    page = watched.page
    page.get_by_label("Save the project").fill("two things")
    page.keyboard.press("Enter")
    expect(page.locator(".version")).to_contain_text("2 classes, 8 photos", timeout=SLOW)
    assert studio.client.post("/api/classes/delete", json={"label": "mug"}).is_success
    watched.check()
    page.get_by_role("button", name="Return to it: two things").click()
    page.get_by_role("dialog").get_by_role("button", name="Return to it").click()
    expect(page.locator("#messages")).to_contain_text("4 photos changed.")
    assert studio.counts() == {"mug": 4, "pan": 4}
    opened_again = page.context.new_page()  # it is one's own step in every tab
    opened_again.goto(page.url)
    expect(opened_again.locator("#undo")).to_have_text('↶ Undo: Returned to the version "two things"')
    opened_again.close()
    page.keyboard.press("Control+z")
    expect(page.locator("#messages")).to_contain_text('Undone: Returned to the version "two things".')
    assert studio.counts() == {"pan": 4}
    page.get_by_role("button", name="Remove: two things").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator("#versions")).to_contain_text("No version yet")
    assert page.evaluate("document.activeElement.id") == "versions-title"
    watched.check()
