"""Models on disk, each with its place in the log, so that a start need not replay everything."""

import contextlib
from pathlib import Path

from exll.errors import ExLLError
from exll.estimator import ExLLClassifier
from exll.loading import load
from exll.studio.store import Store
from exll.version import __version__

KEPT = 2


class Checkpoints:
    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder / "models"
        self._folder.mkdir(exist_ok=True)
        self._store = store

    def save(self, classifier: ExLLClassifier, generation: int, position: int) -> None:
        name = f"{generation}-{position}.exll"
        classifier.save(self._folder / name)
        for old in self._store.add_checkpoint(name, generation, position, __version__, KEPT):
            (self._folder / old).unlink(missing_ok=True)

    def newest(self) -> tuple[ExLLClassifier, int] | None:
        """The last model of this generation and its position. One of another version may have learned otherwise, and
        one that cannot be read is no loss: the log is the truth."""
        for name, generation, position, version in self._store.checkpoints():
            if (generation, version) == (self._store.generation, __version__):
                with contextlib.suppress(ExLLError):
                    return load(self._folder / name, ExLLClassifier), position
        return None

    def nbytes(self) -> int:
        return sum(path.stat().st_size for path in self._folder.iterdir() if path.is_file())
