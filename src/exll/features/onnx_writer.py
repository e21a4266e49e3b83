"""Writes an ONNX file: as much of the format as our own graphs need, without the ``onnx`` package.

An ONNX file is one protobuf message. Numbers of fields and types below are those of ``onnx.proto``.
"""

import struct
from typing import Any, TypeAlias

from numpy.typing import NDArray

IR_VERSION = 8
OPSET = 17
DATA_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
FLOAT, INT, STRING, INTS = 1, 2, 3, 7  # AttributeProto.AttributeType

Shape: TypeAlias = tuple[int | str, ...]  # a string names an axis of any length


class Graph:
    """Nodes in the order in which they were added, which must be an order in which they can run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def input(self, name: str, dtype: str, shape: Shape) -> str:
        self._inputs.append(_field(11, _value_info(name, dtype, shape)))
        return name

    def output(self, value: str, name: str, shape: Shape) -> None:
        """Give a value out as float32 under a name."""
        self._nodes.append(_node("Identity", [value], name, {}))
        self._outputs.append(_field(12, _value_info(name, "float32", shape)))

    def constant(self, array: NDArray[Any]) -> str:
        name = self._new_name()
        dimensions = b"".join(_number(1, size) for size in array.shape)
        kind = _number(2, DATA_TYPES[array.dtype.name])
        content = array.astype(array.dtype.newbyteorder("<"), order="C").tobytes()
        self._constants.append(_field(5, dimensions + kind + _field(8, name.encode()) + _field(9, content)))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result, whose name is given back."""
        name = self._new_name()
        self._nodes.append(_node(operator, inputs, name, attributes))
        return name

    def content(self, metadata: dict[str, str]) -> bytes:
        """The whole file; the same graph always gives the same bytes."""
        graph = b"".join(
            [*self._nodes, _field(2, self._name.encode()), *self._constants, *self._inputs, *self._outputs]
        )
        entries = [_field(1, key.encode()) + _field(2, value.encode()) for key, value in metadata.items()]
        return b"".join(
            [
                _number(1, IR_VERSION),
                _field(2, b"exll"),
                _field(7, graph),
                _field(8, _field(1, b"") + _number(2, OPSET)),
                *(_field(14, entry) for entry in entries),
            ]
        )

    def _new_name(self) -> str:
        self._count += 1
        return f"v{self._count}"


def _node(operator: str, inputs: Any, output: str, attributes: dict[str, Any]) -> bytes:
    parts = [_field(1, name.encode()) for name in inputs]
    parts += [_field(2, output.encode()), _field(3, output.encode()), _field(4, operator.encode())]
    parts += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
    return _field(1, b"".join(parts))


def _attribute(name: str, value: Any) -> bytes:
    start = _field(1, name.encode())
    if isinstance(value, float):
        return start + _key(2, 5) + struct.pack("<f", value) + _number(20, FLOAT)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, INT)
    if isinstance(value, str):
        return start + _field(4, value.encode()) + _number(20, STRING)
    return start + b"".join(_number(8, item) for item in value) + _number(20, INTS)


def _value_info(name: str, dtype: str, shape: Shape) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _field(2, size.encode()) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    tensor = _number(1, DATA_TYPES[dtype]) + _field(2, dimensions)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, content: bytes) -> bytes:
    return _key(number, 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _key(number, 0) + _varint(value % 2**64)  # negative ones as protobuf has them


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
