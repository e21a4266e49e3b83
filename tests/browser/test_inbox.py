"""The Inbox page: photos that were asked about are named in groups, marked as nothing, or dismissed."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from browser.checks import NARROW, Opener, check_keyboard
from browser.studio_page import SLOW, Studio, go, running, settled, whole
from served import PATIENCE, png

CUP, JUG = (100, 101, 102, 103), (100, 101)  # pictures of kind 4 and 8: unlike all that is taught


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("inbox") / "things") as studio:
        yield studio


@pytest.fixture
def studio(room: Studio, open_page: Opener) -> Studio:
    """Three classes, and photos of other things that programs asked about."""
    for kind, label in enumerate(("mug", "pan", "bowl")):
        room.teach(label, *(png(kind, seed) for seed in range(8)))
    ask_until_kept(room, [png(kind, seed) for kind, seeds in ((4, CUP), (8, JUG), (0, (60,))) for seed in seeds], 4)
    return room.with_pages(open_page)


@pytest.fixture(autouse=True)
def emptied(room: Studio) -> Iterator[None]:
    yield
    for group in (found := room.client.get("/api/inbox").json())["groups"] + [{"photos": found["known"]}]:
        if ids := [photo["id"] for photo in group["photos"]]:
            room.client.post("/api/inbox/dismiss", json={"ids": ids})
    if ids := [example["id"] for example in found["nothing"]]:
        room.client.post("/api/examples/delete", json={"ids": ids})
    room.clear()


def ask_until_kept(studio: Studio, images: list[bytes], kept: int) -> None:
    """Until so many are in the Inbox; the others look like these. It takes only so many per second, so who comes first
    changes."""
    deadline = time.monotonic() + PATIENCE
    while (found := studio.client.get("/api/inbox").json()["waiting"]) != kept:
        assert time.monotonic() < deadline, f"{found} photos in the Inbox, not {kept}"
        for image in images:
            studio.ask(image)
        images = [*images[1:], images[0]]


def test_an_unknown_is_found_in_the_inbox_and_named(studio: Studio) -> None:
    waiting = studio.client.get("/api/inbox").json()
    sizes = [len(found["photos"]) for found in waiting["groups"]]
    page = studio.open("classes").page
    expect(page.locator("#waiting")).to_have_text(str(sum(sizes)))
    page.get_by_role("link", name="Inbox").click()
    expect(page.locator(".group")).to_have_count(len(sizes))
    first = page.locator(".group").first
    expect(first.get_by_role("heading")).to_have_text(f"{sizes[0]} photo" + "s" * (sizes[0] > 1))
    # one of them is another thing: it stays
    first.get_by_label("Photo").last.uncheck()
    first.get_by_placeholder("another name").fill("cup")
    first.get_by_role("button", name="Teach", exact=True).click()
    expect(page.locator("#messages")).to_contain_text(f"{sizes[0] - 1} photo")
    expect(page.locator("#messages")).to_contain_text('taught as "cup".')
    expect(page.locator(".group").first.get_by_role("heading")).to_contain_text("1 photo")
    assert studio.counts()["cup"] == sizes[0] - 1
    page.locator("#undo").click()
    expect(page.locator("#waiting")).to_have_text(str(sum(sizes)))
    assert "cup" not in studio.counts()


def test_not_one_of_mine_is_marked_and_taken_back(studio: Studio) -> None:
    page = studio.open("inbox").page
    first = page.locator(".group").first
    expect(first).to_be_visible()
    count = first.get_by_role("checkbox").count()
    first.get_by_role("button", name="Not one of mine").click()
    section = page.locator("#nothing")
    expect(section.get_by_role("heading")).to_have_text(f"Not one of mine ({count})")
    expect(section.get_by_role("checkbox")).to_have_count(count)
    section.get_by_role("checkbox").first.check()
    section.get_by_role("button", name="Take back").click()
    expect(page.locator("#messages")).to_contain_text("1 photo taken back.")
    expect(section.get_by_role("checkbox")).to_have_count(count - 1)
    section.get_by_role("checkbox").first.check()
    section.get_by_role("button", name="Name them").click()
    page.get_by_role("dialog").get_by_role("button", name="bowl").click()
    expect(page.locator("#messages")).to_contain_text('1 photo taught as "bowl".')
    assert studio.counts()["bowl"] == 9


def test_what_is_known_by_now_is_said_to_be_so_and_dismissed(studio: Studio) -> None:
    page = studio.open("inbox").page
    expect(page.locator(".group").first).to_be_visible()
    studio.teach("cup", *(png(4, seed) for seed in range(20, 40)))
    section = page.get_by_role("region", name="The model knows these now")
    expect(section).to_contain_text("They would teach nothing new", timeout=SLOW)
    expect(section.locator(".caption").first).to_have_text("cup")
    known = section.get_by_role("checkbox").count()
    unnamed = studio.client.get("/api/inbox").json()["waiting"] - known
    expect(page.locator("#waiting")).to_have_text(str(unnamed))
    expect(page.locator("#summary")).to_contain_text(f"{unnamed} photo")
    section.get_by_role("button", name="Dismiss").click()
    page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
    expect(section).to_be_hidden()
    expect(page.locator("#waiting")).to_have_text(str(unnamed))


def test_a_group_is_named_by_keyboard_and_the_focus_goes_on(studio: Studio) -> None:
    watched = studio.open("inbox")
    page = watched.page
    expect(page.locator(".group").first).to_be_visible()
    check_keyboard(page)
    groups = page.locator(".group").count()
    page.locator(".group").first.get_by_placeholder("another name").focus()
    page.keyboard.type("cup")
    page.keyboard.press("Enter")
    expect(page.locator(".group")).to_have_count(groups - 1)
    expect(page.locator(".group").first.get_by_role("heading")).to_be_focused()
    # a photo opens large, and closing it goes back
    shown = page.locator(".group").first.get_by_role("button", name="large").first
    shown.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(shown).to_be_focused()


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, NARROW)])
def test_the_page_can_be_read_everywhere(studio: Studio, dark: bool, width: int) -> None:
    watched = studio.open("inbox", dark=dark, width=width)
    whole(watched.page, width)
    expect(watched.page.locator(".group img").first).to_be_visible()
    settled(watched.page)
    watched.check()
    first = studio.client.get("/api/inbox").json()["groups"][-1]["photos"][0]["id"]
    studio.client.post("/api/inbox/nothing", json={"ids": [first]})
    expect(watched.page.locator("#nothing img").first).to_be_visible()
    watched.check()


def test_keeping_can_be_switched_off(studio: Studio) -> None:
    page = studio.open("inbox").page
    expect(page.get_by_label("Keep such photos")).to_be_checked()
    with page.expect_response("**/api/project/settings"):
        page.get_by_label("Keep such photos").uncheck()
    page.reload()
    expect(page.get_by_label("Keep such photos")).not_to_be_checked()
    before = str(studio.client.get("/api/project").json()["waiting"])
    studio.ask(png(5, 0))
    go(page, "Map")
    expect(page.locator("#waiting")).to_have_text(before)
    studio.client.post("/api/project/settings", json={"inbox": True})
