"""The same networks in 8-bit whole numbers: half the time on a CPU with the instructions for it, a quarter of the
bytes.

Weights are whole numbers from -63 to 63, with a scale for each output channel; activations are bytes, with a scale and
a zero point for each layer, from the ranges that they had on photos (``RANGES``). ONNX Runtime sees pairs of
QuantizeLinear and DequantizeLinear around every layer and runs what lies between in whole numbers.

Weights use seven of eight bits: CPUs without VNNI add two products of a byte and a weight in 16 bits, and
2 * 255 * 63 still fits there while 2 * 255 * 127 does not. So all CPUs give the same numbers. The first layers compute
in floats: in bytes they lose what grey and dark photos are made of, and they cost next to nothing.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from exll.features.inverted_residuals import Convolution, Floats, Node, convolution_attributes, convolved
from exll.features.onnx_writer import Graph

FLOAT_LAYERS = 3  # the first convolution and the first stage
LARGEST_WEIGHT = 63
LARGEST_BIAS = 2**30
TINY = 1e-20
BYTE = 255


def ranges_of(network: str) -> list[tuple[float, float]] | None:
    """The lowest and highest value of every activation in bytes, in the order of the layers; None where nobody measured
    them.

    Measured by ``training/int8_ranges.py``.
    """
    known = json.loads((files("exll") / "assets" / "int8_ranges.json").read_text())
    return [(lowest, highest) for lowest, highest in known[network]] if network in known else None


class WholeNumbers:
    """Arithmetic in bytes: see :class:`exll.features.inverted_residuals.Arithmetic`."""

    def __init__(self, ranges: Sequence[tuple[float, float]]) -> None:
        self.graph = Graph("network")
        self._floats = Floats(self.graph)
        self._float_layers = FLOAT_LAYERS
        self._ranges: Iterator[tuple[float, float]] = iter(ranges)
        self._scales: dict[str, float] = {}

    def convolve(self, x: Node, convolution: Convolution, stride: int, pads: Sequence[int], relu6: bool) -> Node:
        """ReLU6 needs no node: what lies outside 0 to 6 lies outside the range, too, and is cut off by its bytes."""
        if self._float_layers > 0:
            self._float_layers -= 1
            value = self._floats.convolve(x, convolution, stride, pads, relu6)
            return value if self._float_layers else self._as_bytes(value)
        # A channel of next to no weights gets a scale at which its bias still is a whole number of 32 bits.
        least = np.abs(convolution.bias) / (self._scales[x.name] * LARGEST_BIAS) + TINY
        scales = np.maximum(np.abs(convolution.weight).max(axis=(1, 2, 3)) / LARGEST_WEIGHT, least).astype(np.float32)
        weight = np.rint(convolution.weight / scales[:, None, None, None]).astype(np.int8)
        bias_scales = (self._scales[x.name] * scales.astype(np.float64)).astype(np.float32)
        bias = np.rint(convolution.bias / bias_scales.astype(np.float64)).astype(np.int32)
        name = self.graph.add(
            "Conv",
            x.name,
            self._constant(weight, scales),
            self._constant(bias, bias_scales),
            **convolution_attributes(convolution, stride, pads),
        )
        return self._as_bytes(convolved(name, x, convolution, stride))

    def add(self, x: Node, y: Node) -> Node:
        return self._as_bytes(Node(self.graph.add("Add", x.name, y.name), x.channels, x.places))

    def _constant(self, numbers: NDArray[np.integer], scales: NDArray[np.float32]) -> str:
        zeros = self.graph.constant(np.zeros(len(scales), numbers.dtype))
        return self.graph.add(
            "DequantizeLinear", self.graph.constant(numbers), self.graph.constant(scales), zeros, axis=0
        )

    def _as_bytes(self, value: Node) -> Node:
        lowest, highest = next(self._ranges)
        scale = np.float32((highest - lowest) / BYTE)
        parameters = (
            self.graph.constant(np.array(scale)),
            self.graph.constant(np.array(np.rint(-lowest / scale), np.uint8)),
        )
        quantized = self.graph.add("QuantizeLinear", value.name, *parameters)
        name = self.graph.add("DequantizeLinear", quantized, *parameters)
        self._scales[name] = float(scale)
        return Node(name, value.channels, value.places)
