"""The pages that show and sort photos: Map, Classes, Check, Sort, and a photo large."""

import re
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from browser.checks import NARROW, WIDE, check_keyboard
from browser.studio_page import SLOW, Studio, ask_about, choose, settled, until, whole
from pictures import picture
from served import as_png, png

LABELS = ("mug", "pan", "bowl")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
FOCUS = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
OVERLAP = """() => {
  const boxes = [...document.querySelectorAll('.group')].map((e) => e.getBoundingClientRect());
  return boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => Math.max(0,
    Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0,
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)) / Math.min(a.width * a.height, b.width * b.height)));
}"""

PLACES = """() => Object.fromEntries([...document.querySelectorAll('.group')].map((e) => {
  const { x, y, width, height } = e.getBoundingClientRect();
  return [e.querySelector('img').src, [x + width / 2, y + height / 2]];
}))"""


@pytest.fixture
def taught(studio: Studio) -> Studio:
    for kind, label in enumerate(LABELS):
        studio.teach(label, *(png(kind, seed) for seed in range(6)))
    return studio


def has_focus(page: Page) -> str:
    """What has the focus; it is never lost."""
    assert page.evaluate("document.activeElement !== document.body")
    return str(page.evaluate(FOCUS))


@pytest.mark.parametrize("view", ["map", "classes", "check", "sort?left=mug&right=pan", "viewer", "gallery"])
def test_every_view_of_photos_passes_all_checks_in_both_widths_and_schemes(taught: Studio, view: str) -> None:
    taught.teach("pan", png(0, 50))
    taught.teach("mug", png(2, 3), two_labels="true")
    last = {"map": ".group img", "check": "#contradictions .verdict img", "viewer": ".shot img", "gallery": ".pick img"}
    watched = taught.open("classes" if view in ("viewer", "gallery") else view)
    page = watched.page
    settled(page)
    if view == "viewer":
        page.locator(".rule .photo").first.click()
        page.get_by_role("button", name="Draw a region").click()
    elif view == "gallery":
        page.get_by_role("button", name="See all mug").click()
    expect(page.locator(last.get(view, ".rule img, .pick img")).last).to_be_visible(timeout=SLOW)
    for width in (WIDE, NARROW):
        whole(page, width)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            watched.check()
    if view not in ("viewer", "gallery"):
        page.set_viewport_size({"width": WIDE, "height": 900})
        check_keyboard(page)


def test_groups_on_the_map_lie_apart_and_are_walked_searched_and_zoomed(taught: Studio) -> None:
    page = taught.open("map").page
    expect(page.locator(".group").first).to_be_visible(timeout=SLOW)
    assert max(page.evaluate(OVERLAP)) < 0.02
    page.locator("#search").fill("PA")
    expect(page.locator("#found")).to_have_text("1 of 3 found")
    assert set(page.locator(".group:not(.dim)").evaluate_all("all => all.map(e => e.dataset.k)")) == {"1"}
    page.locator("#search").fill("")
    page.locator(".group[tabindex='0']").focus()
    read = [page.locator(".readout .card h2").inner_text()]
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        read.append(page.locator(".readout .card").inner_text())
    assert len(set(read)) > 1
    group = page.locator(".group.at")
    before = group.bounding_box()
    page.keyboard.press("+")
    after = group.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > 1.2 * before["width"]
    page.get_by_role("button", name="Show all").click()
    assert group.bounding_box() == before
    places = page.evaluate(PLACES)
    taught.teach("spoon", png(3, 0))
    expect(page.locator(".name", has_text="spoon")).to_have_count(1, timeout=SLOW)
    now = page.evaluate(PLACES)
    assert {src: now[src] for src in places} == {src: pytest.approx(at, abs=3) for src, at in places.items()}
    page.locator(".readout .photo").first.click()
    expect(page.locator("dialog .viewer h3")).to_have_text(page.locator(".readout .card h2").inner_text())


