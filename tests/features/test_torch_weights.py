import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exll.errors import BackboneError
from exll.features.torch_weights import MAGIC_NUMBER, PROTOCOL, read_torch_weights

SYSTEM = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
VALUES = np.arange(24, dtype=np.float32)


class Named:
    """Pickled as a bare name, as torch's classes and functions are."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class Call:
    """Pickled as a call of something named."""

    def __init__(self, module: str, name: str, *arguments: Any) -> None:
        self.function, self.arguments = Named(module, name), arguments


class Storage:
    def __init__(
        self, key: Any, count: Any, kind: Any = "FloatStorage", view: Any = None, tag: str = "storage"
    ) -> None:
        self.pid = (tag, Named("torch", kind) if isinstance(kind, str) else kind, key, "cpu", count, view)


PythonPickler: Any = vars(pickle)["_Pickler"]


class _Writer(PythonPickler):  # type: ignore[misc]  # in Python, so that names can be written as they are
    def persistent_id(self, value: Any) -> Any:
        return value.pid if isinstance(value, Storage) else None

    def save(self, value: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(value, Named):
            self.write(pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode())
        elif isinstance(value, Call):
            self.save(value.function)
            self.save(value.arguments)
            self.write(pickle.REDUCE)
        else:
            super().save(value, *arguments, **options)


def pickled(value: Any) -> bytes:
    file = io.BytesIO()
    _Writer(file, 2).dump(value)
    return file.getvalue()


def tensor(storage: Any, offset: Any = 0, shape: Any = (2, 3, 4), strides: Any = (12, 4, 1)) -> Call:
    return Call("torch._utils", "_rebuild_tensor_v2", storage, offset, shape, strides, False, OrderedDict())


def written(
    table: Any,
    *,
    keys: Any = ("a",),
    numbers: tuple[NDArray[Any], ...] = (VALUES,),
    magic: Any = MAGIC_NUMBER,
    protocol: Any = PROTOCOL,
    system: Any = None,
    end: bytes = b"",
) -> bytes:
    start = [magic, protocol, SYSTEM if system is None else system, table, list(keys)]
    raw = [struct.pack("<q", len(some)) + some.tobytes() for some in numbers]
    return b"".join([*map(pickled, start), *raw, end])


GOOD = written(OrderedDict(weight=tensor(Storage("a", 24))))


def test_a_table_of_tensors_is_read_as_it_was_written() -> None:
    counter = np.array([7], np.int64)
    table = OrderedDict(
        weight=tensor(Storage("a", 24)),
        turned=tensor(Storage("a", 24), 0, (4, 3), (1, 4)),
        part=tensor(Storage("a", 24), 20, (4,), (1,)),
        count=tensor(Storage("b", 1, "LongStorage"), 0, (), ()),
    )
    found = read_torch_weights(written(table, keys=("a", "b"), numbers=(VALUES, counter)), "x.pth")
    assert list(found) == ["weight", "turned", "part", "count"]
    np.testing.assert_array_equal(found["weight"], VALUES.reshape(2, 3, 4))
    np.testing.assert_array_equal(found["turned"], VALUES[:12].reshape(3, 4).T)
    np.testing.assert_array_equal(found["part"], VALUES[20:])
    assert found["count"] == 7


def test_a_file_cannot_change_the_reader() -> None:
    rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n"
    changed = GOOD.replace(rebuild, rebuild + b"}X\x01\x00\x00\x00xK\x01sb")  # rebuild.x = 1
    assert changed != GOOD
    np.testing.assert_array_equal(read_torch_weights(changed, "x.pth")["weight"], VALUES.reshape(2, 3, 4))


def forged(change: Callable[[Storage], Any]) -> bytes:
    return written(OrderedDict(weight=change(Storage("a", 24))))


def calls(module: str, name: str, *arguments: Any) -> bytes:
    return written(OrderedDict(weight=tensor(Storage("a", 24)), other=Call(module, name, *arguments)))


MARK = "exll-was-here"
FORGED: dict[str, bytes] = {
    "a shell": calls("os", "system", f"touch {MARK}"),
    "a shell by its other name": calls("posix", "system", f"touch {MARK}"),
    "an evaluation": calls("builtins", "eval", f"open({MARK!r}, 'w')"),
    "an execution": calls("builtins", "exec", f"open({MARK!r}, 'w')"),
    "an open file": calls("builtins", "open", MARK, "w"),
    "a process": calls("subprocess", "Popen", ["touch", MARK]),
    "torch itself": calls("torch", "load", MARK),
    "another of torch's functions": calls("torch._utils", "_rebuild_parameter", 1),
    "a name with dots": calls("collections", "OrderedDict.fromkeys", "ab"),
    "a class of ours": calls("exll.features.torch_weights", "_TableOfTensors", 1),
    "numpy": calls("numpy", "load", MARK),
    "a call at the start": pickled(Call("os", "system", f"touch {MARK}")) + GOOD,
    "a call in the list of storages": GOOD.replace(pickled(["a"]), pickled(Call("os", "system", f"touch {MARK}"))),
    "a call in the system's description": written({}, system=Call("os", "system", f"touch {MARK}")),
    "a call of a storage": written(OrderedDict(weight=Call("torch", "FloatStorage", 3))),
    "a storage that is none": written(OrderedDict(weight=tensor(5))),
    "an unknown kind of numbers": forged(lambda s: tensor(Storage("a", 24, "HalfStorage"))),
    "a storage by another tag": forged(lambda s: tensor(Storage("a", 24, tag="module"))),
    "a storage that is a view": forged(lambda s: tensor(Storage("a", 24, view=("a", 0, 3)))),
    "a storage of too many numbers": forged(lambda s: tensor(Storage("a", 2**60))),
    "a storage of fewer numbers than it says": forged(lambda s: tensor(Storage("a", 25))),
    "a negative count": forged(lambda s: tensor(Storage("a", -1))),
    "a key that is no text": written(OrderedDict(weight=tensor(Storage(3, 24))), keys=(3,)),
    "a negative offset": forged(lambda s: tensor(s, -4)),
    "an offset past the end": forged(lambda s: tensor(s, 1)),
    "strides past the end": forged(lambda s: tensor(s, 0, (2, 3, 4), (12, 4, 2))),
    "a negative stride": forged(lambda s: tensor(s, 23, (24,), (-1,))),
    "a shape larger than the storage by stride 0": forged(lambda s: tensor(s, 0, (2**30, 2**10), (0, 0))),
    "a shape that is a float": forged(lambda s: tensor(s, 0, (2.0, 12), (12, 1))),
    "as many dimensions as there are numbers": forged(lambda s: tensor(s, 0, (1,) * 24, (1,) * 24)),
    "strides of another length": forged(lambda s: tensor(s, 0, (24,), (1, 1))),
    "a list in the place of the table": written([tensor(Storage("a", 24))]),
    "a number among the tensors": written(OrderedDict(weight=tensor(Storage("a", 24)), epoch=3)),
    "a storage that nobody uses": written(OrderedDict(weight=tensor(Storage("a", 24))), keys=("a", "b")),
    "one storage named twice": written(OrderedDict(weight=tensor(Storage("a", 24))), keys=("a", "a")),
    "another magic number": written(OrderedDict(weight=tensor(Storage("a", 24))), magic=1),
    "another protocol": written(OrderedDict(weight=tensor(Storage("a", 24))), protocol=1002),
    "big-endian numbers": written(OrderedDict(weight=tensor(Storage("a", 24))), system={"little_endian": False}),
    "an instruction that is not needed": pickle.dumps(bytearray(b"x"), 5) + GOOD,
    "a memo of four billion places": GOOD.replace(pickled(["a"]), b"\x80\x02]r\xff\xff\xff\x7fU\x01aa."),
    "something behind the end": GOOD + b"x",
    "nothing": b"",
    "a zip archive": b"PK\x03\x04" + GOOD,
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_file_is_refused_and_runs_nothing(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BackboneError, match=r"x\.pth is not a table of tensors"):
        read_torch_weights(FORGED[what], "x.pth")
    assert list(tmp_path.iterdir()) == []
    assert list(read_torch_weights(GOOD, "x.pth")) == ["weight"]  # and the reader is as it was


def test_a_shape_larger_than_its_storage_takes_no_memory() -> None:
    what = "a shape larger than the storage by stride 0"
    with pytest.raises(BackboneError, match="a tensor is larger than its storage"):
        read_torch_weights(FORGED[what], "x.pth")


def test_cut_and_mutated_files_give_tensors_or_one_error() -> None:
    for length in range(len(GOOD)):
        with pytest.raises(BackboneError):
            read_torch_weights(GOOD[:length], "x.pth")
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(GOOD)
        for place in rng.integers(0, len(GOOD), rng.integers(1, 4)):
            damaged[place] = rng.integers(0, 256)
        try:
            found = read_torch_weights(bytes(damaged), "x.pth")
        except BackboneError:
            refused += 1
        else:
            assert all(isinstance(array, np.ndarray) for array in found.values())
    assert refused > 1000
