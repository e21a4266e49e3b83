"""Accuracy against milliseconds for every network that can be had without a hub: the table of docs/backbones.md.

    python benchmarks/backbones.py [--data ../shared/data/grocery128] [--choices NAME/LOOKS ...]

Each choice learns the photos of train/ once, in three random orders, with the default head, and is asked about those of
test/. Milliseconds are those of the network alone, one thread, for all looks at one photo: the median of many runs,
in processor time. A choice is on the edge where no other is both faster and more accurate.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from exll import ExLLClassifier
from exll.features.backbone import Backbone, read_network
from exll.features.cache import FeatureCache
from exll.features.extract import extract
from exll.streams.folder import list_folder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "grocery128"
LITE0 = "efficientnet_lite0"
CHOICES = [
    *("nano/1", "nano/2"),
    *(f"{LITE0}@128/2", f"{LITE0}@160/2", f"{LITE0}-int8@128/2", f"{LITE0}-int8@160/2", f"{LITE0}-int8@192/2"),
    *(f"{LITE0}/1", f"{LITE0}/2", f"{LITE0}-int8/1", f"{LITE0}-int8/2"),
    *(f"{LITE0}:last/1", f"{LITE0}:last/2", f"{LITE0}:7/2", f"{LITE0}:5,6,7,last/2"),
    *("efficientnet_lite1/2", "efficientnet_lite2/2", "mobilenet_v2/2"),
]
ORDERS = 3
RUNS = 40


def vectors(backbone: Backbone, folder: Path) -> tuple[NDArray[np.float32], NDArray[np.str_]]:
    examples, _ = list_folder(folder)
    paths = [example.path for example in examples if example.path is not None]
    found = [item.vector for item in extract(track(paths, backbone.name, transient=True), backbone, FeatureCache())]
    return np.array(found), np.array([example.label for example in examples])


def accuracies(backbone: Backbone, data: Path) -> list[float]:
    X, y = vectors(backbone, data / "train")
    asked, truth = vectors(backbone, data / "test")
    measured = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(X))
        classifier = ExLLClassifier().partial_fit(X[order], y[order])
        measured.append(float((classifier.predict(asked) == truth).mean()))
    return measured


def milliseconds(name: str, looks: int) -> float:
    backbone = Backbone(name, threads=1, looks=looks)
    inputs = backbone.prepare(np.random.default_rng(0).integers(0, 256, (300, 400, 3), np.uint8)).inputs
    spent = []
    for _ in range(RUNS):
        start = time.process_time()
        backbone.run([inputs])
        spent.append(time.process_time() - start)
    return float(np.median(spent)) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--choices", nargs="*", default=CHOICES)
    options = parser.parse_args()
    rows = []
    for choice in options.choices:
        name, _, looks = choice.rpartition("/")
        backbone = Backbone(name, looks=int(looks))
        right = accuracies(backbone, options.data)
        size = len(read_network(name)[2])
        rows.append(
            (choice, backbone.width, size, float(np.mean(right)), np.ptp(right), milliseconds(name, int(looks)))
        )
    print("| network / looks | numbers | MB | right | order moves it by | ms a photo | on the edge |")
    print("|---|---|---|---|---|---|---|")
    for choice, width, size, right_share, spread, spent in sorted(rows, key=lambda row: row[5]):
        edge = not any(other[3] > right_share and other[5] < spent for other in rows)
        name, _, looks = choice.rpartition("/")
        print(
            f"| `{name}` / {looks} | {width:,} | {size / 1e6:.1f} | {right_share:.3f} | {spread:.3f} | {spent:.1f} | "
            f"{'yes' if edge else ''} |"
        )
    Console(stderr=True).print("done")


if __name__ == "__main__":
    main()
