"""The studio as a person meets it: a real server, a real browser, a webcam that shows a pattern."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from browser.checks import NARROW, WIDE, Opener, Watched, check_contrast, check_keyboard, check_pictures
from browser.studio_page import (
    SLOW,
    VIEWS,
    Studio,
    all_sent,
    awake,
    card,
    choose,
    drop_from_disk,
    files_of,
    go,
    hand,
    predict_by_command,
    running,
    see_count,
    settled,
    whole,
)
from exll.streams.household.scene import Recording, render
from hostile import HAS_HEIC, heic
from pictures import picture
from served import as_png, png

NARROWEST = 360
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LABELS = ("mug", "pan", "bowl")
LAST_TO_COME = {
    "teach": ".card img",
    "ask": "#correction h2",
    "classes": ".rule img",
    "map": ".plane circle",
    "check": "#contradictions .verdict",
    "evaluation": "#result a",
    "history": "#steps .step",
    "project": "#storage dd",
}
REFUSED = "Failed to load resource"  # what a browser says of every answer that is no success


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Three classes; one picture under a wrong name and one under two. Tests look and leave it as it is."""
    with running(tmp_path_factory.mktemp("shelf")) as studio:
        for kind, label in enumerate(LABELS):
            studio.teach(label, *(png(kind, seed) for seed in range(9)))
        studio.teach("pan", png(0, 50))
        studio.teach("mug", png(2, 3), two_labels="true")
        yield studio


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
    for kind, label in enumerate(LABELS[:2]):
        studio.teach(label, *(png(kind, seed) for seed in range(8)))
    return studio


def ask_about(page: Page, image: Path) -> None:
    choose(page, page.get_by_role("button", name="Choose a photo"), image)
    expect(page.locator("#correction h2")).to_be_visible(timeout=SLOW)


