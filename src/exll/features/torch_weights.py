"""Tables of tensors that torch saved in its old format, read without torch and without trusting the file.

The format is a few pickles, then the raw numbers. Pickle can run any code, so the reader knows four names, none of
which does anything but describe a tensor, and the few instructions that such a table needs; it refuses all others.
Every length is held against what the file has.
"""

import io
import math
import pickle
import struct
from collections import OrderedDict
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from exll.errors import BackboneError

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
MOST_DIMENSIONS = 8
LARGEST_SIZE = 2**40
DTYPES: dict[str, np.dtype[Any]] = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}
PythonUnpickler: Any = vars(pickle)["_Unpickler"]
INSTRUCTIONS = (
    *(pickle.PROTO, pickle.STOP, pickle.MARK, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE),
    *(pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1, pickle.BINUNICODE),
    *(pickle.EMPTY_DICT, pickle.SETITEM, pickle.SETITEMS, pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS),
    *(pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
    *(pickle.BINPUT, pickle.LONG_BINPUT, pickle.BINGET, pickle.LONG_BINGET),
    *(pickle.GLOBAL, pickle.REDUCE, pickle.BINPERSID),
)


class _Storage(NamedTuple):
    key: str
    dtype: np.dtype[Any]
    length: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in numbers


def read_torch_weights(content: bytes, where: str) -> dict[str, NDArray[Any]]:
    """The tensors of a state dict by name, in the order of the file; a BackboneError for anything else."""
    try:
        return _read(io.BytesIO(content))
    except BackboneError:
        raise
    except Exception as error:  # pickle fails in as many ways as there are bytes
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BackboneError(f"{where} is not a table of tensors as torch used to save them ({reason}).") from error


def _read(file: io.BytesIO) -> dict[str, NDArray[Any]]:
    if _Plain(file).load() != MAGIC_NUMBER or _Plain(file).load() != PROTOCOL:
        raise ValueError("it does not begin like one")
    if _Plain(file).load().get("little_endian") is not True:
        raise ValueError("it is not little-endian")
    table = _TableOfTensors(file).load()
    keys = _Plain(file).load()
    if not isinstance(table, OrderedDict) or not all(isinstance(value, _Tensor) for value in table.values()):
        raise ValueError("it holds other things than tensors")
    if not isinstance(keys, list) or len(set(keys)) != len(keys):
        raise ValueError("its list of storages is damaged")
    used = {tensor.storage.key: tensor.storage for tensor in table.values()}
    if set(keys) != set(used):
        raise ValueError("its storages are not those of its tensors")
    storages = {key: _numbers(file, used[key]) for key in keys}
    if file.read(1):
        raise ValueError("something follows its last tensor")
    return {str(name): _array(tensor, storages[tensor.storage.key]) for name, tensor in table.items()}


def _numbers(file: io.BytesIO, storage: _Storage) -> NDArray[Any]:
    (count,) = struct.unpack("<q", file.read(8))
    if count != storage.length:
        raise ValueError(f"storage {storage.key} has {count} numbers and should have {storage.length}")
    return np.frombuffer(file.read(count * storage.dtype.itemsize), storage.dtype, count)  # what is missing is noticed


def _array(tensor: _Tensor, numbers: NDArray[Any]) -> NDArray[Any]:
    if 0 in tensor.shape:
        return np.empty(tensor.shape, numbers.dtype)
    last = tensor.offset + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.strides, strict=True))
    if last >= len(numbers):
        raise ValueError("a tensor is larger than its storage")
    strides = [step * numbers.itemsize for step in tensor.strides]
    return np.lib.stride_tricks.as_strided(numbers[tensor.offset :], tensor.shape, strides).copy()


class _RebuildTensor:
    """Stands in for ``torch._utils._rebuild_tensor_v2``. Without a dict of its own, so that no file can change it."""

    __slots__ = ()

    def __call__(self, storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> _Tensor:
        if not isinstance(storage, _Storage) or not _are_sizes((offset,)):
            raise ValueError("a tensor is described wrongly")
        if not _are_sizes(shape) or not _are_sizes(strides) or len(shape) != len(strides):
            raise ValueError("a tensor has an impossible shape")
        if math.prod(shape) > storage.length:
            raise ValueError("a tensor is larger than its storage")
        return _Tensor(storage, offset, shape, strides)


def _are_sizes(values: Any) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) <= MOST_DIMENSIONS
        and all(type(value) is int and 0 <= value <= LARGEST_SIZE for value in values)
    )


class _Plain(PythonUnpickler):  # type: ignore[misc]
    """Numbers, strings and containers of them. In Python, where a file cannot ask for a memo of four billion places,
    and with those of pickle's instructions only that a table of tensors is made of."""

    dispatch: ClassVar[dict[int, Any]] = {ord(code): PythonUnpickler.dispatch[ord(code)] for code in INSTRUCTIONS}

    def load_build(self) -> None:
        """What torch notes beside the table, its version, is left out."""
        self.stack.pop()

    dispatch[ord(pickle.BUILD)] = load_build

    def find_class(self, module: str, name: str) -> Any:
        raise ValueError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise ValueError("it refers to something outside itself")


class _TableOfTensors(_Plain):
    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _RebuildTensor(),
            **{("torch", storage): storage for storage in DTYPES},
        }
        return known[module, name] if (module, name) in known else super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        kind, storage, key, _, count, view = pid
        described = kind == "storage" and isinstance(storage, str) and storage in DTYPES
        if not described or not isinstance(key, str) or not _are_sizes((count,)):
            raise ValueError("a storage is described wrongly")
        if view is not None:
            raise ValueError("a storage is a view of another")
        return _Storage(key, DTYPES[storage], count)
