"""What teaching costs the studio: one photo taught at 60 classes, alone and with an answer right after it; the replay
of 5,000 examples; and memory, of the whole process and of all that Python holds for it.

With made-up vectors instead of photos, and with BLAS threads as the machine has them. ``--against`` names the folder
``src`` of another checkout: both are measured in turns, each time in a process of its own.
"""

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import defaultdict
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

CLASSES, EXAMPLES, TRACED_EXAMPLES, TAUGHT_ONE_BY_ONE = 60, 5000, 1500, 30
AT_A_TIME = 50
UNITS = {
    "one_photo": (1e3, "ms"),
    "one_photo_and_an_answer": (1e3, "ms"),
    "replay": (1.0, "s"),
    "process": (1e-6, "MB"),
    "held": (1e-6, "MB"),
}
PEAK = resource.RUSAGE_SELF


def measured(folder: str, examples: int, traced: bool) -> dict[str, float]:
    """Seconds and bytes, of this process; the bytes alone where they are traced, which is slow."""
    from exll.studio.project import Project

    is_older = find_spec("exll.studio.actions") is None  # a checkout with other names
    actions = import_module("exll.studio.teaching" if is_older else "exll.studio.actions")
    store = import_module("exll.studio.store")
    stored_image = store.Image if is_older else store.StoredImage
    teach = actions.teach if is_older else actions.teach_images

    rng = np.random.default_rng(0)

    def offer(label: int) -> Any:
        digest = rng.bytes(32).hex()
        project.pictures.keep(digest, b"")
        vector = (centres[label] + rng.normal(size=project.backbone.width)).astype(np.float32)
        return actions.Offered(stored_image(digest, "PNG", 0, vector), "")

    with Project(folder, "nano") as project:
        centres = rng.normal(size=(CLASSES, project.backbone.width))
        if traced:
            tracemalloc.start()
        for start in range(0, examples, AT_A_TIME):
            label = start // AT_A_TIME % CLASSES
            offers = [offer(label) for _ in range(min(AT_A_TIME, examples - start))]
            project.live.write(partial(teach, project, offers, f"class {label}", False)).result()
        one_photo = []
        for label in range(TAUGHT_ONE_BY_ONE):
            offers = [offer(label)]
            start_time = time.perf_counter()
            project.live.write(partial(teach, project, offers, f"class {label}", False)).result()
            one_photo.append(time.perf_counter() - start_time)
        one_answer = []
        for label in range(TAUGHT_ONE_BY_ONE):
            offers = [offer(label)]
            start_time = time.perf_counter()
            project.live.write(partial(teach, project, offers, f"class {label}", False)).result()
            project.live.current.predict(offers[0].image.vector)
            one_answer.append(time.perf_counter() - start_time)
        if traced:
            gc.collect()
            return {"held": float(tracemalloc.get_traced_memory()[0])}
        taught = memory()
        start_time = time.perf_counter()
        project.live.write(lambda: actions.delete(project, [1])).result()
        while project.live.rebuilding:
            time.sleep(0.005)
        replay = time.perf_counter() - start_time
    return {
        "one_photo": statistics.median(one_photo),
        "one_photo_and_an_answer": statistics.median(one_answer),
        "replay": replay,
        "process": taught,
    }


def memory() -> float:
    """Bytes that this process holds now, where the system says so; else the most that it ever held."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 1024.0 * resource.getrusage(PEAK).ru_maxrss
    return 1024.0 * float(status.read_text().split("VmRSS:")[1].split()[0])


def measured_apart(source: str, examples: int, *how: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--examples", str(examples), "--measure", folder, *how]
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        ended = subprocess.run(
            command, env={**environment, "PYTHONPATH": source}, stdout=subprocess.PIPE, text=True, check=True
        )
    figures: dict[str, float] = json.loads(ended.stdout)
    return figures


def compare(sources: dict[str, str], examples: int, turns: int) -> None:
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for _ in range(turns):
        for name, source in sources.items():
            traced = measured_apart(source, min(examples, TRACED_EXAMPLES), "--traced")
            found[name].append({**measured_apart(source, examples), **traced})
    for figure, (factor, unit) in UNITS.items():
        values = {name: statistics.median(some[figure] for some in of) for name, of in found.items()}
        said = ", ".join(f"{name} {factor * value:.2f} {unit}" for name, value in values.items())
        ratio = f"; {values['here'] / values['there']:.2f} of it" if "there" in values else ""
        print(f"{figure.replace('_', ' ')}: {said}{ratio}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="SRC", help="the src folder of another checkout")
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--measure", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--traced", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.examples, options.traced)))
    else:
        here = str(Path(__file__).resolve().parent.parent / "src")
        there = {} if options.against is None else {"there": options.against}
        compare({**there, "here": here}, options.examples, options.turns)
