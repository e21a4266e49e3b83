"""The scripts that made the built-in backbone still run; without torch there is nothing to run them with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "training"
NANO = ROOT / "src" / "exll" / "assets" / "nano.onnx"

torch: Any = pytest.importorskip("torch")
onnx: Any = pytest.importorskip("onnx")


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", TRAINING / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def dry_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dry")
    result = run("train.py", "--dry", "--out", folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == (folder / "log.txt").read_text()
    return folder


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """The modules net and export, which are on nobody's path otherwise."""
    monkeypatch.syspath_prepend(TRAINING)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield import_module("net"), import_module("export")
    for name in ("net", "export"):
        del sys.modules[name]


def random_network(net: Any) -> Any:
    """With the batch statistics of some noise, so that the features depend on the image and on every layer."""
    torch.manual_seed(0)
    network = net.Nano()
    for module in network.body.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    with torch.no_grad():
        network.features(torch.randn(4, 3, 128, 128))
    return network.eval()


@pytest.mark.process
def test_a_dry_run_trains_and_averages_its_checkpoints(dry_run: Path) -> None:
    names = {path.name for path in dry_run.iterdir()}
    assert names == {"log.txt", "ema-050.pt", "ema-075.pt", "ema-100.pt", "averaged.pt"}
    first, last, mean = (torch.load(dry_run / f"{name}.pt") for name in ("ema-075", "ema-100", "averaged"))
    weight = "body.1.f.0.0.weight"
    assert not torch.equal(first[weight], torch.load(dry_run / "ema-050.pt")[weight])
    torch.testing.assert_close(mean[weight], ((first[weight].float() + last[weight].float()) / 2).half())


@pytest.mark.process
def test_a_checkpoint_is_exported_and_compared_with_torch(dry_run: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "whitening.npz", A=rng.normal(size=(512, 512)) / 20, b=rng.normal(size=512))
    target = tmp_path / "tiny.onnx"
    for options in ([], ["--float32"], ["--whiten", tmp_path / "whitening.npz"]):
        result = run("export.py", dry_run / "averaged.pt", target, "--config", "tiny", *options)
        assert result.returncode == 0, result.stderr
        assert f"{target.stat().st_size} bytes, relative error" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.onnx", "whitening.npz"}


@pytest.mark.process
def test_a_run_without_data_says_what_it_needs(tmp_path: Path) -> None:
    result = run("train.py", "--out", tmp_path)
    assert result.returncode == 2
    assert "--data is needed" in result.stderr
    result = run("train.py", "--out", tmp_path, "--data", tmp_path)
    assert result.returncode == 1
    assert "there is no train*.npz" in result.stderr


def test_the_network_has_the_parameters_of_its_card(scripts: tuple[Any, Any]) -> None:
    net, _ = scripts
    network = net.Nano()
    assert sum(p.numel() for p in network.parameters()) == 4_981_644
    assert sum(p.numel() for p in network.body.parameters()) == 2_724_448


def test_the_comparison_notices_a_wrong_file(scripts: tuple[Any, Any]) -> None:
    net, export = scripts
    network = random_network(net)
    content = export.build(network, half=False).SerializeToString()
    assert export.difference(content, network, None) < export.LARGEST_ERROR[False]
    with torch.no_grad():
        network.body[3].f[0][1].running_var *= 1.1
    assert export.difference(content, network, None) > export.LARGEST_ERROR[True]


@pytest.mark.skipif(not NANO.is_file(), reason="the built-in backbone is not in this checkout")
def test_an_export_is_the_built_in_file_but_for_its_numbers(scripts: tuple[Any, Any]) -> None:
    net, export = scripts
    whitening = export.Whitening(np.eye(512), np.zeros(512))
    made, shipped = export.build(random_network(net), True, whitening), onnx.load(NANO)
    for model in (made, shipped):
        for constant in model.graph.initializer:
            constant.ClearField("raw_data")
    assert made == shipped
