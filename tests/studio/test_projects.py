"""Several projects in one server: found by their address, opened when they are needed, apart from one another."""

import asyncio
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from exll.studio import limits
from exll.studio import projects as module
from exll.studio.limits import IMPORT_PATH
from exll.studio.project import Project
from exll.studio.projects import Entry, Projects, is_project_name
from served import PATIENCE, Served, png, served


def opened(studio: Served) -> set[str]:
    return {path.parent.name for path in studio.project.folder.glob("projects/*/studio.db-wal")}


def in_project(studio: Served, name: str) -> httpx.Client:
    return httpx.Client(base_url=f"{studio.address}projects/{name}/", timeout=PATIENCE)


@pytest.fixture
def shelf(studio: Served) -> Iterator[httpx.Client]:
    assert studio.post("/api/projects", name="shelf").json()["root"] == "/projects/shelf"
    with in_project(studio, "shelf") as client:
        yield client


def teach(client: httpx.Client, label: str, *images: bytes) -> None:
    files = [("files", (f"{i}.png", image)) for i, image in enumerate(images)]
    assert client.post("api/teach", data={"label": label}, files=files).is_success


def test_what_one_project_learns_no_other_knows(studio: Served, shelf: httpx.Client) -> None:
    studio.taught("mug", png(0, 1))
    teach(shelf, "pan", png(1, 1), png(1, 2))
    assert studio.json("/api/classes")["examples"] == 1
    assert shelf.get("api/classes").json()["examples"] == 2
    assert shelf.get("api/project").json()["name"] == "shelf"
    assert shelf.post("api/predict", files={"file": png(0, 1)}).json()["prediction"]["label"] == "pan"


def test_its_pages_lead_to_itself(studio: Served, shelf: httpx.Client) -> None:
    assert shelf.get("").headers["location"].startswith("/projects/shelf/")
    assert httpx.get(f"{studio.address}projects/shelf").headers["location"].startswith("/projects/shelf/")
    page = shelf.get("project").text
    assert 'data-root="/projects/shelf"' in page
    assert 'href="/projects/shelf/map"' in page
    assert 'data-root=""' in studio.client.get("/project").text


def test_photos_of_one_project_are_never_taken_for_those_of_another_at_its_address(studio: Served) -> None:
    keys = set()
    for _ in range(2):
        studio.post("/api/projects", name="shelf").raise_for_status()
        keys.add(re.findall('data-project="([0-9a-f]+)"', studio.client.get("/projects/shelf/project").text)[0])
        studio.post("/api/projects/remove", name="shelf").raise_for_status()
    assert len(keys) == 2


def test_projects_of_one_network_share_it(studio: Served, shelf: httpx.Client) -> None:
    projects = studio.projects
    with projects.held("shelf") as project:
        assert project.backbone is studio.project.backbone


def test_the_list_names_all_of_them_and_where_one_is(studio: Served, shelf: httpx.Client) -> None:
    studio.post("/api/projects", name=" Küche 2 ").raise_for_status()
    answer = shelf.get("api/projects").json()
    assert answer["current"] == "/projects/shelf"
    assert [(entry["name"], entry["root"]) for entry in answer["projects"]] == [
        ("project", ""),
        ("Küche 2", "/projects/K%C3%BCche%202"),
        ("shelf", "/projects/shelf"),
    ]
    assert httpx.get(f"{studio.address}projects/K%C3%BCche%202/api/project").json()["name"] == "Küche 2"
    assert studio.post("/api/projects", name="a/b").json()["error"].endswith("a project: it contains /.")
    for taken in ("shelf", "SHELF", studio.project.folder.name):
        assert studio.post("/api/projects", name=taken).status_code == 409


