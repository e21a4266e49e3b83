from pathlib import Path

import numpy as np
import pytest

from exll.errors import InputError
from exll.features.backbone import OnnxBackbone
from exll.features.preprocessing import ResizeRule
from networks import METADATA, write_network
from pictures import picture


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1)


def test_two_looks_are_the_whole_and_the_centre(nano: OnnxBackbone) -> None:
    pixels = np.zeros((200, 400, 3), np.uint8)
    pixels[35:165, 135:265] = 255  # the middle 130 x 130
    view = nano.prepare(pixels)
    whole, centre = view.inputs
    np.testing.assert_allclose(view.boxes, [(0, 0, 1, 1), (135 / 400, 35 / 200, 265 / 400, 165 / 200)])
    assert (centre >= 250).all()
    assert 0.15 < (whole == 255).mean() < 0.27  # 130 x 130 of 200 x 400
    assert not whole[0].any()
    assert not whole[:, 0].any()


def test_the_vector_is_the_sum_of_the_looks_at_unit_length(nano: OnnxBackbone) -> None:
    image = picture(1, 2, 200)
    left, top, right, bottom = (round(200 * edge) for edge in nano.prepare(image).boxes[1])
    once = OnnxBackbone("nano", threads=1, resize=ResizeRule("squash"))
    looks = once.features([image, image.crop((left, top, right, bottom))])
    expected = (looks / np.linalg.norm(looks, axis=1, keepdims=True)).sum(axis=0)
    np.testing.assert_allclose(nano.features([image])[0], expected, atol=0.02)  # the crop's edge is resized otherwise
    seen = nano.see(image)
    np.testing.assert_array_equal(seen.vector, nano.features([image])[0])
    assert seen.maps is not None
    np.testing.assert_allclose(seen.maps.mean(axis=(2, 3)).sum(axis=0), seen.vector, atol=1e-6)


def test_looks_are_part_of_the_identity_and_one_look_is_as_it_was(nano: OnnxBackbone) -> None:
    once = OnnxBackbone("nano", threads=1, looks=1)
    assert once.identity != nano.identity
    assert (
        once.identity == "8e31a653c009a4c69cf63754dd9b2d98213da7c61adf68618e04131d83c1d94e"
    )  # which models of before name
    with pytest.raises(InputError, match="looks must be 1 or 2; got 3"):
        OnnxBackbone("nano", looks=3)
    with pytest.raises(InputError, match="resize is for looks=1"):
        OnnxBackbone("nano", resize=ResizeRule("squash"), looks=2)


def test_a_look_at_nothing_counts_for_nothing(tmp_path: Path) -> None:
    backbone = OnnxBackbone(write_network(tmp_path / "colour.onnx", metadata={**METADATA, "interpolation": "bilinear"}))
    pixels = np.zeros((100, 100, 3), np.uint8)
    assert not backbone.features([pixels]).any()
    pixels[:10] = (0, 0, 200)  # outside the centre
    np.testing.assert_allclose(backbone.features([pixels]), [[0, 0, 1]], atol=1e-6)
