"""Access, limits and hostile requests."""

import asyncio
import http.client
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from exll.errors import InputError
from exll.studio import limits
from exll.studio.app import create_app
from exll.studio.errors import TooOftenError
from exll.studio.limits import Bucket
from exll.studio.project import Project
from exll.studio.tokens import COOKIE, Gate, check_token, is_loopback, token_for
from served import PATIENCE, Served, png, served

TOKEN = "a-token-of-some-length"
LABEL = {"label": "mug"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_post_from_another_site_is_refused(studio: Served, headers: dict[str, str]) -> None:
    files = {"files": ("x.png", png(0, 0))}
    response = studio.client.post("/api/teach", data=LABEL, files=files, headers=headers)
    assert (response.status_code, response.json()["error"]) == (403, "this request comes from another site.")
    assert studio.client.post("/api/undo", headers=headers).status_code == 403
    assert studio.client.get("/api/project", headers=headers).status_code == 403
    assert studio.project.store.counts() == {}


def test_the_page_s_own_requests_pass(studio: Served) -> None:
    own = {"Origin": studio.address.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    response = studio.client.post("/api/teach", data=LABEL, files={"files": ("x.png", png(0, 0))}, headers=own)
    assert response.status_code == 200
    assert studio.client.get("/workbench", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link to us


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "a@127.0.0.1", "10.0.0.1", "[::1"])
def test_a_foreign_host_is_refused(studio: Served, host: str) -> None:
    for path in ("/api/project", "/teach", "/healthz"):
        assert studio.client.get(path, headers={"Host": host}).status_code in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1", "[::1]:9"])
def test_this_machine_s_own_names_are_answered(studio: Served, host: str) -> None:
    assert studio.client.get("/healthz", headers={"Host": host}).status_code == 200


def test_names_with_paths_in_them_reach_no_disk(studio: Served, tmp_path: Path) -> None:
    names = ["../../evil.png", "/etc/passwd", "..\\..\\evil.png", "a\0b.png", "x" * 300, "<script>.png"]
    for seed, name in enumerate(names):
        file = ("files", (name, png(0, seed)))
        assert studio.client.post("/api/teach", data={"label": "../mug/.."}, files=[file]).status_code == 200
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and "project" not in path.parts]
    assert outside == []
    for path in (studio.project.folder / "images").rglob("*"):
        assert path.is_dir() or len(path.name) == 64
    names = [example["name"] for example in studio.json("/api/examples")["examples"]]
    assert all("/" not in name and "\\" not in name and len(name) <= 80 for name in names)


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd"])
def test_static_files_are_only_those_of_the_folder(studio: Served, path: str) -> None:
    assert raw(studio, "GET", f"/static/{path}")[0] == 404


@pytest.mark.parametrize("digest", ["../../studio.db", "..%2f..%2fstudio.db", "0" * 64, "%00"])
def test_an_id_leads_nowhere_but_to_an_image(studio: Served, digest: str) -> None:
    assert raw(studio, "GET", f"/api/asked/{digest}/image")[0] == 404


def test_too_much_is_refused_before_it_is_read(studio: Served) -> None:
    """Only the head is sent: the answer cannot have waited for the body."""
    headers = {"Content-Length": str(limits.MOST_BODY_BYTES + 1), "Content-Type": "multipart/form-data; boundary=x"}
    status, body = raw(studio, "POST", "/api/teach", headers)
    assert status == 413
    assert b"at most 128 MB" in body


