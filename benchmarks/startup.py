"""How much processor time commands take from start to end, beside the bare imports that they cannot avoid.

``python benchmarks/startup.py`` prints the table: medians of one run. Seconds depend on the machine, ratios hardly.
"""

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

import numpy as np
from PIL import Image

from exll.vision import ImageLearner

RUNS = 11
EXLL = "from exll.cli.main import run; run()"
BARE = {
    "import numpy, onnxruntime": "import numpy, onnxruntime",
    "the same, scipy.linalg, typer, PIL": "import numpy, onnxruntime, scipy.linalg, typer, PIL.Image",
}
FLOOR = next(iter(BARE))


def seconds(code: str, *arguments: str) -> float:
    """User and system time of a process, with what it takes to end; a studio is ended once it has shown its page."""
    taken = []
    for _ in range(RUNS + 1):
        process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, env=environment())
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline().decode())
        if address:
            urlopen(address[0]).close()
            process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(arguments) or code} ended with {process.returncode}")
        taken.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(taken[1:])  # the first one may still compile


def environment() -> dict[str, str]:
    """As with an installed package: what is compiled once stays compiled."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def write_data(folder: Path) -> None:
    """A model of three classes, taught with the built-in network, and the photos that it was taught with."""
    rng = np.random.default_rng(0)
    learner = ImageLearner()
    for label, colour in {"red": (200, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 200)}.items():
        (folder / "photos" / label).mkdir(parents=True)
        for number in range(8):
            path = folder / "photos" / label / f"{number}.jpg"
            pixels = np.clip(rng.normal(colour, 40, (480, 640, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(path)
            learner.learn(path, label)
    learner.save(folder / "model.exll")


def measured(folder: Path) -> dict[str, float]:
    model, photos = str(folder / "model.exll"), folder / "photos"
    photo = str(photos / "red" / "0.jpg")
    table = {name: seconds(code) for name, code in BARE.items()}
    table["exll --help"] = seconds(EXLL, "--help")
    table["exll info"] = seconds(EXLL, "info", model)
    table["exll predict, one photo, cached"] = seconds(EXLL, "predict", model, photo)
    table["exll predict, one photo, --no-cache"] = seconds(EXLL, "predict", "--no-cache", model, photo)
    table["exll explain, one photo"] = seconds(EXLL, "explain", model, photo)
    table["exll evaluate, 24 photos, cached"] = seconds(EXLL, "evaluate", model, str(photos))
    studio = ("studio", str(folder / "studio"), "--no-browser", "--port", "0")
    table["exll studio, until its page is shown"] = seconds(EXLL, *studio)
    return table


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.environ["EXLL_CACHE"] = str(Path(name) / "cache")
        write_data(Path(name))
        table = measured(Path(name))
    print(f"{'processor time of':40}seconds  of the floor")
    for what, taken in table.items():
        print(f"{what:40}{taken:7.2f}{taken / table[FLOOR]:14.1f}")
