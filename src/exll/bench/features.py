"""From a data set to arrays on disk, once for each backbone, which all its runs then share."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exll.bench.executors import Executor
from exll.bench.netscore import BACKBONE_PARAMETERS
from exll.errors import BenchError, ImageError
from exll.features.backbone import OnnxBackbone, read_network
from exll.features.cache import FeatureCache
from exll.features.extract import extract
from exll.features.preprocessing import ResizeRule
from exll.streams.dataset import Dataset, Picture
from exll.streams.example import Example

CHUNK = 96
ROWS_TOGETHER = 4096
VECTORS, EXAMPLES = "vectors.npy", "examples.npz"
COLUMNS = ("ref", "label", "instance", "video", "frame", "row", "factor", "level", "domain")
NUMBERS = ("frame", "row", "level")


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """The vectors of a data set, one per row, read from disk as they are needed, and what each row shows."""

    vectors: NDArray[np.floating]  # (rows, d), as precise as they were given
    train: list[Example]
    test: list[Example] | None

    @classmethod
    @lru_cache(maxsize=1)  # the cells of one data set follow each other
    def load(cls, folder: Path) -> "FeatureSet":
        try:
            vectors = np.load(folder / VECTORS, mmap_mode="r")
            with np.load(folder / EXAMPLES, allow_pickle=False) as arrays:
                examples = _from_arrays(arrays)
                testing, has_test = arrays["testing"].tolist(), bool(arrays["has_test"])
        except (OSError, KeyError, ValueError) as error:
            raise BenchError(
                f"the features in {folder} cannot be read ({error}); on a cluster, every worker must see that folder."
            ) from error
        train = [example for example, tested in zip(examples, testing, strict=True) if not tested]
        test = [example for example, tested in zip(examples, testing, strict=True) if tested]
        return cls(vectors, train, test if has_test else None)


@dataclass(frozen=True)
class Source:
    """A data set seen by a backbone: what the features depend on, known before any is computed."""

    dataset: Dataset
    backbone: str | None  # None: the data are vectors already

    @property
    def seen_by(self) -> str:
        return self.dataset.train.source.name if self.backbone is None else Path(self.backbone).stem

    def identity(self) -> str:
        seen = "" if self.backbone is None else _backbone(self.backbone, self.dataset.resize).identity
        return hashlib.sha256(json.dumps([self.dataset.fingerprint(), seen]).encode()).hexdigest()

    def extract(self, folder: Path, executor: Executor, progress: Callable[[int], None]) -> int:
        """Write the features into a folder that does not exist yet; gives how many examples could not be read.

        The folder appears whole or not at all. ``progress`` is told how many examples are done.
        """
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as making:
            place = Path(making) / "features"
            place.mkdir()
            skipped = self._write(place, executor, progress)
            try:
                place.replace(folder)
            except OSError:  # another run was quicker
                shutil.rmtree(place)
        return skipped

    def _write(self, place: Path, executor: Executor, progress: Callable[[int], None]) -> int:
        examples, learned = self.dataset.examples, len(self.dataset.train.examples)
        if self.backbone is None:
            usable = _write_vectors(place / VECTORS, self.dataset)
        else:
            usable = self._through_network(place / VECTORS, examples, executor, progress)
        if not usable[:learned].any():
            raise BenchError(f"none of the {learned:,} examples of {self.dataset.name} could be read.")
        kept = [replace(example, row=row) for row, example in enumerate(examples) if usable[row]]
        arrays = _to_arrays(kept)
        arrays["testing"] = np.flatnonzero(usable) >= learned
        arrays["has_test"] = np.array(self.dataset.test is not None)
        np.savez(place / EXAMPLES, allow_pickle=False, **arrays)
        return int((~usable).sum())

    def _through_network(
        self, target: Path, examples: list[Example], executor: Executor, progress: Callable[[int], None]
    ) -> NDArray[np.bool_]:
        """Write the vectors, never all in memory; gives which of them are of use."""
        assert self.backbone is not None
        starts = range(0, len(examples), CHUNK)
        chunks = [
            Chunk(examples[start : start + CHUNK], self.dataset.picture, self.backbone, self.dataset.resize)
            for start in starts
        ]
        width = _backbone(self.backbone, self.dataset.resize).width
        vectors = np.lib.format.open_memmap(target, "w+", np.float32, (len(examples), width))
        usable = np.zeros(len(examples), np.bool_)
        done = 0
        for number, found in executor.run(Chunk.vectors, chunks):
            rows = slice(starts[number], starts[number] + len(found))
            vectors[rows], usable[rows] = found, _usable(found)
            done += len(found)
            progress(done)
        vectors.flush()
        return usable


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some examples that go through the network, in any process."""

    examples: list[Example]
    picture: Callable[[Example], Picture]
    backbone: str
    resize: ResizeRule | None

    def vectors(self) -> NDArray[np.float32]:
        """One row per example; NaN where it has no picture that can be read."""
        backbone, cache = _backbone(self.backbone, self.resize), FeatureCache()
        rows = np.full((len(self.examples), backbone.width), np.nan, np.float32)
        pictures = [self._picture(example) for example in self.examples]
        if all(isinstance(picture, Path) for picture in pictures):
            found: Iterator[Any] = (item.vector for item in extract(pictures, backbone, cache, workers=1))  # type: ignore[arg-type]
        else:
            found = _drawn_vectors(pictures, backbone, cache)
        for row, vector in zip(rows, found, strict=True):
            if vector is not None:
                row[:] = vector
        return rows

    def _picture(self, example: Example) -> "Picture | None":
        try:
            return self.picture(example)
        except ImageError:
            return None


