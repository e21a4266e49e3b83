"""The command line answers: predict, explain, rules and suspects, in words, JSON and pages."""

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from commands import exll, exll_json
from exll import ExLLClassifier
from exll.cli import common
from exll.learner.glocal import judgement
from pictures import picture, write_class_folder
from support import both_presets, random_stream


@pytest.mark.slow
def test_a_model_explains_itself_in_words_and_in_json(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data, "-m", model).returncode == 0
    picture(2, 99).save(tmp_path / "new.png")
    words = exll("explain", model, tmp_path / "new.png").stdout
    assert words.startswith('"kind 2" (')
    assert "The nearest single group and the classes as a whole both give" in words
    assert 'hit          "kind 2", similarity 0.' in words
    assert 'near miss    "kind ' in words
    assert exll_json("explain", model, tmp_path / "new.png")["hit"]["label"] == "kind 2"
    printed = exll("rules", model).stdout
    assert printed.count('THEN it is "kind 1"') >= 1
    assert "single example" in printed
    assert exll("rules", model, "--level", "megacloud", "--of", "kind 1").stdout.count("IF") == 1
    assert exll("rules", model, "--of", "nobody").returncode == 1


@pytest.mark.slow
def test_what_is_like_nothing_taught_is_called_unknown_by_every_command(data: Path, tmp_path: Path) -> None:
    model, odd = tmp_path / "m.exll", tmp_path / "odd.png"
    assert exll("learn", data, "-m", model).returncode == 0
    Image.new("RGB", (48, 48), "white").save(odd)
    metadata = exll_json("explain", model, odd)
    assert metadata["known"] is False
    nearest = metadata["label"]
    assert exll("predict", model, odd).stdout == f"{odd}: unknown (nearest is {nearest})\n"
    words = exll("explain", model, odd).stdout
    assert words.startswith(f'unknown (nearest is "{nearest}")\n')
    result = exll("explain", model, odd, "-o", "why.html", cwd=tmp_path)
    assert result.stdout == f'why.html: why odd.png is unknown (nearest is "{nearest}")\n'
    assert "<h1>Unknown</h1>" in (tmp_path / "why.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_folder_without_images_is_one_sentence(data: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    model, empty = tmp_path / "m.exll", tmp_path / "empty"
    assert exll("learn", data, "-m", model, "--order", "few-shot 1", "--backbone", "nano").returncode == 0
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
    assert "data:image/webp" in rules.read_text(encoding="utf-8")  # its refs led from another folder
    metadata = exll_json("explain", model, tmp_path / "new.png", "-o", why)
    assert metadata["label"] == "kind 2"


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


def test_rules_in_the_terminal_are_few_per_class_and_say_so(tmp_path: Path) -> None:
    stream = random_stream(3, samples=200, classes=4, width=6)
    model = ExLLClassifier(records="refs").fit(stream.X, [f"kind {k}" for k in stream.y])
    model.save(tmp_path / "m.exll")
    rules = len(model.rules())

    def said(*options: str) -> list[str]:
        return exll("rules", tmp_path / "m.exll", *options).stdout.splitlines()

    for options, each in (((), 3), (("--top", "2"), 2)):
        lines = said(*options)
        assert [sum(f'THEN it is "kind {k}"' in line for line in lines) for k in range(4)] == [each] * 4
        assert lines[-1] == f"{rules - 4 * each} smaller rules not shown; --top N shows N per class"
    assert "not shown" not in said("--of", "kind 1")[-1]
    assert len(exll_json("rules", tmp_path / "m.exll")) == rules
    assert len(exll_json("rules", tmp_path / "m.exll", "--top", "1")) == 4


def test_suspects_are_named(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=3, each=15)
    wrong = folder / "kind 0" / "wrong.png"
    picture(1, 500).save(wrong)
    (folder / "kind 2" / "copy.png").write_bytes((folder / "kind 1" / "003.png").read_bytes())
    assert exll("learn", folder, "-m", tmp_path / "m.exll").returncode == 0
    metadata = exll_json("suspects", tmp_path / "m.exll")
    assert str(wrong) in [suspect["name"] for suspect in metadata["suspects"]]
    assert len(metadata["contradictions"]) == 1
    words = exll("suspects", tmp_path / "m.exll").stdout
    assert "one image, several labels: " in words
    assert f'{wrong}: taught as "kind 0", the others say "kind 1", ' in words
    assert " times likelier\n" in words
    result = exll("suspects", tmp_path / "m.exll", "-o", tmp_path / "suspects.html")
    assert result.stdout.startswith(f"{tmp_path / 'suspects.html'}: {metadata['contradicted']} of 47 examples may have")
    page = (tmp_path / "suspects.html").read_text(encoding="utf-8")
    own = next(article for article in page.split("<article>") if 'alt="wrong.png"' in article)
    assert own.count("<img") == 7  # it, and three of each class
    assert "One image, several labels" in page


def test_evaluate_counts_what_predict_prints(data: Path, tmp_path: Path) -> None:
    model, asked = tmp_path / "m.exll", write_class_folder(tmp_path / "asked", classes=5, each=8, first=300)
    assert exll("learn", data, "-m", model, "--backbone", "nano").returncode == 0
    strict = ("--false-alarms", "0.3")
    rows = [
        (Path(row["path"]).parent.name, row["label"], row["level"])
        for row in csv.DictReader(io.StringIO(exll("predict", model, asked, "--csv", *strict).stdout))
    ]
    result = exll("evaluate", model, asked, "-o", tmp_path / "report.html", *strict)
    assert result.returncode == 0, result.stderr
    counted = exll_json("evaluate", model, asked, *strict)
    groups = {None: rows} | {k: [row for row in rows if row[0] == k] for k in sorted({row[0] for row in rows})}
    assert {entry["label"] for entry in counted["classes"]} == set(groups) - {None}
    for entry in (counted | {"label": None}, *counted["classes"]):
        own = groups[entry["label"]]
        said = Counter((level, truth == label) for truth, label, level in own)
        assert entry["examples"] == len(own)
        assert (entry["right"], entry["wrong"]) == (said["usual", True], said["usual", False])
        assert (entry["unusual"], entry["unusual_right"]) == (
            said["unusual", True] + said["unusual", False],
            said["unusual", True],
        )
        assert entry["unknown"] == said["unknown", True] + said["unknown", False]
        assert entry["accuracy"] == sum(truth == label for truth, label, _ in own) / len(own)
    confused = Counter((truth, label) for truth, label, level in rows if truth != label and level != "unknown")
    assert {(one["truth"], one["label"]): one["count"] for one in counted["confusions"]} == confused
    assert len({level for _, _, level in rows}) > 1  # or the test would be an easy one
    assert "never taught, so it cannot be right: kind 3, kind 4" in result.stdout
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("file not found") == 0


def test_evaluate_says_that_examples_were_taught(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    assert exll("learn", data, "-m", model, "--backbone", "nano", "--no-cache").returncode == 0
    done = exll("evaluate", model, data, "--no-cache")
    assert re.match(r"all \d+ examples were taught to the model: ", done.stderr)
    assert exll_json("evaluate", model, data, "--no-cache")["taught"] > 0


def test_the_likeliest_classes_are_named_in_words_columns_and_lists(data: Path, tmp_path: Path) -> None:
    model, new = tmp_path / "m.exll", tmp_path / "new.png"
    assert exll("learn", data, "-m", model, "--backbone", "nano").returncode == 0
    picture(1, 99).save(new)
    (listed,) = exll_json("predict", model, new, "--top", "2")
    (row,) = csv.DictReader(io.StringIO(exll("predict", model, new, "--top", "2", "--csv").stdout))
    assert [entry["label"] for entry in listed["top"]] == [listed["label"], listed["runner_up"]]
    assert listed["top"][0]["probability"] == pytest.approx(listed["probability"])
    assert (row["label"], row["label_2"]) == (listed["label"], listed["runner_up"])
    assert float(row["probability_2"]) == listed["top"][1]["probability"]
    (all_of_them,) = exll_json("predict", model, new, "--top", "9")
    assert sum(entry["probability"] for entry in all_of_them["top"]) == pytest.approx(1)
    words = exll("predict", model, new, "--top", "3", "--false-alarms", "0.0001").stdout
    assert [part.split(" (")[0] for part in words.split(": ")[1].split(", ")] == [
        entry["label"] for entry in all_of_them["top"]
    ]


def test_an_image_may_come_by_standard_input(data: Path, tmp_path: Path) -> None:
    model, new = tmp_path / "m.exll", tmp_path / "new.png"
    assert exll("learn", data, "-m", model, "--backbone", "nano").returncode == 0
    picture(1, 99).save(new)
    by_name, piped = exll("predict", model, new), exll("predict", model, "-", stdin=new.read_bytes())
    assert piped.stdout == by_name.stdout.replace(str(new), "-")
    assert exll("explain", model, "-", stdin=new.read_bytes()).stdout == exll("explain", model, new).stdout
    result = exll("explain", model, "-", "-o", tmp_path / "why.html", stdin=new.read_bytes())
    assert "why.html: why standard input is taken for" in result.stdout
    nothing = exll("predict", model, "-", new)
    assert (nothing.returncode, nothing.stdout) == (1, by_name.stdout)
    assert nothing.stderr == "standard input: the image is empty (0 bytes).\n"


def test_a_model_of_one_class_says_so_and_gives_no_percentage(tmp_path: Path) -> None:
    write_class_folder(tmp_path / "data", classes=1, each=3)
    assert exll("learn", tmp_path / "data", "-m", tmp_path / "m.exll", "--backbone", "nano").returncode == 0
    picture(0, 0).save(tmp_path / "new.png")
    said = exll("predict", "m.exll", "new.png", cwd=tmp_path).stdout
    assert said == "new.png: kind 0 (the only class it knows)\n"
    assert exll("explain", "m.exll", "new.png", cwd=tmp_path).stdout.startswith('"kind 0" (the only class it knows)\n')


def test_commands_are_as_strict_as_the_library_unless_they_are_told() -> None:
    assert common.FALSE_ALARMS == judgement.FALSE_ALARMS
    assert exll("predict", "m.exll", "x.png", "--false-alarms", "1").returncode == 2


@both_presets
def test_progress_is_a_table_with_the_weakest_classes_first(preset: str, tmp_path: Path) -> None:
    stream = random_stream(3, samples=200, classes=4, width=6)
    model = ExLLClassifier(preset).fit(stream.X, [f"kind {k}" for k in stream.y])
    model.save(tmp_path / "m.exll")
    header, *rows = exll("progress", tmp_path / "m.exll", "--top", "3").stdout.splitlines()
    expected = model.progress()
    assert [row.split("  ")[0] for row in rows[:3]] == [str(entry.label) for entry in expected[:3]]
    advice = header.index("what would help most")
    assert [row[advice:] for row in rows[:3]] == [entry.advice for entry in expected[:3]]
    enough = sum(entry.verdict == "enough" for entry in expected)
    assert rows[3] == f"{enough} of 4 classes seem to have enough examples; 1 not shown"
    assert ("before they were learned" in rows[4]) == (preset == "paper")
    assert rows[-1].startswith("The model has seen only the photos you taught")
    assert exll_json("progress", tmp_path / "m.exll") == [entry.to_dict() for entry in expected]
