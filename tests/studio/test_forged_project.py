"""A project's folder from somebody else, made to open or remove files that are none of its own."""

import sqlite3
from pathlib import Path

import pytest

from exll.errors import ExLLError
from exll.features import backbone
from exll.studio import checkpoints
from exll.studio.project import Project
from exll.vision import ImageLearner
from networks import write_network
from pictures import picture
from served import assert_model_is_its_log, png, served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with served(tmp_path / "project") as studio:
        studio.taught("mug", png(0, 0), png(0, 1))
        studio.taught("pan", png(1, 0))
    return tmp_path / "project"


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return write_network(tmp_path / "other.onnx")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the networks that ONNX Runtime got to read."""
    names: list[str] = []
    session = backbone._session

    def noted(content: bytes, threads: int | None, name: str) -> object:
        names.append(name)
        return session(content, threads, name)

    monkeypatch.setattr(backbone, "_session", noted)
    return names


def write(project: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(project / "studio.db")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_a_checkpoint_that_names_a_network_is_not_opened(project: Path, network: Path, opened: list[str]) -> None:
    learner = ImageLearner(backbone.OnnxBackbone(network))
    learner.learn(picture(0, 0), "mug")
    (checkpoint,) = (project / "models").iterdir()
    learner.save(checkpoint)
    opened.clear()
    with Project(project) as again:
        assert opened == ["nano"]
        assert again.store.counts() == {"mug": 2, "pan": 1}
        assert_model_is_its_log(again)


def test_a_network_that_is_not_the_recorded_one_is_refused_before_it_is_run(
    project: Path, network: Path, opened: list[str]
) -> None:
    for source in (str(network), f"{project}/../other.onnx"):
        write(project, "UPDATE facts SET value = ? WHERE name = 'backbone'", source)
        with pytest.raises(ExLLError, match="is another one"):
            Project(project)
    assert opened == []


def test_no_file_outside_the_folder_of_models_is_removed(project: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("dear")
    for number in range(checkpoints.KEPT + 1):  # the oldest are removed when the next is saved
        write(project, "INSERT INTO snapshots VALUES (?, 0, ?, '0')", f"{'./' * number}../../letter.txt", number)
    with Project(project) as again:
        again.live.write(again.live._save_checkpoint).result()
    assert letter.read_text() == "dear"