HOSTILE = (
    *("", " ", ".", "..", "...", "../up", "a/b", "a\\b", "/root", "C:", ".hidden", "dot.", "x" * 61, "nul\0", "a\nb"),
    *("nul", "COM1.txt", "\N{FULLWIDTH FULL STOP}\N{FULLWIDTH FULL STOP}", "a\N{FULLWIDTH SOLIDUS}b", "a\u202eb"),
    *("a\N{ZERO WIDTH SPACE}b", "a\N{DIVISION SLASH}b", "~", "*", "\udc80", "\U00020000" * 51),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_could_be_a_path_makes_nothing(studio: Served, name: str) -> None:
    before = sorted(studio.project.folder.parent.rglob("*.db"))
    assert not is_project_name(name)
    body = json.dumps({"name": name})
    for path in ("/api/projects", "/api/projects/remove"):
        answer = studio.client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (404, 422), answer.text
    assert sorted(studio.project.folder.parent.rglob("*.db")) == before


@pytest.mark.parametrize(
    "path", ["..%2f..", "%2e%2e", ".removed", "a%00b", "x" * 5000, "%ef%bc%8e%ef%bc%8e", "nothing"]
)
def test_an_address_of_no_project_is_answered_with_404(studio: Served, path: str) -> None:
    assert httpx.get(f"{studio.address}projects/{path}/api/project").status_code == 404


def test_a_link_in_the_folder_is_no_project(studio: Served, shelf: httpx.Client, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with served(elsewhere):
        pass
    (studio.project.folder / "projects" / "linked").symlink_to(elsewhere)
    assert httpx.get(f"{studio.address}projects/linked/api/project").status_code == 404
    assert len(studio.json("/api/projects")["projects"]) == 2


def test_a_project_that_cannot_be_opened_says_why_and_the_others_work(studio: Served, shelf: httpx.Client) -> None:
    broken = studio.project.folder / "projects" / "broken"
    broken.mkdir()
    (broken / "studio.db").write_bytes(b"no database at all" * 100)
    address = f"{studio.address}projects/broken"
    answer = httpx.get(f"{address}/api/project")
    assert (answer.status_code, "cannot be used as a project" in answer.json()["error"]) == (422, True)
    page = httpx.get(f"{address}/project")
    assert (page.status_code, "cannot be opened" in page.text) == (422, True)
    assert shelf.get("api/project").status_code == 200


@pytest.mark.parametrize("left", [[], ["studio.lock"], ["studio.lock", "studio.lock-journal"]])
def test_a_project_whose_making_was_broken_off_can_be_made_again(studio: Served, left: list[str]) -> None:
    folder = studio.project.folder / "projects" / "shelf"
    folder.mkdir(parents=True)
    for name in left:
        (folder / name).touch()
    assert studio.post("/api/projects", name="shelf").status_code == 200
    assert httpx.get(f"{studio.address}projects/shelf/api/project").status_code == 200


def test_a_removed_project_is_gone_from_the_list_and_kept_on_the_disk(studio: Served, shelf: httpx.Client) -> None:
    teach(shelf, "mug", png(0, 1))
    assert studio.post("/api/projects/remove", name="shelf").status_code == 200
    assert shelf.get("api/project").status_code == 404
    assert shelf.get("project").status_code == 404
    (kept,) = (studio.project.folder / "projects" / ".removed").iterdir()
    shutil.move(kept, studio.project.folder / "projects" / "back")
    assert httpx.get(f"{studio.address}projects/back/api/project").json()["examples"] == 1
    studio.post("/api/projects", name="shelf").raise_for_status()
    assert shelf.get("api/project").json()["examples"] == 0


def test_a_project_with_the_longest_name_can_be_removed(studio: Served) -> None:
    name = "\U00020000" * 50  # letters of four bytes
    studio.post("/api/projects", name=name).raise_for_status()
    assert studio.post("/api/projects/remove", name=name).status_code == 200


def test_the_streams_of_a_project_end_when_it_is_closed(studio: Served, shelf: httpx.Client) -> None:
    heard, begun = [], threading.Event()

    def listen() -> None:
        with shelf.stream("GET", "api/events") as stream:
            for line in stream.iter_lines():
                heard.append(line)
                begun.set()

    listening = threading.Thread(target=listen)
    listening.start()
    assert begun.wait(PATIENCE)
    studio.post("/api/projects/remove", name="shelf").raise_for_status()
    listening.join(PATIENCE)
    assert not listening.is_alive()
    assert "event: hello" in heard


def test_a_project_that_waits_to_be_closed_holds_up_no_other(
    studio: Served, shelf: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", PATIENCE / 3)
    with studio.projects.held("shelf") as project:
        removing = threading.Thread(target=studio.post, args=("/api/projects/remove",), kwargs={"name": "shelf"})
        removing.start()
        assert project.closing.wait(PATIENCE / 6)  # so that long work ends
        assert studio.post("/api/projects", name="attic").status_code == 200
        assert removing.is_alive()
    removing.join(PATIENCE)
    assert shelf.get("api/project").status_code == 404


def test_the_project_that_was_not_used_for_longest_is_closed(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OPEN", 2)
    for name in ("one", "two"):
        studio.post("/api/projects", name=name).raise_for_status()
    with in_project(studio, "one") as one:
        teach(one, "mug", png(0, 1))
        studio.post("/api/projects", name="three").raise_for_status()
        assert opened(studio) == {"one", "three"}
        with one.stream("GET", "api/events") as stream:  # a page is open: it stays
            lines = stream.iter_lines()
            next(lines)
            assert httpx.get(f"{studio.address}projects/two/api/project").status_code == 200
            assert opened(studio) == {"one", "two"}
            with in_project(studio, "two") as two, two.stream("GET", "api/events") as other:
                others = other.iter_lines()
                next(others)
                refused = httpx.get(f"{studio.address}projects/three/api/project")
                assert (refused.status_code, refused.json()["hint"]) == (503, "Close the pages of one of them.")
        assert one.get("api/project").json()["examples"] == 1


def test_all_are_closed_with_the_studio_and_there_at_the_next_start(tmp_path: Path) -> None:
    for examples in (1, 2):
        with served(tmp_path / "p") as studio:
            studio.post("/api/projects", name="shelf")
            with in_project(studio, "shelf") as shelf:
                teach(shelf, "mug", png(0, examples))
                assert shelf.get("api/project").json()["examples"] == examples
        assert not list((tmp_path / "p").rglob("*-wal"))  # the database was closed


def test_two_clicks_on_the_sample_fill_one_project_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled, go_on = [], threading.Event()

    def fill(project: Project, _: object) -> None:
        filled.append(project)
        go_on.wait(PATIENCE)

    async def twice(projects: Projects) -> list[Entry]:
        return [*await asyncio.gather(projects.sample(""), projects.sample(""))]

    monkeypatch.setattr(module, "fill_with_sample", fill)
    with Project(tmp_path, "nano") as project:
        projects = Projects(project)
        entries = asyncio.run(twice(projects))
        go_on.set()
        projects.close()
    assert ([entry.name for entry in entries], filled) == (["", ""], [project])


def test_the_sample_is_found_however_its_name_is_spelt(studio: Served) -> None:
    studio.taught("mug", png(0, 1))
    studio.post("/api/projects", name="Sample").raise_for_status()
    with in_project(studio, "Sample") as own:
        teach(own, "mug", png(0, 1))
    assert studio.client.post("/api/projects/sample").json()["root"] == "/projects/Sample"


def test_token_origin_and_limits_hold_for_every_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BODY_BYTES", 1000)
    token = "a token of many letters"[:22].replace(" ", "-")
    with served(tmp_path / "p", token=token) as studio:
        bearer = {"Authorization": f"Bearer {token}"}
        studio.client.post("/api/projects", json={"name": "shelf"}, headers=bearer).raise_for_status()
        with in_project(studio, "shelf") as shelf:
            assert shelf.get("api/project").status_code == 401
            assert shelf.get("map").headers["location"].startswith("/login")
            assert shelf.get("api/project", headers=bearer).status_code == 200
            foreign = bearer | {"Origin": "http://elsewhere.example"}
            assert shelf.get("api/project", headers=foreign).status_code == 403
            large, files = bytes(1001), bearer | {"Content-Type": "multipart/form-data; boundary=x"}
            assert shelf.post("api/teach", headers=files, content=large).status_code == 413
            assert shelf.post(IMPORT_PATH[1:], headers=files, content=large).status_code in (400, 422)  # read; no zip
