"""One-time links, and the way back to the page that was asked for."""

import html
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from exll.studio.one_time_codes import CODE_BYTES, MOST_CODES, VALID_SECONDS, OneTimeCodes
from exll.studio.return_path import return_path
from exll.studio.tokens import COOKIE, Gate
from exll.studio.welcome import places, welcome
from served import Served, served

TOKEN = "a-token-of-some-length"
ELSEWHERE = (
    "//evil.example",
    "///evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/map\r\nSet-Cookie: a=b",
    " //evil.example",
    "evil.example",
    "",
    "/login?next=/login",
    "/logout",
    "/" + "a" * 1000,
    "/\ud800",
)
OWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr("exll.studio.routes.phone.reachable", lambda host: ["192.168.1.20"])
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        yield studio


def code_of(studio: Served, **body: str) -> str:
    response = studio.client.post("/api/phone", json=body, headers={**OWN, "Origin": studio.address.rstrip("/")})
    assert response.status_code == 200, response.text
    return str(response.json()["link"].partition("/enter#")[2])


def test_a_link_opens_once_with_the_cookie_of_the_login(guarded: Served) -> None:
    code = code_of(guarded)
    assert len(code) >= 22  # 128 bits
    assert code not in guarded.client.get("/enter").text
    assert guarded.client.get(f"/enter?code={code}").status_code == 200  # looking uses nothing up
    response = guarded.client.post("/enter", data={"code": code})
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert f"{COOKIE}={Gate(TOKEN).cookie}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert guarded.client.get("/api/project").status_code == 200
    with httpx.Client(base_url=guarded.address) as second:
        again = second.post("/enter", data={"code": code})
        assert again.status_code == 401
        assert "used already, or it is older than 10 minutes" in again.text
        assert not second.cookies


def test_only_who_is_in_can_let_others_in(guarded: Served) -> None:
    assert guarded.client.post("/api/phone", json={}).status_code == 401
    foreign = {**OWN, "Origin": "http://evil.example"}
    assert guarded.client.post("/api/phone", json={}, headers=foreign).status_code == 403
    code = code_of(guarded)
    foreign = {"Origin": "http://evil.example"}
    assert guarded.client.post("/enter", data={"code": code}, headers=foreign).status_code == 403
    assert guarded.client.post("/enter", data={"code": code}).status_code == 303  # the other site did not use it up


def test_without_a_token_there_are_no_links(studio: Served) -> None:
    response = studio.post("/api/phone")
    assert response.status_code == 409
    assert "exll studio --host 0.0.0.0" in response.json()["hint"]
    assert "<code>--host 0.0.0.0</code>" in studio.client.get("/project").text
    assert "set-cookie" not in studio.client.post("/enter", data={"code": "x"}).headers


def test_wrong_codes_count_as_wrong_tokens_and_the_right_one_still_opens(guarded: Served) -> None:
    code = code_of(guarded)
    for i in range(5):
        assert guarded.client.post("/enter", data={"code": f"guess {i}"}).status_code == 401
        assert guarded.client.post("/login", data={"token": f"guess {i}"}).status_code == 401
    refused = guarded.client.post("/enter", data={"code": "guess"})
    assert refused.status_code == 429
    assert f"Try again in {refused.headers['retry-after']} second" in refused.text
    assert guarded.client.post("/enter", data={"code": code}).status_code == 303


def test_a_code_ends_after_ten_minutes_and_only_the_last_ones_are_kept() -> None:
    now = [0.0]
    codes = OneTimeCodes(lambda: now[0])
    late, early = codes.make("/a"), codes.make("/b")
    now[0] = VALID_SECONDS - 1.0
    assert codes.use(early) == "/b"
    assert codes.use(early) is None
    now[0] = float(VALID_SECONDS)
    assert codes.use(late) is None
    made = [codes.make() for _ in range(MOST_CODES + 1)]
    assert [codes.use(code) for code in made] == [None] + ["/"] * MOST_CODES
    assert codes.use("") is None
    assert codes.use("\ud800") is None
    assert CODE_BYTES * 8 >= 128