def test_a_photo_opens_large_goes_on_to_the_next_and_is_moved_held_out_and_deleted(taught: Studio) -> None:
    page = taught.open("classes").page
    page.get_by_role("button", name="See all mug").click()
    page.locator(".pick input").first.focus()
    page.keyboard.press("Enter")
    viewer = page.locator(".viewer")
    expect(viewer).to_contain_text("1 of 6")
    page.keyboard.press("ArrowRight")
    expect(viewer).to_contain_text("2 of 6")
    expect(viewer.locator(".facts")).to_contain_text("4.png")
    viewer.get_by_role("button", name="Draw a region").click()
    expect(viewer.get_by_role("group", name="Region")).to_be_focused()
    expect(viewer.get_by_role("button", name="Delete")).to_be_hidden()  # what it is about would not be clear
    page.keyboard.press("Escape")
    expect(viewer.get_by_role("button", name="Draw a region")).to_be_focused()
    expect(viewer.get_by_role("button", name="Delete")).to_be_visible()
    viewer.get_by_role("button", name="Hold out").click()
    expect(viewer.get_by_role("button", name="Learn from it")).to_be_focused()
    viewer.get_by_role("button", name="Move to another class").click()
    page.get_by_role("group", name="Classes").get_by_role("button", name="pan").click()
    expect(viewer).to_contain_text("2 of 5")
    assert has_focus(page) == "Next"
    viewer.get_by_role("button", name="Delete").click()
    expect(viewer).to_contain_text("2 of 4")
    viewer.get_by_role("button", name="Undo").click()
    expect(viewer).to_contain_text("2 of 5")
    assert has_focus(page) == "Next"
    viewer.get_by_role("button", name="Delete").click()
    expect(viewer).to_contain_text("2 of 4")
    assert taught.counts() == {"mug": 4, "pan": 6, "bowl": 6}  # what is held out is not among the taught
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    assert has_focus(page).startswith(("Select photo", "Open photo"))


def test_two_things_on_one_photo_are_taught_by_two_regions(taught: Studio, tmp_path: Path) -> None:
    (tmp_path / "shelf.png").write_bytes(two_things())
    page = taught.open("workbench").page
    choose(page, page.get_by_role("button", name="Choose a photo"), tmp_path / "shelf.png")
    page.get_by_role("button", name="Draw a region").click()
    region = page.get_by_role("group", name="Region")
    expect(region).to_be_focused()
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowLeft", "Shift+ArrowDown"):
        page.keyboard.press(key)
    expect(region).to_have_attribute("aria-label", "Region: 23 to 71% across, 23 to 75% down")
    page.get_by_role("group", name="Classes").get_by_role("button", name="mug").click()
    expect(page.locator(".viewer .did")).to_contain_text('Taught the region as "mug".')
    expect(page.locator(".viewer .did")).to_be_in_viewport()
    layer = page.locator(".layer").bounding_box()
    assert layer is not None
    page.mouse.move(layer["x"] + 0.52 * layer["width"], layer["y"] + 0.02 * layer["height"])
    page.mouse.down()
    page.mouse.move(layer["x"] + 0.98 * layer["width"], layer["y"] + 0.98 * layer["height"], steps=3)
    page.mouse.up()
    expect(page.locator(".class-field .chips button").first).to_contain_text("pan ")  # the most probable
    page.mouse.move(layer["x"] + 0.05 * layer["width"], layer["y"] + 0.1 * layer["height"])
    page.mouse.down()
    page.mouse.move(layer["x"] + 0.35 * layer["width"], layer["y"] + 0.2 * layer["height"], steps=3)
    page.mouse.up()
    page.get_by_label("Teach this region as").fill("spoon")
    sent: list[Route] = []
    page.route("**/api/teach", lambda route: sent.append(route))
    page.keyboard.press("Enter")
    for _ in range(2):  # the next region, drawn while this one is taught
        page.get_by_role("group", name="Region").press("ArrowDown")
    page.get_by_label("Teach this region as").fill("fork")
    until(page, lambda: sent)
    sent[0].continue_()
    expect(page.locator(".viewer")).to_contain_text('Taught the region as "spoon".')
    expect(page.get_by_role("group", name="Region")).to_have_attribute("aria-label", re.compile("14 to 24% down"))
    expect(page.get_by_label("Teach this region as")).to_have_value("fork")
    expect(page.locator(".region.done")).to_have_count(2)
    assert taught.counts() == {"mug": 7, "pan": 6, "bowl": 6, "spoon": 1}

    spoon = taught.client.get("/api/examples?label=spoon").json()["examples"][0]
    left, top, right, bottom = map(int, spoon["box"].split(","))
    assert (left, top, right, bottom) == pytest.approx((10, 10, 70, 20), abs=2)  # the photo has 200 by 100 pixels
    page.keyboard.press("Escape")
    page.goto(f"{taught.address}sort?left=spoon&right=mug")
    page.locator("[data-side=left] .pick").hover()
    page.locator("[data-side=left] .large").click()
    expect(page.locator(".viewer .region.done")).to_have_text("spoon")
    seen, drawn = (page.locator(f".viewer {name}").bounding_box() for name in (".shot", ".region.done"))
    assert seen is not None
    assert drawn is not None
    assert (drawn["x"] - seen["x"]) / seen["width"] == pytest.approx(left / 200, abs=0.02)


def two_things() -> bytes:
    both = Image.new("RGB", (200, 100))
    for kind in range(2):
        both.paste(picture(kind, 90).resize((100, 100)), (100 * kind, 0))
    return as_png(both)


