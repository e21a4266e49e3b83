"""A checkpoint of the built-in backbone as an ONNX file that exll can run.

In: `image`, uint8, (n, height, width, 3), RGB. Out: `features` (n, 512) and `feature_map` (n, 512, rows, columns), the
first the mean of the second over its places. Normalisation is inside the graph and batch norm inside the convolutions.
The file is compared with torch before it takes its name.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from net import CONFIGS, FEATURES, Block, Nano, read_checkpoint
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import nn

Array = NDArray[Any]

MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225])
OPSET = 17
IR_VERSION = 8
PREPROCESSING = {
    "name": "nano",
    "version": 2,
    "size": 128,
    "resize": "short-side-crop",
    "resize_to": 128,
    "interpolation": "bicubic",
    "layout": "NHWC",
    "dtype": "uint8",
    "scale": 1.0,
    "mean": [0, 0, 0],
    "std": [1, 1, 1],
    "outputs": {"features": "features", "map": "feature_map"},
}
# float16 rounds a weight by up to 5e-4 of itself; float32 leaves only the order of summation.
LARGEST_ERROR = {True: 5e-3, False: 1e-5}


@dataclass(frozen=True)
class Whitening:
    """A linear map behind the trunk: features = matrix @ pooled + offset."""

    matrix: Array
    offset: Array

    @classmethod
    def read(cls, path: Path) -> "Whitening":
        """From an .npz file with the arrays A (512, 512) and b (512)."""
        with np.load(path) as arrays:
            return cls(arrays["A"], arrays["b"])


class Graph:
    """Nodes and constants in the order in which they are run."""

    def __init__(self, half: bool) -> None:
        self.half = half
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._tensors = 0

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def small(self, values: Array, name: str) -> str:
        self.constants.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def large(self, values: Array, name: str) -> str:
        """A constant kept as float16 if wanted; ONNX Runtime casts it once, when it loads the file."""
        if not self.half:
            return self.small(values, name)
        self.constants.append(numpy_helper.from_array(values.astype(np.float16), f"{name}_h"))
        return self.add("Cast", [f"{name}_h"], name, to=TensorProto.FLOAT)

    def normalised_image(self) -> str:
        """uint8 NHWC to normalised NCHW. It stays explicit: folded into the stem, zero padding would no longer be
        zero."""
        self.add("Cast", ["image"], "imf", to=TensorProto.FLOAT)
        self.add("Transpose", ["imf"], "nchw", perm=[0, 3, 1, 2])
        self.small((1 / (255 * STD)).reshape(1, 3, 1, 1), "scale")
        self.small((MEAN / STD).reshape(1, 3, 1, 1), "shift")
        self.add("Mul", ["nchw", "scale"], "xs")
        return self.add("Sub", ["xs", "shift"], "x")

    def convolution(self, x: str, layers: nn.Sequential) -> str:
        convolution, weight, bias = fold(layers)
        self._tensors += 1
        number = self._tensors
        output = self.add(
            "Conv",
            [x, self.large(weight, f"w{number}"), self.small(bias, f"b{number}")],
            f"t{number}",
            kernel_shape=list(convolution.kernel_size),
            strides=list(convolution.stride),
            pads=[int(convolution.padding[0])] * 4,
            group=convolution.groups,
        )
        has_relu = len(layers) > 2
        return self.add("Relu", [output], f"{output}r") if has_relu else output

    def block(self, x: str, block: Block) -> str:
        y = x
        for layers in block.f:
            assert isinstance(layers, nn.Sequential)
            y = self.convolution(y, layers)
        if not block.residual:
            return y
        self._tensors += 1
        return self.add("Add", [x, y], f"t{self._tensors}")

    def whitened(self, x: str, whitening: Whitening | None) -> str:
        """Whitening is linear, so it is done at every place: the pooled vector is then exactly the map's mean."""
        if whitening is None:
            return self.add("Identity", [x], "feature_map")
        matrix = self.large(whitening.matrix.reshape(FEATURES, FEATURES, 1, 1), "wA")
        return self.add("Conv", [x, matrix, self.small(whitening.offset, "wb")], "feature_map", kernel_shape=[1, 1])


