"""A network that tests can watch and stop, in whichever process it runs: it must be found by name there."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def write_numbered(folder: Path, classes: int, each: int) -> Path:
    """Small pictures in folders of classes, each of which says its class and its number."""
    for k in range(classes):
        (folder / f"kind {k}").mkdir(parents=True, exist_ok=True)
        for i in range(each):
            Image.new("RGB", (8, 8), (k, i, 0)).save(folder / f"kind {k}" / f"{i:03}.png")
    return folder


class Deadly:
    """Gives numbered pictures vectors, and notes which it has seen. A file ``kill 1-7`` in its folder kills the process
    that sees picture 7 of class 1, once; ``poison 1-7`` kills every one; ``hold 1-7`` holds it while the file is there.
    """

    name, width = "deadly", 80

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def features(self, images: list[Any]) -> Any:
        return [self._vector(*image.getpixel((0, 0))[:2]) for image in images]

    def seen(self) -> list[str]:
        """All pictures in the order they were seen, by whoever it was."""
        log = self.folder / "seen"
        return log.read_text().split() if log.exists() else []

    def _vector(self, k: int, i: int) -> Any:
        name = f"{k}-{i}"
        with (self.folder / "seen").open("a") as log:
            log.write(f"{name}\n")
        while (self.folder / f"hold {name}").exists():
            time.sleep(0.02)
        kill = self.folder / f"kill {name}"
        if kill.exists() or (self.folder / f"poison {name}").exists():
            kill.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.random.default_rng([k, i]).normal(size=self.width) + 3 * np.eye(self.width)[k]
