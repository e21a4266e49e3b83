"""A file is opened as what it holds, or refused."""

from pathlib import Path

import numpy as np
import pytest

from commands import exll
from exll import Baseline, ExLLClassifier, ImageLearner, ModelFileError, load
from exll.baselines import NCM, SLDA
from support import assert_equal_models


def test_a_file_is_opened_as_what_the_caller_expects(tmp_path: Path) -> None:
    NCM().fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "ncm.exll")
    learner = ImageLearner("nano")
    learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
    learner.save(tmp_path / "image.exll")
    assert type(load(tmp_path / "ncm.exll", Baseline)) is NCM
    assert type(load(tmp_path / "image.exll")) is type(load(tmp_path / "image.exll", ImageLearner)) is ImageLearner
    assert_equal_models(load(tmp_path / "image.exll", ExLLClassifier), learner.classifier)
    with pytest.raises(ModelFileError, match=r"ncm\.exll holds a model of the class NCM, not ExLLClassifier\."):
        load(tmp_path / "ncm.exll", ExLLClassifier)
    with pytest.raises(ModelFileError, match=r"image\.exll holds a model of the class ImageLearner, not SLDA\."):
        load(tmp_path / "image.exll", SLDA)


@pytest.mark.parametrize("command", [("evaluate", "data.npz"), ("predict", "x.png"), ("explain", "x.png"), ("rules",)])
def test_commands_say_that_a_file_holds_a_baseline(tmp_path: Path, command: tuple[str, ...]) -> None:
    NCM().fit(np.eye(3), ["a", "b", "c"]).save(tmp_path / "ncm.exll")
    result = exll(command[0], tmp_path / "ncm.exll", *command[1:])
    assert (result.returncode, result.stdout) == (1, "")
    assert "ncm.exll holds the baseline ncm; commands take" in result.stderr or "of the class NCM, not" in result.stderr