def _drawn_vectors(
    pictures: list[Any], backbone: OnnxBackbone, cache: FeatureCache
) -> Iterator[NDArray[np.float32] | None]:
    """Vectors of pictures that are not files, by the content of their pixels."""
    keys = [b"" if picture is None else FeatureCache.key(backbone.identity, picture.tobytes()) for picture in pictures]
    known = cache.get([key for key in keys if key], backbone.width)
    for key, picture in zip(keys, pictures, strict=True):
        if picture is None:
            yield None
            continue
        if key not in known:
            try:
                known[key] = backbone.features([picture])[0]
            except ImageError:
                yield None
                continue
            cache.put([(key, known[key])])
        yield known[key]


def _write_vectors(target: Path, dataset: Dataset) -> NDArray[np.bool_]:
    """Write vectors that were given, some at a time; gives which of them are of use."""
    given = dataset.train.vectors
    assert given is not None
    rows = np.array([example.row for example in dataset.examples])
    vectors = np.lib.format.open_memmap(target, "w+", given.dtype, (len(rows), given.shape[1]))
    usable = np.zeros(len(rows), np.bool_)
    for start in range(0, len(rows), ROWS_TOGETHER):
        some = slice(start, start + ROWS_TOGETHER)
        vectors[some] = given[rows[some]]
        usable[some] = _usable(vectors[some])
    vectors.flush()
    return usable


def _usable(vectors: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Rows that a learner can take: finite, and not all zeros."""
    return np.asarray(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))


@lru_cache(maxsize=8)
def _backbone(name: str, resize: ResizeRule | None) -> OnnxBackbone:
    return OnnxBackbone(name, threads=1, resize=resize, looks=1)  # as the paper's protocols have it


def backbone_parameters(name: str) -> int:
    """Numbers in a network, for NetScore: as published, else as its file has room for at four bytes each."""
    published = BACKBONE_PARAMETERS.get(Path(name).stem)
    return len(read_network(name)[2]) // 4 if published is None else published


def _to_arrays(examples: list[Example]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for column in COLUMNS:
        values = [getattr(example, column) for example in examples]
        if column in NUMBERS:
            arrays[column] = np.array([-1 if value is None else value for value in values], np.int64)
        else:
            arrays[column] = np.array(["" if value is None else value for value in values], np.str_)
    return arrays


def _from_arrays(arrays: Any) -> list[Example]:
    rows = len(arrays["ref"])  # features of an older version have no domains
    columns = {column: arrays[column].tolist() if column in arrays else [None] * rows for column in COLUMNS}
    for column, values in columns.items():
        columns[column] = [None if value in ("", -1) else value for value in values]
    return [Example(**dict(zip(COLUMNS, values, strict=True))) for values in zip(*columns.values(), strict=True)]
