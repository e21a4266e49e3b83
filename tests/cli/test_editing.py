"""``exll forget``, ``relabel``, ``rename`` and ``merge``."""

from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest

from commands import exll, exll_json
from exll import ExLLClassifier, ImageLearner, load
from networks import write_network
from pictures import picture, write_class_folder


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of two kinds, four photos each, and its network beside it."""
    folder = tmp_path_factory.mktemp("taught")
    write_class_folder(folder / "photos", classes=2, each=4)
    write_network(folder / "net.onnx")
    assert exll("learn", "photos", "-m", "m.exll", "--backbone", "net.onnx", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def model(taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, in a place where its network cannot be opened."""
    monkeypatch.setattr("exll.features.own_backbone._found", None)  # opens the network that a file names
    return Path(copy(taught / "m.exll", tmp_path / "m.exll"))


def test_examples_are_forgotten_by_name_pattern_and_class(model: Path) -> None:
    said = exll("forget", model, "photos/kind 0/001.png", "photos/kind 1/002.png")
    assert said.stdout == "forgot 2 examples of 2 classes; 2 classes, 6 examples left\n"
    assert exll("forget", model, "--class", "kind 1", "--matching", "*/00[01].png").stdout == (
        "forgot 2 examples of 1 class; 2 classes, 4 examples left\n"
    )
    assert exll_json("forget", model, "--class", "kind 1") == {
        "forgotten": 1,
        "examples": [{"name": "photos/kind 1/003.png", "label": "kind 1"}],
        "classes_left": 1,
        "examples_left": 3,
        "dry_run": False,
    }
    info = exll_json("info", model)
    assert (info["examples"], info["thumbnails"], info["backbone"]) == (3, 3, "net")


