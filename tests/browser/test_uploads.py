"""One queue for all that is taught: it survives the page, says what went wrong, and never covers the work."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.checks import NARROW, WIDE, Opener, Watched, watch
from browser.studio_page import (
    SLOW,
    Studio,
    all_sent,
    awake,
    card,
    choose,
    drop_from_disk,
    files_of,
    go,
    hand,
    see_count,
    until,
)
from served import PATIENCE, png, start

REFUSED = "Failed to load resource"  # what a browser says of every answer that is no success
NO_DATABASE = "Object.defineProperty(window, 'indexedDB', {value: undefined})"
NO_LOCKS = "Object.defineProperty(navigator, 'locks', {value: undefined})"  # as in pages without TLS


STORED_LATER = """async () => {  // all but the first photos
  const { QueueStore } = await import('/static/js/queue_store.js');
  const { add } = QueueStore.prototype;
  const later = new Promise((go) => (window.store = go));
  let batches = 0;
  QueueStore.prototype.add = async function (...given) {
    if ((batches += 1) > 1) await later;
    return add.apply(this, given);
  };
}"""


def only_refused(watched: Watched) -> None:
    """The browser complained of nothing but of answers that are no success."""
    assert [fault for fault in watched.faults if REFUSED not in fault] == []
    watched.faults.clear()


def queue(page: Page) -> Locator:
    return page.locator("#queue")


def says(page: Page, words: str) -> None:
    expect(queue(page)).to_contain_text(words, timeout=SLOW)


def press(page: Page, name: str) -> None:
    queue(page).get_by_role("button", name=name).click()


def drop_folder(page: Page, folder: Path) -> None:
    """As a class of the folder's name."""
    drop_from_disk(page, "#drop", folder)
    page.get_by_role("button", name=f"Teach as {folder.name}").click()