def test_photos_are_selected_in_ranges_moved_and_deleted_and_the_focus_stays(taught: Studio) -> None:
    for kind in range(6):  # all unlike each other
        taught.teach("mixed", png(kind, 80))
    taught.teach("mixed", as_png(changed_a_little(5, 80)), two_labels="true")
    page = taught.open("classes").page
    page.get_by_role("button", name="See all mixed").click()
    tiles = page.locator("dialog .pick")
    expect(tiles).to_have_count(7)
    expect(page.locator(".alike:visible")).to_have_text(["look-alike A", "look-alike A"])
    page.get_by_role("button", name="Select near-duplicates (1)").click()
    expect(page.locator(".pick input:checked")).to_have_count(1)
    tiles.nth(0).locator("input").click()  # the one that was selected
    tiles.nth(2).locator("img").click()
    tiles.nth(4).locator("img").click(modifiers=["Shift"])
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Move to another class").click()
    page.get_by_role("group", name="Classes").get_by_role("button", name="pan").click()
    expect(tiles).to_have_count(4)
    expect(tiles.nth(2).locator("input")).to_be_focused()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 2 photos").click()
    expect(tiles).to_have_count(2)
    assert has_focus(page).startswith("Select photo")
    page.locator(".message", has_text="deleted").get_by_role("button", name="Undo").click()
    expect(tiles).to_have_count(4)
    assert has_focus(page).startswith("Select photo")
    tiles.nth(3).locator("input").click()
    page.keyboard.press("Shift+ArrowLeft")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 2 photos").click()
    expect(tiles).to_have_count(2)
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 2 photos").click()
    expect(page.get_by_text("No photos.")).to_be_visible()
    has_focus(page)
    assert taught.counts() == {"mug": 6, "pan": 9, "bowl": 6}
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    has_focus(page)


def changed_a_little(kind: int, seed: int) -> Image.Image:
    """Almost the same picture."""
    changed = picture(kind, seed)
    changed.putpixel((0, 0), (1, 2, 3))
    return changed


ASKED_LATER = """() => {
  const { fetch } = window;
  const asked = [];
  window.fetch = async (url, options) => {
    if (!url.endsWith('/api/predict')) return fetch(url, options);
    await new Promise((go) => asked.push(go));
    return fetch(url, options).finally(() => setTimeout(() => window.heard()));
  };
  window.answer = async () => {  // to the next question, and only when the page has heard it
    while (!asked.length) await new Promise((done) => setTimeout(done, 20));
    const heard = new Promise((done) => (window.heard = done));
    asked.shift()();
    await heard;
    await new Promise((done) => setTimeout(done, 50));
  };
}"""


def test_the_classes_of_a_region_stay_where_they_are_while_one_is_pressed_or_focused(
    taught: Studio, tmp_path: Path
) -> None:
    (tmp_path / "shelf.png").write_bytes(two_things())
    page = taught.open("workbench").page
    ask_about(page, tmp_path / "shelf.png")
    page.evaluate(ASKED_LATER)
    page.get_by_role("button", name="Draw a region").click()
    region = page.get_by_role("group", name="Region")
    expect(region).to_be_focused()
    chips = page.locator(".class-field .chips button")
    expect(chips).to_have_text(["mug", "pan", "bowl"])
    chips.nth(2).hover()
    page.mouse.down()
    page.evaluate("answer()")
    page.mouse.up()
    expect(page.locator(".viewer .did")).to_contain_text('Taught the region as "bowl".')
    expect(chips).to_have_text(["mug", "pan", "bowl"])
    region.press("ArrowRight")
    page.mouse.move(5, 5)
    chips.nth(1).focus()
    page.evaluate("answer()")
    expect(chips.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".viewer .did")).to_contain_text('Taught the region as "pan".')
    expect(region).to_be_focused()
    page.evaluate("() => void setInterval(answer, 50)")
    expect(chips.first).to_contain_text("%")


def test_photos_go_from_one_class_to_the_other_by_dragging_and_by_keyboard(taught: Studio) -> None:
    page = taught.open("sort?left=mug&right=pan").page
    left, right = (page.locator(f"[data-side={side}] .pick") for side in ("left", "right"))
    expect(left).to_have_count(6)
    expect(right).to_have_count(6)
    left.nth(1).drag_to(right.first)
    expect(left).to_have_count(5)
    expect(right).to_have_count(7)
    right.nth(0).locator("input").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_role("button", name="Move to mug").press("Enter")
    expect(left).to_have_count(7)
    assert has_focus(page).startswith("Select photo")
    assert taught.counts() == {"mug": 7, "pan": 5, "bowl": 6}
    page.get_by_label("Second class", exact=True).and_(page.locator("select")).select_option("bowl")
    expect(right).to_have_count(6)
    assert page.url.endswith("?left=mug&right=bowl")
    for left_class, right_class in (("bowl", "mug"), ("mug", "bowl")):  # never the same class twice
        page.get_by_label("Second class", exact=True).and_(page.locator("select")).select_option(right_class)
        expect(page.get_by_label("First class", exact=True).and_(page.locator("select"))).to_have_value(left_class)
        expect(left).to_have_count(taught.counts()[left_class])
    page.locator("#undo").click()
    expect(left).to_have_count(5, timeout=SLOW)


