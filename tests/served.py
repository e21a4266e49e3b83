"""A studio that truly listens, in this process or in one of its own, and pictures to send it."""

import copy
import io
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL.Image import Image

from commands import COMMAND
from exll.estimator import ExLLClassifier
from exll.studio.certificates import Certificate
from exll.studio.project import Project
from exll.studio.projects import Projects
from exll.studio.serving import Server, address_of, listen
from exll.studio.store import LARGEST_ID
from exll.vision import ImageLearner
from pictures import picture
from support import assert_equal_models

PATIENCE = 60


class Served:
    """A project, the others beside it, the address it is served at, and a client."""

    def __init__(
        self, project: Project, projects: Projects, address: str, trusted: ssl.SSLContext | bool = True
    ) -> None:
        self.project, self.projects, self.address = project, projects, address
        self.client = httpx.Client(base_url=address, timeout=PATIENCE, verify=trusted)

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
    folder: Path,
    host: str = "127.0.0.1",
    token: str | None = None,
    backbone: str | None = "nano",
    certificate: Certificate | None = None,
) -> Iterator[Served]:
    """With the smallest network, unless another is asked for. The client trusts the certificate and no other."""
    with Project(folder, backbone) as project, listen(host, 0) as listening:
        server = Server(project, host, token, certificate=certificate)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        trusted = ssl.create_default_context(cafile=certificate.file) if certificate else True
        studio = Served(project, server.projects, address_of(host, listening, certificate is not None), trusted)
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
    return process, line.split(" at ")[-1].split()[0]  # that of this machine; another may come before it


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
        if row.label:
            fresh.learn_vectors(row.vector[None], [row.label], [str(row.id)], groups=[row.clip])
        else:
            fresh.classifier.learn_unknown(row.vector[None], [str(row.id)])
    live = project.live.current
    assert live.learner.classifier.n_unknown_ == fresh.classifier.n_unknown_
    assert not project.live.rebuilding
    assert live.knows_something == hasattr(fresh.classifier, "learner_")
    if live.knows_something:
        assert_equal_models(live.learner.classifier, fresh.classifier)


def assert_model_knows_its_log(project: Project, alike: bool = True) -> None:
    """The live model knows the stored examples and no others, and what it answers now is what one answers that learns
    them from nothing in the same order. Where they are not ``alike``, the prototypes may be others, and so confidence;
    means, covariance and labels are not."""
    stored = project.store.rows_after(0, LARGEST_ID)
    rows = [row for row in stored if row.label]
    live, snapshot = project.live.current, project.live.current.snapshot.classifier
    assert sorted(snapshot._nothing.refs) == sorted(str(row.id) for row in stored if not row.label)
    assert not project.live.rebuilding
    assert live.generation == project.store.generation
    assert live.knows_something == bool(rows)
    if not rows:
        return
    known = sorted((record, label) for label in snapshot.classes_ for record in _records(snapshot, label))
    assert {int(ref): label for (_, ref), label in known} == {row.id: row.label for row in rows}
    assert len(known) == len(rows)
    by_number, fresh = {row.id: row for row in rows}, ImageLearner(project.backbone, project.preset)
    for (_, ref), _ in known:
        row = by_number[int(ref)]
        fresh.learn_vectors(row.vector[None], [row.label], [ref], groups=[row.clip])
    one, other = _judged_anew(live.learner.classifier), _judged_anew(fresh.classifier)
    assert one.classes_.tolist() == other.classes_.tolist()
    for label in one.classes_:
        assert np.allclose(one.megacloud(label).mean, other.megacloud(label).mean, rtol=0, atol=1e-9)
    assert np.isclose(one.learner_._statistics.scatter.trace, other.learner_._statistics.scatter.trace, rtol=1e-9)
    X = np.array([row.vector for row in rows])
    assert snapshot.predict(X).tolist() == other.predict(X).tolist()
    if alike:
        assert np.allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-6)


def _records(classifier: ExLLClassifier, label: str) -> list[tuple[int, str]]:
    prototypes = classifier.megacloud(label).prototypes.tolist()
    return [(record.position, record.name) for number in prototypes for record in classifier.learner_.records(number)]


def _judged_anew(classifier: ExLLClassifier) -> ExLLClassifier:
    """A copy, judged as it is now: how a model judges itself is else as old as its last review."""
    copied = copy.deepcopy(classifier)
    copied.learner_._outdated, copied.learner_._answers = True, None
    copied.learner_.renew()
    return copied
