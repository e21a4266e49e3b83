"""Models on disk, each with its place in the log, so that a start need not replay everything."""

import contextlib
from pathlib import Path

from exll.errors import DAMAGED, ExLLError
from exll.estimator import KIND, ExLLClassifier
from exll.saving.model_file import read_model
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
            self._path(old).unlink(missing_ok=True)

    def remove_old(self) -> None:
        """Models of before the last edit may hold what was deleted since."""
        for old in self._store.remove_old_checkpoints():
            self._path(old).unlink(missing_ok=True)

    def newest(self) -> tuple[ExLLClassifier, int] | None:
        """The last model of this generation and its position. One of another version may have learned otherwise, and
        one that cannot be read is no loss: the log is the truth. Only classifiers are read: other kinds of files name
        networks to open, and a project may come from somebody else."""
        for name, generation, position, version in self._store.checkpoints():
            if (generation, version) == (self._store.generation, __version__):
                with contextlib.suppress(ExLLError, *DAMAGED):
                    file = read_model(self._path(name))
                    if file.metadata["kind"] == KIND:
                        return ExLLClassifier._from_file(file), position
        return None

    def _path(self, name: str) -> Path:
        """Within the folder, whatever the database says."""
        return self._folder / Path(name).name

    def nbytes(self) -> int:
        return sum(path.stat().st_size for path in self._folder.iterdir() if path.is_file())
