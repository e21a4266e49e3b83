"""A studio that truly listens, in this process or in one of its own, and pictures to send it."""

import io
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from PIL.Image import Image

from commands import COMMAND
from exll.studio.project import Project
from exll.studio.serving import Server, address_of, listen
from exll.studio.store import LARGEST_ID
from exll.vision import ImageLearner
from pictures import picture
from support import assert_equal_models

PATIENCE = 60


class Served:
    """A project, the address it is served at, and a client."""

    def __init__(self, project: Project, address: str) -> None:
        self.project, self.address = project, address
        self.client = httpx.Client(base_url=address, timeout=PATIENCE)

    def teach(self, label: str, *images: bytes, **fields: Any) -> httpx.Response:
        files = [("files", (f"{i}.png", image)) for i, image in enumerate(images)]
        return self.client.post("/api/teach", data={"label": label, **fields}, files=files)

    def taught(self, label: str, *images: bytes, **fields: Any) -> list[int]:
        """Numbers of the examples; all of them must be new."""
        response = self.teach(label, *images, **fields)
        assert response.status_code == 200, response.text
        return [result["example"]["id"] for result in response.json()["results"]]

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.client.post(path, json=body)

    def ask(self, image: bytes, path: str = "/api/predict", **fields: Any) -> httpx.Response:
        return self.client.post(path, data=fields, files={"file": ("asked.png", image)})

    def json(self, path: str) -> dict[str, Any]:
        response = self.client.get(path)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def settle(self) -> None:
        """Wait until no rebuild is under way."""
        settle(self.project)


@contextmanager
def served(
    folder: Path, host: str = "127.0.0.1", token: str | None = None, backbone: str | None = "nano"
) -> Iterator[Served]:
    """With the smallest network, unless another is asked for."""
    with Project(folder, backbone) as project, listen(host, 0) as listening:
        server = Server(project, host, token)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        studio = Served(project, address_of(host, listening))
        try:
            yield studio
        finally:
            studio.client.close()
            server.handle_exit(2, None)
            thread.join()


def start(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    """As a person starts it; with its address."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-u",
            "-c",
            COMMAND,
            "studio",
            str(folder),
            "--port",
            "0",
            "--no-browser",
            "--backbone",
            "nano",
            *options,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert "is open at" in line, line
    return process, line.split(" is open at ")[1].split()[0]


def settle(project: Project) -> None:
    deadline = time.monotonic() + PATIENCE
    while project.live.rebuilding:
        assert time.monotonic() < deadline, "the rebuild does not end"
        time.sleep(0.005)


def png(kind: int, seed: int) -> bytes:
    return as_png(picture(kind, seed))


def as_png(image: Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def assert_model_is_its_log(project: Project) -> None:
    """The live model equals, to the last bit, one that learns the stored examples from nothing."""
    fresh = ImageLearner(project.backbone, project.preset)
    for row in project.store.rows_after(0, LARGEST_ID):
        fresh.learn_vectors(row.vector[None], [row.label], [str(row.id)])
    live = project.live.current
    assert not project.live.rebuilding
    assert live.knows_something == hasattr(fresh.classifier, "learner_")
    if live.knows_something:
        assert_equal_models(live.learner.classifier, fresh.classifier)
