"""What the studio costs over the bare model, as ratios within one run, on loopback.

``alone``: the median of one client's asking, over that of a bare predict plus a ``/healthz``. ``together``: 8 clients
ask while one teaches and deletes an example (``--edits`` for more); throughput over that of a bare predict loop with as
many threads, and the 95th percentile over (clients / cores) bare predicts. ``live``: the Workbench with its camera on,
with 6 and with 100 classes and 5,000 examples: how many answers per second one page gets that asks for the
probabilities of all classes, alone and while it records, over those of a bare predict loop; and how long a photo takes
from sending to being counted, over a bare predict. Every image is another one, so nothing is remembered.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import io
import itertools
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from PIL import Image

from exll import ImageLearner

CLIENTS = 8
SIDE = 320
CLASSES = 5
TAUGHT_MOST = 100  # in a slice; made before, since making a photo takes time too
SLICE = 250
TAUGHT_BEFORE = 300
TIMEOUT = 60
LIVE_CLASSES, LIVE_EXAMPLES, LIVE_ASKED, FRAMES_A_SECOND = (6, 100), 5000, 150, 5
CORES = len(os.sched_getaffinity(0))
fresh_seeds = itertools.count(500_000)  # an image taught twice would be noticed and not taught
ALL_CLASSES = b'--x\r\nContent-Disposition: form-data; name="all_classes"\r\n\r\ntrue\r\n'
LABEL = b'--x\r\nContent-Disposition: form-data; name="label"\r\n\r\nclass %d\r\n'


def photo(seed: int) -> bytes:
    """A JPEG of some smooth colours, another one for every seed."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (12, 12, 3), dtype=np.uint8)
    small[:6] = np.random.default_rng(seed % CLASSES).integers(0, 256, 3)
    file = io.BytesIO()
    Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
    return file.getvalue()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def studio() -> Iterator[str]:
    """A studio of its own process, with some examples taught."""
    with tempfile.TemporaryDirectory() as folder, serving(f"{folder}/p") as address:
        client = Client(address)
        for seed in range(TAUGHT_BEFORE):
            client.teach(photo(seed), seed % CLASSES)
        yield address


@contextmanager
def serving(folder: str) -> Iterator[str]:
    command = "from exll.cli.main import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", command, "studio", folder, "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().split(" is open at ")[1].split()[0]
    try:
        yield address
    finally:
        process.terminate()
        process.wait()


class Client:
    """As light as can be: it shares the cores with what is measured."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self._host = parts.netloc.encode()
        self._socket = socket.create_connection((parts.hostname, parts.port or 80), timeout=TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path: bytes) -> bytes:
        return self._send(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, self._host))

    def ask(self, image: bytes) -> bytes:
        return self._post_form(b"/api/predict", b"file", image)

    def ask_of_all_classes(self, image: bytes) -> bytes:
        return self._post_form(b"/api/predict", b"file", image, ALL_CLASSES)

    def teach(self, image: bytes, label: int) -> int:
        answer = json.loads(self._post_form(b"/api/teach", b"files", image, LABEL % label))
        number: int = answer["results"][0]["example"]["id"]
        return number

    def delete(self, number: int) -> None:
        self._post(b"/api/examples/delete", b"application/json", json.dumps({"ids": [number]}).encode())

    def _post_form(self, path: bytes, field: bytes, image: bytes, before: bytes = b"") -> bytes:
        head = b'--x\r\nContent-Disposition: form-data; name="%s"; filename="x.jpg"\r\n\r\n' % field
        body = b"%s%s%s\r\n--x--\r\n" % (before, head, image)
        return self._post(path, b"multipart/form-data; boundary=x", body)

    def _post(self, path: bytes, kind: bytes, body: bytes) -> bytes:
        head = b"POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        return self._send(head % (path, self._host, kind, len(body)) + body)

    def _send(self, request: bytes) -> bytes:
        """The body of the answer, which must be a good one and say how long it is."""
        self._socket.sendall(request)
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, body = got.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), got
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more()
        return body

    def _more(self) -> bytes:
        more = self._socket.recv(1 << 16)
        assert more, "the studio hung up"
        return more


def bare_model() -> ImageLearner:
    learner = ImageLearner()
    for seed in range(TAUGHT_BEFORE):
        learner.learn(photo(seed), f"class {seed % CLASSES}")
    learner.predict(photo(0))
    return learner


def alone(learner: ImageLearner, address: str, count: int) -> None:
    images = [photo(100_000 + i) for i in range(count)]
    client = Client(address)
    client.ask(photo(0))
    # In turns, so that all meet the same machine.
    rows = [
        (
            seconds(partial(learner.predict, image)),
            seconds(partial(client.get, b"/healthz")),
            seconds(partial(client.ask, image)),
        )
        for image in images
    ]
    bare, health, asked = (statistics.median(column) for column in zip(*rows, strict=True))
    print(
        f"alone: bare {1e3 * bare:.1f} ms, /healthz {1e3 * health:.1f} ms, asked {1e3 * asked:.1f} ms; "
        f"ratio {asked / (bare + health):.2f} (at most 1.5)",
        flush=True,
    )


class Load:
    """Work in as many threads as there are clients."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self._seconds = 0.0

    def add(self, work: Callable[[bytes], object], images: list[bytes]) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            start = time.perf_counter()
            self.taken += pool.map(lambda image: seconds(partial(work, image)), images)
            self._seconds += time.perf_counter() - start

    @property
    def rate(self) -> float:
        return len(self.taken) / self._seconds

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.taken, n=20)[-1]


