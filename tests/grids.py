"""Small data and small plans for the tests of the benchmark."""

from pathlib import Path
from typing import Any

import numpy as np

from exll.bench.config import Plan, plan_of

LAST_SEEN = '''
import numpy as np


class LastSeen:
    """Answers with the label it heard last: what it forgets can be counted by hand."""

    def partial_fit(self, X, y):
        self.label = str(y[-1])
        return self

    def predict(self, X):
        return np.full(len(X), self.label)
'''
SLOW = '''
import os
import time
from pathlib import Path

from exll.baselines import NCM


class Slow(NCM):
    """CurrentClip a while for every stream, and says in a folder that it has begun."""

    def partial_fit(self, X, y):
        Path(os.environ["SLOW_BEGUN"], f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(float(os.environ["SLOW_SECONDS"]))
        return super().partial_fit(X, y)
'''


def write_features(path: Path, *, classes: int = 4, videos: int = 3, frames: int = 4, split: bool = True) -> Path:
    """Clusters with some noise, in videos, half of which are for testing where there is a split."""
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(classes, 12))
    rows = [(k, v, f, part) for k in range(classes) for v in range(videos) for f in range(frames) for part in (0, 2)]
    y, _, frame, part = (np.array(column) for column in zip(*rows, strict=True))
    arrays: dict[str, Any] = {
        "X": (centres[y] + 0.9 * rng.normal(size=(len(y), 12))).astype(np.float32),
        "y": y,
        "class_names": np.array([f"thing {k}" for k in range(classes)]),
        "video": np.array([f"{k}-{v}-{p}" for k, v, _, p in rows]),
        "frame": frame,
    }
    if split:
        arrays["split"] = part
    np.savez(path, **arrays)
    return path


def plan(folder: Path, learners: list[Any], orders: list[str], **facts: Any) -> Plan:
    """A plan over the features file of that folder."""
    if not (folder / "data.npz").exists():
        write_features(folder / "data.npz")
    common: dict[str, Any] = {name: facts.pop(name) for name in ("seeds", "test_then_train") if name in facts}
    task = {"dataset": "data.npz", "orders": orders, **facts}
    return plan_of({"learners": learners, "tasks": [task], **common}, folder, "test")


def without_times(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What must be the same in every run."""
    return [{name: value for name, value in entry.items() if name not in ("seconds", "machine")} for entry in results]
