"""From files to vectors, in order: threads read, look into the cache and decode while the network runs."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from exll.errors import ImageError
from exll.features.cache import FeatureCache
from exll.features.image import open_regular_file, printable
from exll.features.own_backbone import Network
from exll.features.regions import PixelBox

LARGEST_FILE = 256_000_000
READ_TOGETHER = 16
# Grows when the same file gives other pixels than before, so that no vector of the old ones is taken from the cache.
# 2: colours are converted to sRGB by their profile.
# 3: pictures of more than 16 megapixels are reduced before they are resized.
READING = 3

Region: TypeAlias = tuple[Path, PixelBox | None]  # a file, and the part of it that is looked at where it is not all


@dataclass(frozen=True)
class Extracted:
    """The vector of one image, or why there is none; ``small`` is a small copy of what has no file of its own."""

    vector: NDArray[np.float32] | None
    error: ImageError | None = None
    small: Image | None = None


@dataclass(frozen=True)
class _Prepared:
    """A file after its thread: a vector from the cache, an input for the network, or an error."""

    key: bytes | None = None
    vector: NDArray[np.float32] | None = None
    network_input: NDArray[Any] | None = None
    error: ImageError | None = None


def extract(
    images: Iterable[Path | Region], backbone: Network, cache: FeatureCache | None = None, workers: int | None = None
) -> Iterator[Extracted]:
    """The vectors of image files, or of regions in them, in order. A bad file gives an error in its place and stops
    nothing."""
    workers = workers or max(1, (os.cpu_count() or 2) - 1)
    source = ((image, None) if isinstance(image, Path) else image for image in images)
    pending: deque[Future[list[_Prepared]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="exll-read") as pool:
        try:
            while True:
                while len(pending) < workers + 2 and (some := list(islice(source, READ_TOGETHER))):
                    pending.append(pool.submit(_prepare, some, backbone, cache))
                if not pending:
                    return
                yield from _through_network(pending.popleft().result(), backbone, cache)
        finally:  # also when the reader of this iterator stops early
            for future in pending:
                future.cancel()


def _prepare(images: list[Region], backbone: Network, cache: FeatureCache | None) -> list[_Prepared]:
    contents = [_read(path) for path, _ in images]
    keys = [
        _key(backbone, content, box) if isinstance(content, bytes) else None
        for content, (_, box) in zip(contents, images, strict=True)
    ]
    known = {} if cache is None else cache.get([key for key in keys if key is not None], backbone.width)
    prepared = []
    for image, content, key in zip(images, contents, keys, strict=True):
        if isinstance(content, ImageError):
            prepared.append(_Prepared(error=content))
        elif key in known:
            prepared.append(_Prepared(key=key, vector=known[key]))
        else:
            prepared.append(_decode(image, content, key, backbone))
    return prepared


def _key(backbone: Network, content: bytes, box: PixelBox | None) -> bytes:
    region = "" if box is None else f" {box}"
    return FeatureCache.key(f"{backbone.identity} {READING}{region}", content)


def _read(path: Path) -> bytes | ImageError:
    try:
        with open_regular_file(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE:
                return ImageError(f"{printable(path)}: the file is larger than {LARGEST_FILE // 10**6} MB.")
            return file.read()
    except ImageError as error:
        return error
    except (OSError, MemoryError) as error:  # a failing disk, a file larger than memory
        return ImageError(f"{printable(path)}: the file cannot be read ({error}).")


def _decode(image: Region, content: bytes, key: bytes | None, backbone: Network) -> _Prepared:
    path, box = image
    try:
        return _Prepared(key=key, network_input=backbone.prepare(content, box).inputs)
    except ImageError as error:
        return _Prepared(error=ImageError(f"{printable(path)}: {error}"))


def _through_network(prepared: list[_Prepared], backbone: Network, cache: FeatureCache | None) -> Iterator[Extracted]:
    inputs = [item.network_input for item in prepared if item.network_input is not None]
    computed = iter(backbone.run(inputs)) if inputs else iter(())
    fresh, results = [], []
    for item in prepared:
        if item.network_input is None:
            results.append(Extracted(item.vector, item.error))
            continue
        vector = next(computed)
        results.append(Extracted(vector))
        if item.key is not None:
            fresh.append((item.key, vector))
    if cache is not None and fresh:
        cache.put(fresh)
    yield from results