def fold(layers: nn.Sequential) -> tuple[nn.Conv2d, Array, Array]:
    """A convolution, and its weight and bias with the batch norm that follows taken in."""
    convolution, norm = layers[0], layers[1]
    assert isinstance(convolution, nn.Conv2d)
    assert isinstance(norm, nn.BatchNorm2d)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).double()
    weight = convolution.weight.double() * scale.view(-1, 1, 1, 1)
    bias = norm.bias.double() - norm.running_mean.double() * scale
    return convolution, weight.detach().numpy(), bias.detach().numpy()


def build(net: Nano, half: bool = True, whitening: Whitening | None = None) -> onnx.ModelProto:
    """The whole network as an ONNX model with its metadata."""
    graph = Graph(half)
    x = graph.normalised_image()
    for part in net.body:
        if isinstance(part, Block):
            x = graph.block(x, part)
        else:
            assert isinstance(part, nn.Sequential)
            x = graph.convolution(x, part)
    graph.whitened(x, whitening)
    graph.add("GlobalAveragePool", ["feature_map"], "pool")
    graph.add("Flatten", ["pool"], "features", axis=1)

    image = helper.make_tensor_value_info("image", TensorProto.UINT8, ["n", "height", "width", 3])
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", FEATURES])
    feature_map = helper.make_tensor_value_info("feature_map", TensorProto.FLOAT, ["n", FEATURES, "rows", "columns"])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "nano", [image], [features, feature_map], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="exll",
    )
    model.ir_version = IR_VERSION
    helper.set_model_props(model, {"exll": json.dumps(PREPROCESSING)})
    onnx.checker.check_model(model)
    return model


def difference(content: bytes, net: Nano, whitening: Whitening | None) -> float:
    """How far the file's features are from torch's, relative to their length, over random images of two sizes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    errors = []
    for size in (128, 160):
        images = rng.integers(0, 256, (4, size, size, 3), dtype=np.uint8)
        features, feature_map = session.run(["features", "feature_map"], {"image": images})
        expected = torch_features(net, images, whitening)
        errors.append(np.linalg.norm(features - expected) / np.linalg.norm(expected))
        errors.append(np.linalg.norm(feature_map.mean((2, 3)) - expected) / np.linalg.norm(expected))
    return float(max(errors))


def torch_features(net: Nano, images: Array, whitening: Whitening | None) -> Array:
    normalised = ((images / 255 - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)
    with torch.no_grad():
        pooled: Array = net.features(torch.from_numpy(normalised)).numpy()
    return pooled if whitening is None else pooled @ whitening.matrix.T + whitening.offset


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a checkpoint of the built-in backbone as ONNX.")
    parser.add_argument("checkpoint", type=Path, help="a state dict that train.py wrote")
    parser.add_argument("target", type=Path, help="the .onnx file to write")
    parser.add_argument("--config", choices=sorted(CONFIGS), default="nano2", help="the network (default: nano2)")
    parser.add_argument("--whiten", type=Path, metavar="NPZ", help="whitening: arrays A (512, 512) and b (512)")
    parser.add_argument("--float32", action="store_true", help="store weights as float32: twice the size")
    arguments = parser.parse_args()

    net = read_checkpoint(str(arguments.checkpoint), arguments.config)
    whitening = None if arguments.whiten is None else Whitening.read(arguments.whiten)
    half = not arguments.float32
    content = build(net, half, whitening).SerializeToString()
    error = difference(content, net, whitening)
    if not error <= LARGEST_ERROR[half]:
        raise SystemExit(
            f"the ONNX file differs from torch by {error:.1e} of the features' length; nothing was written."
        )
    unfinished = arguments.target.with_name(f".{arguments.target.name}.tmp")
    unfinished.write_bytes(content)
    unfinished.replace(arguments.target)
    print(f"{arguments.target}: {len(content)} bytes, relative error {error:.1e}")  # noqa: T201


if __name__ == "__main__":
    main()