def test_classes_are_renamed_merged_into_one_that_exists_and_deleted(taught: Studio) -> None:
    watched = taught.open("classes")
    page = watched.page
    expect(page.locator(".rule").first).to_contain_text("IF it looks like")
    page.get_by_role("button", name="Rename mug").click()
    page.get_by_label("Name of the class").fill("cup")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename cup")).to_be_focused()
    page.get_by_role("button", name="Rename cup").click()
    page.get_by_label("Name of the class").fill("PAN")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name='You have "pan". Use it?').get_by_role("button", name="Use it").click()
    both = page.get_by_role("dialog", name='The class "pan" exists already')
    expect(both).to_contain_text('The 6 photos of "cup" would be added to the 6 photos of "pan".')
    page.get_by_role("button", name="Merge them").click()
    expect(page.get_by_role("button", name="See all pan")).to_be_focused()
    assert taught.counts() == {"pan": 12, "bowl": 6}

    page.get_by_role("button", name="Merge bowl").click()
    expect(page.locator("dialog input")).to_have_count(0)  # no way to name a class that does not exist
    expect(page.get_by_label("Class", exact=True)).to_have_value("pan")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator(".class")).to_have_count(1)
    assert taught.counts() == {"pan": 18}
    page.get_by_role("button", name="Delete pan").click()
    page.locator("dialog").get_by_role("button", name="Delete pan").click()
    expect(page.get_by_text("No class yet.")).to_be_visible(timeout=SLOW)
    has_focus(page)
    page.locator("#undo").click()
    expect(page.get_by_role("heading", name="pan")).to_be_visible(timeout=SLOW)
    watched.faults.clear()  # the name that was taken


def test_decisions_are_counted_undone_in_place_and_lead_to_the_next(taught: Studio) -> None:
    taught.teach("pan", png(0, 70), png(2, 71))
    wrong = taught.client.get("/api/examples?label=pan").json()["examples"][1]["id"]
    taught.teach("bowl", png(1, 3), two_labels="true")
    page = taught.open("check").page
    judged, cases = page.locator("#judged"), page.locator(".verdict")
    expect(judged).to_contain_text("0 of 3 decided")
    suspect = page.locator("#suspects .verdict", has=page.locator(f"img[alt='pan, photo {wrong}']"))
    assert suspect.locator(".compared .photo").count() == 10
    found = {one["example"]["id"]: one["wrong"] for one in taught.client.get("/api/suspects").json()["suspects"]}
    for number in (wrong, wrong + 1):  # the answer is suggested where it is clear
        move = page.locator(f"[data-case='one {number} pan'] button", has_text="Move to")
        expect(move).to_have_class("primary" if found[number] >= 0.9 else "")
    suspect.get_by_role("button", name='Keep "pan"').click()
    expect(judged).to_contain_text("1 of 3 decided")
    expect(suspect).to_contain_text('Kept as "pan".')
    assert has_focus(page).startswith(("Move to", "Only"))
    page.get_by_role("button", name='Only "pan"').click()
    expect(judged).to_contain_text("2 of 3 decided")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(1)
    assert taught.counts() == {"mug": 6, "pan": 8, "bowl": 6}
    page.locator("#contradictions").get_by_role("button", name="Undo").click()
    expect(judged).to_contain_text("1 of 3 decided")
    expect(page.get_by_role("button", name='Only "pan"')).to_be_focused()
    page.locator("#undo").click()  # elsewhere than it was made
    expect(judged).to_contain_text("0 of 3 decided")
    expect(cases).to_have_count(3)
    assert taught.counts() == {"mug": 6, "pan": 8, "bowl": 7}


def test_many_classes_are_found_and_ordered(taught: Studio) -> None:
    for kind in range(3, 8):
        taught.teach(f"thing {kind}", *(png(kind, seed) for seed in range(kind - 2)))
    page = taught.open("classes?class=pan").page
    expect(page.locator(".class:visible")).to_have_count(1)
    page.locator("#search").fill("thing")
    expect(page.locator("#found")).to_have_text("5 of 8 found")
    page.locator("#search").fill("")
    page.get_by_label("Order").select_option("photos")
    assert page.locator(".class h2 bdi").first.inner_text() == "thing 3"
    page.get_by_label("Order").select_option("name")
    assert page.locator(".class h2 bdi").first.inner_text() == "bowl"
