"""Measure the ranges that int8 networks need: the lowest and highest value of every activation over some photos.

    python training/int8_ranges.py efficientnet_lite0 PHOTOS [--photos 140]

Writes src/exll/assets/int8_ranges.json. Both looks at each photo are measured.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from exll.features.image import read_image
from exll.features.int8 import FLOAT_LAYERS
from exll.features.inverted_residuals import DEPTHS, Convolution, Floats, Value, network_file
from exll.features.looks import looks_at
from exll.features.packaged import PACKAGED, USUAL_SIZE, weights_of
from exll.features.preprocessing import find_preprocessing
from exll.streams.folder import images_below

ASSET = Path(__file__).parents[1] / "src" / "exll" / "assets" / "int8_ranges.json"


class Observed(Floats):
    """Floats that give out every activation, in the order in which whole numbers need their ranges."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def convolve(self, x: Value, convolution: Convolution, stride: int, pads: Sequence[int], relu6: bool) -> Value:
        return self._noted(super().convolve(x, convolution, stride, pads, relu6))

    def add(self, x: Value, y: Value) -> Value:
        return self._noted(super().add(x, y))

    def _noted(self, value: Value) -> Value:
        name = f"activation{len(self.names)}"
        self.graph.output(value.name, name, ("n", value.channels, value.places, value.places))
        self.names.append(name)
        return value


def measured(network: str, photos: Sequence[Path]) -> list[tuple[float, float]]:
    """The lowest and highest value of every activation over both looks at every photo."""
    packaged, observed = PACKAGED[network], Observed()
    content = network_file(weights_of(packaged), packaged.layout, USUAL_SIZE, DEPTHS, observed, network)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    preprocessing = find_preprocessing(session.get_modelmeta().custom_metadata_map, Path(network))
    names = observed.names[FLOAT_LAYERS - 1 :]
    lowest, highest = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    for photo in photos:
        picture = read_image(photo)
        looks = [preprocessing.network_input(picture, box) for box in looks_at(picture.size, 2, preprocessing)]
        values = session.run(names, {"image": np.stack(looks)})
        lowest = np.minimum(lowest, [value.min() for value in values])
        highest = np.maximum(highest, [value.max() for value in values])
    return [(min(float(low), 0.0), max(float(high), 0.0)) for low, high in zip(lowest, highest, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=PACKAGED)
    parser.add_argument("folder", type=Path, help="photos, in any folders below it")
    parser.add_argument("--photos", type=int, default=140, help="how many are measured, evenly spread")
    arguments = parser.parse_args()
    found = images_below(arguments.folder)
    photos = [found[i] for i in np.linspace(0, len(found) - 1, arguments.photos).astype(int)]
    known = json.loads(ASSET.read_text()) if ASSET.exists() else {}
    known[arguments.network] = [[round(low, 4), round(high, 4)] for low, high in measured(arguments.network, photos)]
    ASSET.write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
