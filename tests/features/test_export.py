import json
import re
import sys
import types
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from PIL import Image

from exll.errors import BackboneError
from exll.features.backbone import OnnxBackbone
from exll.features.export import HEAD_PREFIXES, PUBLISHED, USUAL_HEAD_PREFIXES, export_published
from exll.installing import install_command

DOCS = Path(__file__).resolve().parents[2] / "docs" / "backbones.md"
KEPT_ALIVE: list[Any] = []


def load_timm() -> tuple[Any, Any]:
    """torch and timm, or a skip.

    Beside a CPU build of torch the ordinary torchvision cannot load its compiled half, and its Python half then
    stumbles over two operators that nobody declared. No network here uses them, so declaring them is enough.
    """
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    try:
        pytest.importorskip("torchvision")
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        KEPT_ALIVE.append(library)
    return torch, pytest.importorskip("timm")


@pytest.fixture(scope="module")
def torch_and_timm() -> tuple[Any, Any]:
    return load_timm()


def lively_network(torch: Any, timm: Any, name: str) -> Any:
    """Random weights, with the batch statistics of some noise: without them hardly anything of the image reaches the
    last layer, and a wrong first layer would pass."""
    torch.manual_seed(1)
    model = timm.create_model(PUBLISHED[name].timm_name, pretrained=False)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0.0, 0.1)
            module.momentum = 1.0
    with torch.no_grad():
        model.train().forward_features(torch.randn(4, 3, 224, 224))
    return model.eval()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_file_gives_what_torch_gives(name: str, torch_and_timm: tuple[Any, Any], tmp_path: Path) -> None:
    torch, timm = torch_and_timm
    model, published = lively_network(torch, timm, name), PUBLISHED[name]
    torch.save(model.state_dict(), tmp_path / "weights.pth")
    path = export_published(name, tmp_path / "new" / "folder", weights=tmp_path / "weights.pth")
    assert path == tmp_path / "new" / "folder" / f"{name}.onnx"
    assert [file.name for file in path.parent.iterdir()] == [path.name]

    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    for count in (1, 3):
        images = np.random.default_rng(count).normal(size=(count, 3, 224, 224)).astype(np.float32)
        features, feature_map = session.run(["features", "feature_map"], {"image": images})
        with torch.no_grad():
            expected = model.forward_features(torch.from_numpy(images)).numpy()
        assert expected.shape == feature_map.shape == (count, published.width, 7, 7)
        assert features.shape == (count, published.width)
        assert count == 1 or np.ptp(expected.mean((2, 3)), axis=0).max() > 0.1 * np.abs(expected.mean((2, 3))).max()
        assert np.abs(feature_map - expected).max() <= 1e-4 * np.abs(expected).max()
        assert np.abs(features - expected.mean((2, 3))).max() <= 1e-4 * np.abs(expected.mean((2, 3))).max()
        assert np.abs(features - feature_map.mean((2, 3))).max() <= 1e-5 * np.abs(features).max()

    facts = json.loads(session.get_modelmeta().custom_metadata_map["exll"])
    assert facts == {
        "name": name,
        "version": 1,
        "size": 224,
        "resize": "squash",
        "resize_to": 224,
        "interpolation": "bilinear",
        "layout": "NCHW",
        "dtype": "float32",
        "scale": 1 / 255,
        "mean": [0.485, 0.456, 0.406],
        "std": [0.229, 0.224, 0.225],
        "outputs": {"features": "features", "map": "feature_map"},
    }
    assert b"site-packages" not in path.read_bytes()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_parameters_are_those_up_to_the_feature_map(name: str, torch_and_timm: tuple[Any, Any]) -> None:
    _, timm = torch_and_timm
    published, head = PUBLISHED[name], HEAD_PREFIXES.get(name, USUAL_HEAD_PREFIXES)
    model = timm.create_model(published.timm_name, pretrained=False)
    assert sum(p.numel() for key, p in model.named_parameters() if not key.startswith(head)) == published.parameters
    assert timm.get_pretrained_cfg(published.timm_name).mean == (0.485, 0.456, 0.406)
    assert timm.get_pretrained_cfg(published.timm_name).std == (0.229, 0.224, 0.225)


