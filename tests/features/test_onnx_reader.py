"""Networks whose weights lie in another file are refused: nobody could say which network it is."""

import contextlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from exll import ImageLearner, load
from exll.errors import BackboneError
from exll.features.onnx_reader import has_external_data, metadata_of
from networks import write_network


def with_side_file(path: Path) -> Path:
    model = onnx.load(str(write_network(path)))
    for tensor in model.graph.initializer:  # only raw bytes are moved to a side file
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    onnx.save_model(
        model,
        str(path),
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
        all_tensors_to_one_file=True,
    )
    return path


def test_a_network_with_its_weights_inside_is_one_file(tmp_path: Path) -> None:
    assert not has_external_data(write_network(tmp_path / "net.onnx").read_bytes())


def test_metadata_is_what_onnx_runtime_reads(tmp_path: Path) -> None:
    path = write_network(tmp_path / "net.onnx")
    expected = onnxruntime.InferenceSession(str(path)).get_modelmeta().custom_metadata_map
    assert metadata_of(path.read_bytes()) == expected
    assert "exll" in expected


def test_nothing_is_run_before_the_identity_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged model may name any file as its network."""
    learner = ImageLearner(backbone=write_network(tmp_path / "net.onnx"))
    learner.learn(np.zeros((9, 9, 3), np.uint8) + 50, "grey")
    learner.save(tmp_path / "m.exll")
    write_network(tmp_path / "net.onnx", factor=3.0)

    def run(*_: object) -> None:
        raise AssertionError("the other network was opened")

    monkeypatch.setattr("exll.features.backbone._session", run)
    with pytest.raises(BackboneError, match="is another one"):
        load(tmp_path / "m.exll")


def test_weights_in_a_side_file_are_noticed_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_side_file(tmp_path / "net.onnx")
    assert has_external_data(path.read_bytes())
    monkeypatch.chdir(tmp_path)  # where ONNX Runtime would find them
    with pytest.raises(BackboneError, match="keeps its weights in another file"):
        ImageLearner(backbone=path)


def external(name: str) -> TensorProto:
    tensor = helper.make_tensor(name, TensorProto.FLOAT, [1], [1.0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "other"
    return tensor


@pytest.mark.parametrize("where", ["constant", "subgraph", "sparse", "function"])
def test_a_side_file_is_found_wherever_a_tensor_may_stand(where: str) -> None:
    constant = helper.make_node("Constant", [], ["c"], value=external("c"))
    graph = helper.make_graph([], "inner", [], [])
    if where == "constant":
        graph.node.append(constant)
    elif where == "subgraph":
        graph.node.append(
            helper.make_node("If", ["x"], ["y"], then_branch=helper.make_graph([constant], "then", [], []))
        )
    elif where == "sparse":
        indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
        graph.sparse_initializer.append(helper.make_sparse_tensor(external("v"), indices, [3]))
    model = helper.make_model(graph)
    if where == "function":
        opset = helper.make_opsetid("", 17)
        model.functions.append(helper.make_function("d", "f", [], ["c"], [constant], [opset]))
    assert has_external_data(model.SerializeToString())


def test_what_is_no_protocol_buffer_is_refused_in_one_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whole = write_network(tmp_path / "net.onnx").read_bytes()
    for trial in range(300):
        content = bytearray(whole[: rng.integers(len(whole))] if trial % 2 else whole)
        for place in rng.integers(0, max(1, len(content)), 3).tolist() if content else []:
            content[place] = int(rng.integers(256))
        with contextlib.suppress(ValueError):
            has_external_data(bytes(content))
            metadata_of(bytes(content))
    (tmp_path / "text.onnx").write_bytes(b"no network at all")
    with pytest.raises(BackboneError, match="not a network that ONNX Runtime can run"):
        ImageLearner(backbone=tmp_path / "text.onnx")
