"""What a model that was taught by clips calls unknown: other clips of what it knows, and clips of unknown inputs.

``clips.py [--draws N]`` prints a table in Markdown (docs/results.md): the household of the benchmarks through the
default network, and turntable videos of fruit where the development data is there. "Alone" is the threshold that frames
would set that are left out one by one, with all other frames of their clip still in the model.
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
from exll.learner.glocal.judgement import FALSE_ALARMS, judge
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.glocal.leaving_out import left_out_alone, left_out_with_prototype
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
    known, others = model.novelty(again), model.novelty(strange)
    alone, together = threshold_alone(model), model.novelty_threshold()
    auroc = roc_auc_score(np.repeat([0, 1], [len(known), len(others)]), np.concatenate([known, others]))
    said = [(novelty > threshold).mean() for threshold in (alone, together) for novelty in (known, others)]
    return [float(value) for value in ((model.predict(again) == truth).mean(), auroc, *said)]


def threshold_alone(model: ExLLClassifier) -> float:
    learner = model.learner_
    assert isinstance(learner, GlocalLearner)
    ridge, count = learner._judgement.ridge, learner.sample_count
    products = learner._reviewed().products(learner._reviewed().precision_with(ridge), slice(None))
    alone = left_out_alone(products, count)
    return judge(ridge, alone, left_out_with_prototype(products, count), alone).threshold(FALSE_ALARMS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=12)
    options = parser.parse_args()
    sets = {"household": household()}
    if (DATA / "features" / "fruits.npz").exists():
        sets["fruits"] = fruits()
    print(
        "| | classes, clips of each | right | AUROC | alone: known called unknown | unknown inputs | "
        "together: known called unknown | unknown inputs |\n|---|---|---|---|---|---|---|---|"
    )
    for title, clips in sets.items():
        for classes, each in SIZES:
            rng = np.random.default_rng([classes, each])
            means = np.mean([draw(clips, classes, each, rng) for _ in range(options.draws)], axis=0)
            print(f"| {title} | {classes}, {each} | {' | '.join(f'{mean:.3f}' for mean in means)} |", flush=True)