def test_a_code_is_kept_as_a_hash_only() -> None:
    codes = OneTimeCodes()
    assert codes.make() not in repr(vars(codes))


def test_the_link_is_for_the_address_that_others_can_reach(guarded: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    port = guarded.address.rstrip("/").rpartition(":")[2]
    for origin, place in (
        (guarded.address.rstrip("/"), f"http://192.168.1.20:{port}"),  # a page that only this machine can open
        ("http://192.168.7.7:99", "http://192.168.7.7:99"),
        ("https://192.168.7.7", "https://192.168.7.7"),  # a proxy with TLS
    ):
        headers = {**OWN, "Origin": origin, "Host": origin.partition("//")[2]}
        answer = guarded.client.post("/api/phone", json={}, headers=headers).json()
        assert answer["link"].startswith(f"{place}/enter#")
        assert answer["seconds"] == VALID_SECONDS
        assert answer["qr_svg"].startswith("<svg")
        assert "style" not in answer["qr_svg"]
        assert "script" not in answer["qr_svg"]
    monkeypatch.setattr("exll.studio.routes.phone.reachable", lambda host: [])
    assert guarded.client.post("/api/phone", json={}, headers=OWN).status_code == 409


def test_a_link_leads_to_a_page_of_ours_only(guarded: Served) -> None:
    for page, leads_to in (("/projects/mugs/", "/projects/mugs/"), ("//evil.example", "/")):
        response = guarded.client.post("/enter", data={"code": code_of(guarded, next=page)})
        assert response.headers["location"] == leads_to


def test_the_login_leads_back_to_the_page_asked_for(guarded: Served) -> None:
    for page in ("/map", "/classes?search=mug%20a&x=1", "/projects/a%2Fb/map", "/classes#mug"):
        if "#" not in page:  # browsers do not send what comes after it; scripts do
            asked = guarded.client.get(page)
            assert asked.status_code == 303
            assert kept_in(guarded.client.get(asked.headers["location"])) == page
        assert kept_in(guarded.client.post("/login", data={"token": "wrong", "next": page})) == page
        right = guarded.client.post("/login", data={"token": TOKEN, "next": page})
        assert (right.status_code, right.headers["location"]) == (303, page)
        guarded.client.cookies.clear()


def test_the_login_leads_nowhere_else(guarded: Served) -> None:
    assert {page: return_path(page) for page in ELSEWHERE} == dict.fromkeys(ELSEWHERE, "/")
    for page in ("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"):
        assert kept_in(guarded.client.get("/login", params={"next": page})) == "/"
        right = guarded.client.post("/login", data={"token": TOKEN, "next": page})
        assert (right.status_code, right.headers["location"]) == (303, "/")


def kept_in(login: httpx.Response) -> str:
    """The page that a login page leads to."""
    return html.unescape(login.text.partition('name="next" value="')[2].partition('"')[0])


def test_a_start_for_others_says_where_and_how_they_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.welcome.reachable", lambda host, bridges=True: ["192.168.1.20", "10.0.0.2"])
    assert places("0.0.0.0", 8765, True).split()[0] == "https://192.168.1.20:8765/"
    assert places("0.0.0.0", 8765, True).endswith(" on this machine at https://127.0.0.1:8765/")
    assert places("192.168.1.20", 8765, False) == "http://192.168.1.20:8765/"
    gate = Gate(TOKEN)
    lines = list(welcome("0.0.0.0", 8765, gate, None, with_link=True))
    assert lines[0] == "other machines reach it at http://192.168.1.20:8765/, http://10.0.0.2:8765/"
    assert "camera" in lines[1]
    place, _, code = lines[2].rpartition(": ")[2].partition("enter#")
    assert place == "http://192.168.1.20:8765/"
    assert gate.codes.use(code) == "/"
    assert len(lines) == 3  # no QR code where nobody looks
    assert not any("enter#" in line for line in welcome("0.0.0.0", 8765, gate, None, with_link=False))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    drawn = list(welcome("0.0.0.0", 8765, gate, None, with_link=True))[3]
    assert drawn.count("\n") > 15
