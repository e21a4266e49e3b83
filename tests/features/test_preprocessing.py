import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from exll.errors import BackboneError
from exll.features.preprocessing import Preprocessing, find_preprocessing

GOOD: dict[str, Any] = {
    "size": 8,
    "resize": "squash",
    "resize_to": 8,
    "interpolation": "bilinear",
    "layout": "NCHW",
    "dtype": "float32",
    "scale": 1 / 255,
    "mean": [0.5, 0.4, 0.3],
    "std": [0.1, 0.2, 0.3],
    "outputs": {"features": "f", "map": "m"},
}


def made(**changes: Any) -> Preprocessing:
    return Preprocessing.from_json(json.dumps({**GOOD, **changes}), "x.onnx")


def network_input(preprocessing: Preprocessing, pixels: NDArray[np.uint8]) -> NDArray[Any]:
    image = Image.fromarray(pixels)
    return preprocessing.network_input(image, preprocessing.box(image.size))


def test_a_float_input_is_scaled_then_centred_then_divided_per_channel() -> None:
    prepared = network_input(made(), np.full((20, 10, 3), (255, 102, 0), np.uint8))
    assert prepared.shape == (3, 8, 8)
    assert prepared.dtype == np.float32
    np.testing.assert_allclose(prepared[:, 0, 0], [(1 - 0.5) / 0.1, (0.4 - 0.4) / 0.2, (0 - 0.3) / 0.3], atol=1e-6)


def test_layout_and_dtype_are_as_asked() -> None:
    image = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
    np.testing.assert_array_equal(network_input(made(layout="NHWC", dtype="uint8"), image), image)
    np.testing.assert_array_equal(network_input(made(dtype="uint8"), image), image.transpose(2, 0, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resize": "stretch"}, "resize is 'stretch'"),
        ({"layout": "HWC"}, "layout is 'HWC'"),
        ({"mean": [1.0]}, "one number for each of R, G and B"),
        ({"outputs": {}}, "'features' is missing"),
        ({"std": [1, 0, 1]}, "std not 0"),
        ({"size": 0}, "at least 1"),
        ({"resize_to": 4}, "resize_to at least size"),
        ({"size": "big"}, "invalid literal"),
    ],
)
def test_a_wrong_entry_is_named_with_the_options(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BackboneError, match=message) as caught:
        made(**changes)
    assert "x.onnx" in str(caught.value)


def test_no_json_and_no_metadata_say_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(BackboneError, match=r"write net.json beside it.*short-side-crop"):
        find_preprocessing({}, tmp_path / "net.onnx")
    (tmp_path / "net.json").write_text(json.dumps(GOOD))
    assert find_preprocessing({}, tmp_path / "net.onnx") == made()
    with pytest.raises(BackboneError, match="the metadata of"):
        find_preprocessing({"exll": "no json"}, tmp_path / "net.onnx")
