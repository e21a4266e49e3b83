"""Small pictures that a network tells apart: patterns in colours, with noise."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def picture(kind: int, seed: int, size: int = 48) -> Image.Image:
    """Stripes whose direction and colour depend on the kind; the seed moves and disturbs them."""
    rng = np.random.default_rng([kind, seed])
    y, x = np.mgrid[0:size, 0:size]
    angle = kind * 0.7
    wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) / (2 + kind) + rng.uniform(0, 6))
    colour = np.random.default_rng(kind).uniform(60, 195, 3)
    pixels = colour + 60 * wave[:, :, None] + rng.normal(0, 12, (size, size, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def write_class_folder(folder: Path, classes: int = 3, each: int = 12, first: int = 0) -> Path:
    for kind in range(classes):
        (folder / f"kind {kind}").mkdir(parents=True, exist_ok=True)
        for seed in range(first, first + each):
            picture(kind, seed).save(folder / f"kind {kind}" / f"{seed:03d}.png")
    return folder


def record_video(path: Path, count: int) -> Path:
    """A video of so many pictures of kind 0."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=10)
        video.width = video.height = 64
        video.pix_fmt = "yuv420p"
        for i in range(count):
            container.mux(video.encode(av.VideoFrame.from_image(picture(0, i, 64))))
        container.mux(video.encode())
    return path