def test_random_weights_are_the_same_every_time_and_leave_torch_s_generator_alone(
    torch_and_timm: tuple[Any, Any], tmp_path: Path
) -> None:
    torch, _ = torch_and_timm
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = export_published("mobilenet-v3-small", tmp_path, random_weights=True).read_bytes()
    assert torch.rand(1) == expected
    path = export_published("mobilenet-v3-small", tmp_path, random_weights=True)
    assert path.read_bytes() == first
    backbone = OnnxBackbone(path)
    image = np.random.default_rng(0).integers(0, 256, (30, 50, 3), dtype=np.uint8)
    assert backbone.width == 576
    seen = backbone.see(image)
    assert seen.maps is not None
    np.testing.assert_allclose(seen.maps.mean((2, 3)).sum(0), backbone.features([image])[0], rtol=1e-3, atol=1e-6)


def test_weights_may_be_safetensors_and_lack_the_head(torch_and_timm: tuple[Any, Any], tmp_path: Path) -> None:
    torch, timm = torch_and_timm
    model = lively_network(torch, timm, "mobilenet-v3-small")
    head = HEAD_PREFIXES["mobilenet-v3-small"]
    state = {key: value for key, value in model.state_dict().items() if not key.startswith(head)}
    torch.save(model.state_dict(), tmp_path / "whole.pt")
    import_module("safetensors.torch").save_file(state, tmp_path / "trunk.safetensors")
    whole = export_published("mobilenet-v3-small", tmp_path / "a", weights=tmp_path / "whole.pt")
    trunk = export_published("mobilenet-v3-small", tmp_path / "b", weights=tmp_path / "trunk.safetensors")
    assert whole.read_bytes() == trunk.read_bytes()


def test_weights_that_do_not_fit_are_refused_by_their_names(torch_and_timm: tuple[Any, Any], tmp_path: Path) -> None:
    torch, timm = torch_and_timm
    state = timm.create_model("resnet18", pretrained=False).state_dict()
    for key in ("conv1.weight", "layer1.0.conv1.weight", "layer1.0.conv2.weight", "layer1.1.conv1.weight", "bn1.bias"):
        del state[key]
    state["layer9.weight"] = torch.zeros(2)
    state["bn1.weight"] = torch.zeros(3)
    torch.save(state, tmp_path / "w.pth")
    expected = (
        "w.pth does not fit resnet18.tv_in1k (missing: conv1.weight, bn1.bias, layer1.0.conv1.weight and 2 more; "
        "unexpected: layer9.weight; of another shape: bn1.weight)."
    )
    with pytest.raises(BackboneError, match=re.escape(expected) + "$"):
        export_published("resnet-18", tmp_path, weights=tmp_path / "w.pth")
    assert not (tmp_path / "resnet-18.onnx").exists()


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_a_file_that_holds_no_weights_is_refused(suffix: str, torch_and_timm: tuple[Any, Any], tmp_path: Path) -> None:
    torch, _ = torch_and_timm
    (tmp_path / f"w.{suffix}").write_bytes(b"no weights")
    with pytest.raises(BackboneError, match="can read safely"):
        export_published("resnet-18", tmp_path, weights=tmp_path / f"w.{suffix}")
    torch.save({"epoch": 3}, tmp_path / "other.pth")
    with pytest.raises(BackboneError, match="must hold a state dict"):
        export_published("resnet-18", tmp_path, weights=tmp_path / "other.pth")
    with pytest.raises(BackboneError, match="no weights file at"):
        export_published("resnet-18", tmp_path, weights=tmp_path / "none.pth")


