"""Names on the Workbench that are written almost like a class there is."""

from pathlib import Path

from playwright.sync_api import expect

from browser.studio_page import Studio, ask_about, card, files_of


def test_a_name_written_like_a_class_offers_that_class(taught: Studio, tmp_path: Path) -> None:
    watched = taught.open("workbench")
    page = watched.page
    expect(card(page, "mug")).to_be_visible()
    page.locator("#new-label").fill("MUG")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name='You have "mug"').get_by_role("button", name="Use it").click()
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator("#new-label")).to_have_value("")
    page.locator("#new-label").fill("Pan")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name='You have "pan"').get_by_role("button", name="Keep both").click()
    expect(page.locator(".card")).to_have_count(3)
    ask_about(page, files_of(tmp_path, 1, range(90, 91))[0])
    page.locator("#other").fill("mUG")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name='You have "mug"')).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#did-words")).to_contain_text("mug")
    assert taught.counts() == {"mug": 9, "pan": 8}
    watched.check()