def large_file(path: Path, size: int) -> Path:
    """Takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


class Held:
    """Holds the n-th request of a page that teaches; the others go on."""

    def __init__(self, page: Page, number: int, arrives: bool = False) -> None:
        self.page, self.sent, self.number, self.arrives = page, 0, number, arrives
        self.route: Route | None = None
        page.route("**/api/teach", self._answer)

    def _answer(self, route: Route) -> None:
        self.sent += 1
        if self.sent != self.number:
            route.continue_()
            return
        if self.arrives:
            route.fetch()  # the server learns it, and the page is not told
        self.route = route

    def wait(self) -> None:
        until(self.page, lambda: self.route is not None)

    def release(self) -> None:
        self.wait()
        assert self.route is not None
        self.route.continue_()


def another_tab(watched: Watched, studio: Studio, view: str, script: str = "") -> Watched:
    """Of the same browser."""
    other = watch(watched.page.context, studio.address)
    if script:
        other.page.add_init_script(script)
    other.page.goto(f"{studio.address}{view}")
    awake(other.page)
    return other


def reload(watched: Watched, _: Studio) -> Watched:
    watched.page.reload()
    return watched


def go_to_the_map(watched: Watched, _: Studio) -> Watched:
    go(watched.page, "Map")
    return watched


def close_and_open_again(watched: Watched, studio: Studio) -> Watched:
    context = watched.page.context
    watched.page.close()
    other = watch(context, studio.address)
    other.page.goto(f"{studio.address}classes")
    return other


@pytest.mark.parametrize("leave", [reload, go_to_the_map, close_and_open_again])
def test_leaving_in_the_middle_of_a_drop_loses_nothing(
    studio: Studio, tmp_path: Path, leave: Callable[[Watched, Studio], Watched]
) -> None:
    watched = studio.open("workbench")
    held = Held(watched.page, 3, arrives=True)
    files_of(tmp_path / "mug", 0, range(120))
    drop_folder(watched.page, tmp_path / "mug")
    says(watched.page, "Teaching 48 of 120 photos: mug")
    held.wait()
    expect(queue(watched.page)).not_to_contain_text("Keep this page open")  # all are stored
    after = leave(watched, studio)  # the browser does not ask: that would be a fault
    says(after.page, 'Learned 120 photos of "mug".')
    assert studio.counts() == {"mug": 120}
    assert held.sent in (3, 6)
    assert after.faults == []


def test_a_drop_of_sixty_folders_is_one_work_with_one_summary_and_one_step_to_undo(
    studio: Studio, tmp_path: Path
) -> None:
    things = tmp_path / "things"
    for kind in range(60):
        files_of(things / f"kind {kind}", kind, range(2))
    large_file(things / "kind 7" / "large.png", 40_000_000)
    (things / "kind 8" / "letter.png").write_text("no photo")
    page = studio.open("workbench").page
    held = Held(page, 5)
    drop_from_disk(page, "#drop", things)
    expect(page.locator("dialog li")).to_have_count(60)
    page.get_by_role("button", name="Teach under the folders' names").click()
    says(page, "of 122 photos: kind 4")
    expect(page.get_by_role("progressbar")).to_have_count(1)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(1)
    held.release()
    summary = "Learned 120 photos of 60 classes. 2 files could not be used: large.png, letter.png."
    says(page, summary)
    expect(page.locator("#undo")).to_contain_text("Taught 120 photos of 60 classes", timeout=SLOW)

    go(page, "Map")  # what went wrong is said until it was read
    says(page, summary)
    press(page, "Details")
    problems = page.locator("dialog li")
    expect(problems.nth(0)).to_contain_text("large.png (kind 7): This file has 40 MB; at most 32 MB are accepted.")
    expect(problems.nth(1)).to_contain_text("letter.png (kind 8): The image is none of JPEG")
    page.keyboard.press("Escape")
    press(page, "Dismiss")
    expect(queue(page)).to_be_hidden()
    page.locator("#undo").click()
    expect(page.locator("#state")).to_have_text("Nothing taught yet.", timeout=SLOW)
    page.reload()
    awake(page)
    expect(queue(page)).to_be_hidden()


def test_cancelling_counts_what_was_learned_and_the_rest_can_be_continued_later(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("workbench").page
    held = Held(page, 2)
    files_of(tmp_path / "mug", 0, range(60))
    drop_folder(page, tmp_path / "mug")
    says(page, "Teaching 24 of 60 photos")
    held.wait()
    press(page, "Cancel")
    says(page, "Teaching 24 of 48 photos")  # the batch under way is finished
    expect(queue(page).get_by_role("button", name="Stopping")).to_be_visible()
    held.release()
    says(page, 'Learned 48 photos of "mug"; cancelled.')
    assert studio.counts() == {"mug": 48}
    go(page, "Map")
    press(page, "Continue (12)")
    says(page, 'Learned 60 photos of "mug".')
    assert studio.counts() == {"mug": 60}


@pytest.mark.parametrize("script", ["", NO_LOCKS])
def test_two_tabs_send_nothing_twice(studio: Studio, tmp_path: Path, script: str) -> None:
    watched = studio.open("map")
    watched.page.add_init_script(script)
    watched.page.goto(f"{studio.address}workbench")
    held = Held(watched.page, 2)
    files_of(tmp_path / "mug", 0, range(60))
    drop_folder(watched.page, tmp_path / "mug")
    says(watched.page, "Teaching 24 of 60 photos")
    held.wait()
    other = another_tab(watched, studio, "workbench", script)
    sent: list[str] = []
    other.page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/api/teach") else None)
    says(other.page, "Teaching 24 of 60 photos: mug")
    hand(other.page, "drop", '.card[data-label="mug"]', (0, 100))
    says(other.page, "Teaching 24 of 61 photos: mug")
    held.release()
    for page in (watched.page, other.page):
        says(page, 'Learned 61 photos of "mug".')
    assert held.sent + len(sent) == 4  # three of the first drop and one of the second
    assert studio.counts() == {"mug": 61}
    assert other.faults == []


def test_a_tab_goes_on_where_another_was_closed(studio: Studio, tmp_path: Path) -> None:
    watched = studio.open("workbench")
    Held(watched.page, 2)
    files_of(tmp_path / "mug", 0, range(60))
    other = another_tab(watched, studio, "map")
    drop_folder(watched.page, tmp_path / "mug")
    says(other.page, "Teaching 24 of 60 photos")
    watched.page.close()
    says(other.page, 'Learned 60 photos of "mug".')
    assert studio.counts() == {"mug": 60}


def test_photos_wait_for_a_studio_that_is_started_again(open_page: Opener, tmp_path: Path) -> None:
    process, address = start(tmp_path / "project")
    try:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            studio = Studio(client, open_page)
            watched = studio.open("workbench")
            held = Held(watched.page, 2)
            files_of(tmp_path / "mug", 0, range(60))
            drop_folder(watched.page, tmp_path / "mug")
            says(watched.page, "Teaching 24 of 60 photos")
            held.wait()
            process.kill()
            process.communicate()
            held.release()
            says(watched.page, "The studio does not answer. 36 photos still to send; trying again by itself.")
            expect(queue(watched.page).get_by_role("button", name="Try now")).to_be_visible()
            watched.page.evaluate(
                "import('/static/js/notice.js').then(({complain}) => complain({message: 'No answer.', status: 0}))"
            )
            expect(watched.page.locator("[data-unreached]")).to_have_count(1)
            process, _ = start(tmp_path / "project", "--port", str(httpx.URL(address).port))
            says(watched.page, 'Learned 60 photos of "mug".')
            expect(watched.page.locator("[data-unreached]")).to_have_count(0, timeout=SLOW)
            assert studio.counts() == {"mug": 60}
            assert all("ERR_" in fault for fault in watched.faults)
            watched.faults.clear()
            watched.page.goto("about:blank")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_where_the_browser_stores_nothing_it_asks_before_the_page_is_left(studio: Studio, tmp_path: Path) -> None:
    watched = studio.open("map")
    page = watched.page
    page.add_init_script(NO_DATABASE)
    page.goto(f"{studio.address}workbench")
    held = Held(page, 2)
    files_of(tmp_path / "mug", 0, range(60))
    drop_folder(page, tmp_path / "mug")
    says(page, "Teaching 24 of 60 photos: mug Keep this page open.")
    held.wait()
    watched.may_leave = [False]
    page.get_by_role("link", name="Map", exact=True).click()
    says(page, "Teaching 24 of 60 photos")
    assert watched.may_leave == []
    held.release()
    says(page, 'Learned 60 photos of "mug".')
    go(page, "Map")  # nobody asks any more


def test_photos_of_other_classes_are_asked_about_once_also_on_another_page(taught: Studio, tmp_path: Path) -> None:
    files_of(tmp_path / "things" / "jug", 0, range(3))  # mugs
    files_of(tmp_path / "things" / "jug", 4, range(3))
    files_of(tmp_path / "things" / "lid", 1, range(2))  # pans
    watched = taught.open("workbench")
    page = watched.page
    drop_from_disk(page, "#drop", tmp_path / "things")
    page.get_by_role("button", name="Teach under the folders' names").click()
    dialog = page.locator("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("5 photos are in another class", timeout=SLOW)
    expect(dialog).to_contain_text('3 photos: taught as "mug". Now you say "jug".')
    expect(dialog).to_contain_text('2 photos: taught as "pan". Now you say "lid".')
    page.keyboard.press("Escape")
    says(page, "5 photos in another class already.")
    go(page, "Map")
    page.get_by_role("button", name="Change their classes").click()
    expect(page.locator("#main")).to_be_focused()  # the question came by itself
    says(page, 'Learned 3 photos of "jug". 5 photos moved from another class.')
    assert taught.counts() == {"mug": 5, "pan": 6, "jug": 6, "lid": 2}
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_the_same_photo_twice_is_said_and_one_of_another_class_is_asked_about(taught: Studio) -> None:
    watched = taught.open("workbench")
    page = watched.page
    hand(page, "drop", '.card[data-label="mug"]', (0, 1), (0, 90))
    says(page, '1 photo of "mug". 1 photo was there before and stays as it is.')
    hand(page, "drop", '.card[data-label="pan"]', (0, 2))
    page.get_by_role("button", name="Leave it as mug").click()
    says(page, "1 photo left in another class")
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


def test_photos_that_were_learned_are_not_held_out_and_it_is_said_why(taught: Studio, tmp_path: Path) -> None:
    files_of(tmp_path / "other" / "mug", 0, range(3))
    page = taught.open("evaluation").page
    expect(page.locator("#held-out")).not_to_be_empty(timeout=SLOW)
    drop_from_disk(page, "h1", tmp_path / "other")
    page.get_by_role("button", name="Hold them out").click()
    says(page, "No photo was held out: 3 are taught already. Use other photos, or hold out every fifth.")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_neither_uploads_nor_messages_cover_what_one_works_with(taught: Studio, width: int) -> None:
    page = taught.open("classes", width=width).page
    page.set_viewport_size({"width": width, "height": 500})
    button = page.get_by_role("button", name="Rename pan")
    expect(button).to_be_visible()
    button.focus()
    foot, before = page.locator("#foot"), page.locator("#foot").bounding_box()
    page.evaluate(
        "bytes => import('/static/js/queue.js')"
        ".then(({teach}) => teach('mug', [new File([new Uint8Array(bytes)], 'a')]))",
        list(png(0, 1)),
    )
    says(page, "1 photo was there before")
    assert foot.bounding_box() == before  # it keeps its height, and nothing moves
    page.evaluate(
        "import('/static/js/notice.js').then(({tell}) => { for (const words of ['Bad', 'Worse', 'Bad'])"
        " tell(words, '', {fault: true}); for (const words of ['One', 'Two']) tell(words, '', {seconds: 0}); })"
    )
    shown = page.locator(".message:visible p")
    expect(shown).to_have_text(["Two"])
    expect(button).to_be_focused()
    page.wait_for_function(
        "() => document.documentElement.style.getPropertyValue('--foot') === `${foot.offsetHeight}px`"
    )
    page.wait_for_function(
        "() => document.activeElement.getBoundingClientRect().bottom <= foot.getBoundingClientRect().top"
    )
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    classes, top = page.locator("#classes").bounding_box(), foot.bounding_box()
    assert classes is not None
    assert top is not None
    assert classes["y"] + classes["height"] <= top["y"]
    page.locator("#messages").get_by_role("button", name="Dismiss").focus()
    for words in ("Bad", "Worse"):  # faults stay, and equal ones are one
        page.keyboard.press("Escape")
        expect(shown).to_have_text([words])
    page.keyboard.press("Escape")
    expect(page.locator(".message")).to_have_count(0)
    expect(button).to_be_focused()


def test_a_message_goes_when_its_step_is_no_longer_the_newest(taught: Studio) -> None:
    page = taught.open("export").page
    left = page.evaluate(
        """async () => {
          const { forgetSteps, tell } = await import('/static/js/notice.js');
          const after = (step, ...newest) => {
            tell('Done', '', { step, seconds: 0 });
            newest.forEach(forgetSteps);
            return document.querySelectorAll('.message').length;
          };
          return { older: after(5, 4), own: after(5, 5), undone: after(5, 5, 4), another: after(5, 6) };
        }"""
    )
    assert left == {"older": 1, "own": 1, "undone": 0, "another": 0}  # older: news of the step itself comes yet


def test_folders_are_dropped_from_the_disk_with_all_that_is_in_them(studio: Studio, tmp_path: Path) -> None:
    things = tmp_path / "things"
    files_of(things / "mug", 0, range(103))  # a browser reads a folder a hundred entries at a time
    files_of(things / "more" / "pan", 1, range(3))
    (things / "mug" / "notes.txt").write_text("no photo")
    files_of(things / "mug" / ".hidden", 0, range(1))[0].rename(things / "mug" / ".hidden.png")
    files_of(things / "Granny-Smith", 2, range(1))
    studio.teach("granny smith", png(2, 9))
    page = studio.open("workbench").page
    drop_from_disk(page, "#drop", things)
    expect(page.locator("dialog li")).to_have_text(["Granny-Smith: 1 photo", "pan: 3 photos", "mug: 103 photos"])
    expect(page.locator("dialog")).to_contain_text("107 photos in all")
    page.get_by_role("button", name="Teach under the folders' names").click()
    expect(page.get_by_role("dialog", name="You have")).to_contain_text('"Granny-Smith" would become another class.')
    page.get_by_role("button", name="Use it").click()
    see_count(page, "mug", 103)
    see_count(page, "pan", 3)
    expect(page.locator("#drop")).not_to_have_class(re.compile("over"))
    all_sent(page)
    drop_from_disk(page, '.card[data-label="pan"]', *files_of(tmp_path, 1, range(3, 5)), things / "more" / "pan")
    says(page, 'Learned 2 photos of "pan". 3 photos were there before and stay as they are.')
    assert studio.counts() == {"granny smith": 2, "pan": 5, "mug": 103}


def test_a_file_that_is_too_large_is_named_on_every_page(taught: Studio, tmp_path: Path) -> None:
    one, two = files_of(tmp_path, 0, range(60, 62))
    large = [large_file(tmp_path / f"{size} MB.png", size * 1_000_000) for size in (33, 129)]
    page = taught.open("workbench").page
    choose(page, page.get_by_role("button", name="Choose photos"), one, *large, two)
    page.get_by_label("Name of the class").fill("mug")
    page.keyboard.press("Enter")
    says(page, 'Learned 2 photos of "mug". 2 files could not be used: 33 MB.png, 129 MB.png.')
    hand(page, "drop", '.card[data-label="mug"]', (0, 63))
    expect(queue(page).locator("p")).to_have_text('Learned 1 photo of "mug".', timeout=SLOW)  # a drop of its own
    choose(page, page.get_by_role("button", name="Choose a photo"), large[1])
    expect(page.get_by_role("alert")).to_contain_text("129 MB.png: This file has 129 MB")
    go(page, "Project")
    choose(page, page.get_by_role("button", name="Choose photos"), one, *large, two)
    expect(page.get_by_role("alert")).to_contain_text("2 files left out, too large: 33 MB.png, 129 MB.png.")
    expect(page.locator("#predicting")).to_contain_text("Classified 2 photos.", timeout=SLOW)


def test_what_is_left_of_a_drop_that_was_undone_is_not_taught_unasked(taught: Studio) -> None:
    watched = taught.open("workbench")
    page, held = watched.page, Held(watched.page, 2)
    hand(page, "drop", '.card[data-label="mug"]', *((0, seed) for seed in range(100, 160)))
    see_count(page, "mug", 32)
    held.wait()
    hand(page, "drop", '.card[data-label="pan"]', *((1, seed) for seed in range(100, 110)))
    expect(queue(page)).to_contain_text("of 70 photos", timeout=SLOW)
    page.locator("#undo").click()
    see_count(page, "mug", 8)
    held.release()
    says(page, 'Learned 10 photos of "pan". Undone; 36 photos not taught.')  # other drops go on
    assert taught.counts() == {"mug": 8, "pan": 18}
    press(page, "Continue (36)")
    says(page, "Learned 46 photos of 2 classes.")
    assert taught.counts() == {"mug": 44, "pan": 18}
    expect(page.locator("#undo")).to_contain_text('Undo: Taught 36 photos of "mug"')
    only_refused(watched)


def test_photos_of_an_undone_drop_that_the_browser_stores_later_are_not_taught_either(taught: Studio) -> None:
    watched = taught.open("workbench")
    page = watched.page
    page.evaluate(STORED_LATER)
    hand(page, "drop", '.card[data-label="mug"]', *((0, seed) for seed in range(100, 160)))
    see_count(page, "mug", 32)
    page.locator("#undo").click()
    see_count(page, "mug", 8)
    page.evaluate("store()")
    says(page, "Undone; 36 photos not taught.")
    press(page, "Dismiss")
    expect(queue(page)).to_be_hidden()
    assert taught.counts() == {"mug": 8, "pan": 8}
    only_refused(watched)


def test_one_drop_is_one_step_to_undo_however_many_requests_it_takes(taught: Studio) -> None:
    one, other = taught.open("workbench").page, taught.open("map").page
    held = Held(one, 4)
    hand(one, "drop", '.card[data-label="mug"]', *((0, seed) for seed in range(100, 160)))
    see_count(one, "mug", 68)
    assert held.sent == 3
    for page in (one, other):
        expect(page.locator("#undo")).to_contain_text('Undo: Taught 60 photos of "mug"', timeout=SLOW)
    one.locator("#undo").click()
    see_count(one, "mug", 8)
    expect(other.locator("#undo")).to_contain_text('Undo: Taught 8 photos of "pan"', timeout=SLOW)
    assert taught.counts() == {"mug": 8, "pan": 8}
    assert card(one, "mug").is_visible()