@contextmanager
def disturbed(address: str, edit: bool) -> Iterator[list[int]]:
    """One who teaches meanwhile, and where an edit is wanted deletes the first that it taught; yields the numbers of
    what was taught."""
    ended, taught = threading.Event(), list[int]()
    images = [(photo(seed), seed % CLASSES) for seed in itertools.islice(fresh_seeds, TAUGHT_MOST)]

    def disturb() -> None:
        client = Client(address)
        for image, label in images:
            if ended.is_set():
                return
            taught.append(client.teach(image, label))
            if edit and len(taught) == 1:
                client.delete(taught[0])

    with ThreadPoolExecutor(1) as pool:
        disturbing = pool.submit(disturb)
        try:
            yield taught
        finally:
            ended.set()
        disturbing.result()  # where it failed, so does the measurement


def together(learner: ImageLearner, address: str, count: int, edits: int) -> None:
    clients = threading.local()

    def ask_as_client(image: bytes) -> None:
        if not hasattr(clients, "own"):
            clients.own = Client(address)
        clients.own.ask(image)

    bare, bare_alone, served = Load(), [], Load()
    taught = 0
    starts = range(200_000, 200_000 + count, SLICE)
    for number, start in enumerate(starts):  # in turns, so that both meet the same machine
        images = [photo(seed) for seed in range(start, start + SLICE)]
        bare_alone += [seconds(partial(learner.predict, image)) for image in images[:20]]
        bare.add(learner.predict, images)
        with disturbed(address, edit=number < edits) as done:
            served.add(ask_as_client, images)
        taught += len(done)
    unit = CLIENTS / CORES * statistics.median(bare_alone)
    print(
        f"together: {len(served.taken):,} requests of {CLIENTS} clients without an error, {taught} taught and "
        f"{min(edits, len(starts))} deleted meanwhile\n"
        f"  throughput {served.rate:.0f}/s, bare {bare.rate:.0f}/s: {served.rate / bare.rate:.2f} (at least 0.7)\n"
        f"  95th percentile {1e3 * served.p95:.0f} ms, of bare threads {1e3 * bare.p95:.0f} ms; over clients/cores x "
        f"one bare predict: {served.p95 / unit:.2f} (at most 3), of bare threads {bare.p95 / unit:.2f}",
        flush=True,
    )


def fill(folder: str, classes: int) -> None:
    """A project of many examples, with made-up vectors: to look at 5,000 photos would take minutes."""
    from exll.studio.actions import Offered, teach_images
    from exll.studio.project import Project
    from exll.studio.store import StoredImage

    rng = np.random.default_rng(classes)
    with Project(folder) as project:
        centres = rng.normal(size=(classes, project.backbone.width))
        each = LIVE_EXAMPLES // classes
        for k in range(classes):
            offers = []
            for _ in range(each):
                digest = rng.bytes(32).hex()
                project.pictures.keep(digest, photo(k))
                vector = (centres[k] + rng.normal(size=project.backbone.width)).astype(np.float32)
                offers.append(Offered(StoredImage(digest, "JPEG", 0, vector), ""))
            project.live.write(partial(teach_images, project, offers, f"class {k}", False)).result()


def live(learner: ImageLearner, classes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fill(str(Path(folder) / "p"), classes)
        with serving(str(Path(folder) / "p")) as address:
            client = Client(address)
            client.ask_of_all_classes(photo(0))
            bare, asked, recording = [], [], []
            taught: list[float] = []
            for start in range(300_000, 300_000 + LIVE_ASKED, LIVE_ASKED // 3):  # in turns
                images = [photo(start + i) for i in range(LIVE_ASKED // 3)]
                bare += [seconds(partial(learner.predict, image)) for image in images]
                asked += [seconds(partial(client.ask_of_all_classes, image)) for image in images]
                with recorded(address, taught):
                    recording += [seconds(partial(client.ask_of_all_classes, image)) for image in images]
    one = statistics.mean(bare)
    print(
        f"live, {classes} classes, {LIVE_EXAMPLES:,} examples: bare {1 / one:.1f}/s\n"
        f"  answers {1 / statistics.mean(asked):.1f}/s: {one / statistics.mean(asked):.2f} of bare\n"
        f"  while recording {len(taught)} photos at {FRAMES_A_SECOND}/s: {1 / statistics.mean(recording):.1f}/s: "
        f"{one / statistics.mean(recording):.2f} of bare (at least 5/s)\n"
        f"  from photo to counted: median {1e3 * statistics.median(taught):.0f} ms, "
        f"{statistics.median(taught) / one:.1f} bare predicts",
        flush=True,
    )


@contextmanager
def recorded(address: str, taken: list[float]) -> Iterator[None]:
    """One who holds the button meanwhile: a photo every fifth of a second; the seconds until each was counted."""
    ended = threading.Event()
    images = [(photo(seed), seed % CLASSES) for seed in itertools.islice(fresh_seeds, TAUGHT_MOST)]

    def record() -> None:
        client = Client(address)
        for image, label in images:
            start = time.perf_counter()
            client.teach(image, label)
            taken.append(time.perf_counter() - start)
            if ended.wait(max(0, 1 / FRAMES_A_SECOND - taken[-1])):
                return

    with ThreadPoolExecutor(1) as pool:
        recording = pool.submit(record)
        try:
            yield
        finally:
            ended.set()
        recording.result()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=1, help=f"one of every {SLICE} requests at most (default 1)")
    parser.add_argument("--only", choices=("load", "live"), help="one half of it")
    options = parser.parse_args()
    model = bare_model()
    if options.only != "live":
        with studio() as where:
            alone(model, where, options.requests // 10)
            together(model, where, options.requests, options.edits)
    if options.only != "load":
        for classes in LIVE_CLASSES:
            live(model, classes)
