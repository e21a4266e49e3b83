"""EfficientNet-Lite and MobileNetV2 as ONNX files, made from their weights.

Both are a first convolution, seven stages of inverted residual blocks (expand, depthwise, project) and a wide last
layer. The vector is taken at several *depths*: the mean over places of the output of a stage, brought to unit length,
side by side with the others. ``feature_map`` holds the same numbers place by place, so that its mean is ``features``.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exll.features.onnx_writer import Graph

STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of each stage's first block, in all these networks
LAST = "last"
DEPTHS = (*(str(stage) for stage in range(1, len(STRIDES) + 1)), LAST)
SIZE_STEP = 32  # every size that is halved on the way is then even, so that padding and maps are exact
TINY = 1e-12


@dataclass(frozen=True)
class Layout:
    """What the weights do not say."""

    blocks: tuple[int, ...]  # in each stage
    epsilon: float  # of the batch norms
    same_padding: bool  # TensorFlow's "same", which pads the far side first; else as much on both sides
    mean: tuple[float, float, float]
    std: tuple[float, float, float]  # pixels from 0 to 255 become (pixel - mean) / std


@dataclass(frozen=True)
class Convolution:
    """With its batch norm folded in."""

    weight: NDArray[np.float32]  # (out, in / groups, side, side)
    bias: NDArray[np.float32]

    @property
    def side(self) -> int:
        return int(self.weight.shape[2])

    @property
    def is_depthwise(self) -> bool:
        return int(self.weight.shape[1]) == 1


@dataclass(frozen=True)
class Node:
    """An activation in the graph: its name and shape."""

    name: str
    channels: int
    places: int  # rows, and as many columns


class Arithmetic(Protocol):
    """How a network computes: in floats, or in whole numbers (:mod:`exll.features.int8`)."""

    graph: Graph

    def convolve(self, x: Node, convolution: Convolution, stride: int, pads: Sequence[int], relu6: bool) -> Node: ...

    def add(self, x: Node, y: Node) -> Node: ...


class Floats:
    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graph or Graph("network")
        self._zero, self._six = (self.graph.constant(np.array(bound, np.float32)) for bound in (0, 6))

    def convolve(self, x: Node, convolution: Convolution, stride: int, pads: Sequence[int], relu6: bool) -> Node:
        name = self.graph.add(
            "Conv",
            x.name,
            self.graph.constant(convolution.weight),
            self.graph.constant(convolution.bias),
            **convolution_attributes(convolution, stride, pads),
        )
        if relu6:
            name = self.graph.add("Clip", name, self._zero, self._six)
        return convolved(name, x, convolution, stride)

    def add(self, x: Node, y: Node) -> Node:
        return Node(self.graph.add("Add", x.name, y.name), x.channels, x.places)


def convolution_attributes(convolution: Convolution, stride: int, pads: Sequence[int]) -> dict[str, Any]:
    return {
        "kernel_shape": [convolution.side] * 2,
        "strides": [stride] * 2,
        "pads": list(pads),
        "group": len(convolution.weight) if convolution.is_depthwise else 1,
    }


def convolved(name: str, x: Node, convolution: Convolution, stride: int) -> Node:
    return Node(name, len(convolution.weight), x.places // stride)


def network_file(
    tensors: dict[str, NDArray[Any]],
    layout: Layout,
    size: int,
    depths: Sequence[str],
    arithmetic: Arithmetic,
    name: str,
) -> bytes:
    """An ONNX file that takes images as uint8 (n, size, size, 3) and gives ``features`` and ``feature_map``.

    ``depths`` are stages, "1" to "7", and "last", in the order in which they stand in the vector.
    """
    graph = arithmetic.graph
    image = graph.input("image", "uint8", ("n", size, size, 3))
    convolutions = folded(tensors, layout.epsilon)
    found: dict[str, Node] = {}
    for depth, value in _outputs(arithmetic, _prepared(graph, image, size, layout), layout, convolutions):
        found[depth] = value
        if found.keys() >= set(depths):  # what lies behind is not needed
            break
    taken = [found[depth] for depth in depths]
    smallest = min(value.places for value in taken)
    vectors, maps = zip(*(_at_depth(graph, value, smallest) for value in taken), strict=True)
    width = sum(value.channels for value in taken)
    graph.output(graph.add("Flatten", graph.add("Concat", *vectors, axis=1)), "features", ("n", width))
    graph.output(graph.add("Concat", *maps, axis=1), "feature_map", ("n", width, smallest, smallest))
    preprocessing = {
        "name": name,
        "size": size,
        "resize": "short-side-crop",
        "resize_to": size * 8 // 7,
        "interpolation": "bilinear",
        "layout": "NHWC",
        "dtype": "uint8",
        "outputs": {"features": "features", "map": "feature_map"},
    }
    return graph.content({"exll": json.dumps(preprocessing)})


def _prepared(graph: Graph, image: str, size: int, layout: Layout) -> Node:
    mean, std = (np.array(numbers, np.float32) for numbers in (layout.mean, layout.std))
    floats = graph.add("Cast", image, to=1)
    centred = graph.add("Div", graph.add("Sub", floats, graph.constant(mean)), graph.constant(std))
    return Node(graph.add("Transpose", centred, perm=[0, 3, 1, 2]), 3, size)


def _outputs(
    arithmetic: Arithmetic, image: Node, layout: Layout, convolutions: Iterator[Convolution]
) -> Iterator[tuple[str, Node]]:
    """The output of every stage and of the last layer, one after the other."""

    def convolve(x: Node, stride: int = 1, relu6: bool = True) -> Node:
        convolution = next(convolutions)
        return arithmetic.convolve(x, convolution, stride, _pads(convolution.side, stride, layout.same_padding), relu6)

    x = convolve(image, stride=2)
    for stage, (blocks, stride) in enumerate(zip(layout.blocks, STRIDES, strict=True), 1):
        for block in range(blocks):
            x = _block(arithmetic, convolve, x, stride if block == 0 else 1, expands=stage > 1)
        yield str(stage), x
    yield LAST, convolve(x)


def _block(arithmetic: Arithmetic, convolve: Any, x: Node, stride: int, expands: bool) -> Node:
    inside = convolve(x) if expands else x
    projected: Node = convolve(convolve(inside, stride=stride), relu6=False)
    same_shape = (projected.channels, projected.places) == (x.channels, x.places)
    return arithmetic.add(x, projected) if same_shape else projected


def _pads(side: int, stride: int, same: bool) -> tuple[int, int, int, int]:
    """Before and behind, for rows and columns; sizes are even wherever the stride is 2."""
    if same:
        total = side - stride
        return total // 2, total // 2, total - total // 2, total - total // 2
    return (side // 2,) * 4


def _at_depth(graph: Graph, value: Node, places: int) -> tuple[str, str]:
    """The mean over places at unit length, and the places themselves divided by that length."""
    mean = graph.add("GlobalAveragePool", value.name)
    length = graph.add("ReduceL2", mean, axes=[1], keepdims=1)
    length = graph.add("Max", length, graph.constant(np.array(TINY, np.float32)))
    side = value.places // places
    coarse = value.name
    if side > 1:
        coarse = graph.add("AveragePool", value.name, kernel_shape=[side] * 2, strides=[side] * 2)
    return graph.add("Div", mean, length), graph.add("Div", coarse, length)


def folded(tensors: dict[str, NDArray[Any]], epsilon: float) -> Iterator[Convolution]:
    """The convolutions in the order of the file, each with the batch norm that follows it."""
    names = list(tensors)
    for place, name in enumerate(names):
        weight = tensors[name]
        if weight.ndim == 4:
            gamma, beta, mean, variance = (
                tensors[following].astype(float) for following in names[place + 1 : place + 5]
            )
            scale = gamma / np.sqrt(variance + epsilon)
            yield Convolution(
                (weight * scale[:, None, None, None]).astype(np.float32), (beta - mean * scale).astype(np.float32)
            )