def test_a_request_that_needs_no_token_or_brings_no_files_is_small(studio: Served) -> None:
    assert studio.post("/api/projects", name="shelf").status_code == 200
    for path, kind, most in [
        ("/login", "multipart/form-data; boundary=x", 64_000),
        ("/projects/shelf/enter", "application/x-www-form-urlencoded", 64_000),
        ("/api/examples/relabel", "application/json", 1_000_000),
        ("/projects/shelf/api/examples/relabel", "application/json", 1_000_000),
    ]:
        headers = {"Content-Type": kind}
        assert raw(studio, "POST", path, {**headers, "Content-Length": str(most + 1)})[0] == 413
        content = (bytes(1000) for _ in range(most // 1000 + 1))  # not announced
        assert studio.client.post(path, content=content, headers=headers).status_code == 413
        assert studio.client.post(path, content=bytes(1000), headers=headers).status_code != 413


def test_too_much_that_was_not_announced_is_refused_while_it_comes(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BODY_BYTES", 100_000)
    sent = 0

    def chunks() -> "object":
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n'
        for _ in range(10_000):
            sent += 1
            yield b"0" * 10_000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    try:
        response = studio.client.post("/api/teach", content=chunks(), headers=headers)  # type: ignore[arg-type]
        assert response.status_code == 413
    except httpx.TransportError:
        pass  # closed while we were still sending
    assert sent < 10_000
    assert studio.project.store.counts() == {}
    assert studio.client.get("/healthz").status_code == 200


def test_too_much_is_refused_as_such_also_where_it_is_malformed(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BODY_BYTES", 100_000)

    def answer_to(chunks: int) -> httpx.Response:
        content = (bytes(1000) for _ in range(chunks))
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        return studio.client.post("/api/teach", content=content, headers=headers)

    response = answer_to(101)
    assert (response.status_code, response.json()["error"]) == (413, "a request may have at most 100 kB.")
    assert answer_to(100).status_code == 400


def test_one_file_has_a_limit_of_its_own(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.routes.requests.MOST_FILE_BYTES", 1000)
    assert studio.teach("mug", png(0, 0)).status_code == 413
    assert studio.ask(png(0, 0)).status_code == 413
    assert studio.project.store.counts() == {}


def test_a_file_above_the_limit_is_refused_alone_and_named(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.routes.requests.MOST_FILE_BYTES", 1_000_000)
    files = [("files", (name, content)) for name, content in sent_with_one_too_large()]
    response = studio.client.post("/api/teach", data=LABEL, files=files)
    assert response.status_code == 200, response.text
    results = response.json()["results"]
    assert [(result["file"], result["status"]) for result in results] == [
        ("one.png", "taught"),
        ("large.png", "too large"),
        ("two.png", "taught"),
    ]
    assert results[1]["error"] == "this file has 1.5 MB; a photo may have at most 1 MB."
    table = studio.client.post("/api/predictions.csv", files=files).text.splitlines()
    assert [line.split(",")[0] for line in table] == ["path", "one.png", "large.png", "two.png"]
    assert "this file has 1.5 MB" in table[2]


def sent_with_one_too_large() -> list[tuple[str, bytes]]:
    return [("one.png", png(0, 0)), ("large.png", bytes(1_500_000)), ("two.png", png(0, 1))]


def test_an_image_of_too_many_pixels_is_refused(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.analysed_image.MOST_PIXELS", 1000)
    response = studio.teach("mug", png(0, 0))
    assert response.status_code == 422
    assert "48 x 48 pixels; at most 1,000 are read" in response.json()["error"]


def test_every_answer_tells_the_browser_to_run_nothing_foreign(studio: Served) -> None:
    for path in ("/teach", "/api/project", "/nowhere", "/healthz", "/static/studio.css"):
        headers = studio.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    assert "content-security-policy" in studio.client.get("/workbench", headers={"Host": "evil.example"}).headers


def test_without_the_token_only_the_login_is_open(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        assert studio.client.get("/healthz").status_code == 200
        assert studio.client.get("/static/studio.css").status_code == 200
        assert studio.client.get("/workbench").headers["location"] == "/login?next=/workbench"
        assert studio.client.get("/login").status_code == 200
        for path in ("/api/project", "/api/openapi.json", "/api/events", "/api/examples/1/image"):
            response = studio.client.get(path)
            assert (response.status_code, response.json()["error"]) == (401, "this studio asks for its token.")
        assert studio.teach("mug", png(0, 0)).status_code == 401
        for wrong in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
            assert studio.client.get("/api/project", headers={"Authorization": wrong}).status_code == 401
        assert studio.client.get("/api/project", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert studio.client.get("/api/project", headers={"Cookie": f"{COOKIE}={TOKEN}"}).status_code == 401


def test_the_right_token_gives_a_cookie_that_scripts_cannot_read(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        assert "This token is wrong" in studio.client.post("/login", data={"token": "wrong"}).text
        assert not studio.client.cookies
        response = studio.client.post("/login", data={"token": TOKEN})
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert studio.client.get("/api/project").status_code == 200
        assert studio.client.get("/workbench").status_code == 200
        assert studio.client.post("/logout").status_code == 303
        assert studio.client.get("/api/project").status_code == 401


def test_who_guesses_the_token_is_told_how_long_to_wait(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        answers = [studio.client.post("/login", data={"token": f"guess {i}"}) for i in range(11)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429]
        wait = int(answers[-1].headers["retry-after"])
        assert wait > 1
        assert f"Try again in {wait} second" in answers[-1].text


def test_wrong_tokens_of_programs_count_as_those_of_the_login(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:

        def answer_to(authorization: str) -> httpx.Response:
            return studio.client.get("/api/project", headers={"Authorization": authorization})

        assert {answer_to(none).status_code for none in ["", "Bearer"] * 6} == {401}  # no token at all
        answers = [answer_to(f"Bearer guess-{i}") for i in range(11)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429]
        assert int(answers[-1].headers["retry-after"]) > 1
        assert studio.client.post("/login", data={"token": "guess"}).status_code == 429
        assert answer_to(f"Bearer {TOKEN}").status_code == 200
        assert answer_to("").status_code == 401


def test_cookies_of_guessed_tokens_count_and_the_old_cookie_of_a_browser_counts_once(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:

        def answer_to(token: str) -> int:
            return studio.client.get("/api/project", headers={"Cookie": f"{COOKIE}={Gate(token).cookie}"}).status_code

        assert {answer_to("the token of last week") for _ in range(12)} == {401}
        assert [answer_to(f"guess {i}") for i in range(10)] == [401] * 9 + [429]
        assert answer_to("the token of last week") == 401
        assert answer_to(TOKEN) == 200


def test_nobody_is_locked_out_by_the_wrong_tokens_of_others(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        while studio.client.post("/login", data={"token": "guess"}).status_code != 429:
            pass
        elsewhere = httpx.Client(base_url=studio.address, transport=httpx.HTTPTransport(local_address="127.0.0.2"))
        with elsewhere:  # another address has guesses of its own
            assert elsewhere.post("/login", data={"token": "guess"}).status_code == 401
        assert studio.client.post("/login", data={"token": TOKEN}).status_code == 303  # the right token, same address
        assert studio.client.get("/api/project").status_code == 200


def test_the_wait_that_is_told_is_the_wait_that_is_needed() -> None:
    now = [0.0]
    bucket = Bucket(10, 0.2, lambda: now[0])
    assert [bucket.take() for _ in range(11)] == [0] * 10 + [5]
    now[0] = 2.0
    assert bucket.take() == pytest.approx(3)
    now[0] = 5.0
    assert bucket.take() == 0
    assert TooOftenError("too many requests.", "", 4.2).retry_after == 5


def test_open_to_others_there_is_no_start_without_a_good_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Project(tmp_path / "p") as project, pytest.raises(InputError, match="a token is needed"):
        create_app(project, "0.0.0.0", None)
    for token in ("short", "a" * 15, "with spaces in between", "ünïcode-is-not-enough"):
        with pytest.raises(InputError, match="a token must have at least 16"):
            check_token("0.0.0.0", token)
    monkeypatch.delenv("EXLL_STUDIO_TOKEN", raising=False)
    assert token_for("127.0.0.1") == (None, False)
    made, is_new = token_for("0.0.0.0")
    assert is_new
    check_token("0.0.0.0", made)
    assert token_for("0.0.0.0")[0] != made
    monkeypatch.setenv("EXLL_STUDIO_TOKEN", TOKEN)
    assert token_for("0.0.0.0") == (TOKEN, False)


def test_loopback_is_this_machine_and_nothing_that_looks_like_it() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "", "127.0.0.1.example", "192.168.0.1", "localhost.example"]))


def test_a_gate_opens_for_its_own_token_and_cookie_only() -> None:
    gate, other = Gate(TOKEN), Gate(TOKEN + "x")
    assert gate.opens_for_token(TOKEN)
    assert gate.opens_for_cookie(gate.cookie)
    assert not gate.opens_for_token(gate.cookie)
    assert not gate.opens_for_cookie(TOKEN)
    assert not gate.opens_for_cookie(other.cookie)
    assert not gate.opens_for_token("\ud800")


def test_a_bucket_fills_with_time() -> None:
    now = [0.0]
    bucket = Bucket(2, 10, lambda: now[0])
    assert [bucket.take() == 0 for _ in range(3)] == [True, True, False]
    now[0] = 0.1
    assert [bucket.take() == 0 for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [bucket.take() == 0 for _ in range(3)] == [True, True, False]


def test_too_many_requests_are_told_to_wait(studio: Served) -> None:
    answers = {studio.client.get("/healthz").status_code for _ in range(50)}
    assert answers == {200}
    requests = limits.Buckets(at_once=3, per_second=1e-9)
    assert [requests.take("10.0.0.1") == 0 for _ in range(4)] == [True, True, True, False]
    assert requests.take("10.0.0.2") == 0
    for i in range(3000):
        requests.take(f"host {i}")
    assert len(requests) == limits.ADDRESSES_KEPT


def test_too_many_requests_of_one_address_are_refused_until_it_waits(studio: Served) -> None:
    limited = httpx.ASGITransport(limits.RateLimit(create_app(studio.project), at_once=3, per_second=0.001))

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=limited, base_url="http://localhost") as client:
            return [await client.get("/healthz") for _ in range(4)]

    answers = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 900 < int(answers[-1].headers["retry-after"]) <= 1000


def raw(studio: Served, method: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Exactly this path and these headers, with no body."""
    parts = urlsplit(studio.address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.putrequest(method, path)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.read()
    except TimeoutError:
        return 0, b"no answer"
    finally:
        connection.close()
