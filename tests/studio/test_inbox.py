"""The Inbox: what is kept of photos that were asked about, for how long, and what becomes of it."""

import io
import threading
import time
from pathlib import Path

import pytest
from PIL import Image

import exll.studio.inbox
from exll.streams.household.scene import Recording, render
from exll.studio.inbox_groups import sort_photos
from exll.studio.inbox_rows import AskedPhoto
from exll.studio.incoming import AT_ONCE, LOOKED_AT_SECONDS, Incoming
from exll.studio.pictures import digest_of
from exll.studio.project import Project
from served import PATIENCE, Served, as_png, assert_model_is_its_log, assert_model_knows_its_log, png, served

KNOWN = ("mug", "pan", "bowl")
UNKNOWN = (3, 4, 5, 8)  # kinds of pictures that differ from all others


@pytest.fixture
def taught(studio: Served) -> Served:
    teach(studio)
    return studio


def teach(studio: Served) -> None:
    for kind, label in enumerate(KNOWN):
        studio.taught(label, *(png(kind, seed) for seed in range(9)))


def ask(studio: Served, *images: bytes) -> list[AskedPhoto]:
    """Ask about photos, and see what waits then."""
    for image in images:
        assert studio.ask(image).status_code == 200
    return waiting(studio)


def waiting(studio: Served) -> list[AskedPhoto]:
    live, deadline = studio.project.live, time.monotonic() + PATIENCE
    while live._unhurried:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    live.write(lambda: None).result()
    return studio.project.store.inbox()


def digests(photos: list[AskedPhoto]) -> list[str]:
    return [photo.digest for photo in photos]


def numbers(photos: list[AskedPhoto]) -> list[int]:
    return [photo.id for photo in photos]


def on_disk(studio: Served, image: bytes) -> bool:
    return studio.project.pictures.has(digest_of(image))


def retouched(image: bytes) -> bytes:
    """Another file that looks the same."""
    picture = Image.open(io.BytesIO(image))
    picture.putpixel((0, 0), (1, 2, 3))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def test_only_unusual_photos_wait_and_only_once(taught: Served) -> None:
    new = [png(kind, 0) for kind in UNKNOWN]
    (first, *_) = kept = ask(taught, png(0, 50), png(0, 0), *new, new[0], retouched(new[1]))
    assert digests(kept) == [digest_of(image) for image in new]
    said = taught.ask(new[0]).json()["prediction"]
    assert (first.level, first.label, first.novelty) == (said["level"], said["label"], said["novelty"])
    assert (first.name, first.nbytes) == ("asked.png", len(new[0]))
    image = taught.client.get(f"/api/inbox/{first.id}/image")
    assert (image.content, image.headers["content-type"]) == (new[0], "image/png")
    assert taught.client.get(f"/api/inbox/{first.id}/thumbnail").headers["content-type"] == "image/webp"
    assert not on_disk(taught, png(0, 50))


def test_a_camera_brings_one_frame_of_a_scene_and_a_model_that_knows_little_none(studio: Served) -> None:
    scene, moved = (as_png(render(Recording(0, "book", 1, "clutter", 1, "train"), frame, 96)) for frame in (0, 3))
    studio.taught("mug", *(png(0, seed) for seed in range(22)))
    studio.taught("pan", *(png(1, seed) for seed in range(2)))  # at 24 examples the model judges itself
    assert studio.ask(scene).json()["prediction"]["level"] != "usual"
    assert waiting(studio) == []
    studio.taught("pan", png(1, 2))
    first = ask(studio, scene)
    assert len(first) == 1
    studio.ask(moved, camera=True)
    assert digests(waiting(studio)) == digests(first)
    assert len(ask(studio, moved)) == 2  # a photo that somebody took


def test_one_address_cannot_fill_it_at_once() -> None:
    incoming = Incoming()
    assert [incoming.accepts("camera") for _ in range(AT_ONCE + 5)].count(True) == AT_ONCE
    assert incoming.accepts("another")


def test_a_client_that_changes_its_name_gets_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.incoming.AT_ONCE", 1)
    monkeypatch.setattr("exll.studio.incoming.PER_SECOND", 1e-9)
    with served(tmp_path / "p") as studio:
        teach(studio)
        studio.client.headers["X-Exll-Client"] = "one"
        assert digests(ask(studio, png(3, 0))) == [digest_of(png(3, 0))]
        studio.client.headers["X-Exll-Client"] = "other"
        assert digests(ask(studio, png(4, 0))) == [digest_of(png(3, 0))]


