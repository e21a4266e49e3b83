"""What a person did in one go is one step to undo, however many requests it took."""

import io
import signal
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from exll.studio.project import Project
from exll.studio.schema import MIGRATIONS
from served import Served, assert_model_is_its_log, png, settle, start


def undone(studio: Served) -> list[str]:
    """The sentences of all steps, the last first, while everything is undone."""
    sentences = []
    while (response := studio.client.post("/api/undo")).status_code == 200:
        sentences.append(response.json()["undone"]["sentence"])
    assert response.status_code == 409
    return sentences


def undo_sentence(studio: Served) -> str | None:
    step = studio.json("/api/project")["undo"]
    return None if step is None else str(step["sentence"])


def test_requests_of_one_group_are_one_step(studio: Served) -> None:
    studio.taught("pan", png(1, 0))
    for start_at in (0, 3, 6):
        studio.taught("mug", *(png(0, start_at + i) for i in range(3)), group="drop-1")
    assert undo_sentence(studio) == 'Taught 9 photos of "mug".'
    answer = studio.client.post("/api/undo").json()
    assert answer["undone"]["sentence"] == 'Taught 9 photos of "mug".'
    assert answer["next"]["sentence"] == 'Taught 1 photo of "pan".'
    assert studio.project.store.counts() == {"pan": 1}
    studio.settle()
    assert_model_is_its_log(studio.project)
    assert undone(studio) == ['Taught 1 photo of "pan".']


def test_a_step_that_was_undone_takes_no_more(studio: Served) -> None:
    def more(seed: int) -> int:
        return studio.teach("mug", png(0, seed), group="a", unless_undone=True).status_code

    assert (more(0), more(1)) == (200, 200)
    assert undone(studio) == ['Taught 2 photos of "mug".']
    refused = studio.teach("mug", png(0, 2), group="a", unless_undone=True)
    assert (refused.status_code, refused.json()["hint"]) == (410, "Teach the photos with another group.")
    assert studio.project.store.counts() == {}
    studio.client.post("/api/redo")
    assert more(2) == 200
    studio.taught("pan", png(1, 0))  # another step comes in between
    assert more(3) == 200
    assert studio.client.post("/api/undo").json()["undone"]["sentence"] == 'Taught 1 photo of "mug".'
    assert more(4) == 410
    studio.taught("pan", png(1, 1))  # which makes the undone step go
    assert studio.client.post("/api/project/purge").is_success
    assert more(4) == 410
    studio.taught("mug", png(0, 4), group="a")
    assert studio.project.store.counts() == {"mug": 4, "pan": 2}


def test_a_step_goes_on_after_deleted_photos_were_removed_for_good(studio: Served) -> None:
    studio.taught("mug", png(0, 0), group="a", unless_undone=True)
    assert studio.client.post("/api/project/purge").is_success
    studio.taught("mug", png(0, 1), group="a", unless_undone=True)


def test_only_so_many_undone_groups_are_remembered(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.edits.UNDONE_GROUPS", 2)
    for number in range(4):
        studio.taught("mug", png(0, 0), group=f"group-{number}")
        undone(studio)
    assert [studio.project.store.is_undone(f"group-{number}") for number in range(4)] == [False, False, True, True]


def test_after_undo_a_small_model_gives_the_very_answers_of_before(studio: Served) -> None:
    for kind in range(3):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(14)))
    asked = [png(kind, 90 + kind) for kind in range(5)]
    before = [studio.ask(image, all_classes=True).json() for image in asked]
    for kind, label in ((1, "kind 0"), (2, "kind 1"), (4, "new")):
        studio.taught(label, *(png(kind, 50 + seed) for seed in range(3)))
    changed = [studio.ask(image, all_classes=True).json() for image in asked]
    for _ in range(3):
        assert studio.client.post("/api/undo").json()["rebuilding"] is False
    after = [studio.ask(image, all_classes=True).json() for image in asked]
    answers = ("prediction", "probabilities")
    assert [[one[name] for name in answers] for one in after] == [[one[name] for name in answers] for one in before]
    assert changed != before


