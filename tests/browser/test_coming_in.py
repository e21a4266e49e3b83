"""Logging in to a studio that other machines can reach, in a browser."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from browser.checks import NARROW, WIDE, Opener
from browser.studio_page import SLOW, awake, until, whole
from exll.studio.tokens import COOKIE
from served import PATIENCE, start

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
REFUSED = "Failed to load resource: the server responded with a status of 401"
STATUS = "path => fetch(path, {method: path === '/api/undo' ? 'POST' : 'GET'}).then((answer) => answer.status)"
# Begun while the page is still logged in: it may be led away at any moment after that.
KEEPS_ASKING = """() => {
  const ask = async () => (await import('/static/js/api.js')).get('/api/classes').catch(() => {});
  setInterval(ask, 50);
}"""
ASKED = ("/api/project", "/api/events", "/api/examples/1/image", "/api/undo")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """An address and the token that was shown with it."""
    process, address = start(tmp_path_factory.mktemp("open"), "--host", "0.0.0.0", "--no-tls")
    assert process.stdout is not None
    try:
        yield address, process.stdout.readline().split("shown only now: ")[1].strip()
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def say_token(page: Page, token: str) -> None:
    page.get_by_label("Token (shown when").fill(token)
    with page.expect_navigation():
        page.get_by_role("button", name="Log in").click()


def test_the_token_logs_in_and_nothing_else_does(guarded: tuple[str, str], open_page: Opener) -> None:
    address, token = guarded
    watched = open_page(f"{address}map", allowed=address)
    page = watched.page
    assert page.url == f"{address}login?next=/map"
    assert [page.evaluate(STATUS, path) for path in ASKED] == [401] * len(ASKED)

    say_token(page, "not-the-right-token")
    expect(page.get_by_role("alert")).to_have_text("This token is wrong.")
    expect(page.get_by_label("Token (shown when")).to_be_focused()
    assert page.context.cookies() == []

    say_token(page, token)
    awake(page)
    assert page.url == f"{address}map"
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (COOKIE, True, "Strict")
    assert token not in cookie["value"]
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate(STATUS, "/api/project") == 200

    page.goto(f"{address}project")
    with page.expect_navigation():
        page.get_by_role("button", name="Log out").click()
    assert page.url == f"{address}login"
    assert page.context.cookies() == []
    assert [page.evaluate(STATUS, path) for path in ASKED] == [401] * len(ASKED)
    assert len(watched.faults) == 2 * len(ASKED) + 1
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_a_page_that_is_no_longer_logged_in_leads_to_the_login(guarded: tuple[str, str], open_page: Opener) -> None:
    address, token = guarded
    watched = open_page(f"{address}login", allowed=address)
    page = watched.page
    say_token(page, token)
    awake(page)
    page.evaluate(KEEPS_ASKING)
    asked: list[Route] = []
    page.route("**/login?next=*", lambda route: asked.append(route))
    page.context.clear_cookies()
    until(page, lambda: asked)
    for _ in range(3):  # while the login is slow to come
        with page.expect_response(lambda response: response.status == 401, timeout=SLOW):
            pass
    page.wait_for_timeout(0)  # what these answers led to was heard of
    assert len(asked) == 1
    asked[0].continue_()
    page.wait_for_url(f"{address}login?next=%2Fworkbench")
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()


def test_the_login_is_readable_in_light_and_dark_on_wide_and_narrow_screens(
    guarded: tuple[str, str], open_page: Opener
) -> None:
    watched = open_page(f"{guarded[0]}login", allowed=guarded[0])
    expect(watched.page.get_by_label("Token (shown when")).to_be_focused()
    say_token(watched.page, "not-the-right-token")
    for width in (WIDE, NARROW):
        whole(watched.page, width)
        for scheme in SCHEMES:
            watched.page.emulate_media(color_scheme=scheme)
            watched.check()
    assert all(REFUSED in fault for fault in watched.faults)
    watched.faults.clear()