def test_it_is_shown_while_long_work_goes_on(studio: Served) -> None:
    go_on = threading.Event()
    try:
        for _ in range(10):  # more than work at a time
            studio.project.studying._pool.submit(go_on.wait)
        assert studio.client.get("/api/inbox", timeout=PATIENCE).json()["waiting"] == 0
    finally:
        go_on.set()


def test_it_can_be_switched_off(taught: Served) -> None:
    before = ask(taught, png(3, 0))
    assert taught.post("/api/project/settings", inbox=False).json()["inbox"] is False
    assert ask(taught, png(4, 0)) != []
    assert digests(ask(taught, png(4, 0))) == digests(before)
    assert not on_disk(taught, png(4, 0))
    assert taught.json("/api/inbox")["keep"] is False
    taught.post("/api/project/settings", inbox=True)
    assert len(ask(taught, png(4, 0))) == 2


@pytest.mark.parametrize("bound", ["photos", "bytes"])
def test_the_oldest_go_when_it_is_full(taught: Served, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    new = [png(kind, 0) for kind in UNKNOWN]
    if bound == "photos":
        monkeypatch.setattr(exll.studio.inbox, "MOST_PHOTOS", 2)
    else:
        monkeypatch.setattr(exll.studio.inbox, "MOST_BYTES", len(new[-1]) + len(new[-2]) + 10)
    assert digests(ask(taught, *new)) == [digest_of(image) for image in new[-2:]]
    assert [on_disk(taught, image) for image in new] == [False, False, True, True]


def test_what_is_looked_at_is_not_pushed_out(taught: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exll.studio.inbox, "MOST_PHOTOS", 2)
    kept = ask(taught, png(3, 0), png(4, 0))
    taught.json("/api/inbox")
    assert digests(ask(taught, png(5, 0))) == digests(kept)
    assert taught.post("/api/inbox/teach", ids=numbers(kept), label="cup").json()["taught"] == 2
    assert digests(ask(taught, png(5, 0))) == [digest_of(png(5, 0))]


def test_looking_ends() -> None:
    clock = [1000.0]
    incoming = Incoming(now=lambda: clock[0])
    seen = [incoming.is_looked_at]
    incoming.look()
    seen.append(incoming.is_looked_at)
    clock[0] += LOOKED_AT_SECONDS
    seen.append(incoming.is_looked_at)
    assert seen == [False, True, False]


def test_naming_a_group_is_one_step_and_undo_brings_it_back(taught: Served) -> None:
    kept = ask(taught, *(png(kind, 0) for kind in UNKNOWN))
    named = taught.post("/api/inbox/teach", ids=[*numbers(kept[:3]), 999], label="cup").json()
    step = taught.json("/api/project")["undo"]["id"]
    assert named == {"taught": 3, "already": 0, "gone": 1, "step": step, "rebuilding": False}
    assert digests(waiting(taught)) == digests(kept[3:])
    assert taught.json("/api/project")["undo"]["sentence"] == 'Taught 3 photos of "cup".'
    assert_model_is_its_log(taught.project)
    assert taught.client.post("/api/undo").json()["undone"]["kind"] == "teach"
    assert digests(waiting(taught)) == digests(kept)
    assert taught.json("/api/project")["waiting"] == len(kept)
    taught.client.post("/api/redo")
    assert digests(waiting(taught)) == digests(kept[3:])


def test_a_photo_does_not_wait_once_a_region_of_it_is_taught(taught: Served) -> None:
    shelf, other = png(3, 0), png(4, 0)
    kept = ask(taught, shelf, other)
    taught.taught("cup", shelf, box="4,4,40,40")
    assert digests(ask(taught, shelf)) == digests(kept[1:])
    taught.client.post("/api/undo")
    assert digests(waiting(taught)) == digests(kept)
    (region,) = taught.taught("cup", shelf, box="4,4,40,40")
    taught.post("/api/examples/delete", ids=[region])
    assert digests(waiting(taught)) == digests(kept[1:])


def test_a_photo_that_is_asked_about_without_the_inbox_does_not_wait(taught: Served) -> None:
    assert taught.ask(png(3, 0), inbox=False).status_code == 200
    assert waiting(taught) == []


def test_a_photo_that_another_page_has_named_is_not_named_twice(taught: Served) -> None:
    kept = ask(taught, png(3, 0), png(4, 0))
    taught.post("/api/inbox/teach", ids=[kept[0].id], label="cup")
    refused = taught.post("/api/inbox/teach", ids=[kept[0].id], label="jug")
    assert (refused.status_code, refused.json()["error"]) == (409, 'this photo was taught as "cup" already.')
    assert taught.post("/api/inbox/teach", ids=numbers(kept), label="jug").json()["already"] == 1
    assert taught.post("/api/inbox/teach", ids=[77], label="jug").status_code == 404


def test_the_like_of_what_is_nothing_is_unknown_then_and_not_kept(taught: Served) -> None:
    (photo,) = ask(taught, png(3, 0))
    like_it = [png(3, seed) for seed in range(1, 6)]
    assert "unusual" in {taught.ask(image).json()["prediction"]["level"] for image in like_it}
    taught.post("/api/inbox/dismiss", ids=[p.id for p in waiting(taught) if p.id != photo.id])
    assert taught.post("/api/inbox/nothing", ids=[photo.id]).json()["taught"] == 1
    assert taught.json("/api/project")["undo"]["sentence"] == "Marked 1 photo as none of the classes."
    assert {taught.ask(image).json()["prediction"]["level"] for image in like_it} == {"unknown"}
    assert taught.ask(png(0, 60)).json()["prediction"]["level"] == "usual"
    assert waiting(taught) == []
    (example,) = taught.json("/api/inbox")["nothing"]
    assert (example["role"], example["label"]) == ("nothing", "")
    why = taught.ask(like_it[0], "/api/explain").json()
    assert [picture["example"] for picture in why["nothing"]] == [example["id"]]
    assert why["reason"].startswith("It looks more like an example of nothing than like any group of a class.")
    assert_model_is_its_log(taught.project)
    # taken back, it waits again; named, it is taught
    assert taught.post("/api/examples/delete", ids=[example["id"]]).json()["changed"] == 1
    assert digests(waiting(taught)) == [photo.digest]
    taught.client.post("/api/undo")
    assert taught.post("/api/examples/relabel", ids=[example["id"]], label="cup").json()["changed"] == 1
    assert taught.json("/api/inbox")["nothing"] == []
    taught.settle()
    assert_model_knows_its_log(taught.project)


def test_examples_of_nothing_outlive_all_classes_and_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "p") as studio:
        teach(studio)
        (photo,) = ask(studio, png(3, 0))
        studio.post("/api/inbox/nothing", ids=[photo.id])
        for label in KNOWN:
            assert studio.post("/api/classes/delete", label=label).status_code == 200
        assert studio.json("/api/project")["classes"] == 0
        assert studio.ask(png(0, 0)).status_code == 409
    with served(tmp_path / "p") as studio:
        teach(studio)
        assert studio.ask(png(3, 1)).json()["prediction"]["level"] == "unknown"
        assert_model_is_its_log(studio.project)


