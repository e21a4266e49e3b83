"""The command line learns: folders and features, what it skips, what it refuses, what a kill leaves."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import COMMAND, exll, exll_json
from exll import ExLLClassifier, teaching
from exll.cli.common import Saver, check_preset
from exll.errors import ModelFileError
from exll.learner.preset import PRESETS
from pictures import picture, write_class_folder
from support import random_stream

KILLS = 3


def test_a_newcomer_teaches_a_folder_and_asks_about_new_pictures(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    result = exll("learn", data, "--model", model)
    assert result.returncode == 0, result.stderr
    assert "36 examples learned in all, 3 classes" in result.stdout
    picture(1, 99).save(tmp_path / "new.png")
    result = exll("predict", model, tmp_path / "new.png")
    assert result.returncode == 0
    assert result.stdout.startswith(f"{tmp_path / 'new.png'}: kind 1 (")
    assert ", else kind " in result.stdout
    result = exll("evaluate", model, write_class_folder(tmp_path / "test", classes=3, each=4, first=700))
    assert result.returncode == 0
    assert result.stdout.startswith("100% of the best guesses right (12 of 12, fused inference)\n")


def test_learned_data_is_said_to_be_so_and_again_teaches_it_twice(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll_json("learn", data, "-m", model, "--backbone", "nano")["already"] is False
    before = model.read_bytes()
    result = exll("learn", data, "-m", model)
    assert "was learned before; --again teaches it again" in result.stdout
    assert model.read_bytes() == before
    assert exll_json("learn", data, "-m", model, "--again")["examples"] == 72
    more = write_class_folder(tmp_path / "more", classes=4, each=3, first=900)
    assert exll_json("learn", more, "-m", model)["examples"] == 84
    metadata = exll_json("info", model)
    assert [lesson["learned"] for lesson in metadata["lessons"]] == [36, 36, 12]
    assert len(metadata["classes"]) == 4


def test_single_images_and_a_folder_of_them_are_taught_under_a_label(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=4)
    one, two, *_ = sorted((folder / "kind 0").iterdir())
    teach = ("-m", tmp_path / "m.exll", "--backbone", "nano")
    assert exll_json("learn", one, two, "--label", "kiwi", *teach)["learned"] == 2
    assert exll_json("learn", folder / "kind 1", "--label", "pear", *teach)["classes"] == 2
    assert exll_json("learn", folder / "kind 0", "--label", "kiwi", *teach)["learned"] == 2  # those that are new
    assert "was learned before" in exll("learn", one, "--label", "kiwi", *teach).stdout
    assert exll_json("evaluate", tmp_path / "m.exll", one, "--label", "kiwi")["examples"] == 1
    result = exll("learn", one, two, *teach)
    assert result.stderr == "exll: 2 images can be taught at once with --label, which says what they show.\n"
    assert "say with a label what it shows" in exll("learn", one, *teach).stderr


def test_parts_of_a_data_set_that_would_become_classes_are_warned_of(tmp_path: Path) -> None:
    write_class_folder(tmp_path / "data" / "train", classes=2, each=1)
    write_class_folder(tmp_path / "data" / "test", classes=2, each=1, first=9)
    result = exll("learn", "data", "-m", "m.exll", "--backbone", "nano", cwd=tmp_path)
    assert result.stderr.startswith("warning: every sub-folder of data is a class, also train and test. ")
    assert "warning" not in exll("learn", "data/train", "-m", "n.exll", "--backbone", "nano", cwd=tmp_path).stderr


def test_bad_files_are_skipped_counted_and_named(data: Path, tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=5)
    (folder / "kind 0" / "broken.jpg").write_bytes(b"")
    (folder / "kind 1" / "text.png").write_text("hello")
    result = exll("learn", folder, "-m", tmp_path / "m.exll", "--backbone", "nano")
    assert result.returncode == 0
    assert "skipped 2 unreadable files" in result.stderr
    assert "broken.jpg" in result.stderr
    assert "10 examples learned" in result.stdout
    result = exll("learn", folder, "-m", tmp_path / "strict.exll", "--strict", "--backbone", "nano")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    predicted = exll("predict", tmp_path / "m.exll", folder / "kind 0", "--csv")
    assert predicted.returncode == 1  # one of them could not be read
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    assert len(rows) == 6
    assert [row["path"] for row in rows if row["error"]] == [str(folder / "kind 0" / "broken.jpg")]


def test_nothing_readable_is_an_error_and_makes_no_model(tmp_path: Path) -> None:
    (tmp_path / "data" / "a").mkdir(parents=True)
    (tmp_path / "data" / "a" / "x.jpg").write_bytes(b"")
    result = exll("learn", tmp_path / "data", "-m", tmp_path / "m.exll", "--backbone", "nano")
    assert result.returncode == 1
    assert "nothing could be learned" in result.stderr
    assert not (tmp_path / "m.exll").exists()


def test_what_the_first_example_fixed_cannot_be_changed(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data, "-m", model, "--records", "5", "--backbone", "nano").returncode == 0
    result = exll("learn", write_class_folder(tmp_path / "b", 1, 2), "-m", model, "--records", "refs")
    assert result.returncode == 1
    assert "was made with records 5, which cannot be changed to 'refs'" in result.stderr


def test_every_preset_can_be_chosen() -> None:
    assert [check_preset(name) for name in (None, *PRESETS)] == [None, *PRESETS]


def test_a_wrong_choice_is_said_in_the_words_of_its_option(data: Path, tmp_path: Path) -> None:
    for option, value, words in (
        ("--preset", "magic", f"'magic' is not one of {', '.join(map(repr, PRESETS))}."),
        ("--records", "magic", "must be none, refs, vectors or a number of at least 1; got 'magic'."),
        ("--records", "0", "must be none, refs, vectors or a number of at least 1; got '0'."),
    ):
        result = exll("learn", data, "-m", tmp_path / "x.exll", option, value)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"Invalid value for '{option}': {words}" in result.stderr
    result = exll("learn", data, "-m", tmp_path / "x.exll", "--preset", "paper", "--max-prototypes", "3")
    assert result.returncode == 2
    assert (
        "Invalid value for --max-prototypes: the preset paper never merges prototypes; leave it out." in result.stderr
    )


def test_only_a_published_backbone_is_said_to_be_there_for_adding(data: Path, tmp_path: Path) -> None:
    result = exll("learn", data, "-m", tmp_path / "x.exll", "--backbone", "giant")
    assert "'exll backbone list' names more to add" in result.stderr
    assert "backbone add" not in result.stderr
    result = exll("learn", data, "-m", tmp_path / "x.exll", "--backbone", "resnet-18")
    assert "'exll backbone add resnet-18' adds it" in result.stderr


def test_an_order_has_one_spelling(data: Path, tmp_path: Path) -> None:
    metadata = exll_json("learn", data, "-m", tmp_path / "m.exll", "--order", "few-shot-2", "--backbone", "nano")
    assert metadata["order"] == "few-shot 2"


def test_options_that_make_no_sense_are_refused_before_any_work(data: Path, tmp_path: Path) -> None:
    result = exll("learn", data, "-m", tmp_path / "none" / "m.exll")
    assert result.returncode == 1
    assert "does not exist; make it first" in result.stderr
    (tmp_path / "file").touch()
    result = exll("learn", data, "-m", tmp_path / "file" / "m.exll")
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{tmp_path / 'file'} is a file, not a folder that could hold m.exll." in result.stderr
    assert exll("learn", data, "-m", tmp_path / "m.exll", "--threads", "5000").returncode == 2


def test_two_programs_do_not_overwrite_each_other(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.exll"
    one, other = (ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]) for _ in range(2))
    first, second = Saver(path), Saver(path)
    first(one)
    first(one)
    with pytest.raises(ModelFileError, match="another program has changed"):
        second(other)


def test_features_can_be_learned_and_judged_without_images(tmp_path: Path) -> None:
    stream = random_stream(4, width=8, classes=3, samples=120)
    np.savez(tmp_path / "f.npz", X=stream.X, y=np.array(stream.y), class_names=np.array(["a", "b", "c"]))
    assert exll_json("learn", tmp_path / "f.npz", "-m", tmp_path / "f.exll")["order"] == "as-is"
    assert exll_json("evaluate", tmp_path / "f.exll", tmp_path / "f.npz", "--inference", "local")["examples"] == 120
    picture(0, 0).save(tmp_path / "p.png")
    result = exll("predict", tmp_path / "f.exll", tmp_path / "p.png")
    assert result.returncode == 1
    assert "was taught with vectors, not images" in result.stderr


@pytest.mark.process
def test_a_model_killed_again_and_again_goes_on_to_the_same_model(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=3, each=130)
    command = [sys.executable, "-c", COMMAND, "learn", str(folder), "--save-every", "0", "--backbone", "nano"]
    environment = {**os.environ, "EXLL_CACHE": str(tmp_path / "cache")}
    straight, killed = tmp_path / "straight.exll", tmp_path / "killed.exll"
    rng, kills = np.random.default_rng(1), 0
    for i in range(KILLS):
        before = inode(killed)
        process = subprocess.Popen(
            [*command, "-m", str(killed)],
            env={**environment, "EXLL_CACHE": str(tmp_path / f"cache {i}")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while inode(killed) == before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0, 0.05)))  # somewhere in the next batch of 64, or in its save
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        assert exll_json("info", killed)["examples"] >= min(64 * (i + 1), 390)
    assert kills >= KILLS // 2  # who is quick may have learned all of it before the last
    for path in (killed, straight):
        result = subprocess.run(
            [*command, "-m", str(path)], env=environment, capture_output=True, text=True, check=True
        )
        assert "390 examples learned in all" in result.stdout
    assert killed.read_bytes() == straight.read_bytes()


def inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def test_one_is_not_many_and_a_model_s_size_is_that_of_its_file(tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    result = exll("learn", write_class_folder(tmp_path / "data", 1, 1), "-m", model, "--backbone", "nano")
    size = model.stat().st_size
    assert f"1 example learned in all, 1 class, 1 prototype, {size / 1e6:.1f} MB" in result.stdout
    words = exll("info", model).stdout
    assert words.startswith(f"{model}: 1 class\n")
    assert "(1 example, order iid)" in words
    assert f"{size:,}" in words
    assert exll_json("learn", tmp_path / "data", "-m", model)["bytes"] == exll_json("info", model)["file_bytes"] == size


def test_ctrl_c_ends_with_one_sentence_and_130_and_what_was_learned_is_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn_batch = teaching.learn_batch
    batches: list[Any] = []

    def interrupted(*arguments: Any) -> list[str | None]:
        if batches:
            raise KeyboardInterrupt
        batches.append(arguments)
        return learn_batch(*arguments)

    monkeypatch.setattr("exll.teaching.BATCH", 10)
    monkeypatch.setattr("exll.teaching.learn_batch", interrupted)
    result = exll("learn", data, "-m", tmp_path / "m.exll", "--backbone", "nano")
    assert (result.returncode, result.stdout) == (130, "")
    assert re.fullmatch(r"stopped at 10 of \d+; the same command continues from there\.\n", result.stderr)
    assert exll_json("info", tmp_path / "m.exll")["examples"] == 10
