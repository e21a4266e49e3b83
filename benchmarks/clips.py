"""What a model that was taught by clips says of other clips of what it knows, and of clips of unknown inputs.

``clips.py [--draws N]`` prints a table in Markdown (docs/results.md): the household of the benchmarks through the
default network, and turntable videos of fruit where the development data is there.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from exll import ExLLClassifier
from exll.features.backbone import OnnxBackbone
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import FACTORS, LEVELS, Recording, render
from tasks import DATA

Clips: TypeAlias = dict[str, list[NDArray[np.float32]]]  # of every class

FRAMES, SIDE, SCENES = 20, 96, 5
SIZES = ((2, 1), (2, 2), (6, 1), (6, 2), (6, 4))  # classes, clips of each


def household() -> Clips:
    """One thing per category, recorded in several scenes."""
    backbone = OnnxBackbone("nano")
    scenes = [(factor, level) for level in range(1, LEVELS + 1) for factor in FACTORS][:SCENES]
    return {
        category: [
            backbone.features([render(Recording(0, category, 1, *scene, "train"), n, SIDE) for n in range(FRAMES)])
            for scene in scenes
        ]
        for category in CATEGORIES
    }


def fruits() -> Clips:
    """Every sixth frame of turntable videos, of different fruit of a kind."""
    data = np.load(DATA / "features" / "fruits.npz")
    clips: Clips = {}
    for video in np.unique(data["video"][data["video"] >= 0]):
        rows = np.flatnonzero(data["video"] == video)
        rows = rows[np.argsort(data["frame"][rows])]
        clips.setdefault(str(data["y"][rows[0]]), []).append(data["X"][rows].astype(np.float32))
    return {name: own for name, own in clips.items() if len(own) >= SCENES}


def draw(clips: Clips, classes: int, each: int, rng: np.random.Generator) -> list[float]:
    """Teach clips of some classes in turn, then ask about one more of each, and about one of every other class."""
    names = rng.permutation(sorted(clips)).tolist()
    places = {name: rng.permutation(len(clips[name])).tolist() for name in names}
    model = ExLLClassifier(records="none")
    for clip in range(each):
        for name in names[:classes]:
            frames = clips[name][places[name][clip]]
            model.partial_fit(frames, [name] * len(frames))
    again, strange = (
        np.concatenate([clips[name][places[name][each]] for name in some])
        for some in (names[:classes], names[classes:])
    )
    truth = np.concatenate([[name] * len(clips[name][places[name][each]]) for name in names[:classes]])
    novelties = [model.novelty(rows) for rows in (again, strange)]
    auroc = roc_auc_score(np.repeat([0, 1], [len(again), len(strange)]), np.concatenate(novelties))
    answers, others = model.answers(again), model.answers(strange)
    confidence = np.mean([answer.probability for answer in answers])
    levels = [
        np.mean([answer.level == level for answer in some])
        for some in (answers, others)
        for level in ("unusual", "unknown")
    ]
    return [float(value) for value in ((model.predict(again) == truth).mean(), confidence, auroc, *levels)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=12)
    options = parser.parse_args()
    sets = {"household": household()}
    if (DATA / "features" / "fruits.npz").exists():
        sets["fruits"] = fruits()
    print(
        "| | classes, clips of each | right | mean confidence | AUROC | known: unusual | unknown | "
        "unknown inputs: unusual | unknown |\n|---|---|---|---|---|---|---|---|---|"
    )
    for title, clips in sets.items():
        for classes, each in SIZES:
            rng = np.random.default_rng([classes, each])
            means = np.mean([draw(clips, classes, each, rng) for _ in range(options.draws)], axis=0)
            print(f"| {title} | {classes}, {each} | {' | '.join(f'{mean:.3f}' for mean in means)} |", flush=True)