def test_what_is_dismissed_leaves_the_disk_unless_others_need_it(taught: Served) -> None:
    (number,) = taught.taught("cup", png(4, 0))
    taught.post("/api/examples/delete", ids=[number])
    kept = ask(taught, png(3, 0), png(4, 0))
    assert taught.post("/api/inbox/dismiss", ids=[*numbers(kept), 999]).json() == {"dismissed": 2}
    assert waiting(taught) == []
    assert not on_disk(taught, png(3, 0))
    assert on_disk(taught, png(4, 0))  # undo may bring the example back
    assert taught.client.get(f"/api/inbox/{kept[0].id}/image").status_code == 404


def test_a_named_photo_cannot_be_dismissed(taught: Served) -> None:
    kept = ask(taught, png(3, 0))
    taught.post("/api/inbox/teach", ids=numbers(kept), label="cup")
    assert taught.post("/api/inbox/dismiss", ids=numbers(kept)).json() == {"dismissed": 0}
    taught.client.post("/api/undo")
    assert digests(waiting(taught)) == digests(kept)


def test_removing_for_good_removes_what_was_named_and_deleted_and_no_more(taught: Served) -> None:
    kept = ask(taught, png(3, 0), png(4, 0))
    taught.post("/api/inbox/teach", ids=[kept[0].id], label="cup")
    taught.post("/api/classes/delete", label="cup")
    taught.settle()
    assert taught.client.post("/api/project/purge").json() == {"images": 1}
    assert digests(waiting(taught)) == [digest_of(png(4, 0))]
    assert (on_disk(taught, png(3, 0)), on_disk(taught, png(4, 0))) == (False, True)


