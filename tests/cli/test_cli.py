import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll import ExLLClassifier
from exll.cli.common import PresetChoice
from exll.learner.preset import PRESETS
from exll.version import __version__
from pictures import picture, write_class_folder
from support import random_stream


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for all tests of this module, and none of the user's."""
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path_factory.getbasetemp() / "exll-cache"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


def exll(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from exll.cli.main import run; run()", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "110"},
    )


def exll_json(*arguments: str | Path, cwd: Path | None = None) -> dict[str, Any]:
    result = exll(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_class_folder(tmp_path_factory.mktemp("data"), classes=3, each=12)


def test_every_preset_can_be_chosen() -> None:
    assert {choice.value for choice in PresetChoice} == set(PRESETS)


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
    assert "right (12 of 12, fused inference)" in result.stdout
    assert "either right" in result.stdout


def test_learned_data_is_said_to_be_so_and_again_teaches_it_twice(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll_json("learn", data, "-m", model)["already"] is False
    before = model.read_bytes()
    result = exll("learn", data, "-m", model)
    assert "was learned already; --again teaches it once more" in result.stdout
    assert model.read_bytes() == before
    assert exll_json("learn", data, "-m", model, "--again")["examples"] == 72
    more = write_class_folder(tmp_path / "more", classes=4, each=3, first=900)
    assert exll_json("learn", more, "-m", model)["examples"] == 84
    facts = exll_json("info", model)
    assert [lesson["learned"] for lesson in facts["lessons"]] == [36, 36, 12]
    assert len(facts["classes"]) == 4


def test_bad_files_are_skipped_counted_and_named(data: Path, tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=5)
    (folder / "kind 0" / "broken.jpg").write_bytes(b"")
    (folder / "kind 1" / "text.png").write_text("hello")
    result = exll("learn", folder, "-m", tmp_path / "m.exll")
    assert result.returncode == 0
    assert "skipped 2 unreadable files" in result.stderr
    assert "broken.jpg" in result.stderr
    assert "10 examples learned" in result.stdout
    result = exll("learn", folder, "-m", tmp_path / "strict.exll", "--strict")
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
    result = exll("learn", tmp_path / "data", "-m", tmp_path / "m.exll")
    assert result.returncode == 1
    assert "nothing could be learned" in result.stderr
    assert not (tmp_path / "m.exll").exists()


def test_what_the_first_example_fixed_cannot_be_changed(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data, "-m", model, "--records", "5").returncode == 0
    result = exll("learn", write_class_folder(tmp_path / "b", 1, 2), "-m", model, "--records", "refs")
    assert result.returncode == 1
    assert "was made with records 5, which cannot be changed to 'refs'" in result.stderr


def test_a_wrong_choice_is_said_in_the_words_of_its_option(data: Path, tmp_path: Path) -> None:
    from exll.learner.preset import PRESETS

    for option, value, words in (
        ("--preset", "magic", f"'magic' is not one of {', '.join(map(repr, PRESETS))}."),
        ("--records", "magic", "must be none, refs, vectors or a number from 1 on; got 'magic'."),
        ("--records", "0", "must be none, refs, vectors or a number from 1 on; got '0'."),
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
    assert exll_json("learn", data, "-m", tmp_path / "m.exll", "--order", "few-shot-2")["order"] == "few-shot 2"


def test_two_programs_do_not_overwrite_each_other(data: Path, tmp_path: Path) -> None:
    from exll.cli.learn import _Saver
    from exll.errors import ModelFileError

    path = tmp_path / "m.exll"
    one, other = (ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]) for _ in range(2))
    first, second = _Saver(one, path), _Saver(other, path)
    first()
    first()
    with pytest.raises(ModelFileError, match="another program has changed"):
        second()


def test_options_that_make_no_sense_are_refused_before_any_work(data: Path, tmp_path: Path) -> None:
    result = exll("learn", data, "-m", tmp_path / "none" / "m.exll")
    assert result.returncode == 1
    assert "does not exist; make it first" in result.stderr
    (tmp_path / "file").touch()
    result = exll("learn", data, "-m", tmp_path / "file" / "m.exll")
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{tmp_path / 'file'} is a file, not a folder that could hold m.exll." in result.stderr
    assert exll("learn", data, "-m", tmp_path / "m.exll", "--threads", "5000").returncode == 2


@pytest.mark.parametrize("command", [("demo", "--out"), ("bench", "demo", "-o"), ("bench", "report", ".", "-o")])
def test_a_folder_below_a_file_is_refused_before_any_work(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "results.jsonl").touch()
    result = exll(*command, "file/x/y", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"exll: {tmp_path / 'file'} is a file, so there can be no folder file/x/y.\n"


def test_the_demo_has_no_seed_below_0(tmp_path: Path) -> None:
    result = exll("demo", "--seed", "-1", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "-1 is not in the range x>=0" in result.stderr


def test_one_is_not_many_and_a_model_s_size_is_that_of_its_file(tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    result = exll("learn", write_class_folder(tmp_path / "data", 1, 1), "-m", model)
    size = model.stat().st_size
    assert f"1 example learned in all, 1 class, 1 prototype, {size / 1e6:.1f} MB" in result.stdout
    words = exll("info", model).stdout
    assert words.startswith(f"{model}: 1 class\n")
    assert "(1 example, order iid)" in words
    assert f"{size:,}" in words
    assert exll_json("learn", tmp_path / "data", "-m", model)["bytes"] == exll_json("info", model)["file_bytes"] == size


def test_a_model_explains_itself_in_words_and_in_json(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data, "-m", model).returncode == 0
    picture(2, 99).save(tmp_path / "new.png")
    words = exll("explain", model, tmp_path / "new.png").stdout
    assert words.startswith('"kind 2" (')
    assert "inference" in words
    assert 'hit        "kind 2", distance' in words
    assert 'near miss  "kind ' in words
    assert exll_json("explain", model, tmp_path / "new.png")["hit"]["label"] == "kind 2"
    printed = exll("rules", model).stdout
    assert printed.count('THEN it is "kind 1"') >= 1
    assert "unusual example" in printed
    assert exll("rules", model, "--level", "megacloud", "--of", "kind 1").stdout.count("IF") == 1
    assert exll("rules", model, "--of", "nobody").returncode == 1


def test_what_is_like_nothing_taught_is_called_unknown_by_every_command(data: Path, tmp_path: Path) -> None:
    model, odd = tmp_path / "m.exll", tmp_path / "odd.png"
    assert exll("learn", data, "-m", model).returncode == 0
    Image.new("RGB", (48, 48), "white").save(odd)
    facts = exll_json("explain", model, odd)
    assert facts["known"] is False
    nearest = facts["label"]
    assert exll("predict", model, odd).stdout == f"{odd}: unknown (nearest is {nearest})\n"
    words = exll("explain", model, odd).stdout
    assert words.startswith(
        f'unknown (nearest is "{nearest}", {facts["probability"]:.1%}, else "{facts["runner_up"]}")\n'
    )
    result = exll("explain", model, odd, "-o", "why.html", cwd=tmp_path)
    assert result.stdout == f'why.html: why odd.png is unknown (nearest is "{nearest}")\n'


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_folder_without_images_is_one_sentence(data: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    model, empty = tmp_path / "m.exll", tmp_path / "empty"
    assert exll("learn", data, "-m", model, "--order", "few-shot 1").returncode == 0
    empty.mkdir()
    (empty / "notes.txt").touch()
    result = exll("predict", model, empty, *form)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"exll: there are no images in {empty}.\n"


def test_a_model_explains_itself_in_pages(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data.name, "-m", model, cwd=data.parent).returncode == 0
    picture(2, 99).save(tmp_path / "new.png")
    why, rules = tmp_path / "why.html", tmp_path / "rules.HTML"
    result = exll("explain", model, tmp_path / "new.png", "-o", why, cwd=data.parent)
    assert result.stdout == f'{why}: why new.png is taken for "kind 2"\n', result.stderr
    assert "file not found" not in why.read_text(encoding="utf-8")
    assert exll("rules", model, "--html", rules, "--of", "kind 1", cwd=data.parent).stdout.startswith(f"{rules}: ")
    page = rules.read_text(encoding="utf-8")
    assert page.count("<section") == 1
    assert "data:image/webp" in page
    assert "file not found" not in page
    assert exll("rules", model, "--html", rules, cwd=tmp_path).returncode == 0
    assert "000.png</bdi>: file not found" in rules.read_text(encoding="utf-8")  # its refs led from another folder
    facts = exll_json("explain", model, tmp_path / "new.png", "-o", why)
    assert facts["label"] == "kind 2"


def test_a_page_that_cannot_be_written_is_said_before_the_work(data: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        (("explain", "no.exll", "no.png", "-o", "why.pdf"), "an explanation is an .html file; got why.pdf."),
        (("explain", "no.exll", "no.png", "-o", "none/why.html"), "there is no folder none"),
        (("rules", "no.exll", "--html", "rules"), "a page of rules is an .html file; got rules."),
        (("rules", "no.exll", "--html", "r.html", "--level", "class"), "leave out --level class"),
    ):
        result = exll(*arguments, cwd=tmp_path)
        assert (result.returncode, result.stderr.count("\n")) == (1, 1)
        assert sentence in result.stderr
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "v.exll")
    result = exll("explain", "v.exll", "no.png", "-o", "why.html", cwd=tmp_path)
    assert "v.exll was taught with vectors, not images; explain it in Python." in result.stderr
    assert exll("rules", "v.exll", "--html", "r.html", cwd=tmp_path).stdout == "r.html: 3 rules\n"


def test_suspects_are_named(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=3, each=15)
    wrong = folder / "kind 0" / "wrong.png"
    picture(1, 500).save(wrong)
    (folder / "kind 2" / "copy.png").write_bytes((folder / "kind 1" / "003.png").read_bytes())
    assert exll("learn", folder, "-m", tmp_path / "m.exll").returncode == 0
    facts = exll_json("suspects", tmp_path / "m.exll")
    assert str(wrong) in [suspect["name"] for suspect in facts["suspects"]]
    assert len(facts["contradictions"]) == 1
    words = exll("suspects", tmp_path / "m.exll").stdout
    assert "one image, several labels: " in words
    assert f'{wrong}: taught as "kind 0", the others say "kind 1"' in words


def test_features_can_be_learned_and_judged_without_images(tmp_path: Path) -> None:
    stream = random_stream(4, width=8, classes=3, samples=120)
    np.savez(tmp_path / "f.npz", X=stream.X, y=np.array(stream.y), class_names=np.array(["a", "b", "c"]))
    assert exll_json("learn", tmp_path / "f.npz", "-m", tmp_path / "f.exll")["order"] == "as-is"
    assert exll_json("evaluate", tmp_path / "f.exll", tmp_path / "f.npz", "--inference", "local")["examples"] == 120
    picture(0, 0).save(tmp_path / "p.png")
    result = exll("predict", tmp_path / "f.exll", tmp_path / "p.png")
    assert result.returncode == 1
    assert "was taught with vectors, not images" in result.stderr


def test_a_model_killed_ten_times_goes_on_to_the_same_model(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=3, each=110)
    command = [sys.executable, "-c", "from exll.cli.main import run; run()", "learn", str(folder), "--save-every", "0"]
    environment = {**os.environ, "EXLL_CACHE": str(tmp_path / "cache")}
    straight, killed = tmp_path / "straight.exll", tmp_path / "killed.exll"
    rng = np.random.default_rng(1)
    for i in range(10):
        process = subprocess.Popen(
            [*command, "-m", str(killed)],
            env={**environment, "EXLL_CACHE": str(tmp_path / f"cache {i}")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(float(rng.uniform(1.5, 4.0)))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if killed.exists():
            assert exll("info", killed).returncode == 0
    for path in (killed, straight):
        result = subprocess.run(
            [*command, "-m", str(path)], env=environment, capture_output=True, text=True, check=True
        )
        assert "330 examples learned in all" in result.stdout
    assert killed.read_bytes() == straight.read_bytes()


def test_the_demo_learns_saves_and_shows_every_figure(tmp_path: Path) -> None:
    result = exll("demo", "--out", "here", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in ("global inference", "local inference", "fused inference", "either right", "prototypes", "bytes"):
        assert words in result.stdout
    assert "learned per second" in result.stdout
    assert result.stdout.count("IF it resembles learned/") == 2
    facts = exll_json("info", tmp_path / "here" / "digits.exll")
    assert f"the model, {facts['file_bytes']:,} bytes;" in result.stdout
    assert facts["examples"] == 1438
    assert facts["backbone"] == "nano"
    assert len(facts["classes"]) == 10
    sheets = list((tmp_path / "here").glob("rule_*.png"))
    assert f"Pictures of {len(sheets)} rules" in result.stdout
    assert len(sheets) > 10
    for name in ("why.html", "rules.html"):
        assert name in result.stdout
        page = (tmp_path / "here" / name).read_text(encoding="utf-8")
        assert "data:image/webp" in page
        assert "not found" not in page
    # What the demo leaves can be gone on with.
    assert exll_json("evaluate", "digits.exll", "held-out", cwd=tmp_path / "here")["examples"] == 359


def test_info_shows_a_model_and_takes_odd_names_literally(tmp_path: Path) -> None:
    stream = random_stream(3, samples=90, classes=3)
    names = ("mug", "pan", "[red]pot")
    ExLLClassifier("paper").fit(stream.X, [names[k] for k in stream.y]).save(tmp_path / "m.exll")
    result = exll("info", tmp_path / "m.exll")
    assert result.returncode == 0
    for words in ("3 classes", "paper", "90", "mug", "[red]pot"):
        assert words in result.stdout


def test_errors_are_one_line_with_exit_code_1(tmp_path: Path) -> None:
    for command in (("info",), ("predict", tmp_path / "x.png"), ("evaluate", tmp_path)):
        result = exll(command[0], tmp_path / "none.exll", *command[1:])
        assert result.returncode == 1
        assert result.stdout == ""
        assert result.stderr.startswith("exll: there is no model file at ")
        assert result.stderr.count("\n") == 1
    assert "Traceback" in exll("--debug", "info", tmp_path / "none.exll").stderr
    assert exll("learn", tmp_path / "nothing", "-m", tmp_path / "m.exll").stderr.startswith("exll: There is no ")


def test_wrong_usage_has_exit_code_2() -> None:
    assert exll("info").returncode == 2
    assert exll("sing").returncode == 2


def test_version_help_and_backbones() -> None:
    assert exll("--version").stdout == f"exll {__version__}\n"
    assert "learn" in exll("--help").stdout
    listed = exll("backbone", "list").stdout
    assert listed.startswith("nano ")
    assert "resnet-18" in listed
    assert exll("backbone", "add", "giant").returncode == 1


@pytest.mark.parametrize(
    ("command", "forbidden"),
    [
        (["--help"], ("numpy", "scipy", "sklearn", "onnxruntime", "matplotlib", "PIL", "safetensors")),
        (["learn", "--help"], ("numpy", "scipy", "sklearn", "onnxruntime", "matplotlib", "PIL", "safetensors")),
        (["info"], ("scipy", "sklearn", "onnxruntime", "matplotlib", "PIL")),
    ],
)
def test_commands_import_no_more_than_they_need(command: list[str], forbidden: tuple[str, ...], tmp_path: Path) -> None:
    if command == ["info"]:
        ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "m.exll")
        command = ["info", str(tmp_path / "m.exll")]
    code = (
        f"import sys\nfrom exll.cli.main import app\ntry:\n    app({command})\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {forbidden} if m in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr.strip() == "[]"


def test_the_page_of_commands_says_what_may_be_left_out() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "## exll studio [DIR]\n" in page
    assert re.search(r"\| `\[DIR\]` \| .* \[default: studio\] \|", page)
    assert "## exll predict MODEL IMAGES...\n" in page
