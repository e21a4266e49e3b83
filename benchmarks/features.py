"""Speed of seeing: files to vectors, against bare calls of the network on ready arrays (ratios within one run).

The network runs on one thread in both, and decoding on the other core. ``--data`` names a folder of images;
12-megapixel photos are made from them.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from exll.features.backbone import BATCH, OnnxBackbone
from exll.features.cache import FeatureCache
from exll.features.extract import extract
from exll.streams.folder import is_image_name

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "grocery128" / "test"


def bare_seconds(backbone: OnnxBackbone, images: int) -> float:
    """Seconds an image of the network alone, in the same batches."""
    ready = [
        backbone.prepare(np.random.default_rng(i).integers(0, 256, (128, 128, 3), np.uint8)).inputs
        for i in range(BATCH)
    ]
    backbone.run(ready)
    start = time.perf_counter()
    for _ in range(images // BATCH):
        backbone.run(ready)
    return (time.perf_counter() - start) / (images // BATCH * BATCH)


def pipeline_seconds(paths: list[Path], backbone: OnnxBackbone, cache: FeatureCache | None = None) -> float:
    start = time.perf_counter()
    for extracted in extract(paths, backbone, cache, workers=1):
        assert extracted.error is None
    return (time.perf_counter() - start) / len(paths)


def large_photos(paths: list[Path], folder: Path) -> list[Path]:
    """JPEG files of 4000 x 3000 pixels."""
    made = []
    for i, path in enumerate(paths):
        made.append(folder / f"{i}.jpg")
        with Image.open(path) as image:
            image.convert("RGB").resize((4000, 3000), Image.Resampling.BICUBIC).save(made[-1], quality=90)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--images", type=int, default=960)
    options = parser.parse_args()
    paths = sorted(path for path in options.data.rglob("*") if is_image_name(path.name))[: options.images]
    backbone = OnnxBackbone(threads=1)
    table = Table(
        title=f"{backbone.name}, {len(paths)} images of {options.data.name}, network on 1 thread of {os.cpu_count()}"
    )
    for column in ("what", "ratio", "limit", ""):
        table.add_column(column, justify="right" if column == "ratio" else "left")
    with tempfile.TemporaryDirectory() as folder:
        pieces = [paths[i::4] for i in range(4)]
        bare, whole = [], []
        for piece in pieces:  # in turns, so that both meet the same noise
            bare.append(bare_seconds(backbone, len(piece)))
            whole.append(pipeline_seconds(piece, backbone))
        ratio = sum(bare) / sum(whole)
        table.add_row(
            "rate of files to vectors / bare network",
            f"{ratio:.2f}",
            ">= 0.9",
            f"{1e3 * sum(whole) / 4:.1f} ms per image",
        )
        cache = FeatureCache(Path(folder) / "cache.sqlite")
        first, second = (pipeline_seconds(paths, backbone, cache) for _ in range(2))
        table.add_row(
            "extraction / from the cache",
            f"{first / second:.0f}",
            ">= 20",
            f"{1e6 * second:.0f} us an image from the cache",
        )
        large = large_photos(paths[:: max(1, len(paths) // 48)][:48], Path(folder))
        photos = pipeline_seconds(large, backbone)
        table.add_row(
            "12-megapixel photos / bare network",
            f"{sum(bare) / 4 / photos:.2f}",
            "",
            f"{1e3 * photos:.0f} ms per photo",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
