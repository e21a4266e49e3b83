"""A network small enough to check by hand."""

import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper

METADATA = {
    "size": 4,
    "resize": "squash",
    "resize_to": 4,
    "interpolation": "nearest",
    "layout": "NCHW",
    "dtype": "float32",
    "outputs": {"features": "features"},
}


def write_network(path: Path, factor: float = 1.0, metadata: dict[str, object] | None = METADATA) -> Path:
    """The mean colour times a factor: a network small enough to check by hand."""
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["image", "factor"], ["scaled"]),
            helper.make_node("GlobalAveragePool", ["scaled"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["features"]),
        ],
        "mean-colour",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 4, 4])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor("factor", TensorProto.FLOAT, [1], [factor])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    if metadata is not None:
        helper.set_model_props(model, {"exll": json.dumps(metadata)})
    onnx.save(model, str(path))
    return path
