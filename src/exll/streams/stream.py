"""Examples in an order, from the data at a path."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exll.errors import StreamError
from exll.streams.example import Example, composed
from exll.streams.feature_file import read_features
from exll.streams.fingerprint import Digests, example_digests, fingerprint
from exll.streams.folder import flat_folder, is_image_name, list_folder
from exll.streams.orderings import AS_IS, arrange, parse_order
from exll.streams.table import read_table
from exll.streams.video import VIDEO_SUFFIXES, list_frames

StreamKind: TypeAlias = Literal["folder", "images", "table", "video", "features", "rendered"]

DEFAULT_ORDER: dict[StreamKind, str] = {
    "folder": "iid",
    "images": AS_IS,
    "table": AS_IS,
    "video": AS_IS,
    "features": AS_IS,
    "rendered": "instance",
}
TABLE_SUFFIXES = frozenset({".csv", ".tsv"})
SPLITS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})
EXPECTED = (
    "a folder with one sub-folder per class (like DATA/mug/1.jpg), images or a folder of them with a label, a CSV "
    "(path,label), a video, or an .npz of features"
)


@dataclass(frozen=True, eq=False)
class Stream:
    """Labelled examples of one kind, one after the other.

    The examples say where their pixels are; only a stream of features carries its vectors, one per row of the file.

    >>> examples = [Example(f"photos/mug/{i}.jpg", "mug", Path(f"photos/mug/{i}.jpg")) for i in range(2)]
    >>> stream = Stream("folder", examples, Path("photos"))
    >>> len(stream), stream.labels
    (2, ['mug'])
    """

    kind: StreamKind
    examples: list[Example]
    source: Path
    vectors: NDArray[np.floating] | None = None  # (rows, d), indexed by Example.row
    passed_over: list[Path] = field(default_factory=list)  # files in the folder that are not part of the stream

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def labels(self) -> list[str]:
        """The classes, in order of first appearance."""
        return list(dict.fromkeys(example.label for example in self.examples))

    def ordered(self, order: str, seed: int = 0) -> "Stream":
        """The stream in another order (see ``orderings.ORDERS``); some orders leave examples out.

        >>> examples = [Example(f"{i}.jpg", "even" if i % 2 == 0 else "odd") for i in range(6)]
        >>> [example.ref for example in Stream("folder", examples, Path(".")).ordered("few-shot 1", seed=1).examples]
        ['0.jpg', '5.jpg']
        """
        name, _ = parse_order(order)
        if self.kind == "video" and name != AS_IS:
            raise StreamError(f"a video is decoded from front to back, so its order must be as-is; got {order!r}.")
        return replace(self, examples=arrange(self.examples, order, seed))

    def fingerprint(self) -> str:
        """What tells this data from other data, in any order and wherever it lies (64 hexadecimal digits).

        >>> vectors = np.eye(2, dtype=np.float32)
        >>> stream = Stream("features", [Example("0", "a", row=0), Example("1", "b", row=1)], Path("x.npz"), vectors)
        >>> len(stream.fingerprint())
        64
        """
        return fingerprint(self.kind, self.digests)

    @cached_property
    def digests(self) -> list[Digests]:
        """What tells each example from others, in the order of the examples."""
        return example_digests(self.kind, self.examples, self.source, self.vectors)

    def leaving_out(self, known: set[bytes]) -> "Stream":
        """The stream without the examples one of whose digests begins with one of these.

        >>> vectors = np.eye(2, dtype=np.float32)
        >>> stream = Stream("features", [Example("0", "a", row=0), Example("1", "b", row=1)], Path("x.npz"), vectors)
        >>> [example.label for example in stream.leaving_out({stream.digests[0].named}).examples]
        ['b']
        """
        length = len(next(iter(known), b""))
        kept = [
            example
            for example, digests in zip(self.examples, self.digests, strict=True)
            if not any(digest[:length] in known for digest in digests)
        ]
        return self if len(kept) == len(self.examples) else replace(self, examples=kept)


def default_order(kind: StreamKind) -> str:
    """Folders come shuffled, for their listing is class by class; the others come as they are."""
    return DEFAULT_ORDER[kind]


def open_stream(data: str | os.PathLike[str], *, label: str | None = None, every: int = 1) -> Stream:
    """The stream at a path: a folder with one sub-folder per class, a CSV, a video, or an .npz of features.

    A video needs a ``label``, and of its frames every n-th is taken. An image, or a folder with images directly in it,
    needs a ``label`` too. ``features.npz:train`` is one split of a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/data.npz", X=np.eye(2), y=["mug", "pan"])
    ...     open_stream(f"{folder}/data.npz").labels
    ['mug', 'pan']
    """
    source, split = _without_split(os.fspath(data))
    if not os.fspath(data) or not os.path.exists(source):  # noqa: PTH110 (Path.exists raises on a name too long)
        raise StreamError(f"There is no {os.fspath(data)!r}; expected {EXPECTED}.")
    suffix = source.suffix.lower()
    if source.is_file() and is_image_name(source.name) and label is None:
        raise StreamError(f"{source} is a single image: say with a label what it shows.")
    if source.is_file() and suffix in VIDEO_SUFFIXES:
        if not label or not label.strip():
            raise StreamError(f"{source} is a video: say with a label what it shows.")
        if every < 1:
            raise StreamError(f"every must be 1 or more, to take every n-th frame; got {every}.")
        return Stream("video", list_frames(source, composed(label.strip()), every), source)
    if every != 1:
        raise StreamError(f"every is for videos only; {source} is {_what(source)}.")
    if label is not None:
        return open_images([source], label)
    if source.is_dir():
        examples, passed_over = list_folder(source)
        return Stream("folder", examples, source, passed_over=passed_over)
    if suffix in TABLE_SUFFIXES:
        return Stream("table", read_table(source), source)
    if suffix == ".npz":
        examples, vectors = read_features(source, split)
        return Stream("features", examples, source, vectors)
    raise StreamError(f"{source} is {_what(source)}; expected {EXPECTED}.")


def open_images(paths: Sequence[str | os.PathLike[str]], label: str) -> Stream:
    """A stream of images that all show the same: image files, and folders with images directly in them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "1.jpg").touch()
    ...     open_images([f"{folder}/1.jpg"], "mug").labels
    ['mug']
    """
    sources = [Path(path) for path in paths]
    if not label.strip():
        raise StreamError("the label of images must not be empty: say what they show.")
    found: list[Path] = []
    for source in sources:
        if source.is_dir():
            found += flat_folder(source)
        elif not source.exists():
            raise StreamError(f"There is no {str(source)!r}; expected an image, or a folder of images.")
        elif not is_image_name(source.name):
            raise StreamError(f"a label is for images, folders of images, or a video; {source} is {_what(source)}.")
        else:
            found.append(source)
    first = sources[0]
    examples = [Example(str(path), composed(label.strip()), path=path) for path in found]
    return Stream("images", examples, first if first.is_dir() else first.parent)


def _without_split(data: str) -> tuple[Path, str | None]:
    named = re.fullmatch(r"(.+\.npz):([^:/\\]+)", data, re.IGNORECASE | re.DOTALL)
    return (Path(named[1]), named[2]) if named else (Path(data), None)


def _what(source: Path) -> str:
    if source.is_dir():
        return "a folder"
    if is_image_name(source.name):
        return "a single image"
    return f"a {source.suffix} file" if source.suffix else "a file without an extension"
