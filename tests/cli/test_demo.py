"""The demo, as a newcomer meets it."""

from pathlib import Path

import pytest

from commands import exll, exll_json


@pytest.mark.slow
def test_the_demo_learns_saves_and_shows_every_figure(tmp_path: Path) -> None:
    result = exll("demo", "--out", "here", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for words in (
        "global inference",
        "local inference",
        "fused inference",
        "local or global inference right",
        "prototypes",
        "bytes",
    ):
        assert words in result.stdout
    assert "learned per second" in result.stdout
    assert result.stdout.count("IF it resembles learned/") == 2
    metadata = exll_json("info", tmp_path / "here" / "digits.exll")
    assert f"the model, {metadata['file_bytes']:,} bytes;" in result.stdout
    assert metadata["examples"] == 1438
    assert metadata["backbone"] == "nano"
    assert len(metadata["classes"]) == 10
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


def test_the_demo_has_no_seed_below_0(tmp_path: Path) -> None:
    result = exll("demo", "--seed", "-1", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "-1 is not in the range x>=0" in result.stderr
