import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from exll.errors import BackboneError, ImageError
from exll.features.backbone import OnnxBackbone, available_backbones, find_backbone
from exll.features.preprocessing import ResizeRule
from networks import METADATA, write_network


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1, looks=1)


def test_nano_gives_512_numbers_that_are_the_mean_of_its_map(nano: OnnxBackbone) -> None:
    image = np.random.default_rng(0).integers(0, 256, (150, 200, 3), dtype=np.uint8)
    features = nano.features([image, image[:, ::-1]])
    assert features.shape == (2, 512) == (2, nano.width)
    assert nano.has_map
    seen = nano.see(image)
    assert seen.maps is not None
    assert seen.maps.shape[:2] == (1, 512)
    np.testing.assert_allclose(seen.vector, features[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(seen.maps.mean(axis=(2, 3)).sum(axis=0), features[0], rtol=1e-4, atol=1e-4)
    assert not np.allclose(features[0], features[1], atol=1e-2)


def test_batches_do_not_change_vectors(nano: OnnxBackbone) -> None:
    images = list(np.random.default_rng(1).integers(0, 256, (19, 128, 128, 3), dtype=np.uint8))
    together = nano.features(images)
    alone = np.concatenate([nano.features([image]) for image in images])
    np.testing.assert_allclose(together, alone, rtol=1e-3, atol=1e-3)


def test_any_network_with_metadata_can_be_used(tmp_path: Path) -> None:
    backbone = OnnxBackbone(write_network(tmp_path / "mine.onnx", 2.0), looks=1)
    assert (backbone.name, backbone.width, backbone.has_map) == ("mine", 3, False)
    np.testing.assert_allclose(backbone.features([np.full((9, 7, 3), (1, 2, 3), np.uint8)]), [[2, 4, 6]])
    assert backbone.see(np.zeros((4, 4, 3), np.uint8)).maps is None


def test_the_identity_is_weights_and_preprocessing_and_not_the_place(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    one = OnnxBackbone(write_network(tmp_path / "a.onnx"))
    assert OnnxBackbone(write_network(tmp_path / "elsewhere" / "b.onnx")).identity == one.identity
    assert OnnxBackbone(write_network(tmp_path / "c.onnx", 3.0)).identity != one.identity
    changed = {**METADATA, "interpolation": "bilinear"}
    assert OnnxBackbone(write_network(tmp_path / "d.onnx", metadata=changed)).identity != one.identity
    bare = write_network(tmp_path / "e.onnx", metadata=None)
    bare.with_suffix(".json").write_text(json.dumps(METADATA))
    before = OnnxBackbone(bare).identity
    bare.with_suffix(".json").write_text(json.dumps(changed))
    assert OnnxBackbone(bare).identity != before


def test_a_copy_opens_the_file_again_and_notices_another_one(tmp_path: Path, nano: OnnxBackbone) -> None:
    image = np.random.default_rng(2).integers(0, 256, (50, 60, 3), dtype=np.uint8)
    for backbone in (nano, OnnxBackbone(write_network(tmp_path / "a.onnx"), resize=ResizeRule("squash"))):
        again = pickle.loads(pickle.dumps(backbone))
        assert again.identity == backbone.identity
        np.testing.assert_array_equal(again.features([image]), backbone.features([image]))
    pickled = pickle.dumps(OnnxBackbone(tmp_path / "a.onnx"))
    write_network(tmp_path / "a.onnx", 3.0)
    with pytest.raises(BackboneError, match="another network than the one that was copied"):
        pickle.loads(pickled)


def test_what_is_wrong_with_a_backbone_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BackboneError, match="no backbone file at"):
        OnnxBackbone(tmp_path / "none.onnx")
    with pytest.raises(BackboneError, match="there is no backbone 'giant' here; there are: efficientnet_lite0, nano"):
        OnnxBackbone("giant")
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(BackboneError, match="not a network that ONNX Runtime can run"):
        OnnxBackbone(tmp_path / "text.onnx")
    with pytest.raises(BackboneError, match="does not say how to prepare an image"):
        OnnxBackbone(write_network(tmp_path / "bare.onnx", metadata=None))
    wrong = {**METADATA, "outputs": {"features": "logits"}}
    with pytest.raises(BackboneError, match="has no output 'logits'; it has features"):
        OnnxBackbone(write_network(tmp_path / "wrong.onnx", metadata=wrong))
    with pytest.raises(BackboneError, match="does its preprocessing fit it"):
        OnnxBackbone(write_network(tmp_path / "large.onnx", metadata={**METADATA, "size": 5, "resize_to": 5}))


def test_added_backbones_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path))
    before = available_backbones()
    assert before[:2] == ["efficientnet_lite0", "nano"]
    write_network(tmp_path / "backbones" / "small.onnx")
    assert available_backbones() == [*before, "small"]
    assert find_backbone("small") == tmp_path / "backbones" / "small.onnx"


def test_a_bad_image_is_an_image_error(nano: OnnxBackbone) -> None:
    with pytest.raises(ImageError):
        nano.features([b"not an image"])


def shaped(path: Path, nodes: list[Any], shape: list[Any], batch: Any = "n") -> Path:
    """A network of the mean colours, made into features of some shape."""
    pooled = helper.make_node("GlobalAveragePool", ["image"], ["pooled"])
    graph = helper.make_graph(
        [pooled, *nodes],
        "shaped",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, 4, 4])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, {"exll": json.dumps(METADATA)})
    onnx.save(model, str(path))
    return path


def reduced(keep: str) -> list[Any]:
    return [
        helper.make_node("ReduceMean", ["pooled"], ["features"], keepdims=0, axes=[1, 2, 3] if keep else [0, 1, 2, 3])
    ]


@pytest.mark.parametrize("keep", ["n", ""])
def test_features_that_are_no_rows_are_refused_with_their_shape(tmp_path: Path, keep: str) -> None:
    path = shaped(tmp_path / "net.onnx", reduced(keep), ["n"] if keep else [])
    with pytest.raises(BackboneError, match=r"gives features of shape .* one row per input is needed"):
        OnnxBackbone(path)


def test_features_over_a_single_place_are_rows(tmp_path: Path) -> None:
    path = shaped(tmp_path / "net.onnx", [helper.make_node("Identity", ["pooled"], ["features"])], ["n", 3, 1, 1])
    assert OnnxBackbone(path).features([np.full((5, 5, 3), 9, np.uint8)] * 3).shape == (3, 3)


def test_a_network_for_single_images_sees_many_one_by_one(tmp_path: Path) -> None:
    flat = [helper.make_node("Flatten", ["pooled"], ["features"])]
    single = OnnxBackbone(shaped(tmp_path / "one.onnx", flat, [1, 3], batch=1))
    many = OnnxBackbone(shaped(tmp_path / "many.onnx", flat, ["n", 3]))
    images = [np.full((5, 5, 3), shade, np.uint8) for shade in (9, 90, 200)]
    np.testing.assert_array_equal(single.features(images), many.features(images))