def test_what_was_kept_is_in_doubt_again_after_undo_and_the_model_stays(studio: Served) -> None:
    for kind in range(2):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(6)))
    (wrong,) = studio.taught("kind 0", png(1, 70))

    def doubtful() -> list[int]:
        return [suspect["example"]["id"] for suspect in studio.json("/api/suspects")["suspects"]]

    assert doubtful() == [wrong]
    assert studio.post("/api/suspects/keep", ids=[wrong]).json()["changed"] == 1
    assert studio.post("/api/suspects/keep", ids=[wrong]).json()["changed"] == 0  # known already: no step
    assert (doubtful(), undo_sentence(studio)) == ([], "Kept 1 photo as it is.")
    model = studio.project.live.current
    answer = studio.client.post("/api/undo").json()
    assert (answer["undone"]["kind"], answer["rebuilding"]) == ("keep", False)
    assert doubtful() == [wrong]
    assert studio.project.live.current is model
    assert undo_sentence(studio) == 'Taught 1 photo of "kind 0".'
    studio.post("/api/suspects/keep", ids=[wrong])
    assert undone(studio)[:2] == ["Kept 1 photo as it is.", 'Taught 1 photo of "kind 0".']
    assert studio.project.store.counts() == {}


def test_without_a_group_every_request_is_a_step(studio: Served) -> None:
    for seed in range(2):
        studio.taught("mug", png(0, seed))
    assert undone(studio) == ['Taught 1 photo of "mug".'] * 2


def test_two_groups_that_take_turns_stay_apart(studio: Served) -> None:
    for seed, group in enumerate("aabab"):
        studio.taught("mug", png(0, seed), group=group)
    one, two = 'Taught 1 photo of "mug".', 'Taught 2 photos of "mug".'
    assert undone(studio) == [one, one, one, two]


def test_anything_in_between_ends_a_step_and_undoing_it_opens_the_step_again(studio: Served) -> None:
    studio.taught("mug", png(0, 0), png(0, 1), group="a")
    studio.post("/api/examples/delete", ids=[1])
    studio.taught("mug", png(0, 2), group="a")
    assert undo_sentence(studio) == 'Taught 1 photo of "mug".'
    for _ in range(2):
        studio.client.post("/api/undo")
    studio.taught("mug", png(0, 3), group="a")
    assert undone(studio) == ['Taught 3 photos of "mug".']
    assert studio.project.store.counts() == {}


def test_a_group_may_hold_several_classes(studio: Served) -> None:
    studio.taught("mug", png(0, 0), png(0, 1), group="folders")
    studio.taught("pan", png(1, 0), group="folders")
    assert undo_sentence(studio) == 'Taught 3 photos of "mug" and "pan".'
    studio.taught("bowl", png(2, 0), group="folders")
    assert undo_sentence(studio) == 'Taught 4 photos of "mug", "pan" and "bowl".'
    studio.taught("jug", png(3, 0), group="folders")
    assert undone(studio) == ["Taught 5 photos of 4 classes."]
    assert studio.project.store.counts() == {}


def test_what_comes_after_an_undo_is_a_step_of_its_own(studio: Served) -> None:
    """Somebody undoes while a drop is still being sent."""
    studio.taught("mug", png(0, 0), png(0, 1), group="a")
    studio.client.post("/api/undo")
    studio.taught("mug", png(0, 2), group="a")
    assert studio.project.store.counts() == {"mug": 1}
    assert undone(studio) == ['Taught 1 photo of "mug".']


def test_a_purge_ends_a_step(studio: Served) -> None:
    studio.taught("mug", png(0, 0), png(0, 1), group="a")
    assert studio.client.post("/api/project/purge").status_code == 200
    studio.taught("mug", png(0, 2), group="a")
    assert undone(studio) == ['Taught 1 photo of "mug".']
    assert studio.project.store.counts() == {"mug": 2}


def test_a_correction_joins_no_group(studio: Served) -> None:
    studio.taught("mug", png(0, 0), group="a")
    studio.ask(png(0, 1), "/api/correct", label="mug", group="a")
    assert undone(studio) == ['Taught 1 photo of "mug".'] * 2


def test_a_batch_of_nothing_new_ends_no_step(studio: Served) -> None:
    studio.taught("mug", png(0, 0), group="a")
    assert studio.teach("mug", png(0, 0), group="b").json()["taught"] == 0
    studio.taught("mug", png(0, 1), group="a")
    assert undone(studio) == ['Taught 2 photos of "mug".']


