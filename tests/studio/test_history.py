"""Undo and redo, whose step it is, photos that are held out, and versions to return to."""

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exll import ImageLearner, load
from exll.studio.actions import relabel
from exll.studio.dataset_export import export_model
from exll.studio.pictures import digest_of
from exll.studio.project import Project
from exll.studio.versions import MOST_VERSIONS
from served import Served, assert_model_is_its_log, assert_model_knows_its_log, png

ONE, OTHER = {"X-Exll-Client": "page-1"}, {"X-Exll-Client": "page-2"}


def fill(studio: Served) -> list[int]:
    return [number for kind in range(3) for number in studio.taught(f"kind {kind}", *photos(kind, 6))]


def photos(kind: int, count: int, start: int = 0) -> list[bytes]:
    return [png(kind, start + seed) for seed in range(count)]


def labels(studio: Served) -> dict[int, tuple[str, str]]:
    found = studio.json("/api/examples?limit=500")["examples"]
    return {example["id"]: (example["label"], example["role"]) for example in found}


STEPS: dict[str, Any] = {
    "relabel": ("/api/examples/relabel", {"ids": [1, 2], "label": "kind 2"}),
    "delete": ("/api/examples/delete", {"ids": [3, 9]}),
    "hold out": ("/api/examples/hold-out", {"ids": [4, 10]}),
    "rename": ("/api/classes/rename", {"label": "kind 0", "new_label": "mug"}),
    "merge": ("/api/classes/rename", {"label": "kind 0", "new_label": "kind 1", "merge": True}),
    "delete class": ("/api/classes/delete", {"label": "kind 1"}),
    "keep": ("/api/suspects/keep", {"ids": [5]}),
}


@pytest.mark.parametrize("kind", STEPS)
def test_what_was_undone_can_be_redone(studio: Served, kind: str) -> None:
    fill(studio)
    before = labels(studio), studio.project.store.kept()
    path, body = STEPS[kind]
    assert studio.post(path, **body).status_code == 200
    after = labels(studio), studio.project.store.kept()
    assert before != after
    for _ in range(2):
        assert studio.client.post("/api/undo").json()["redo"]["kind"] == kind
        assert (labels(studio), studio.project.store.kept()) == before
        answer = studio.client.post("/api/redo").json()
        assert (answer["redone"]["kind"], answer["next"], answer["undo"]["kind"]) == (kind, None, kind)
        assert (labels(studio), studio.project.store.kept()) == after
    studio.settle()
    assert_model_knows_its_log(studio.project, alike=False)


def test_a_new_step_ends_what_can_be_redone(studio: Served) -> None:
    fill(studio)
    studio.client.post("/api/undo")
    assert studio.json("/api/project")["redo"]["sentence"] == 'Taught 6 photos of "kind 2".'
    studio.taught("kind 2", png(2, 50))
    assert studio.json("/api/project")["redo"] is None
    assert studio.client.post("/api/redo").json()["error"] == "there is nothing to redo."
    assert len(studio.json("/api/history")["steps"]) == 3


def test_a_step_says_who_made_it_and_undo_takes_back_the_one_that_was_seen(studio: Served) -> None:
    studio.client.headers.update(ONE)
    studio.taught("mug", png(0, 0))
    seen = studio.json("/api/project")["undo"]
    studio.client.headers.update(OTHER)
    studio.taught("mug", png(0, 1), png(0, 2))
    last = studio.json("/api/project")["undo"]
    assert (seen["made_by"], last["made_by"]) == ("page-1", "page-2")
    refused = studio.post("/api/undo", step=seen["id"])
    assert refused.status_code == 409
    assert 'The last step is now: Taught 2 photos of "mug".' in refused.json()["error"]
    undone = studio.post("/api/undo", step=last["id"]).json()["undone"]
    assert (undone["made_by"], undone["undone_by"]) == ("page-2", "page-2")


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "<b>"])
def test_an_id_that_is_none_names_nobody(studio: Served, given: str) -> None:
    studio.client.headers.update({"X-Exll-Client": given})
    studio.taught("mug", png(0, 0))
    assert studio.json("/api/project")["undo"]["made_by"] is None


