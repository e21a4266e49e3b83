"""What must be known of an ONNX file before it is run: its metadata, and whether it keeps weights in another file.

ONNX allows a tensor to name a side file that holds its numbers. A digest of the network would not cover that file, and
ONNX Runtime would look for it in the working directory. So such networks are refused. The file is a protocol buffer:
only the way to its tensors is followed, everything else is skipped by its length.
"""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

# Message -> {field: message}, as far as tensors lie below it (onnx.proto).
_BELOW = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_EXTERNAL_DATA, _DATA_LOCATION, _EXTERNAL = 13, 14, 1
_METADATA, _KEY, _VALUE = 14, 1, 2
DEEPEST = 64


def metadata_of(content: bytes) -> dict[str, str]:
    """The entries that the author of the network wrote; raises ValueError where the content is no protocol buffer."""
    entries = (value for field, value in _fields(memoryview(content)) if field == _METADATA)
    found = {}
    for entry in entries:
        if isinstance(entry, memoryview):
            texts = {field: bytes(text) for field, text in _fields(entry) if isinstance(text, memoryview)}
            found[texts.get(_KEY, b"").decode()] = texts.get(_VALUE, b"").decode()
    return found


def has_external_data(content: bytes) -> bool:
    """Raises ValueError where the content is no protocol buffer."""
    return _is_external(memoryview(content), "model", 0)


def _is_external(content: memoryview, kind: str, depth: int) -> bool:
    if depth > DEEPEST:
        raise ValueError("messages are nested too deeply")
    if kind == "tensor":
        return any(
            field == _EXTERNAL_DATA or (field == _DATA_LOCATION and value == _EXTERNAL)
            for field, value in _fields(content)
        )
    below = _BELOW[kind]
    return any(
        isinstance(value, memoryview) and _is_external(value, below[field], depth + 1)
        for field, value in _fields(content)
        if field in below
    )


def _fields(content: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message, numbers or bytes."""
    at = 0
    while at < len(content):
        key, at = _number(content, at)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _number(content, at)
            yield field, value
            continue
        if wire == _BYTES:
            length, at = _number(content, at)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError("a field has a wire type that is not used")
        if at + length > len(content):
            raise ValueError("a field ends beyond its message")
        yield field, content[at : at + length]
        at += length


def _number(content: memoryview, at: int) -> tuple[int, int]:
    """A number of seven bits per byte, and where the next one begins."""
    value = shift = 0
    while True:
        if at >= len(content) or shift > 63:
            raise ValueError("a number does not end")
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