def test_a_zip_is_one_step(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.dataset_import.BATCH", 2)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for seed in range(6):
            archive.writestr(f"kind {seed % 2}/{seed}.png", png(seed % 2, seed))
    for _ in range(2):
        studio.client.post("/api/project/import", files={"file": ("a.zip", file.getvalue())}).raise_for_status()
    assert undone(studio) == ['Taught 6 photos of "kind 0" and "kind 1".']


def zip_of_mugs(count: int) -> dict[str, tuple[str, bytes]]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for seed in range(count):
            archive.writestr(f"mug/{seed}.png", png(0, seed))
    return {"file": ("a.zip", file.getvalue())}


def after_the_first_batch(studio: Served, monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Done while a zip is imported, two photos at a time."""
    monkeypatch.setattr("exll.studio.dataset_import.BATCH", 2)
    publish = studio.project.events.publish

    def heard(kind: str, data: dict[str, Any]) -> None:
        publish(kind, data)
        if kind == "importing" and data["done"] == 2:
            act()

    monkeypatch.setattr(studio.project.events, "publish", heard)


def test_a_zip_is_one_step_whatever_is_done_while_it_is_read(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    after_the_first_batch(studio, monkeypatch, lambda: studio.taught("pan", png(1, 0)))
    assert studio.client.post("/api/project/import", files=zip_of_mugs(6)).json()["taught"] == 6
    assert undone(studio) == ['Taught 1 photo of "pan".', 'Taught 6 photos of "mug".']


@pytest.mark.parametrize("way", ["/api/project/import/cancel", "/api/undo"])
def test_an_import_ends_when_it_is_cancelled_or_undone(
    studio: Served, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    after_the_first_batch(studio, monkeypatch, lambda: studio.post(way))
    answer = studio.client.post("/api/project/import", files=zip_of_mugs(6)).json()
    assert (answer["taught"], answer["stopped"], answer["undone"]) == (2, True, way == "/api/undo")
    assert studio.project.store.counts() == ({} if way == "/api/undo" else {"mug": 2})
    assert studio.post("/api/project/import/cancel").json() == {"running": False}
    assert undone(studio) == ([] if way == "/api/undo" else ['Taught 2 photos of "mug".'])


def test_an_import_that_was_undone_ends_also_after_another_step(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undo_and_teach() -> None:
        studio.post("/api/undo")
        studio.taught("pan", png(1, 0))  # what is undone is gone then

    after_the_first_batch(studio, monkeypatch, undo_and_teach)
    assert studio.client.post("/api/project/import", files=zip_of_mugs(6)).json()["stopped"]
    assert studio.project.store.counts() == {"pan": 1}


@pytest.mark.parametrize("group", ["a" * 65, "a b", "a\n", "a\u0000b", "ä", "<b>", "'; DROP TABLE edits; --"])
def test_an_odd_group_is_refused(studio: Served, group: str) -> None:
    response = studio.teach("mug", png(0, 0), group=group)
    assert response.status_code == 422
    assert "group" in response.json()["error"]
    assert studio.project.store.counts() == {}


@pytest.mark.process
def test_killed_between_batches_the_part_that_was_acknowledged_is_one_step(tmp_path: Path) -> None:
    process, address = start(tmp_path / "p")
    with httpx.Client(base_url=address, timeout=60) as client:
        for start_at in (0, 2):
            files = [("files", ("x.png", png(0, start_at + i))) for i in range(2)]
            client.post("/api/teach", data={"label": "mug", "group": "a"}, files=files).raise_for_status()
        process.send_signal(signal.SIGKILL)
    process.communicate()
    with Project(tmp_path / "p") as project:
        edit = project.store.last_edit()
        assert edit is not None
        assert edit.sentence == 'Taught 4 photos of "mug".'
        project.store.undo()
        assert project.store.counts() == {}
        assert project.store.last_edit() is None


def test_a_project_of_the_first_tables_is_opened_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    with Project(tmp_path / "now") as project:
        width = project.backbone.width
    old = sqlite3.connect(folder / "studio.db")
    old.executescript(f"{MIGRATIONS[0]} PRAGMA user_version = 1;")
    for number in (1, 2):
        vector = np.random.default_rng(number).random((width,), np.float32).tobytes()
        old.execute("INSERT INTO images VALUES (?, 'PNG', 0, ?)", (f"{number:064x}", vector))
        old.execute("INSERT INTO examples VALUES (?, ?, 'mug', '', 0, 0)", (number, f"{number:064x}"))
        old.execute("INSERT INTO edits VALUES (?, 'teach', 'Taught one.', 0)", (number,))
        old.execute("INSERT INTO changes VALUES (?, ?, 'mug', 1)", (number, number))
    old.commit()
    old.close()
    for opened in range(2):
        with Project(folder) as project:
            settle(project)
            assert_model_is_its_log(project)
            assert project.store.counts() == {"mug": 2 - opened}
            assert project.store.undo()[0].sentence == "Taught one."
