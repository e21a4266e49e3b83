"""The demo, as a newcomer meets it."""

import re
from pathlib import Path

import pytest

from commands import exll, exll_json
from exll.cli.demo_page import Answered, best, most_novel, worst
from exll.features.backbone import DEFAULT
from exll.prediction import Prediction
from exll.types import Level


@pytest.mark.slow
def test_the_demo_says_what_was_right_and_leaves_pages_that_lead_to_each_other(after_demo: Path) -> None:
    said = " ".join((after_demo / "said.txt").read_text().split())
    here = after_demo / "exll-demo"
    (asked, right), (_, unknown), (_, right_after) = re.findall(r"Of (\d+) answers (\d+) (?:are|is)", said)
    assert int(asked) == 99
    assert min(int(right), int(right_after)) > 85
    assert int(unknown) > 0
    assert "The banana: All 9 answers are right." in said
    assert (here / "index.html").as_uri() in said
    found = exll_json("info", here / "household.exll")
    assert (found["examples"], len(found["classes"]), found["backbone"]) == (108, 12, DEFAULT)
    pages = {path.name: path.read_text(encoding="utf-8") for path in here.glob("*.html")}
    assert pages.keys() == {"index.html", "right.html", "wrong.html", "new.html", "rules.html"}
    assert {*re.findall(r'href="([^"]*)"', pages["index.html"])} == pages.keys() - {"index.html"}
    for page in pages.values():
        assert "data:image/webp" in page
        assert "not found" not in page
    assert "The right answer is" not in pages["right.html"]
    assert "The right answer is" in pages["wrong.html"]
    # What the demo leaves can be gone on with.
    named = here / "asked" / "clock" / "clock-1-clutter-1.jpg"
    assert exll_json("explain", here / "household.exll", named)["label"] == "clock"


def answered(label: str, probability: float, level: Level, novelty: float) -> Answered:
    return Answered("1.jpg", "mug", Prediction(label, probability, None, level, novelty))


def test_the_pages_show_the_most_usual_right_answer_the_surest_wrong_one_and_the_newest_unknown() -> None:
    right = [answered("mug", 0.9, "usual", 0.5), answered("mug", 0.8, "unusual", 0.1)]
    wrong = [answered("key", 0.7, "usual", 0.0), answered("key", 0.8, "usual", 9.0)]
    unknown = [answered("mug", 0.9, "unknown", 3.0), answered("mug", 0.9, "unknown", 4.0)]
    everything = [*right, *wrong, *unknown]
    assert (best(everything), worst(everything), most_novel(everything)) == (right[1], wrong[1], unknown[1])
    assert (best(wrong), worst(right), most_novel(right)) == (None, None, right[0])


def test_the_demo_leaves_a_folder_with_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    done = exll("demo", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (1, f"exll: {tmp_path} holds other files; name a new folder with --out.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_the_demo_has_no_seed_below_0(tmp_path: Path) -> None:
    result = exll("demo", "--seed", "-1", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "-1 is not in the range x>=0" in result.stderr
