"""kill -9 at random moments, while several clients teach: what was acknowledged is there, and the model is its log."""

import os
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from exll.studio.pictures import digest_of
from exll.studio.project import Project
from served import PATIENCE, assert_model_is_its_log, png, start

MOMENTS = int(os.environ.get("EXLL_STUDIO_KILLS", "3"))
TEACHERS = 3
FEWEST, MOST = 2, 40  # examples acknowledged when the kill comes


class Teacher(threading.Thread):
    """Teaches, and now and then relabels or deletes what it taught, until the studio is gone."""

    def __init__(self, address: str, number: int, start: int) -> None:
        super().__init__()
        self.address, self.number, self.next = address, number, start
        self.acknowledged: dict[str, str | None] = {}  # digest: label, None once deleted
        self.unsure: set[str] = set()  # asked for and not answered: either way is right
        self.rng = np.random.default_rng([number, start])

    def run(self) -> None:
        with httpx.Client(base_url=self.address, timeout=60) as client:
            try:
                while True:
                    self.step(client)
            except httpx.TransportError:
                pass

    def step(self, client: httpx.Client) -> None:
        images = [png(self.number, self.next + i) for i in range(self.rng.integers(1, 4))]
        self.next += len(images)
        digests = [digest_of(image) for image in images]
        self.unsure |= set(digests)
        files = [("files", ("x.png", image)) for image in images]
        label = f"class {self.number}"
        response = client.post("/api/teach", data={"label": label}, files=files)
        assert response.status_code == 200, response.text
        self.unsure -= set(digests)
        self.acknowledged |= dict.fromkeys(digests, label)
        if self.rng.random() < 0.2:
            self.edit(client, digests[0], response.json()["results"][0]["example"]["id"])

    def edit(self, client: httpx.Client, digest: str, example: int) -> None:
        self.unsure.add(digest)
        new = None if self.rng.random() < 0.5 else "moved"
        if new is None:
            response = client.post("/api/examples/delete", json={"ids": [example]})
        else:
            response = client.post("/api/examples/relabel", json={"ids": [example], "label": new})
        assert response.json()["changed"] == 1
        self.unsure.discard(digest)
        self.acknowledged[digest] = new


class Namer(Teacher):
    """Asks about things that nobody taught, names what the Inbox has of them, or says that it is nothing and now and
    then changes that."""

    def step(self, client: httpx.Client) -> None:
        for seed in range(self.next, self.next + 3):
            image = png(10 + seed, seed)
            client.post("/api/predict", files={"file": (digest_of(image), image)})
        self.next += 3
        for group in client.get("/api/inbox").json()["groups"][:1]:
            digests = [photo["name"] for photo in group["photos"]]
            label = "" if self.rng.random() < 0.3 else "named"
            self.unsure |= set(digests)
            ids = {"ids": [photo["id"] for photo in group["photos"]]}
            body = {**ids, "label": label} if label else ids
            response = client.post(f"/api/inbox/{'teach' if label else 'nothing'}", json=body)
            assert response.json()["taught"] == len(digests), response.text
            self.unsure -= set(digests)
            self.acknowledged |= dict.fromkeys(digests, label)
        # else so much is like nothing that no more comes to the Inbox
        for example in client.get("/api/inbox").json()["nothing"][1:]:
            self.edit(client, example["name"], example["id"])


@pytest.mark.process
def test_nothing_that_was_acknowledged_is_lost_whenever_the_studio_is_killed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    expected: dict[str, str | None] = {}
    unsure: set[str] = set()
    for moment in range(MOMENTS):
        process, address = start(tmp_path / "p")
        teachers: list[Teacher] = [Teacher(address, number, 1000 * moment) for number in range(TEACHERS)]
        teachers.append(Namer(address, TEACHERS, 1000 * moment))
        for teacher in teachers:
            teacher.start()
        try:
            wait_for_answers(teachers, int(rng.integers(FEWEST, MOST)))
            if moment == 0:
                wait_for_answers(teachers[-1:], 1)
            time.sleep(float(rng.uniform(0.0, 0.1)))
        finally:
            process.kill()
            process.communicate()
        for teacher in teachers:
            teacher.join()
            expected |= teacher.acknowledged
            unsure |= teacher.unsure
        with Project(tmp_path / "p") as project:
            check(project, expected, unsure)
    assert len(expected) >= FEWEST * MOMENTS
    assert {"named", ""} & set(expected.values())


def wait_for_answers(teachers: list[Teacher], count: int) -> None:
    """However slow the machine is, so many were acknowledged."""
    deadline = time.monotonic() + PATIENCE
    while sum(len(teacher.acknowledged) for teacher in teachers) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def check(project: Project, expected: dict[str, str | None], unsure: set[str]) -> None:
    for digest, label in expected.items():
        if digest not in unsure:
            labels = [example.label for example in project.store.taught_as(digest)]
            assert labels == ([] if label is None else [label])
            assert digest_of(project.pictures.image(digest)) == digest
    assert_model_is_its_log(project)
