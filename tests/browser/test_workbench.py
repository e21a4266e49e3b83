"""The Workbench: teach, ask and see on one page, with a webcam that shows a moving pattern."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.checks import NARROW, WIDE, check_contrast, check_pictures
from browser.studio_page import (
    SLOW,
    Studio,
    ask_about,
    bar,
    card,
    choose,
    drop_from_disk,
    files_of,
    go,
    hand,
    see_count,
    share,
)
from exll.explain.progress import ANOTHER_PLACE
from exll.streams.household.scene import Recording, render
from hostile import HAS_HEIC, heic
from pictures import picture
from served import as_png, png

REFUSED = "Failed to load resource"  # what a browser says of every answer that is no success
UNDONE = """async () => {
  const {Recording} = await import('/static/js/recorder.js');
  const {postJson} = await import('/static/js/api.js');
  const canvas = new OffscreenCanvas(32, 32);
  const frame = async () => {
    canvas.getContext('2d').fillRect(recording.count, 4, 3, 9);
    return canvas.convertToBlob();
  };
  let undone = null;
  const recording = new Recording('moving', {frame}, (count, numbers) => {
    if (numbers.length) undone ??= postJson('/api/undo');  // while it goes on
  });
  await recording.run();
  return [await recording.summary(), (await undone).undone.sentence];
}"""
RECORDED = """async () => {
  const {Recording} = await import('/static/js/recorder.js');
  const canvas = new OffscreenCanvas(32, 32);
  canvas.getContext('2d').fillRect(4, 4, 9, 9);
  const blob = await canvas.convertToBlob();
  const frame = async () => (recording.count === 2 && recording.stop(), blob);
  const recording = new Recording('still', {frame}, () => {});
  await recording.run();
  return recording.summary();
}"""


@contextmanager
def held(page: Page, label: str, key: str | None = None) -> Iterator[None]:
    hold = page.get_by_role("button", name=re.compile(f"^(Hold to record|Recording \\d+ of) {label}$"))
    if key is None:
        hold.hover()
        page.mouse.down()
    else:
        hold.focus()
        page.keyboard.down(key)
    yield
    if key is None:
        page.mouse.up()
    else:
        page.keyboard.up(key)


def camera_on(page: Page) -> None:
    page.get_by_role("button", name="Use the camera").click()
    expect(page.locator("#preview video")).to_be_visible()


def new_class(page: Page, label: str) -> None:
    page.get_by_label("New class").fill(label)
    page.keyboard.press("Enter")


def test_the_bars_move_while_a_class_is_recorded(taught: Studio) -> None:
    page = taught.open("workbench").page
    new_class(page, "pattern")
    camera_on(page)
    expect(bar(page, "mug")).to_contain_text("%", timeout=SLOW)
    assert share(page, "pattern") == 0
    recorded = card(page, "pattern").locator(".hold")
    before, page_before = recorded.bounding_box(), page.locator("#rows").bounding_box()
    with held(page, "pattern"):
        page.wait_for_function(
            "() => parseFloat(document.querySelector('.guess[data-label=pattern] .fill').style.width) > 50",
            timeout=SLOW,
        )
        expect(recorded).to_have_text(re.compile(r"Recording ([4-9]|\d\d)"))  # the bars moved before it ended
        assert recorded.bounding_box() == before
    expect(recorded).to_have_text("Hold to record")
    expect(card(page, "pattern").locator("img").nth(2)).to_be_visible(timeout=SLOW)
    expect(page.locator("#spoken")).to_contain_text("of pattern learned", timeout=SLOW)  # also the last frames
    assert taught.counts()["pattern"] >= 3
    card(page, "pattern").locator(".advice").evaluate("(advice, words) => (advice.textContent = words)", ANOTHER_PLACE)
    assert (recorded.bounding_box(), page.locator("#rows").bounding_box()) == (before, page_before)
    (found,) = (one for one in taught.client.get("/api/classes").json()["classes"] if one["label"] == "pattern")
    assert found["groups"] == 1  # one recording is one clip
    page.locator("#undo").click()  # one recording is one step
    expect(card(page, "pattern")).to_have_count(0, timeout=SLOW)
    assert page.evaluate(RECORDED) == "1 photo of still learned, 2 the same as one taught before"


def test_a_recording_that_is_undone_while_it_runs_ends_and_teaches_no_more(taught: Studio) -> None:
    watched = taught.open("workbench")
    summary, undone = watched.page.evaluate(UNDONE)
    assert summary == "The recording was undone"
    assert undone.endswith('of "moving".')
    assert taught.counts() == {"mug": 8, "pan": 8}
    assert [fault for fault in watched.faults if REFUSED not in fault] == []
    watched.faults.clear()


def test_a_short_press_switches_the_camera_on_and_the_button_stays_where_it_is(studio: Studio) -> None:
    page = studio.open("workbench").page
    page.set_viewport_size({"width": WIDE, "height": 800})
    new_class(page, "mug")
    hold = card(page, "mug").locator(".hold")
    hold.scroll_into_view_if_needed()
    before = hold.bounding_box()
    hold.click()
    expect(card(page, "mug").locator(".advice")).to_have_text("The camera is on. Hold the button to record.")
    expect(page.locator("#preview video")).to_be_visible()
    assert hold.bounding_box() == before
    assert studio.counts() == {}


def test_frames_of_another_class_are_counted_and_nobody_is_asked_while_recording(studio: Studio) -> None:
    watched = studio.open("workbench")
    page = watched.page
    assert page.evaluate(RECORDED) == "1 photo of still learned, 2 the same as one taught before"
    again = page.evaluate(RECORDED.replace("'still'", "'other'"))
    assert again == "0 photos of other learned, 3 taught as another class before"
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert studio.counts() == {"still": 1}
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_the_first_class_is_taught_by_keyboard_alone(studio: Studio) -> None:
    page = studio.open("workbench").page
    page.get_by_label("New class").focus()
    page.keyboard.type("pattern")
    page.keyboard.press("Enter")
    expect(card(page, "pattern").locator(".hold")).to_be_focused()
    with held(page, "pattern", "Space"):
        expect(card(page, "pattern").locator(".hold")).to_have_text(re.compile(r"Recording ([3-9]|\d\d)"), timeout=SLOW)
    expect(card(page, "pattern").locator("img").nth(2)).to_be_visible(timeout=SLOW)
    expect(card(page, "pattern").locator(".hold")).to_be_focused()
    page.get_by_label("Record by two presses").check()
    page.get_by_role("button", name="Record pattern").focus()
    page.keyboard.press("Enter")
    expect(card(page, "pattern").locator(".hold")).to_have_text(re.compile("Recording [2-9]"), timeout=SLOW)
    page.keyboard.press("Enter")
    expect(card(page, "pattern").locator(".hold")).to_have_text("Record")


def test_the_camera_asks_one_thing_at_a_time_and_is_frozen_for_the_reasons(taught: Studio) -> None:
    page = taught.open("workbench").page
    waiting, most = 0, 0

    def sent(url: str, change: int) -> None:
        nonlocal waiting, most
        if url.endswith("/api/predict"):
            waiting += change
            most = max(most, waiting)

    page.on("request", lambda request: sent(request.url, 1))
    page.on("requestfinished", lambda request: sent(request.url, -1))
    camera_on(page)
    for _ in range(4):
        with page.expect_response("**/api/predict", timeout=SLOW):
            pass
    assert most == 1
    page.get_by_role("button", name="Why?").click()
    expect(page.locator("#evidence section").last).to_contain_text("Near miss", timeout=SLOW)
    expect(page.locator("#why")).to_be_focused()
    expect(page.locator("#preview img")).to_have_attribute("alt", "The frozen frame of the camera")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Why?")).to_be_focused()
    page.get_by_role("button", name="Go on").click()
    with page.expect_response("**/api/predict", timeout=SLOW):
        pass
    expect(page.locator("#preview video")).to_be_visible()


def test_a_wrong_bar_that_was_pressed_is_put_right(taught: Studio, tmp_path: Path) -> None:
    (image,) = files_of(tmp_path, 0, range(77, 78))
    page = taught.open("workbench").page
    ask_about(page, image)
    expect(page.locator("#says")).to_contain_text("mug")
    before = share(page, "pan")
    bar(page, "pan").dblclick()
    expect(page.locator("#did")).to_contain_text(re.compile('Taught as "pan": .* → '), timeout=SLOW)
    expect(bar(page, "pan")).to_be_focused()
    assert taught.counts() == {"mug": 8, "pan": 9}  # pressed twice, taught once
    expect(page.locator("#level")).to_contain_text('Taught as "pan".', timeout=SLOW)
    assert share(page, "pan") > before
    page.locator("#did").get_by_role("button", name="Undo").click()
    see_count(page, "pan", 8)
    expect(page.locator("#level")).not_to_contain_text("Taught as", timeout=SLOW)
    bar(page, "mug").click()
    see_count(page, "mug", 9)
    bar(page, "pan").click()  # in another class already: it moves
    see_count(page, "pan", 9)
    see_count(page, "mug", 8)
    expect(page.locator("#did")).to_contain_text('Moved to "pan"')
    taught.teach("mug", png(0, 78), held_out="true")
    hand(page, "drop", "#preview", (0, 78))
    expect(page.locator("#level")).to_contain_text('Held out as "mug".', timeout=SLOW)
    bar(page, "mug").click()
    expect(page.locator("#did")).to_contain_text('Held out as "mug", to measure the model. So it was not taught.')
    page.get_by_role("button", name="Teach it").click()
    see_count(page, "mug", 9)
    expect(page.locator("#did")).to_contain_text("It is no longer held out.")
    page.locator("#did").get_by_role("button", name="Undo").click()
    see_count(page, "mug", 8)


def test_photos_are_taught_where_they_fall_and_asked_about_on_the_preview(studio: Studio) -> None:
    page = studio.open("workbench").page
    hand(page, "drop", "#preview", (0, 9))  # nothing is known: it can be the first thing to be taught
    expect(page.locator("#level")).to_have_text("Teach this as the first class: type its name below.")
    new_class(page, "mug")
    expect(page.locator("#level")).to_have_text("Press its class below to teach it, or type a new name.")
    expect(page.locator("#help")).to_have_text('Next: show "mug".')
    page.get_by_label("It is something else").fill("mug")
    page.keyboard.press("Enter")
    see_count(page, "mug", 1)
    expect(page.locator("#says")).to_contain_text("mug", timeout=SLOW)
    expect(page.get_by_label("It is something else")).to_be_focused()
    page.keyboard.press("Control+z")  # the field is empty, and the answer goes with what it came from
    expect(page.locator("#says")).to_have_text("Nothing taught yet", timeout=SLOW)
    expect(page.locator("#bars .best")).to_have_count(0)
    page.locator("#redo").click()
    see_count(page, "mug", 1)
    hand(page, "drop", ".card", (0, 3))
    see_count(page, "mug", 2)
    page.get_by_role("button", name="Add photos of mug").focus()
    hand(page, "paste", ".card", (0, 4))
    see_count(page, "mug", 3)
    hand(page, "drop", "#drop", (1, 1), (1, 2))
    page.get_by_label("Name of the class").fill("pan")
    page.keyboard.press("Enter")
    see_count(page, "pan", 2)
    page.locator("#main").focus()
    hand(page, "paste", "body", (0, 5))
    expect(page.locator("#says")).to_contain_text("mug", timeout=SLOW)


def test_the_preview_shows_what_the_network_sees(taught: Studio, tmp_path: Path) -> None:
    picture(0, 5, 200).crop((0, 0, 200, 100)).save(tmp_path / "wide.png")
    page = taught.open("workbench").page
    ask_about(page, tmp_path / "wide.png")
    square = page.locator("#preview").bounding_box()
    frame = page.locator("#preview .look")
    expect(frame).to_be_visible()
    seen, look = page.locator("#preview img").bounding_box(), frame.bounding_box()
    assert square is not None
    assert seen is not None
    assert look is not None
    assert square["width"] == square["height"] == pytest.approx(seen["width"]) == pytest.approx(seen["height"])
    shares = look["width"] / square["width"], look["height"] / square["height"]
    assert shares == pytest.approx((0.325, 0.65), abs=0.01)  # 65 of 200 and 65 of 100 pixels


def test_of_many_classes_the_likeliest_have_bars_and_rows_are_searched(studio: Studio) -> None:
    for kind in range(14):
        studio.teach(f"kind {kind}", *(png(kind, seed) for seed in range(2)))
    page = studio.open("workbench").page
    hand(page, "drop", "#preview", (13, 7))
    expect(page.locator(".guess.best")).to_be_visible(timeout=SLOW)
    expect(page.locator(".guess")).to_have_count(8)
    names = page.locator(".guess bdi").all_inner_texts()
    assert [share(page, name) for name in names] == sorted((share(page, name) for name in names), reverse=True)
    expect(page.locator(".guess.best")).to_contain_text(names[0])
    bar(page, names[7]).click()  # nothing moves under the mouse, also where another class is the likeliest now
    expect(page.locator("#did")).to_contain_text("Taught as", timeout=SLOW)
    expect(page.locator("#level")).to_contain_text("Taught as", timeout=SLOW)
    assert page.locator(".guess bdi").all_inner_texts() == names
    page.get_by_role("button", name="Show all 14 classes").click()
    expect(page.locator(".guess")).to_have_count(14)
    page.set_viewport_size({"width": WIDE, "height": 820})
    for always_in_view in ("#new-thing", "#drop"):
        expect(page.locator(always_in_view)).to_be_in_viewport(ratio=1)
    page.get_by_label("Find a class").fill("1_KIND")
    expect(page.locator(".card:visible")).to_have_count(5)
    expect(page.locator("#found")).to_have_text("5 of 14 found")
    expect(page.locator("#found")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")  # the first that is found; from there arrow keys go on
    expect(card(page, "kind 1").locator(".hold")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(card(page, "kind 10").locator(".hold")).to_be_focused()
    assert page.locator('.card button:visible:not([tabindex="-1"])').count() == 4
    page.set_viewport_size({"width": NARROW, "height": 900})
    page.get_by_role("button", name="Search the classes").click()
    page.get_by_label("Find a class").last.fill("13")
    page.keyboard.press("Enter")
    expect(card(page, "kind 13").locator(".hold")).to_be_in_viewport()
    page.get_by_role("button", name="Add a class").click()
    page.get_by_label("Name of the class").fill("new kind")
    page.keyboard.press("Enter")
    expect(card(page, "new kind").locator(".hold")).to_be_focused()


@pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif")
def test_a_photo_that_the_browser_cannot_show_is_taught_asked_and_shown(studio: Studio, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for seed in (1, 2):
        (photos / f"IMG_{seed}.HEIC").write_bytes(heic(picture(0, seed).resize((128, 128))))
    page = studio.open("workbench").page
    drop_from_disk(page, "#drop", photos / "IMG_1.HEIC")
    expect(page.locator("dialog .unseen")).to_have_text("IMG_1.HEIC")
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    see_count(page, "mug", 1)
    drop_from_disk(page, '.card[data-label="mug"]', photos)  # in a folder names decide on what is a photo
    see_count(page, "mug", 2)
    ask_about(page, photos / "IMG_2.HEIC")
    expect(page.locator("#says")).to_contain_text("mug")
    expect(page.locator("#preview img")).to_have_attribute("src", re.compile("/api/asked/"))
    assert page.locator("#preview img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 128
    check_pictures(page)


def test_what_came_from_one_clip_is_to_be_shown_again(studio: Studio) -> None:
    for category in ("mug", "ball"):
        clip = Recording(0, category, 1, "clutter", 1, "train")
        studio.teach(category, *(as_png(render(clip, frame, 96)) for frame in range(10)))
    page = studio.open("workbench").page
    for category in ("mug", "ball"):
        expect(card(page, category)).to_contain_text("Show it again in another place: all its photos came together.")
    expect(page.locator("#help")).to_contain_text(re.compile("What would help most: (mug|ball). Show it again"))
    page.locator("#help button").click()
    expect(page.locator(".card.selected .hold")).to_be_focused()
    go(page, "Classes")
    expect(page.locator(".badge")).to_have_text(["show it again"] * 2)


def test_a_file_that_is_no_photo_is_named_and_leaves_no_broken_picture(taught: Studio, tmp_path: Path) -> None:
    (tmp_path / "letter.png").write_text("no picture")
    watched = taught.open("workbench")
    page = watched.page
    choose(page, page.get_by_role("button", name="Choose a photo"), tmp_path / "letter.png")
    expect(page.get_by_role("alert")).to_contain_text("The image is none of JPEG", timeout=SLOW)
    expect(page.locator("#preview")).to_have_text("letter.png")
    expect(page.locator("#preview img")).to_have_count(0)
    ask_about(page, *files_of(tmp_path, 0, range(77, 78)))
    check_pictures(page)
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_what_looks_like_nothing_known_is_unknown(taught: Studio, tmp_path: Path) -> None:
    for kind, label in ((2, "bowl"), (3, "cup")):  # with two classes, nothing is unlike both
        taught.teach(label, *(png(kind, seed) for seed in range(8)))
    page = taught.open("workbench").page
    ask_about(page, *files_of(tmp_path, 8, range(1)))
    expect(page.locator("#says")).to_have_text("Unknown")
    expect(page.locator("#level")).to_contain_text("Nothing I know looks like this.")
    check_contrast(page)


def test_an_unusual_answer_is_said_to_be_so_and_follows_how_strict_the_project_is(
    taught: Studio, tmp_path: Path
) -> None:
    asked = [path for kind in range(2) for path in files_of(tmp_path, kind, range(70, 90))]
    image = next(path for path in asked if [taught.level(path, share) for share in (0.05, 0.3)] == ["usual", "unusual"])
    page = taught.open("workbench").page
    ask_about(page, image)
    answer = taught.ask(image.read_bytes())
    assert 0.5 <= answer["probability"] < 0.85
    label = answer["label"]
    expect(page.locator("#says")).to_have_text(f"Probably {label}")
    taught.client.post("/api/project/settings", json={"false_alarms": 0.3})
    expect(page.locator("#says")).to_have_text(f"Maybe {label}", timeout=SLOW)
    expect(page.locator("#level")).to_contain_text("It is unlike the photos you taught.")
    expect(page.locator("#spoken")).to_have_text(f"Maybe {label}. It is unlike the photos you taught.")
    expect(page.locator("#level")).not_to_contain_text("Confidence")  # it would say the opposite
    expect(bar(page, label)).to_contain_text("%")
    check_contrast(page)


def test_the_maps_of_the_evidence_are_shown_with_their_legend(taught: Studio, tmp_path: Path) -> None:
    (image,) = files_of(tmp_path, 0, range(77, 78))
    page = taught.open("workbench").page
    ask_about(page, image)
    page.get_by_role("button", name="Why?").click()
    page.get_by_role("button", name='Why not "pan"').click()
    expect(page.locator(".legend")).to_be_visible()
    shown = page.locator("#evidence .map-of img")
    expect(shown).to_have_attribute("alt", re.compile("orange places count more for mug and against pan"))
    assert "against=pan" in str(shown.get_attribute("src"))
    check_pictures(page)
    page.get_by_role("button", name="Photo", exact=True).click()
    expect(page.locator(".legend")).to_be_hidden()


def test_on_a_phone_a_chip_brings_its_buttons_and_the_menu_the_pages(taught: Studio) -> None:
    watched = taught.open("workbench", width=NARROW)
    page = watched.page
    camera_on(page)
    card(page, "mug").locator(".name").click()
    hold = card(page, "mug").locator(".hold")
    box = hold.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
    expect(card(page, "pan").locator(".hold")).to_be_hidden()
    with held(page, "mug"):
        expect(hold).to_have_text(re.compile("Recording [3-9]"), timeout=SLOW)
        assert hold.bounding_box() == box
    page.mouse.wheel(0, 2000)
    expect(page.locator("#preview")).to_be_in_viewport(ratio=1)
    menu = page.get_by_role("button", name="Workbench")
    expect(page.get_by_role("link", name="Classes", exact=True)).to_be_hidden()
    menu.click()
    page.get_by_role("link", name="Classes", exact=True).focus()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")
    page.get_by_role("button", name="Camera off").click()
    watched.check()
