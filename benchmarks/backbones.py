"""Accuracy against milliseconds for every network that can be had without a hub: the table of docs/backbones.md.

    python benchmarks/backbones.py [--data ../shared/data/grocery128] [--choices NAME/LOOKS ...]
    python benchmarks/backbones.py --export FILE.npz --choices efficientnet_lite0/2    # for benchmarks/accuracy.py

Each choice learns the photos of train/ once, in three random orders, with the default head, and is asked about those of
test/. Milliseconds are those of the network alone, one thread, for all looks at one photo: the median of many runs,
in processor time. A choice is on the edge where no other is both faster and more accurate by more than half a point:
less than that the order of the photos alone can do.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from exll import ExLLClassifier
from exll.features.backbone import OnnxBackbone, read_network
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
MARGIN = 0.005


def vectors(backbone: OnnxBackbone, folder: Path) -> tuple[NDArray[np.float32], NDArray[np.str_]]:
    examples, _ = list_folder(folder)
    paths = [example.path for example in examples if example.path is not None]
    found = [item.vector for item in extract(track(paths, backbone.name, transient=True), backbone, FeatureCache())]
    return np.array(found), np.array([example.label for example in examples])


def accuracies(backbone: OnnxBackbone, data: Path) -> list[float]:
    X, y = vectors(backbone, data / "train")
    X_test, truth = vectors(backbone, data / "test")
    measured = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(X))
        classifier = ExLLClassifier().partial_fit(X[order], y[order])
        measured.append(float((classifier.predict(X_test) == truth).mean()))
    return measured


def milliseconds(choices: list[str]) -> dict[str, float]:
    """Of the network alone, all choices in turns, so that a busy minute is no one's alone."""
    photo = np.random.default_rng(0).integers(0, 256, (300, 400, 3), np.uint8)
    ready = {choice: (backbone := opened(choice, 1), backbone.prepare(photo).inputs) for choice in choices}
    spent: dict[str, list[float]] = {choice: [] for choice in choices}
    for _ in range(RUNS):
        for choice, (backbone, inputs) in ready.items():
            start = time.process_time()
            backbone.run([inputs])
            spent[choice].append(time.process_time() - start)
    return {choice: float(np.median(taken)) * 1e3 for choice, taken in spent.items()}


def opened(choice: str, threads: int | None = None) -> OnnxBackbone:
    name, _, looks = choice.rpartition("/")
    return OnnxBackbone(name, threads, looks=int(looks))


def export(choice: str, data: Path, file: Path) -> None:
    (X, y), (X_test, truth) = (vectors(opened(choice), data / split) for split in ("train", "test"))
    parts = np.repeat(["train", "test"], [len(y), len(truth)])
    np.savez(file, X=np.concatenate([X, X_test]), y=np.concatenate([y, truth]), split=parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--choices", nargs="*", default=CHOICES)
    parser.add_argument("--export", type=Path, help="write the vectors of the first choice to this file instead")
    options = parser.parse_args()
    if options.export is not None:
        export(options.choices[0], options.data, options.export)
        return
    right = {choice: accuracies(opened(choice), options.data) for choice in options.choices}
    mean = {choice: float(np.mean(shares)) for choice, shares in right.items()}
    spent = milliseconds(options.choices)
    print("| network | looks | numbers | MB | correct | order changes it by | ms per photo | on the edge |")
    print("|---|---|---|---|---|---|---|---|")
    for choice in sorted(spent, key=spent.__getitem__):
        edge = not any(mean[other] > mean[choice] + MARGIN and spent[other] < spent[choice] for other in mean)
        name, _, looks = choice.rpartition("/")
        numbers, size = opened(choice).width, len(read_network(name)[2])
        print(
            f"| `{name}` | {looks} | {numbers:,} | {size / 1e6:.1f} | {mean[choice]:.3f} | "
            f"{np.ptp(right[choice]):.3f} | {spent[choice]:.1f} | {'yes' if edge else ''} |"
        )


if __name__ == "__main__":
    main()