def test_the_history_is_read_a_page_at_a_time(studio: Served) -> None:
    fill(studio)
    studio.client.post("/api/undo")
    first = studio.json("/api/history?limit=2")
    rest = studio.json(f"/api/history?limit=2&before={first['next']}")
    steps = first["steps"] + rest["steps"]
    assert [(step["sentence"][-8:-2], step["undone"]) for step in steps] == [
        ("kind 2", True),
        ("kind 1", False),
        ("kind 0", False),
    ]
    assert rest["next"] is None


def test_all_answers_count_what_was_taught_and_name_held_out_photos_apart(studio: Served) -> None:
    studio.taught("mug", *photos(0, 3))
    studio.taught("pan", *photos(1, 2), held_out="true")
    totals = {"classes": 1, "examples": 3, "held_out": 2}
    version = studio.post("/api/versions", name="now").json()
    for answer in (studio.json("/api/project"), version):
        assert {name: answer[name] for name in totals} == totals
    answer = studio.json("/api/classes")
    assert (answer["examples"], answer["held_out"]) == (3, 2)
    assert [(one["label"], one["verdict"] == "never taught") for one in answer["classes"]] == [
        ("mug", False),
        ("pan", True),
    ]
    assert studio.json("/api/evaluation")["taught"] == 3


def test_what_is_held_out_is_stored_counted_and_not_learned(studio: Served) -> None:
    studio.taught("mug", *photos(0, 10), hold_out_every="5")
    studio.taught("mug", *photos(0, 3, 20), hold_out_every="5")  # goes on counting where the class stands
    studio.taught("mug", *photos(0, 2, 40), held_out="true")
    (mug,) = studio.json("/api/classes")["classes"]
    assert (mug["examples"], mug["held_out"]) == (11, 4)
    aside = [number for number, (_, role) in labels(studio).items() if role == "held out"]
    assert sorted(aside) == [5, 10, 14, 15]
    assert studio.json("/api/project")["undo"]["sentence"] == 'Held out 2 photos of "mug".'
    assert_model_is_its_log(studio.project)
    assert studio.teach("mug", png(0, 4)).json()["results"][0]["status"] == "already"
    assert studio.post("/api/examples/hold-out", ids=[5, 10], held_out=False).json()["changed"] == 2
    assert studio.project.store.counts() == {"mug": 13}
    studio.post("/api/classes/rename", label="mug", new_label="cup")
    assert studio.project.store.counts("held out") == {"cup": 2}
    studio.settle()
    assert_model_knows_its_log(studio.project, alike=False)


def test_one_returns_to_a_version_and_undoes_that(studio: Served) -> None:
    fill(studio)
    then = labels(studio)
    version = studio.post("/api/versions", name="first").json()
    assert (version["examples"], version["classes"]) == (18, 3)
    studio.post("/api/examples/relabel", ids=[1, 2], label="kind 2")
    studio.post("/api/classes/delete", label="kind 1")
    studio.taught("new", *photos(3, 4))
    now = labels(studio)
    assert studio.post(f"/api/versions/{version['id']}/restore").json()["changed"] == 2 + 6 + 4
    assert labels(studio) == then
    assert studio.json("/api/project")["undo"]["sentence"] == 'Returned to the version "first".'
    assert studio.post(f"/api/versions/{version['id']}/restore").json()["changed"] == 0
    studio.client.post("/api/undo")
    assert labels(studio) == now
    studio.settle()
    assert_model_knows_its_log(studio.project, alike=False)
    assert studio.post(f"/api/versions/{version['id']}/delete").json() == {"versions": []}
    assert studio.post(f"/api/versions/{version['id']}/restore").status_code == 404