def test_a_restart_keeps_it_and_names_are_only_shown(tmp_path: Path) -> None:
    name = '../../<img src=x onerror=alert(1)>\u202egnp.exe"'
    with served(tmp_path / "p") as studio:
        teach(studio)
        studio.client.post("/api/predict", files={"file": (name, png(3, 0))})
        kept = waiting(studio)
        stray = studio.project.pictures.image_path("ab" * 32)
        stray.write_bytes(b"the row was never committed")
    with Project(tmp_path / "p") as project:
        assert digests(project.store.inbox()) == digests(kept) != []
        assert "/" not in kept[0].name
        assert digest_of(project.pictures.image(kept[0].digest)) == kept[0].digest
        assert not stray.exists()


@pytest.mark.parametrize("path", ["teach", "nothing", "dismiss"])
def test_senseless_requests_are_refused(taught: Served, path: str) -> None:
    for ids in ([], ["x"], [0], [2**63], [1] * 5000, None):
        assert taught.post(f"/api/inbox/{path}", ids=ids, label="cup").status_code == 422
    assert taught.post("/api/inbox/teach", ids=[1], label=" \u200b ").status_code == 422


def test_photos_are_grouped_by_likeness_and_what_is_known_by_now_comes_last(taught: Served) -> None:
    of_kind = {kind: [png(kind, seed) for seed in range(100, 106)] for kind in (4, 8)}
    kept = ask(taught, *of_kind[4], *of_kind[8][:2])
    kinds = {digest_of(image): kind for kind, images in of_kind.items() for image in images}
    answer = taught.json("/api/inbox")
    groups = [[kinds[_digest(kept, photo["id"])] for photo in group["photos"]] for group in answer["groups"]]
    assert all(len(set(group)) == 1 for group in groups)
    assert answer == taught.json("/api/inbox")
    assert [group["worth"] for group in answer["groups"]] == sorted(
        (group["worth"] for group in answer["groups"]), reverse=True
    )
    assert {guess["label"] for guess in answer["groups"][0]["guesses"]} == set(KNOWN)
    taught.taught("cup", *(png(4, seed) for seed in range(20, 40)))
    answer = taught.json("/api/inbox")
    known = {kinds[_digest(kept, photo["id"])] for photo in answer["known"]}
    assert known == {4}
    assert {photo["prediction"]["label"] for photo in answer["known"]} == {"cup"}
    unnamed = answer["waiting"] - len(answer["known"])  # what pages show beside the link to the Inbox
    assert taught.json("/api/project")["waiting"] == unnamed
    assert taught.project.unnamed == unnamed


def _digest(photos: list[AskedPhoto], number: int) -> str:
    return next(photo.digest for photo in photos if photo.id == number)


def test_without_a_model_photos_are_grouped_too(taught: Served) -> None:
    kept = ask(taught, png(3, 0), png(8, 0))
    found = sort_photos(kept, None, 0.06)
    assert [len(group.photos) for group in found.groups] == [1, 1]
    assert sort_photos([], None, 0.06).groups == []


def test_removing_for_good_leaves_what_waits_and_takes_what_was_deleted(taught: Served) -> None:
    kept = ask(taught, png(3, 0), png(4, 0))
    taught.post("/api/inbox/teach", ids=numbers(kept), label="cup")
    taught.client.post("/api/undo")
    taught.post("/api/project/purge")
    assert digests(waiting(taught)) == digests(kept)  # they wait again, so they stay
    taught.post("/api/inbox/teach", ids=[kept[0].id], label="cup")
    (example,) = taught.json("/api/examples?label=cup")["examples"]
    taught.post("/api/examples/delete", ids=[example["id"]])
    assert digests(waiting(taught)) == digests(kept[1:])  # what is deleted does not wait again
    taught.post("/api/project/purge")
    assert not taught.project.pictures.has(kept[0].digest)
