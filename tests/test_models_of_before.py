"""Models and projects taught with ``nano`` and one look, before there was another default: they go on as they were.

The files in tests/recorded were made by exll at commit 2431e8f, with what it answered then.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from exll import ImageLearner, load
from pictures import picture
from served import png, served
from support import PRESET_NAMES

RECORDED = Path(__file__).parent / "recorded"
ANSWERS: dict[str, Any] = json.loads((RECORDED / "nano-answers.json").read_text())


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_model_of_before_answers_as_it_did_and_goes_on(preset: str, tmp_path: Path) -> None:
    learner = load(RECORDED / f"nano-{preset}.exll", ImageLearner)
    assert isinstance(learner, ImageLearner)
    assert (learner.backbone.name, learner.backbone.looks) == ("nano", 1)
    answers = learner.predict([picture(i % 3, 100 + i) for i in range(9)])
    for answer, (label, probability, runner_up, known) in zip(answers, ANSWERS[preset], strict=True):
        assert answer.label == label
        if preset == "paper":  # models of glocal are judged anew when they are opened
            assert (answer.runner_up, answer.known) == (runner_up, known)
            assert answer.probability == pytest.approx(probability, abs=1e-5)
    learner.learn(picture(3, 0), "new")
    learner.save(tmp_path / "again.exll")
    assert load(tmp_path / "again.exll", ImageLearner).backbone.looks == 1


def test_a_project_of_before_answers_as_it_did_and_goes_on(tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORDED / "project-nano.zip") as archive:
        archive.extractall(tmp_path / "project")
    with served(tmp_path / "project", backbone=None) as studio:
        assert studio.project.backbone.looks == 1
        for i, expected in enumerate(ANSWERS["studio"]):
            answer = studio.ask(png(i % 3, 100 + i)).json()["prediction"]
            for name in ("label", "runner_up", "known"):
                assert answer[name] == expected[name]
            assert answer["probability"] == pytest.approx(expected["probability"], abs=1e-5)
        studio.taught("new", png(4, 1))
        assert studio.project.store.counts()["new"] == 1