def test_a_dry_run_lists_what_would_go_and_changes_nothing(model: Path) -> None:
    before = model.read_bytes()
    said = exll("forget", model, "--class", "kind 1", "--dry-run").stdout.splitlines()
    assert sorted(said[:4]) == [f'photos/kind 1/00{i}.png ("kind 1")' for i in range(4)]
    assert said[4:] == [
        "would forget 4 examples of 1 class; 1 class, 4 examples left",
        "no examples are left of: kind 1",
    ]
    assert exll_json("relabel", model, "photos/kind 0/001.png", "--to", "kind 1", "--dry-run")["relabelled"] == 1
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("forget", "M", "zz.png"), 1, "no example named 'zz.png'"),
        (("forget", "M", "--class", "zz"), 1, "no class 'zz'"),
        (("forget", "M", "--group", "zz"), 1, "no such example"),
        (("forget", "M", "--matching", "*"), 1, "start a new one"),
        (("forget", "M", "--matching", "*", "--dry-run"), 1, "start a new one"),
        (("forget", "M"), 2, "say what to forget"),
        (("forget", "M", "--image", "a.png"), 2, "--image goes with --label"),
        (("forget", "M", "a.png", "--box", "0,0,9,9"), 2, "--image goes with --label"),
        (("relabel", "M", "zz.png", "--to", "a"), 1, "no example named 'zz.png'"),
        (("relabel", "M", "--to", "a"), 2, "say which examples"),
        (("forget", "M", "elsewhere/001.png"), 1, "Did you mean 'photos/kind 0/001.png'"),
        (("rename", "M", "zz", "a"), 1, "no class 'zz' to rename"),
        (("rename", "M", "kind 0", "  "), 1, "one line with at least one visible character"),
        (("rename", "M", "kind 0", "a\nb"), 1, "one line with at least one visible character"),
        (("rename", "M", "kind 0", "kind 1"), 1, "--merge makes the two one"),
        (("merge", "M", "M", "-o", "out.exll"), 1, "named twice"),
        (("merge", "M", "-o", "out.exll"), 1, "at least two models"),
        (("merge", "M", "none.exll", "-o", "M"), 1, "already exists"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_the_file(
    model: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    before = model.read_bytes()
    result = exll(*(model if argument == "M" else argument for argument in arguments), cwd=model.parent)
    assert (result.returncode, result.stdout) == (code, "")
    assert sentence in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1
    assert model.read_bytes() == before
    assert not (model.parent / "out.exll").exists()


def test_examples_get_another_label_and_classes_another_name(model: Path) -> None:
    assert exll("relabel", model, "--matching", "*/000.png", "--to", "kind 1").stdout == (
        'gave 1 example the label "kind 1" (1 had it already); 2 classes, 8 examples\n'
    )
    assert exll("rename", model, "kind 0", "mug").stdout == '"kind 0" is now "mug", 3 examples; 2 classes, 8 examples\n'
    said = exll_json("rename", model, "mug", "kind 1", "--merge")
    assert (said["new"], said["count"], said["classes_left"]) == ("kind 1", 8, 1)
    assert len(exll_json("info", model)["classes"]) == 1


def test_labels_are_of_the_kind_that_the_model_has(tmp_path: Path) -> None:
    X, path = np.random.default_rng(0).normal(size=(20, 70)), tmp_path / "m.exll"
    ExLLClassifier(records="vectors").fit(X, [0, 1] * 10, groups=["day 1", "day 2"] * 10).save(path)
    assert exll("relabel", path, "sample 3", "--to", "7").returncode == 0
    assert exll("rename", path, "7", "-5").returncode == 2  # an option
    assert exll("rename", path, "7", "5").returncode == 0
    assert load(path, ExLLClassifier).classes_.tolist() == [0, 1, 5]
    assert "of kind integer; got 'mug'" in exll("rename", path, "5", "mug").stderr
    assert exll_json("forget", path, "--group", "day 2")["forgotten"] == 10
    assert load(path, ExLLClassifier).classes_.tolist() == [0, 5]


def test_a_file_that_another_program_changed_meanwhile_is_not_overwritten(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exll import loading

    def load_late(path: Path, whole: Any = loading.load_to_edit) -> Any:
        opened = whole(path)
        model.write_bytes(b"another")
        return opened

    monkeypatch.setattr(loading, "load_to_edit", load_late)
    assert "another program has changed" in exll("forget", model, "--class", "kind 1").stderr
    assert model.read_bytes() == b"another"


def test_an_image_is_given_again_where_the_model_keeps_no_vectors(taught: Path, tmp_path: Path) -> None:
    made_with = ("--backbone", taught / "net.onnx", "--records", "refs")
    assert exll("learn", "photos", "-m", tmp_path / "m.exll", *made_with, cwd=taught).returncode == 0
    image, model = Path("photos/kind 0/001.png"), tmp_path / "m.exll"
    assert "give its examples again" in exll("forget", model, str(image), cwd=taught).stderr
    assert "not learned as 'kind 1'" in exll("forget", model, "--image", image, "--label", "kind 1", cwd=taught).stderr
    said = exll("forget", model, "--image", image, "--label", "kind 0", cwd=taught)
    assert said.stdout == "forgot 1 example of 1 class; 2 classes, 7 examples left\n"


def test_models_are_merged_with_their_thumbnails_and_conflicts_are_named(model: Path, tmp_path: Path) -> None:
    other, out = Path(copy(model, tmp_path / "other.exll")), tmp_path / "out.exll"
    exll("relabel", other, "photos/kind 0/001.png", "--to", "mug")
    strict = exll("merge", model, other, "-o", out, "--strict")
    assert (strict.returncode, out.exists()) == (1, False)
    assert strict.stderr.splitlines() == [
        "photos/kind 0/001.png was learned as 'kind 0' and as 'mug'",
        "exll: 1 example with several labels; nothing was written.",
    ]
    said = exll("merge", model, other, "-o", out)
    assert said.stdout.startswith(f"{out}: 2 models merged, 3 classes, ")
    assert exll("merge", model, other, "-o", model).returncode == 1
    assert exll_json("merge", model, other, "-o", model, "--force")["examples"] == 16
    assert model.read_bytes() == out.read_bytes()
    assert exll_json("info", out)["thumbnails"] > 0


def test_models_of_other_networks_are_refused_by_the_names_of_their_files(model: Path, tmp_path: Path) -> None:
    learner = ImageLearner(write_network(tmp_path / "other.onnx", factor=2.0))
    learner.learn(picture(0, 0), "kind 0")
    learner.save(tmp_path / "other.exll")
    result = exll("merge", "m.exll", "other.exll", "-o", "out.exll", cwd=tmp_path)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "m.exll has the network net (identity " in result.stderr
    assert "other.exll has other (identity " in result.stderr