def test_what_is_removed_for_good_is_gone_from_versions_too(studio: Served) -> None:
    fill(studio)
    version = studio.post("/api/versions", name="first").json()["id"]
    studio.post("/api/classes/delete", label="kind 1")
    studio.post("/api/project/purge")
    assert studio.json("/api/versions")["versions"][0]["examples"] == 12
    assert studio.post(f"/api/versions/{version}/restore").json()["changed"] == 0


def test_a_region_knows_the_photo_it_lies_in(studio: Served, tmp_path: Path) -> None:
    content = png(0, 0)
    (number,) = studio.taught("mug", content, box="10,10,40,30")
    example = studio.json(f"/api/examples/{number}")
    assert example["box"] == "10,10,40,30"
    assert studio.client.get(example["whole"]).content == content
    folder = studio.project.folder
    files = {path.name for path in (folder / "images").glob("*/*")}
    assert digest_of(content) in files
    assert len(files) == 2
    studio.post("/api/examples/delete", ids=[number])
    studio.post("/api/project/purge")
    assert not list((folder / "images").glob("*/*"))
    (plain,) = studio.taught("mug", content)
    assert studio.client.get(f"/api/examples/{plain}/whole").status_code == 404


def test_a_start_keeps_the_photos_of_regions(tmp_path: Path, studio: Served) -> None:
    content = png(0, 0)
    studio.taught("mug", content, box="10,10,40,30")
    assert digest_of(content) in studio.project.store.digests()


def test_projects_of_before_are_brought_here(tmp_path: Path) -> None:
    import sqlite3

    from exll.studio.schema import MIGRATIONS

    (tmp_path / "p").mkdir()
    old = sqlite3.connect(tmp_path / "p" / "studio.db", isolation_level=None)
    for script in MIGRATIONS[:2]:
        old.executescript(script)
    old.execute("PRAGMA user_version = 2")
    old.close()
    with Project(tmp_path / "p", "nano") as project:
        assert project.store.counts() == {}
        assert project.store.versions() == []


def test_a_photo_is_never_twice_in_a_class(studio: Served) -> None:
    fill(studio)
    (second,) = studio.taught("kind 1", png(0, 0), two_labels="true")
    assert studio.post("/api/examples/relabel", ids=[second], label="kind 0").json()["changed"] == 1
    assert studio.project.store.counts() == {"kind 0": 6, "kind 1": 6, "kind 2": 6}
    studio.client.post("/api/undo")
    assert studio.project.store.counts()["kind 1"] == 7
    studio.post("/api/classes/rename", label="kind 1", new_label="kind 0", merge=True)
    assert studio.project.store.counts() == {"kind 0": 12, "kind 2": 6}
    studio.settle()
    assert_model_knows_its_log(studio.project, alike=False)


def test_a_step_says_how_many_photos_it_changed(studio: Served) -> None:
    fill(studio)
    assert studio.post("/api/examples/relabel", ids=[1, 7, 999], label="kind 1").json()["changed"] == 1
    assert studio.json("/api/project")["undo"]["sentence"] == 'Moved 1 photo to "kind 1".'


def test_versions_are_bounded(studio: Served) -> None:
    studio.taught("mug", png(0, 0))
    for number in range(MOST_VERSIONS):
        assert studio.post("/api/versions", name=str(number)).status_code == 200
    assert studio.post("/api/versions", name="one more").status_code == 409


def test_an_exported_model_is_never_in_the_middle_of_a_step(studio: Served, tmp_path: Path) -> None:
    for kind in range(3):
        studio.taught(f"kind {kind}", *photos(kind, 20))
    ended = threading.Event()

    def move_to_and_fro() -> None:
        while not ended.is_set():
            for label in ("kind 1", "kind 0"):
                studio.project.live.write(partial(relabel, studio.project, range(1, 21), label)).result()

    mover = threading.Thread(target=move_to_and_fro)
    mover.start()
    try:
        for _ in range(6):
            export_model(studio.project, tmp_path / "m.exll")
            exported = load(tmp_path / "m.exll", ImageLearner)
            assert sum(exported.megacloud(label).count for label in exported.classes_) == 60
    finally:
        ended.set()
        mover.join()