def test_a_hub_out_of_reach_leads_to_the_option_weights(
    torch_and_timm: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, timm = torch_and_timm

    def unreachable(name: str, pretrained: bool) -> None:
        assert pretrained
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr(timm, "create_model", unreachable)
    with pytest.raises(BackboneError, match=r"^the weights of resnet-18 could not .*use --weights FILE\.$"):
        export_published("resnet-18", tmp_path)


def test_a_file_that_differs_from_torch_is_not_written(
    torch_and_timm: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mobilenet-v3-small.onnx").write_bytes(b"old")
    monkeypatch.setattr("exll.features.export.LARGEST_DIFFERENCE", 0.0)
    with pytest.raises(BackboneError, match="nothing was written"):
        export_published("mobilenet-v3-small", tmp_path, random_weights=True)
    assert [file.name for file in tmp_path.iterdir()] == ["mobilenet-v3-small.onnx"]
    assert (tmp_path / "mobilenet-v3-small.onnx").read_bytes() == b"old"


def test_the_published_networks_are_those_of_the_paper() -> None:
    widths = {name: (published.width, published.parameters) for name, published in PUBLISHED.items()}
    assert widths == {
        "mobilenet-v3-small": (576, 927_008),
        "mobilenet-v3-large": (960, 2_971_952),
        "efficientnet-b0": (1280, 4_007_548),
        "efficientnet-b1": (1280, 6_513_184),
        "resnet-18": (512, 11_176_512),
    }
    assert all(name == published.name and published.description for name, published in PUBLISHED.items())


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        BackboneError, match=r"no published backbone 'vgg'; there are: mobilenet-v3-small, .*resnet-18\.$"
    ):
        export_published("vgg", tmp_path)


def test_weights_are_from_a_file_or_random_but_not_both(tmp_path: Path) -> None:
    with pytest.raises(BackboneError, match="give one of the two"):
        export_published("resnet-18", tmp_path, weights=tmp_path / "w.pth", random_weights=True)


@pytest.mark.parametrize("missing", ["torch", "timm", "onnx", "onnxscript"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "timm", "onnx", "onnxruntime", "onnxscript"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        BackboneError, match=rf"^exporting .* needs {missing}, .* {re.escape(install_command('torch'))}\.$"
    ):
        export_published("resnet-18", tmp_path / "folder", random_weights=True)
    assert not (tmp_path / "folder").exists()


def test_a_torchvision_of_another_build_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    (tmp_path / "timm.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        BackboneError, match=r"^timm cannot be loaded \(operator .* not exist\): torch and torchvision must"
    ):
        export_published("resnet-18", tmp_path, random_weights=True)


def example_with(words: str) -> str:
    """The one example of the document that has these words."""
    (found,) = (
        e for e in re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL) if words in e
    )
    return str(found)


def test_the_example_for_a_network_in_python_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, colour in (("mug_01.jpg", "red"), ("plate_01.jpg", "blue")):
        Image.new("RGB", (20, 20), colour).save(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(example_with("class MeanColour"), names)
    assert names["learner"].predict("plate_01.jpg").label == "plate"


def test_the_example_for_an_own_network_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = helper.make_graph(
        [
            helper.make_node("GlobalMaxPool", ["map"], ["pool"]),
            helper.make_node("Flatten", ["pool"], ["embedding"]),
        ],
        "own",
        [helper.make_tensor_value_info("map", TensorProto.FLOAT, ["n", 3, 224, 224])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, tmp_path / "my-network.onnx")
    monkeypatch.chdir(tmp_path)
    exec(example_with("onnx.load"), {})
    orange = np.full((9, 9, 3), (255, 128, 0), np.uint8)
    expected = (np.array([255, 128, 0]) / 255 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    np.testing.assert_allclose(
        OnnxBackbone(tmp_path / "my-network.onnx", looks=1).features([orange])[0], expected, rtol=1e-5
    )
