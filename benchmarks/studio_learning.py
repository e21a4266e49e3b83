"""What teaching and editing cost the studio at 5,000 examples of 60 classes: one photo taught, alone and with an answer
right after it; a class renamed, a photo relabelled, a photo deleted, and each undone, until an answer has it in; the
replay of all examples; and memory, of the whole process and of all that Python holds for it.

With made-up vectors instead of photos, as wide as those of the default network, and with BLAS threads as the machine
has them. ``--against`` names the folder ``src`` of another checkout: both are measured in turns, each time in a process
of its own.
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
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

CLASSES, EXAMPLES, TRACED_EXAMPLES, TAUGHT_ONE_BY_ONE, EDITS = 60, 5000, 1500, 30, 3
AT_A_TIME = 50
UNITS = {
    "one_photo": (1e3, "ms"),
    "one_photo_and_an_answer": (1e3, "ms"),
    **{f"{undone}{edit}": (1.0, "s") for edit in ("rename", "relabel", "delete") for undone in ("", "undo_")},
    "replay": (1.0, "s"),
    "process": (1e-6, "MB"),
    "held": (1e-6, "MB"),
}
PEAK = resource.RUSAGE_SELF


def measured(folder: str, examples: int, traced: bool) -> dict[str, float]:
    """Seconds and bytes, of this process; the bytes alone where they are traced, which is slow."""
    from exll.studio import actions
    from exll.studio.project import Project
    from exll.studio.store import LARGEST_ID, StoredImage

    teach, rng = actions.teach_images, np.random.default_rng(0)

    def offer(label: int) -> actions.Offered:
        digest = rng.bytes(32).hex()
        project.pictures.keep(digest, b"")
        vector = (centres[label] + rng.normal(size=project.backbone.width)).astype(np.float32)
        return actions.Offered(StoredImage(digest, "PNG", 0, vector), "")

    def answered(change: Callable[[], object]) -> float:
        """Seconds until an answer has a change in."""
        start_time = time.perf_counter()
        project.live.write(change).result()
        while project.live.rebuilding:
            time.sleep(0.005)
        project.live.current.predict(offers[0].image.vector)
        return time.perf_counter() - start_time

    with Project(folder) as project:
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
            one_answer.append(answered(partial(teach, project, offers, f"class {label}", False)))
        if traced:
            gc.collect()
            return {"held": float(tracemalloc.get_traced_memory()[0])}
        taught = memory()
        edits: dict[str, list[float]] = defaultdict(list)
        for number in range(1, 1 + EDITS):
            for name, edit in {
                "rename": partial(actions.rename_class, project, f"class {number}", "renamed"),
                "relabel": partial(actions.relabel, project, [number], "class 9"),
                "delete": partial(actions.delete, project, [number]),
            }.items():
                edits[name].append(answered(edit))
                edits[f"undo_{name}"].append(answered(partial(actions.undo, project)))
        start_time = time.perf_counter()
        project.live._new_model().learn(project.store.rows_after(0, LARGEST_ID))
        replay = time.perf_counter() - start_time
    return {
        **{name: statistics.median(seconds) for name, seconds in edits.items()},
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
