"""The demo, as a newcomer meets it."""

import re
from pathlib import Path

import pytest

from commands import exll, exll_json
from exll.cli.demo import _best_and_worst
from exll.features.backbone import DEFAULT
from exll.prediction import Prediction


@pytest.mark.slow
def test_the_demo_says_how_many_were_right_and_leaves_pages_with_pictures(tmp_path: Path) -> None:
    result = exll("demo", "--out", "here", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    right, asked = re.findall(r"(\d+) of (\d+) answers are right", said)[0]
    assert int(asked) == 108
    assert int(right) > 90
    found = exll_json("info", tmp_path / "here" / "household.exll")
    assert (found["examples"], len(found["classes"]), found["backbone"]) == (108, 12, DEFAULT)
    for name in ("best.html", "worst.html", "rules.html"):
        assert str(Path("here") / name) in said
        page = (tmp_path / "here" / name).read_text(encoding="utf-8")
        assert "data:image/webp" in page
        assert "not found" not in page
    # What the demo leaves can be gone on with.
    named = tmp_path / "here" / "asked" / "clock" / "clock-1-clutter-1.jpg"
    assert exll_json("explain", tmp_path / "here" / "household.exll", named)["label"] == "clock"


def test_the_best_case_is_right_and_the_worst_is_wrong_or_else_the_least_similar() -> None:
    answers = [
        Prediction("mug", sure, None, "usual", novelty) for sure, novelty in ((0.9, 0.1), (0.8, 2.0), (0.7, 0.0))
    ]
    assert _best_and_worst(answers, [True, True, False]) == (0, 2)
    assert _best_and_worst(answers, [False, True, False]) == (1, 0)
    assert _best_and_worst(answers, [True, True, True]) == (2, 1)


def test_the_demo_has_no_seed_below_0(tmp_path: Path) -> None:
    result = exll("demo", "--seed", "-1", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "-1 is not in the range x>=0" in result.stderr
