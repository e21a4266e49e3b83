"""Where the bytes of a model are: in its file, part by part, and in memory.

``model_bytes.py MODEL ...`` looks at model files. Without one it teaches ``--samples`` vectors of 81 classes, made up
or of ``--features FILE.npz`` (its training rows in a shuffled order; further columns, up to each ``--width``, are
random projections of its own), and prints a table in Markdown (docs/devices.md).
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from exll import ExLLClassifier, load
from exll.types import RecordsKind
from streams import ClusteredStream

CLASSES = 81


def bytes_by_part(path: Path) -> dict[str, int]:
    """The bytes of a file by the first word of its tensors' names, the header, the whole, and the model in memory."""
    found: dict[str, int] = {}
    for name, tensor in sorted(load_file(path).items()):
        part = name.split(".")[0]
        found[part] = found.get(part, 0) + tensor.nbytes
    size, model = path.stat().st_size, load(path)
    in_memory = getattr(model, "classifier", model).nbytes_  # an ImageLearner has a classifier
    return {**found, "header": size - sum(found.values()), "file": size, "in memory": in_memory}


def examples(width: int, samples: int, features: Path | None) -> tuple[NDArray[Any], NDArray[Any]]:
    if features is None:
        return ClusteredStream(width, CLASSES).take(samples)
    data = np.load(features)
    train = np.flatnonzero(np.isin(data["split"].astype(str), ("train", "0")))
    rows = np.random.default_rng(0).permutation(train)[:samples]
    X = data["X"][rows].astype(np.float64)
    more = np.random.default_rng(1).normal(size=(X.shape[1], max(0, width - X.shape[1]))) / np.sqrt(X.shape[1])
    return np.concatenate([X, np.abs(X @ more)], axis=1)[:, :width], data["y"][rows]


def taught(width: int, options: Any) -> ExLLClassifier:
    X, y = examples(width, options.samples, options.features)
    records: RecordsKind = int(options.records) if options.records.isdigit() else options.records
    refs = [f"class {k}/{i:05}.jpg" for i, k in enumerate(y.tolist())]
    return ExLLClassifier(options.preset, records=records).partial_fit(X, [f"class {k}" for k in y], refs=refs)


def print_table(columns: dict[str, dict[str, int]]) -> None:
    print(f"| bytes | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    parts = dict.fromkeys(part for column in columns.values() for part in column)
    for part in sorted(parts, key=lambda part: part in ("header", "file", "in memory")):
        print(f"| {part} | {' | '.join(f'{column.get(part, 0):,}' for column in columns.values())} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="*")
    parser.add_argument("--features", type=Path)
    parser.add_argument("--width", type=int, nargs="+", default=[576, 624, 1280])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--preset", default="glocal")
    parser.add_argument("--records", default="vectors")
    options = parser.parse_args()
    if options.models:
        print_table({path.name: bytes_by_part(path) for path in options.models})
        return
    with TemporaryDirectory() as folder:
        columns = {}
        for width in options.width:
            path = Path(folder) / f"{width}.exll"
            taught(width, options).save(path)
            columns[f"{width} features"] = bytes_by_part(path)
        print_table(columns)


if __name__ == "__main__":
    main()
