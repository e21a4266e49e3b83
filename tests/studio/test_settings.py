"""Settings of a project, and what another network or preset does to it."""

import time
from pathlib import Path
from typing import Any

import pytest

from exll.features.backbone import OnnxBackbone
from exll.studio import rereading, sample
from exll.studio.analysed_image import analyse
from exll.studio.edits import HELD_OUT, TAUGHT
from exll.studio.errors import ConflictError
from exll.studio.inbox_rows import AskedPhoto
from served import PATIENCE, Served, assert_model_is_its_log, png

OTHER = "efficientnet_lite0-int8"


@pytest.fixture
def taught(studio: Served) -> Served:
    for kind in range(2):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(3)))
    return studio


def settings(studio: Served) -> dict[str, Any]:
    return studio.json("/api/project/settings")


def changed_network(studio: Served) -> dict[str, Any]:
    """When a change of the network has ended."""
    deadline = time.monotonic() + PATIENCE
    while (now := settings(studio))["reading"] is not None and now["reading"]["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return now


def test_settings_hold_at_once_and_what_is_left_out_stays(studio: Served) -> None:
    assert studio.post("/api/project/settings", thumbnails=8).json()["inbox"] is True
    answer = studio.post("/api/project/settings", inbox=False, false_alarms=0.2).json()
    assert answer == {"false_alarms": 0.2, "thumbnails": 8, "inbox": False}
    assert settings(studio).items() >= answer.items()
    assert (studio.project.inbox, studio.project.false_alarms) == (False, 0.2)
    for wrong in ({"thumbnails": 9}, {"thumbnails": -1}, {"false_alarms": 1}, {"inbox": "perhaps"}):
        assert studio.post("/api/project/settings", **wrong).status_code == 422


def test_another_network_reads_every_photo_again_and_nothing_else_changes(taught: Served) -> None:
    deleted = taught.taught("kind 0", png(0, 9))
    taught.post("/api/examples/delete", ids=deleted)
    before = taught.json("/api/examples")
    assert taught.post("/api/project/network", network=OTHER).status_code == 200
    now = changed_network(taught)
    assert (now["network"], now["reading"]) == (OTHER, None)
    assert taught.json("/api/examples") == before
    with taught.projects.held("") as project:
        assert_model_is_its_log(project)
        example = project.store.example(1)
        image = project.store.image(example.digest)
        assert image is not None
        assert image.vector.tolist() == OnnxBackbone(OTHER).see(png(0, 0)).vector.tolist()
        assert not list(project.folder.glob(f"{rereading.NEW_VECTORS}*"))
    assert taught.client.post("/api/undo").status_code == 200  # a photo that was deleted has its vector too
    assert taught.json("/api/classes")["examples"] == 7
    assert taught.ask(png(1, 5)).json()["prediction"]["label"] == "kind 1"


def test_a_change_of_the_network_can_be_cancelled_and_gone_on_with(
    taught: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, asked = rereading.read, []

    def slow(*given: Any) -> None:
        read(*given)
        asked.append(taught.ask(png(0, 5)).json()["prediction"]["label"])  # the old network answers meanwhile
        if len(asked) == 2:
            assert taught.post("/api/project/network", network=OTHER).status_code == 409
            assert taught.post("/api/project/preset", preset="paper").status_code == 409
            taught.client.post("/api/project/network/cancel").raise_for_status()

    monkeypatch.setattr(rereading, "read", slow)
    taught.post("/api/project/network", network=OTHER).raise_for_status()
    now = changed_network(taught)
    assert (now["network"], now["reading"]["done"], asked) == ("nano", 2, ["kind 0", "kind 0"])

    def again(*given: Any) -> None:
        asked.append("again")
        read(*given)

    monkeypatch.setattr(rereading, "read", again)
    taught.post("/api/project/network", network=OTHER).raise_for_status()
    assert changed_network(taught)["network"] == OTHER
    assert asked[2:] == ["again"] * 4


def test_a_photo_that_cannot_be_read_again_leaves_the_old_network(taught: Served) -> None:
    taught.project.pictures.image_path(taught.project.store.example(2).digest).write_bytes(b"damaged")
    taught.post("/api/project/network", network=OTHER).raise_for_status()
    now = changed_network(taught)
    assert now["network"] == "nano"
    assert now["reading"]["error"].startswith("the photo 1.png cannot be read again")
    assert taught.ask(png(1, 5)).json()["prediction"]["label"] == "kind 1"


def test_a_photo_that_left_the_inbox_meanwhile_is_not_read_again(taught: Served) -> None:
    project, asked = taught.project, analyse(png(2, 1), taught.project.backbone)
    kept = asked.digest, asked.format, len(asked.content), asked.vector
    photo = AskedPhoto(0, *kept, "2.png", 0.0, "unknown", "kind 0", 0.5, None)
    project.store.add_to_inbox(photo, 9, 10**9)  # its file is gone
    with rereading.new_vectors(project.folder, "another") as vectors:
        assert asked.digest in rereading.missing_digests(vectors)
        with pytest.raises(ConflictError, match="cannot be read again"):
            rereading.read(vectors, project.pictures, asked.digest, project.backbone)
        project.store.dismiss(photo.id for photo in project.store.inbox())
        rereading.read(vectors, project.pictures, asked.digest, project.backbone)
        assert len(rereading.missing_digests(vectors)) == 6


def test_vectors_are_replaced_all_or_none(tmp_path: Path, taught: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is missing: the transaction is rolled back, as it is when the power fails."""
    monkeypatch.setattr(rereading, "missing_digests", lambda vectors: [])
    taught.post("/api/project/network", network=OTHER).raise_for_status()
    deadline = time.monotonic() + PATIENCE
    while (now := settings(taught))["reading"] is None or now["reading"]["running"]:
        assert time.monotonic() < deadline
    assert "IntegrityError" in now["reading"]["error"]
    assert now["network"] == "nano"
    assert taught.ask(png(1, 5)).json()["prediction"]["label"] == "kind 1"


@pytest.mark.parametrize("network", ["no such", "/etc/passwd", "../nano.onnx", "mobilenet_v2", "nano\0"])
def test_only_a_network_of_the_list_can_be_chosen(studio: Served, network: str) -> None:
    listed = {known["name"]: known["to_add"] for known in settings(studio)["networks"]}
    assert {"nano": "", OTHER: ""}.items() <= listed.items()
    if not listed.get(network, "is missing"):
        pytest.skip("it is installed here")
    assert studio.post("/api/project/network", network=network).status_code == 422


def test_another_preset_learns_all_examples_again(taught: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert taught.post("/api/project/preset", preset="no such").status_code == 422
    told: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(taught.project.events, "publish", lambda *news: told.append(news))
    assert taught.post("/api/project/preset", preset="paper").json() == {"preset": "paper"}
    assert told == [("reopening", {"change": "the preset paper"})]
    assert taught.json("/api/project")["preset"] == "paper"
    assert all(preset["description"] for preset in taught.json("/api/project/settings")["presets"][:2])
    with taught.projects.held("") as project:
        assert project is not taught.project
        assert_model_is_its_log(project)
    taught.taught("kind 2", png(2, 1))
    assert taught.json("/api/classes")["examples"] == 7


def test_the_sample_goes_where_there_is_nothing_yet(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "EVERY", {TAUGHT: 36, HELD_OUT: 72})
    deadline = time.monotonic() + PATIENCE
    assert studio.client.post("/api/projects/sample").json()["root"] == ""
    while sum(studio.project.store.counts(HELD_OUT).values()) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert len(studio.project.store.counts()) == 12
    assert studio.json("/api/project")["undo"]["sentence"] == "Taught 12 photos of 12 classes and held out 6."
    for _ in range(2):  # once more: it is there already
        assert studio.client.post("/api/projects/sample").json()["root"] == "/projects/sample"
    while studio.json("/projects/sample/api/classes")["examples"] < 12:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert len(studio.json("/api/projects")["projects"]) == 2
    assert studio.json("/api/classes")["examples"] == 12
