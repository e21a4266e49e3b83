"""A phone comes in: by the link that was printed, over TLS, and by one that the Project page makes."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import expect

from browser.checks import NARROW, WIDE, Opener
from browser.studio_page import awake, whole
from exll.studio.addresses import reachable
from exll.studio.tokens import COOKIE
from served import PATIENCE, start

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
REFUSED = "Failed to load resource: the server responded with a status of 401"
SEES = """() => navigator.mediaDevices.getUserMedia({video: true}).then((stream) => {
  stream.getTracks().forEach((track) => track.stop());
  return stream.active === false;
})"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What a studio that is open to others says at its start."""
    if not reachable("0.0.0.0"):
        pytest.skip("this machine is in no network")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.delenv("EXLL_STUDIO_TOKEN", raising=False)
        process, address = start(tmp_path_factory.mktemp("open") / "p", "--host", "0.0.0.0")
    assert process.stdout is not None
    lines = [process.stdout.readline().strip() for _ in range(5)]
    try:
        yield {
            "address": address,
            "token": lines[0].split("shown only now: ")[1],
            "fingerprint": lines[3],
            "code": lines[4].split("/enter#")[1],
        }
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_the_printed_link_opens_the_studio_once_and_the_camera_works(
    printed: dict[str, str], open_page: Opener
) -> None:
    address, link = printed["address"], f"{printed['address']}enter#{printed['code']}"
    assert address.startswith("https://")
    watched = open_page(link, width=NARROW, allowed=address)
    page = watched.page
    watched.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Open the studio").click()
    awake(page)
    assert "/enter" not in page.url
    assert page.evaluate("window.isSecureContext")
    assert page.evaluate(SEES)
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (COOKIE, True, True, "Strict")

    other = open_page(link, allowed=address)
    other.page.get_by_role("button", name="Open the studio").click()
    expect(other.page.get_by_role("alert")).to_contain_text("used already")
    other.check()
    assert other.page.context.cookies() == []
    other.page.goto(f"{address}enter")
    expect(other.page.get_by_text("The end of the link is missing.")).to_be_visible()
    expect(other.page.get_by_role("button")).to_have_count(0)
    assert [fault for fault in other.faults if REFUSED not in fault] == []
    other.faults.clear()


def test_the_project_page_makes_a_link_for_another_device(printed: dict[str, str], open_page: Opener) -> None:
    address = printed["address"]
    watched = open_page(f"{address}project?from=here", allowed=address)
    page = watched.page
    page.get_by_label("Token (shown when").fill(printed["token"])
    with page.expect_navigation():
        page.get_by_role("button", name="Log in").click()
    assert page.url == f"{address}project?from=here"  # the login returns to the page asked for
    awake(page)
    panel = page.get_by_role("region", name="Connect a phone")
    make = panel.get_by_role("button", name="Make a link")
    make.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("img", name="QR code of the link")).to_be_visible()
    expect(panel.get_by_role("status")).to_have_text("Valid for 10 minutes.")
    expect(panel.get_by_role("button", name="Make another link")).to_be_focused()
    for width in (WIDE, NARROW):
        whole(page, width)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            watched.check()
    expect(panel.get_by_text(printed["fingerprint"])).to_be_visible()
    link = str(panel.get_by_role("link").get_attribute("href"))
    place, _, code = link.partition("enter#")
    assert re.fullmatch(r"https://[0-9.]+:\d+/", place)

    phone = open_page(f"{address}enter#{code}", width=NARROW, allowed=address).page
    with phone.expect_navigation():
        phone.get_by_role("button", name="Open the studio").click()
    awake(phone)
