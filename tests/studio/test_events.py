"""News of a project, as an open page hears it."""

import json
import threading
import time
from typing import Any

import httpx
import pytest

from exll.studio import events, live
from served import PATIENCE, Served, png


class Listener(threading.Thread):
    """Hears events until the studio ends the stream."""

    def __init__(self, studio: Served) -> None:
        super().__init__()
        self.studio = studio
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.start()
        self.wait_for("hello")

    def run(self) -> None:
        kind = ""
        with httpx.stream("GET", f"{self.studio.address}api/events", timeout=PATIENCE) as response:
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    self.heard.append((kind, json.loads(value)))

    def wait_for(self, kind: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for heard, data in self.heard:
                if heard == kind:
                    return data
            time.sleep(0.005)
        raise AssertionError(f"no {kind} among {self.heard}")


def test_pages_hear_what_others_teach_and_edit(studio: Served) -> None:
    listeners = [Listener(studio) for _ in range(3)]
    studio.taught("mug", png(0, 0), png(0, 1))
    for listener in listeners:
        data = listener.wait_for("changed")
        step = data.pop("undo")
        told = {"kind": "teach", "label": "mug", "counts": {"mug": 2}, "classes": 1, "examples": 2, "held_out": 0}
        assert data == {**told, "redo": None, "waiting": 0, "made_by": None}
        assert step == studio.json("/api/project")["undo"]
    assert studio.post("/api/examples/delete", ids=[1]).json()["changed"] == 1
    studio.project.events.publish("importing", {})  # the last of all
    for listener in listeners:
        listener.wait_for("importing")
        assert [kind for kind, _ in listener.heard] == ["hello", "changed", "changed", "importing"]
        assert listener.heard[2][1]["counts"] == {"mug": 1}


def test_pages_hear_when_answers_are_behind_and_when_they_no_longer_are(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "FEW", 0)
    monkeypatch.setattr(live.Live, "_is_quick", lambda *_: False)
    studio.taught("mug", png(0, 0), png(0, 1))
    listener = Listener(studio)
    studio.post("/api/examples/delete", ids=[1])
    listener.wait_for("rebuilt")
    kinds = [kind for kind, _ in listener.heard]
    assert kinds.index("rebuilding") < kinds.index("rebuilt")


def test_the_news_of_an_undo_says_what_was_undone_and_what_could_be_next(studio: Served) -> None:
    studio.taught("mug", png(0, 0))
    listener = Listener(studio)
    assert studio.json("/api/project")["undone"] is None
    answer = studio.client.post("/api/undo").json()
    heard = listener.wait_for("changed")
    assert heard["undo"] is None
    assert heard["undone"] == answer["undone"] == studio.json("/api/project")["undone"]
    assert heard["undone"]["sentence"] == 'Taught 1 photo of "mug".'


def test_who_listens_too_slowly_is_told_to_look_anew(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_UNHEARD", 3)
    listener = Listener(studio)
    (subscriber,) = studio.project.events._subscribers

    def hear_much() -> None:
        for i in range(5):
            subscriber.hear(f"id: {i}\n\n")

    subscriber.loop.call_soon_threadsafe(hear_much)
    listener.wait_for("missed")


def test_only_so_many_may_listen(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_SUBSCRIBERS", 1)
    Listener(studio)
    response = studio.client.get("/api/events")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"


def test_who_hangs_up_is_forgotten(studio: Served) -> None:
    with studio.client.stream("GET", "/api/events") as response:
        lines = response.iter_lines()
        next(lines)
        assert len(studio.project.events._subscribers) == 1
    deadline = time.monotonic() + PATIENCE
    while studio.project.events._subscribers:
        assert time.monotonic() < deadline
        studio.project.events.publish("changed", {})
        time.sleep(0.01)
