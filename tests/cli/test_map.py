import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from exll import ExLLClassifier
from exll.cli.map import map_command
from exll.errors import InputError, ModelFileError, ModelFileNotFoundError
from exll.saving.model_file import read_model, write_model
from support import random_stream

app = typer.Typer()
app.command("map")(map_command)


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stream = random_stream(3, samples=120, classes=3, width=6)
    path = tmp_path_factory.mktemp("model") / "m.exll"
    ExLLClassifier("paper").fit(stream.X, [f"kind {k}" for k in stream.y]).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "start"), [("map.png", b"\x89PNG"), ("map.SVG", b"<?xml"), ("map.html", b"<!DOCTYPE html>")]
)
def test_a_map_is_written_as_its_ending_says(model: Path, tmp_path: Path, name: str, start: bytes) -> None:
    said = run(model, "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert said.startswith(f"{tmp_path / name}: ")
    assert "in 3 classes, from 120 examples" in said


def test_a_map_is_the_same_for_a_seed_and_another_for_another(model: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        run(model, "-o", tmp_path / f"{name}.html", "--seed", seed, "--method", "tsne")
    a, b, c = ((tmp_path / f"{name}.html").read_bytes() for name in "abc")
    assert a == b != c


def test_json_says_what_was_drawn(model: Path, tmp_path: Path) -> None:
    drawn = json.loads(run(model, "--out", tmp_path / "m.html", "--method", "pca", "--json"))
    assert drawn["out"] == str(tmp_path / "m.html")
    assert (drawn["classes"], drawn["examples"], drawn["method"]) == (3, 120, "pca")
    assert drawn["prototypes"] == ExLLClassifier._from_file(read_model(model)).n_prototypes_


def test_a_model_of_images_needs_no_network_for_its_map(model: Path, tmp_path: Path) -> None:
    file = read_model(model)
    backbone = {"name": "gone", "source": "/nowhere.onnx"}
    write_model(tmp_path / "i.exll", {**file.metadata, "kind": "image-learner", "backbone": backbone}, file.tensors)
    assert "3 classes" in run(tmp_path / "i.exll", "-o", tmp_path / "i.html")


def test_a_wrong_place_to_write_is_said_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    wrong = {
        "map.gif": "a .png, .svg or .html file; got",
        "map": "a .png, .svg or .html file; got",
        "none/map.png": "there is no folder",
        "folder.png": "is a folder",
    }
    for name, sentence in wrong.items():
        with pytest.raises(InputError, match=sentence):
            run(tmp_path / "no model.exll", "-o", tmp_path / name)


def test_a_file_without_a_model_is_named(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileNotFoundError):
        run(tmp_path / "none.exll", "-o", tmp_path / "m.html")
    file = read_model(model)
    tensors = {name: array for name, array in file.tensors.items() if name != "prototypes.counts"}
    write_model(tmp_path / "half.exll", file.metadata, tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        run(tmp_path / "half.exll", "-o", tmp_path / "m.html")
    assert not (tmp_path / "m.html").exists()


def test_without_matplotlib_a_page_can_still_be_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "exll.explain.topology_picture", raising=False)
    run(model, "-o", tmp_path / "m.html")
    run(model, "-o", tmp_path / "m.svg")
    with pytest.raises(InputError, match=r'needs matplotlib: pip install "exll\[bench\]"'):
        run(model, "-o", tmp_path / "m.png")