def test_a_newcomers_whole_story(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("teach").page
    expect(page.locator("#drop")).to_contain_text("Nothing taught yet. Drop photos of the first thing here.")

    # two classes from files: one by name, one by the name of its folder
    page.get_by_label("New class").fill("mug")
    page.get_by_role("button", name="Add", exact=True).click()
    choose(page, page.get_by_role("button", name="Add photos of mug"), *files_of(tmp_path / "photos", 0, range(8)))
    see_count(page, "mug", 8)
    files_of(tmp_path / "pan", 1, range(8))
    choose(page, page.get_by_role("button", name="Choose a folder"), tmp_path / "pan")
    page.get_by_role("button", name="Teach as pan").click()
    see_count(page, "pan", 8)
    all_sent(page)

    # a right answer, with the pictures behind it
    (new,) = files_of(tmp_path / "new", 0, range(60, 61))
    go(page, "Ask")
    ask_about(page, new)
    expect(page.locator("#answer .says")).to_have_text("mug")
    expect(page.locator("#evidence section", has_text="Near miss")).to_contain_text("pan")
    whole(page)
    assert page.locator("#evidence section").first.get_by_role("img").count() > 0

    # a correction: a thing it does not know
    (bowl,) = files_of(tmp_path / "new", 2, range(60, 61))
    ask_about(page, bowl)
    page.locator("#other").fill("bowl")
    page.get_by_role("button", name="Teach", exact=True).click()
    expect(page.locator("#correction")).to_contain_text("Before0%", timeout=SLOW)
    assert studio.counts() == {"mug": 8, "pan": 8, "bowl": 1}

    # a mistake: found, and removed
    studio.teach("pan", png(0, 70))
    go(page, "Check")
    suspect = page.locator("#suspects .verdict", has_text='Taught as "pan", but the other pictures suggest "mug"')
    suspect.get_by_role("button", name="Remove").click(timeout=SLOW)
    expect(suspect).to_have_count(0, timeout=SLOW)
    settled(page)
    assert studio.counts()["pan"] == 8

    # the model goes along, and answers the same elsewhere
    go(page, "Project")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the model").click()
    download.value.save_as(tmp_path / "things.exll")
    answer = predict_by_command(tmp_path / "things.exll", new)
    here = studio.ask(new.read_bytes())
    assert (answer["label"], answer["runner_up"]) == (here["label"], here["runner_up"]) == ("mug", here["runner_up"])
    assert answer["probability"] == pytest.approx(here["probability"], abs=1e-6)


@pytest.mark.parametrize("key", [None, "Space"])
def test_the_webcam_teaches_while_the_button_is_held(studio: Studio, key: str | None) -> None:
    page = studio.open("teach").page
    page.get_by_label("New class").fill("pattern")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Camera for pattern").click()
    hold = page.get_by_role("button", name="Hold to record")
    hold.focus()
    if key is None:
        hold.hover()
        page.mouse.down()
    else:
        page.keyboard.down(key)
    expect(page.get_by_text(re.compile(r"Recording: ([3-9]|\d\d+) pictures"))).to_be_visible(timeout=SLOW)
    if key is None:
        page.mouse.up()
    else:
        page.keyboard.up(key)
    expect(card(page, "pattern").locator(".thumbs img").nth(2)).to_be_visible(timeout=SLOW)
    recorded = studio.counts()["pattern"]
    page.get_by_role("button", name="Take one").click()
    see_count(page, "pattern", recorded + 1)


def test_the_live_camera_asks_one_thing_at_a_time(taught: Studio) -> None:
    page = taught.open("ask").page
    waiting, most = 0, 0

    def sent(url: str, change: int) -> None:
        nonlocal waiting, most
        if url.endswith("/api/predict"):
            waiting += change
            most = max(most, waiting)

    page.on("request", lambda request: sent(request.url, 1))
    page.on("requestfinished", lambda request: sent(request.url, -1))
    page.get_by_role("button", name="Use the camera").click()
    expect(page.locator("#answer .says")).to_be_visible(timeout=SLOW)
    for _ in range(3):
        with page.expect_response("**/api/predict"):
            pass
    assert most == 1
    page.get_by_role("button", name="Keep this picture and explain").click()
    expect(page.locator("#evidence h2")).to_have_text("Why", timeout=SLOW)
    expect(page.get_by_role("button", name="Use the camera")).to_be_visible()


def test_pictures_can_be_dropped_and_pasted(studio: Studio) -> None:
    page = studio.open("teach").page
    hand(page, "drop", "#drop", (0, 1), (0, 2))
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    see_count(page, "mug", 2)
    hand(page, "drop", ".card", (0, 3))
    see_count(page, "mug", 3)
    page.get_by_role("button", name="Add photos of mug").focus()
    hand(page, "paste", ".card", (0, 4))
    see_count(page, "mug", 4)
    go(page, "Ask")
    hand(page, "paste", "body", (0, 5))
    expect(page.locator("#answer .says")).to_have_text("mug", timeout=SLOW)


@pytest.mark.skipif(not HAS_HEIC, reason="needs pillow-heif")
def test_a_photo_that_the_browser_cannot_show_is_taught_asked_and_shown(studio: Studio, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for seed in (1, 2):
        (photos / f"IMG_{seed}.HEIC").write_bytes(heic(picture(0, seed).resize((128, 128))))
    page = studio.open("teach").page
    drop_from_disk(page, "#drop", photos / "IMG_1.HEIC")
    expect(page.locator("dialog .unseen")).to_have_text("IMG_1.HEIC")
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    see_count(page, "mug", 1)
    drop_from_disk(page, '.card[data-label="mug"]', photos)  # in a folder names decide on what is a picture
    see_count(page, "mug", 2)
    go(page, "Ask")
    ask_about(page, photos / "IMG_2.HEIC")
    expect(page.locator("#answer .says")).to_have_text("mug")
    assert page.locator("#stage img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 128
    check_pictures(page)


def test_what_came_from_one_clip_is_to_be_shown_again(studio: Studio) -> None:
    for category in ("mug", "ball"):
        clip = Recording(0, category, 1, "clutter", 1, "train")
        studio.teach(category, *(as_png(render(clip, frame, 96)) for frame in range(10)))
    page = studio.open("teach").page
    for category in ("mug", "ball"):
        expect(card(page, category)).to_contain_text("Show it again in another place: all its examples came together.")
    go(page, "Classes")
    expect(page.locator(".badge")).to_have_text(["show it again"] * 2)


def test_each_class_of_one_drop_gets_advice_of_its_own(studio: Studio, tmp_path: Path) -> None:
    for category in ("mug", "ball"):
        (tmp_path / "clips" / category).mkdir(parents=True)
        clip = Recording(0, category, 1, "clutter", 1, "train")
        for frame in range(10):
            render(clip, frame, 96).save(tmp_path / "clips" / category / f"{frame}.png")
    page = studio.open("teach").page
    drop_from_disk(page, "#drop", tmp_path / "clips")
    page.get_by_role("button", name="Teach under the folders' names").click()
    for category in ("mug", "ball"):
        expect(card(page, category)).to_contain_text("all its examples came together.", timeout=SLOW)

    page.get_by_role("button", name="Undo: Taught 20 photos").click()
    expect(page.locator(".card")).to_have_count(0)
    for kind, label in enumerate(LABELS[:2]):
        files_of(tmp_path / "photos" / label, kind, range(8))
    drop_from_disk(page, "#drop", tmp_path / "photos")
    page.get_by_role("button", name="Teach under the folders' names").click()
    for label in LABELS[:2]:
        expect(card(page, label)).to_contain_text("Expected right: ", timeout=SLOW)
        expect(card(page, label)).to_contain_text("on photos like these, ")


def test_folders_are_dropped_from_the_disk_with_all_that_is_in_them(studio: Studio, tmp_path: Path) -> None:
    things = tmp_path / "things"
    files_of(things / "mug", 0, range(103))  # a browser reads a folder a hundred entries at a time
    files_of(things / "more" / "pan", 1, range(3))
    (things / "mug" / "notes.txt").write_text("no picture")
    files_of(things / "mug" / ".hidden", 0, range(1))[0].rename(things / "mug" / ".hidden.png")
    page = studio.open("teach").page
    drop_from_disk(page, "#drop", things)
    expect(page.locator("dialog li")).to_have_text(["pan: 3 pictures", "mug: 103 pictures"])
    page.get_by_role("button", name="Teach under the folders' names").click()
    see_count(page, "mug", 103)
    see_count(page, "pan", 3)
    expect(page.locator("#drop")).not_to_have_class(re.compile("over"))

    drop_from_disk(page, '.card[data-label="pan"]', *files_of(tmp_path, 1, range(3, 5)), things / "more" / "pan")
    expect(page.locator("#jobs")).to_contain_text("3 pictures taught before", timeout=SLOW)
    assert studio.counts() == {"pan": 5, "mug": 103}


def test_the_same_picture_twice_is_said_and_another_name_is_asked_about(taught: Studio) -> None:
    watched = taught.open("teach")
    page = watched.page
    hand(page, "drop", '.card[data-label="mug"]', (0, 1), (0, 90))
    expect(page.locator("#jobs")).to_contain_text("1 picture taught before; not taught again", timeout=SLOW)
    hand(page, "drop", '.card[data-label="pan"]', (0, 2))
    page.get_by_role("button", name="Leave it as mug").click()
    expect(page.locator("#jobs")).to_contain_text("1 picture left in another class")
    assert taught.counts() == {"mug": 9, "pan": 8}
    hand(page, "drop", '.card[data-label="pan"]', (0, 3))
    page.get_by_role("button", name="Call it pan").click()
    see_count(page, "pan", 9)
    hand(page, "drop", '.card[data-label="pan"]', (0, 4))
    page.get_by_role("button", name="Both are right").click()
    see_count(page, "pan", 10)
    assert taught.counts() == {"mug": 8, "pan": 10}
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_news_of_teaching_moves_no_card(taught: Studio, tmp_path: Path) -> None:
    page = taught.open("teach").page
    before = card(page, "pan").bounding_box()
    hand(page, "drop", '.card[data-label="mug"]', (0, 1))
    expect(page.locator("#jobs")).to_contain_text("1 picture taught before", timeout=SLOW)
    assert card(page, "pan").bounding_box() == before
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#jobs")).to_be_empty()


def test_what_could_not_be_read_is_named_and_what_could_not_be_sent_is_sent_again(
    studio: Studio, tmp_path: Path
) -> None:
    watched = studio.open("teach")
    page = watched.page
    (good,) = files_of(tmp_path, 0, range(1))
    (tmp_path / "letter.png").write_text("no picture")
    choose(page, page.get_by_role("button", name="Choose photos"), good, tmp_path / "letter.png")
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    expect(page.locator("#jobs")).to_contain_text("letter.png: ", timeout=SLOW)
    see_count(page, "mug", 1)

    page.route("**/api/teach", lambda route: route.abort())
    choose(page, page.get_by_role("button", name="Add photos of mug"), *files_of(tmp_path, 0, range(1, 4)))
    expect(page.locator("#jobs")).to_contain_text("The studio does not answer.", timeout=SLOW)
    page.unroute("**/api/teach")
    page.get_by_role("button", name="Try again (3 pictures)").click()
    see_count(page, "mug", 4)
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def large_file(path: Path, size: int) -> Path:
    """Takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_a_file_that_is_too_large_is_named_and_left_out_and_the_others_are_taught(
    studio: Studio, tmp_path: Path
) -> None:
    page = studio.open("teach").page
    one, two = files_of(tmp_path, 0, range(2))
    large = [large_file(tmp_path / f"{size} MB.png", size * 1_000_000) for size in (33, 129)]
    choose(page, page.get_by_role("button", name="Choose photos"), one, *large, two)
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    see_count(page, "mug", 2)
    for size in (33, 129):
        expect(page.locator("#jobs")).to_contain_text(
            f"{size} MB.png: This file has {size} MB; at most 32 MB are accepted."
        )
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)

    go(page, "Ask")
    choose(page, page.get_by_role("button", name="Choose a photo"), large[1])
    expect(page.get_by_role("alert")).to_contain_text("129 MB.png: This file has 129 MB")
    go(page, "Project")
    choose(page, page.get_by_role("button", name="Choose photos"), one, *large, two)
    expect(page.get_by_role("alert")).to_contain_text("2 files left out, too large: 33 MB.png, 129 MB.png.")
    expect(page.locator("#predicting")).to_contain_text("Classified 2 pictures.", timeout=SLOW)


def test_long_work_can_be_cancelled_and_gone_on_with(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("teach").page
    stopped = page.locator("#jobs").get_by_role("button", name="Cancel")
    sent = 0

    def first_then_stop(route: Route) -> None:
        nonlocal sent
        sent += 1
        if sent == 2:
            stopped.evaluate("button => button.click()")
        route.continue_()

    page.route("**/api/teach", first_then_stop)
    files_of(tmp_path / "mug", 0, range(60))
    choose(page, page.get_by_role("button", name="Choose a folder"), tmp_path / "mug")
    page.get_by_role("button", name="Teach as mug").click()
    expect(page.locator("#jobs")).to_contain_text('Learned 48 pictures of "mug"; cancelled.', timeout=SLOW)
    assert studio.counts() == {"mug": 48}
    page.get_by_role("button", name="Go on (12 pictures)").click()
    see_count(page, "mug", 60)


def test_leaving_while_pictures_are_sent_is_asked_about_and_what_arrived_is_named(
    studio: Studio, tmp_path: Path
) -> None:
    watched = studio.open("teach")
    page = watched.page
    held: list[Route] = []
    sent = 0

    def hold_the_second(route: Route) -> None:
        nonlocal sent
        sent += 1
        if sent == 2:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/teach", hold_the_second)
    files_of(tmp_path / "mug", 0, range(60))
    choose(page, page.get_by_role("button", name="Choose a folder"), tmp_path / "mug")
    page.get_by_role("button", name="Teach as mug").click()
    expect(page.locator("#jobs")).to_contain_text("Teaching 24 of 60 pictures", timeout=SLOW)

    watched.may_leave = [False]
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator("#jobs")).to_contain_text("Teaching 24 of 60 pictures")
    assert watched.may_leave == []
    assert page.url.endswith("/teach")

    watched.may_leave = [True]
    go(page, "Ask")
    assert watched.may_leave == []
    go(page, "Teach")
    expect(page.locator("#jobs")).to_contain_text(
        'The page was left while 60 pictures of "mug" were being sent: at least 24 arrived.'
    )
    see_count(page, "mug", 24)
    choose(page, page.get_by_role("button", name="Choose a folder"), tmp_path / "mug")
    page.get_by_role("button", name="Teach as mug").click()
    expect(page.locator("#jobs")).to_contain_text("24 pictures taught before; not taught again.", timeout=SLOW)
    see_count(page, "mug", 60)
    page.get_by_role("button", name="Dismiss").first.click()
    go(page, "Ask")  # nothing is being sent: nobody asks
    go(page, "Teach")
    expect(page.locator("#jobs")).to_be_empty()


def test_undo_takes_back_the_last_step_and_other_pages_see_it(taught: Studio) -> None:
    one, other = taught.open("teach").page, taught.open("teach").page
    hand(one, "drop", '.card[data-label="mug"]', (0, 91))
    see_count(other, "mug", 9)
    one.get_by_role("button", name="Undo").click()
    see_count(other, "mug", 8)
    see_count(one, "mug", 8)


def test_a_page_whose_work_another_page_undid_is_told_so(taught: Studio) -> None:
    one, other = taught.open("teach").page, taught.open("map").page
    hand(one, "drop", '.card[data-label="mug"]', *((0, seed) for seed in range(100, 118)))
    see_count(one, "mug", 26)
    other.get_by_role("button", name="Undo: Taught 18 photos").click()
    words = 'Taught 18 photos of "mug".'
    expect(other.locator("#messages")).to_contain_text(f"Undone: {words}")
    expect(one.locator("#messages")).to_contain_text(f"Undone on another page: {words}")
    see_count(one, "mug", 8)
    for page in (one, other):
        expect(page.locator("#messages .message")).to_have_count(1)
        page.locator("#messages").get_by_role("button", name="Dismiss").click()

    see(one, False)  # a tab in the background hears nothing until it is looked at again
    other.get_by_role("button", name="Undo: Taught 8 photos").click()
    expect(other.locator("#messages")).to_contain_text('Undone: Taught 8 photos of "pan".')
    expect(one.locator("#messages .message")).to_have_count(0)
    see(one, True)
    expect(one.locator("#messages")).to_contain_text('Undone on another page: Taught 8 photos of "pan".')
    one.reload()
    awake(one)
    expect(one.locator("#undo")).to_contain_text("mug")
    expect(one.locator("#messages .message")).to_have_count(0)  # what was told is not told again


def see(page: Page, visible: bool) -> None:
    """As if the person looked at this tab, or at another one."""
    state = "visible" if visible else "hidden"
    page.evaluate(
        """state => {
          Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});
          document.dispatchEvent(new Event('visibilitychange'));
        }""",
        state,
    )


def test_one_drop_is_one_step_to_undo_however_many_requests_it_takes(taught: Studio, tmp_path: Path) -> None:
    one, other = taught.open("teach").page, taught.open("map").page
    requests = []
    one.on("request", lambda request: requests.append(request.url) if request.url.endswith("/api/teach") else None)
    hand(one, "drop", '.card[data-label="mug"]', *((0, seed) for seed in range(100, 160)))
    see_count(one, "mug", 68)
    assert len(requests) == 3
    for page in (one, other):
        expect(page.locator("#undo")).to_contain_text('Undo: Taught 60 photos of "mug"', timeout=SLOW)
    one.locator("#undo").click()
    see_count(one, "mug", 8)
    expect(other.locator("#undo")).to_contain_text('Undo: Taught 8 photos of "pan"', timeout=SLOW)
    assert taught.counts() == {"mug": 8, "pan": 8}

    for kind, name in ((0, "mug"), (4, "jug")):
        files_of(tmp_path / "things" / name, kind, range(200, 230))
    choose(one, one.get_by_role("button", name="Choose a folder"), tmp_path / "things")
    one.get_by_role("button", name="Teach under the folders' names").click()
    see_count(one, "mug", 38)
    see_count(one, "jug", 30)
    expect(one.locator("#undo")).to_contain_text(re.compile('Taught 60 photos of "(mug|jug)" and "(mug|jug)"'))
    other.locator("#undo").click()
    see_count(one, "mug", 8)
    assert taught.counts() == {"mug": 8, "pan": 8}


def test_pictures_are_relabelled_and_deleted_in_bulk(taught: Studio) -> None:
    page = taught.open("teach").page
    page.get_by_role("button", name="See all pictures of mug").click()
    boxes = page.locator("dialog .pick input")
    expect(boxes).to_have_count(8)
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Change the class").click()
    page.get_by_role("group", name="Classes").get_by_role("button", name="pan").click()
    expect(boxes).to_have_count(6, timeout=SLOW)
    page.get_by_role("button", name="Select all shown").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 6 pictures").click()
    expect(page.get_by_text("No pictures.")).to_be_visible(timeout=SLOW)
    assert taught.counts() == {"pan": 10}


def test_a_correction_that_does_not_turn_the_answer_is_taught_once(taught: Studio, tmp_path: Path) -> None:
    (image,) = files_of(tmp_path, 0, range(77, 78))
    page = taught.open("ask").page
    ask_about(page, image)
    expect(page.locator("#answer .says")).to_have_text("mug")
    page.locator("#correction .chips").get_by_role("button", name="pan").dblclick()
    words = page.locator("#correction")
    expect(words).to_contain_text("went from", timeout=SLOW)
    now = taught.ask(image.read_bytes())
    turned = now["known"] and now["label"] == "pan"
    expect(words).to_contain_text("Corrected" if turned else "one example is not enough to change the answer")
    assert taught.counts() == {"mug": 8, "pan": 9}
    expect(page.locator("#answer")).to_contain_text('This picture was taught as "pan"', timeout=SLOW)


def test_a_file_that_is_no_picture_is_named_and_leaves_no_broken_picture(taught: Studio, tmp_path: Path) -> None:
    (tmp_path / "letter.png").write_text("no picture")
    watched = taught.open("ask")
    page = watched.page
    choose(page, page.get_by_role("button", name="Choose a photo"), tmp_path / "letter.png")
    expect(page.get_by_role("alert")).to_contain_text("The image is none of JPEG", timeout=SLOW)
    expect(page.locator("#stage")).to_have_text("letter.png")
    expect(page.locator("#stage img")).to_have_count(0)
    ask_about(page, *files_of(tmp_path, 0, range(77, 78)))
    check_pictures(page)
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_what_looks_like_nothing_known_is_unknown(taught: Studio, tmp_path: Path) -> None:
    strange = [path for kind in range(2, 8) for path in files_of(tmp_path, kind, range(1))]
    unknown = [path for path in strange if not taught.ask(path.read_bytes())["known"]]
    if not unknown:
        pytest.skip("the preset of this project never says unknown")
    page = taught.open("ask").page
    ask_about(page, unknown[0])
    expect(page.locator("#answer .says")).to_have_text("Unknown")
    expect(page.locator("#answer")).to_contain_text("Nothing I know looks like this.")
    check_contrast(page)


def test_how_strict_answers_are_is_set_on_the_page_and_an_unusual_one_is_said_to_be_so(
    taught: Studio, tmp_path: Path
) -> None:
    asked = [path for kind in range(2) for path in files_of(tmp_path, kind, range(70, 90))]
    image = next(path for path in asked if [taught.level(path, share) for share in (0.05, 0.3)] == ["usual", "unusual"])
    page = taught.open("ask").page
    ask_about(page, image)
    label = page.locator("#answer .says").text_content()
    page.get_by_text("Settings").click()
    slider = page.get_by_label("How strict")
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator("#strict-words")).to_contain_text("about 300 are called unusual")
    expect(page.locator("#answer .says")).to_have_text(f"Maybe {label}", timeout=SLOW)
    expect(page.locator("#answer")).to_contain_text("It is unlike the photos you taught.")
    expect(page.locator("#spoken")).to_contain_text("It is unlike the photos you taught.")
    check_contrast(page)


def test_the_maps_of_the_evidence_are_shown_with_their_legend(taught: Studio, tmp_path: Path) -> None:
    (image,) = files_of(tmp_path, 0, range(77, 78))
    page = taught.open("ask").page
    ask_about(page, image)
    expect(page.locator(".legend")).to_be_hidden()
    page.get_by_role("button", name='Why not "pan"').click()
    expect(page.locator(".legend")).to_be_visible()
    shown = page.locator("#stage img")
    expect(shown).to_have_attribute("alt", re.compile("orange places count more for mug and against pan"))
    assert "against=pan" in str(shown.get_attribute("src"))
    check_pictures(page)


def test_classes_are_renamed_merged_and_deleted(taught: Studio) -> None:
    watched = taught.open("classes")
    page = watched.page
    expect(page.locator(".rule").first).to_contain_text("IF it looks like")
    page.get_by_role("button", name="Rename mug").click()
    page.get_by_label("Name of the class").fill("cup")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="cup", exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Merge cup").click()
    page.get_by_label("Name of the class").fill("pam")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text('There is no class "pam".', timeout=SLOW)
    assert taught.counts() == {"cup": 8, "pan": 8}
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Name of the class")).to_have_value("pam")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Rename cup").click()
    page.get_by_label("Name of the class").fill("pan")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Merge them").click()
    expect(page.locator(".class")).to_have_count(1, timeout=SLOW)
    assert taught.counts() == {"pan": 16}
    page.get_by_role("button", name="Delete pan").first.click()
    page.locator("dialog").get_by_role("button", name="Delete pan").click()
    expect(page.get_by_text("No class yet.")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="pan", exact=True)).to_be_visible(timeout=SLOW)
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_many_pictures_become_a_table_and_a_zip_goes_out_and_in(taught: Studio, tmp_path: Path) -> None:
    page = taught.open("project").page
    choose(page, page.get_by_role("button", name="Choose photos"), *files_of(tmp_path, 0, range(30, 55)))
    with page.expect_download() as download:
        page.get_by_role("link", name="Save predictions.csv").click(timeout=SLOW)
    rows = Path(download.value.path()).read_text().splitlines()
    assert rows[0].startswith("path,label")
    assert len(rows) == 26
    assert rows[-1].startswith("0-54.png,mug")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all pictures").click()
    download.value.save_as(tmp_path / "images.zip")
    choose(page, page.get_by_role("button", name="Choose a zip"), tmp_path / "images.zip")
    expect(page.locator("#importing")).to_contain_text("16 files taught before", timeout=SLOW)


def test_the_circles_of_the_map_are_walked_and_searched(shelf: Studio, open_page: Opener) -> None:
    page = shelf.with_pages(open_page).open("map").page
    page.locator("#search").fill("PA")
    expect(page.locator("#found")).to_have_text("1 of 3 found")
    marked = page.locator("circle[data-i]").evaluate_all("all => all.map(c => c.classList.contains('dim'))")
    assert set(marked) == {True, False}
    assert page.locator("circle[data-k='0']:not(.dim)").count() == 0  # mug was taught first
    page.locator("#search").fill("")
    page.locator("circle[tabindex='0']").focus()
    read = [page.locator(".readout .card").inner_text()]
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        read.append(page.locator(".readout .card").inner_text())
    assert len(set(read)) > 1
    assert page.locator(".readout .card img").count() > 0


def test_an_image_under_two_names_is_decided(taught: Studio) -> None:
    taught.teach("pan", png(0, 3), two_labels="true")
    page = taught.open("check").page
    page.get_by_role("button", name='Only "mug"').click(timeout=SLOW)
    expect(page.locator("#contradictions")).to_be_hidden(timeout=SLOW)
    assert taught.counts() == {"mug": 8, "pan": 8}


def test_what_was_kept_comes_back_with_undo(taught: Studio) -> None:
    taught.teach("pan", png(0, 70))
    page = taught.open("check").page
    suspect = page.locator("#suspects .verdict", has_text='Taught as "pan"')
    suspect.get_by_role("button", name='Keep "pan"').click(timeout=SLOW)
    expect(suspect).to_have_count(0)
    page.get_by_role("button", name="Undo: Kept 1 photo as it is").click()
    expect(suspect).to_have_count(1)
    expect(suspect).to_be_visible()


def test_hostile_names_are_shown_as_text(taught: Studio) -> None:
    label = '<img src=x onerror="alert(1)"> & \N{HEBREW LETTER SHIN}'
    taught.teach(label, *(png(4, seed) for seed in range(4)))
    for view in VIEWS[:5]:
        watched = taught.open(view)
        whole(watched.page, NARROW)
        if view not in ("ask", "check"):
            expect(watched.page.locator("main")).to_contain_text(label[:20], timeout=SLOW)
        watched.check()


def shown(shelf: Studio, open_page: Opener, view: str) -> Watched:
    """A page with something on it."""
    watched = shelf.with_pages(open_page).open(view)
    settled(watched.page)
    if view == "ask":
        hand(watched.page, "paste", "body", (0, 60))
    expect(watched.page.locator(LAST_TO_COME[view]).last).to_be_visible(timeout=SLOW)
    return watched


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_is_quiet_closed_and_readable(shelf: Studio, open_page: Opener, view: str) -> None:
    watched = shown(shelf, open_page, view)
    for width in (WIDE, NARROW, NARROWEST):
        whole(watched.page, width)
        for scheme in SCHEMES:
            watched.page.emulate_media(color_scheme=scheme)
            watched.check()


@pytest.mark.parametrize("view", VIEWS)
def test_an_empty_project_greets_on_every_page(studio: Studio, view: str) -> None:
    watched = studio.open(view, width=NARROW)
    expect(watched.page.locator("#state")).to_have_text("Nothing taught yet.")
    expect(watched.page.locator("main")).not_to_contain_text("Looking")
    watched.check()


@pytest.mark.parametrize("view", VIEWS)
def test_every_part_that_can_be_used_is_reached_by_keyboard(shelf: Studio, open_page: Opener, view: str) -> None:
    names = check_keyboard(shown(shelf, open_page, view).page)
    assert "Skip to the content" in names[0]


def test_a_dialog_closes_with_escape_and_gives_the_focus_back(shelf: Studio, open_page: Opener) -> None:
    page = shelf.with_pages(open_page).open("teach").page
    opener = page.get_by_role("button", name="See all pictures of mug")
    opener.click()
    expect(page.locator("dialog[open] .pick").first).to_be_visible(timeout=SLOW)
    check_contrast(page)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def test_paper_is_white_also_where_the_screen_is_dark(shelf: Studio, open_page: Opener) -> None:
    page = shelf.with_pages(open_page).open("classes", dark=True).page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.get_by_role("button").count() == 0
    check_contrast(page)
