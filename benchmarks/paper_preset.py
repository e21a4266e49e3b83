"""The paper preset on the development tasks: its figures, and what the lagging precision costs.

``paper_preset.py figures`` and ``paper_preset.py schedules`` print tables in Markdown (docs/results.md). The second
inverts a matrix at every sample of some runs and takes a quarter of an hour.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

from tasks import Task

TASKS = ("grocery81", "scene15", "miniplaces", "grocery81-5shot")
SCHEDULES = (0.0, 0.1, 0.2, 1.0)


def figures(seeds: int) -> None:
    print(f"| task | order | global (M) | local (P) | fused (F) | either right | prototypes |\n|{'---|' * 7}")
    for name in TASKS:
        for how in ("iid", "class-iid"):
            task, runs, prototypes = Task(name), [], []
            for seed in range(seeds):
                classifier = task.learned(how, seed)
                runs.append(task.accuracies(classifier))
                prototypes.append(classifier.n_prototypes_)
            spread = np.std(runs, axis=0)
            cells = [f"{mean:.3f} ± {s:.3f}" for mean, s in zip(np.mean(runs, axis=0), spread, strict=True)]
            print(f"| {name} | {how} | {' | '.join(cells)} | {np.mean(prototypes):.0f} |", flush=True)


def schedules(seeds: int) -> None:
    print(f"| task | order | refresh_growth | global (M) | local (P) | fused (F) |\n|{'---|' * 6}")
    for name in ("grocery81", "scene15", "grocery81-5shot"):
        task = Task(name)
        for how in ("iid", "class-iid"):
            for growth in track(SCHEDULES, description=f"{name} {how}", console=Console(stderr=True)):
                runs = [task.accuracies(task.learned(how, seed, growth))[:3] for seed in range(seeds)]
                cells = [f"{mean:.3f}" for mean in np.mean(runs, axis=0)]
                print(f"| {name} | {how} | {growth:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["figures", "schedules"])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    {"figures": figures, "schedules": schedules}[options.table](options.seeds)
