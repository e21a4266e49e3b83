"""What explanations cost and how steady they are.

``cost``: the time of ``explain`` over that of ``answers`` for the same vector, in one run. ``stability PHOTOS``: how
often the hit stays the same prototype when test photos are encoded again as JPEG of quality 75 and the answer stays.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import io
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from exll import ExLLClassifier, ImageLearner
from exll.explain.explanation import Explanation
from exll.streams.stream import open_stream
from exll.teaching import prepare_lesson, teach
from streams import ClusteredStream


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cost(width: int, samples: int, preset: str) -> None:
    stream = ClusteredStream(width, 100)
    model = ExLLClassifier(preset=preset, records="vectors")
    for X, y in stream.batches(samples, 1000):
        model.partial_fit(X, y)
    X, _ = stream.take(200)
    model.answers(X)
    # In turns, so that neither finds the caches warmed by its own kind alone.
    pairs = [(seconds(partial(model.answers, x[None])), seconds(partial(model.explain, x))) for x in X]
    predicting, explaining = (statistics.median(taken) for taken in zip(*pairs, strict=True))
    print(
        f"d = {width}, {samples:,} samples, {model.n_prototypes_:,} prototypes: predict {1e3 * predicting:.2f} ms, "
        f"explain {1e3 * explaining:.2f} ms, ratio {explaining / predicting:.2f}",
        flush=True,
    )


def stability(photos: Path, preset: str, count: int) -> None:
    learner = ImageLearner(preset=preset)
    train = open_stream(photos / "train").ordered("iid", 0)
    lesson, train = prepare_lesson(learner, train, "iid", 0)
    teach(learner, train, lesson, lambda: None)
    test = open_stream(photos / "test").ordered("iid", 0).examples[:count]
    pairs = []
    for example in test:
        assert example.path is not None
        pairs.append((learner.explain(example.path), learner.explain(encoded_again(example.path, 75))))
    same = [(before, after) for before, after in pairs if before.label == after.label]
    print(f"{preset}: the answer stays for {len(same)} of {len(pairs)} photos ({len(same) / len(pairs):.3f})")
    _report("the hit stays the same prototype", [(a, b, a.hit.prototype == b.hit.prototype) for a, b in same])
    shown = [(a, b, bool({r.name for r in a.hit.examples[:3]} & {r.name for r in b.hit.examples[:3]})) for a, b in same]
    _report("one of the first three pictures of the hit stays", shown)


def _report(what: str, pairs: list[tuple[Explanation, Explanation, bool]]) -> None:
    """The share in all, and apart for those whose hit was clearly nearer than its near hit."""
    gaps = np.array([np.inf if a.near_hit is None else a.hit.score - a.near_hit.score for a, _, _ in pairs])
    stays = np.array([stay for _, _, stay in pairs])
    middle = np.median(gaps)
    print(
        f"  {what}: {stays.mean():.3f}; where the hit leads clearly {stays[gaps >= middle].mean():.3f}, "
        f"elsewhere {stays[gaps < middle].mean():.3f}",
        flush=True,
    )


def encoded_again(path: Path, quality: int) -> bytes:
    buffer = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("cost", "stability"):
        command = commands.add_parser(name)
        command.add_argument("--preset", default="paper")
        if name == "stability":
            command.add_argument("photos", type=Path, help="a folder with train/ and test/, one sub-folder per class")
            command.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    if options.command == "cost":
        for width, samples in ((576, 5000), (576, 20000), (1280, 20000)):
            cost(width, samples, options.preset)
    else:
        stability(options.photos, options.preset, options.count)
