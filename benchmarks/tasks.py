"""The development tasks: real features with a split, and the orders in which their streams are shown.

``tasks.py export FOLDER`` writes each as a features file with its split, for ``exll bench`` (docs/bench.md).
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll import ExLLClassifier
from exll.types import InferenceName

NAMES: tuple[InferenceName, ...] = ("global", "local", "fused")
SHARED_VIDEOS = "fruits-all-videos"  # train and test share videos, and everything is right on it
NINE = (
    "grocery81",
    "grocery43",
    "grocery81-5shot",
    "grocery81-10shot",
    "scene15",
    "miniplaces",
    "miniplaces-longtail",
    "eth80-new-instances",
    "fruits-new-videos",
)
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Task:
    """A split of real features: one of the development tasks by its name, or a file of its own."""

    groups: NDArray[Any] | None = None  # the recording or the object of every training row, where it is known

    def __init__(self, name: str, source: Path = DATA) -> None:
        if source.is_file():
            data = np.load(source)
            y, parts = data["y"], data["split"].astype(str)  # names, or 0 for train and 2 for test
            train, test = (np.flatnonzero(np.isin(parts, names)) for names in (("train", "0"), ("test", "2")))
        else:
            tasks = np.load(source / "tasks.npz")
            data = np.load(source / "features" / f"{tasks[f'{name}/dataset']}.npz")
            y, train, test = data[str(tasks[f"{name}/label"])], tasks[f"{name}/train"], tasks[f"{name}/test"]
        X = data["X"].astype(np.float32)
        self.X, self.y, self.X_test, self.y_test = X[train], y[train], X[test], y[test]
        for key in ("video", "instance"):
            if key in data and (data[key][train] != -1).all():
                self.groups = data[key][train]
                break

    def order(self, how: str, seed: int) -> NDArray[Any]:
        """``iid``: shuffled. ``class-iid``: one class after the other, shuffled among and within them."""
        rng = np.random.default_rng(seed)
        if how == "iid":
            return rng.permutation(len(self.y))
        classes = rng.permutation(np.unique(self.y))
        return np.concatenate([rng.permutation(np.flatnonzero(self.y == k)) for k in classes])

    def learned(self, how: str, seed: int, refresh_growth: float = 0.1) -> ExLLClassifier:
        order = self.order(how, seed)
        classifier = ExLLClassifier(preset="paper", refresh_growth=refresh_growth, records="none")
        return classifier.partial_fit(self.X[order], self.y[order])

    def accuracies(self, classifier: ExLLClassifier) -> NDArray[np.float64]:
        """Of global, local and fused inference, and of either of the first two."""
        right = [classifier.predict(self.X_test, name) == self.y_test for name in NAMES]
        return np.array([*(r.mean() for r in right), (right[0] | right[1]).mean()])


def export(folder: Path, source: Path = DATA) -> list[Path]:
    """A folder for ``exll bench compare``: one features file per task, and the data sets of domains and of clips.

    None of them belongs into the repository.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = np.load(source / "tasks.npz")
    made = []
    for name in (key.removesuffix("/train") for key in tasks if key.endswith("/train")):
        data, label = np.load(source / "features" / f"{tasks[f'{name}/dataset']}.npz"), str(tasks[f"{name}/label"])
        made.append(_write(folder / f"{name}.npz", data, label, tasks[f"{name}/train"], tasks[f"{name}/test"]))
    if (pacs := source / "features" / "pacs.npz").is_file():
        made.append(Path(shutil.copyfile(pacs, folder / pacs.name)))
    if (gtsrb := source / "features" / "gtsrb.npz").is_file():
        data = np.load(gtsrb)
        clips, frames, test = (np.flatnonzero(data["split"] == part) for part in range(3))
        made.append(_write(folder / "gtsrb-clips.npz", data, "y", clips, test))
        made.append(_write(folder / "gtsrb-frames.npz", data, "y", frames, test, leave_out=("video", "frame")))
    return made


def _write(
    path: Path, data: Any, label: str, train: NDArray[Any], test: NDArray[Any], leave_out: tuple[str, ...] = ()
) -> Path:
    """Those rows of a features file, with all that is known of them."""
    rows = np.concatenate([train, test])
    known = [key for key in ("instance", "video", "frame") if key in data and (data[key][train] != -1).all()]
    np.savez(
        path,
        X=data["X"][rows],
        y=data[label][rows],
        split=np.repeat(["train", "test"], [len(train), len(test)]),
        **{key: data[key][rows] for key in known if key not in leave_out},
    )
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["export"])
    parser.add_argument("folder", type=Path, help="where the files go")
    for path in export(parser.parse_args().folder):
        print(path)


if __name__ == "__main__":
    main()
