"""Milliseconds of one example at a time on one thread, in processor time: python benchmarks/device.py MODEL IMAGE."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import statistics
import time
from collections.abc import Callable

from exll import ImageLearner, load


def milliseconds(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(30):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return 1e3 * statistics.median(taken)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="an image model; it is not changed")
    parser.add_argument("image")
    options = parser.parse_args()
    learner = load(options.model, ImageLearner, threads=1)
    ready, vector = learner.backbone.prepare(options.image).inputs, learner.backbone.features([options.image])
    label = learner.classes_[0].item()

    def teach() -> None:
        learner.learn_vectors(vector, [label], [None])

    def teach_and_ask() -> None:
        teach()
        learner.predict_vectors(vector)

    print(f"read and resize      {milliseconds(lambda: learner.backbone.prepare(options.image)):6.2f} ms")
    print(f"network              {milliseconds(lambda: learner.backbone.run([ready])):6.2f} ms")
    print(f"answer for a vector  {milliseconds(lambda: learner.predict_vectors(vector)):6.2f} ms")
    print(f"learn a vector       {milliseconds(teach):6.2f} ms")
    print(f"learn, then answer   {milliseconds(teach_and_ask):6.2f} ms")
