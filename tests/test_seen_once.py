"""Whatever is asked about an image: it is decoded once and goes through the network once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import exll
from exll import ImageLearner, load
from exll.cli.explain import write_page
from exll.features.backbone import OnnxBackbone
from exll.features.image import read_image
from pictures import picture, write_class_folder
from served import png, served


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """How often images are decoded and the network runs."""
    counts = {"decoded": 0, "run": 0}
    run = OnnxBackbone._run

    def count_reading(*arguments: Any, **options: Any) -> Any:
        counts["decoded"] += 1
        return read_image(*arguments, **options)

    def count_running(*arguments: Any) -> Any:
        counts["run"] += 1
        return run(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exll.features.backbone.read_image", count_reading)
        patch.setattr(OnnxBackbone, "_run", count_running)
        yield counts


@pytest.fixture(scope="module")
def learner() -> ImageLearner:
    made = ImageLearner(OnnxBackbone("nano", threads=1))
    for seed in range(4):
        for kind in range(3):
            made.learn(picture(kind, seed), f"kind {kind}")
    return made


def test_a_page_of_why_needs_one_look(learner: ImageLearner) -> None:
    with counted() as counts:
        case = learner.case(picture(1, 50), "x.png")
    assert len(case.maps) == 2
    assert case.picture is not None
    assert counts == {"decoded": 1, "run": 1}
    with counted() as counts:
        seen = learner.see(picture(1, 50))
        learner.explain(seen)
        learner.evidence_map(seen, "kind 1", "kind 0")
    assert counts == {"decoded": 1, "run": 1}
    with counted() as counts:
        learner.explain(picture(1, 50))
    assert counts == {"decoded": 1, "run": 1}


def test_all_that_the_studio_says_of_an_image_needs_one_look(tmp_path: Path) -> None:
    with served(tmp_path / "project") as studio:
        for kind in range(3):
            studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(3)))
        with counted() as counts:
            asked = studio.ask(png(1, 50)).json()["asked"]
            answer = studio.client.post("/api/explain", data={"asked": asked}).json()
            for where in answer["where"]:
                assert studio.client.get(where["picture"]).headers["content-type"] == "image/png"
            assert studio.client.post("/api/correct", data={"asked": asked, "label": "kind 2"}).status_code == 200
        assert len(answer["where"]) == 2
        assert counts == {"decoded": 1, "run": 1}


def test_the_command_line_needs_one_look(tmp_path: Path) -> None:
    write_class_folder(tmp_path / "photos", classes=2, each=3)
    assert exll("learn", tmp_path / "photos", "--model", tmp_path / "m.exll", "--backbone", "nano").returncode == 0
    photo, model = tmp_path / "photos" / "kind 0" / "000.png", tmp_path / "m.exll"
    with counted() as counts:
        write_page(load(model, ImageLearner), photo, model, tmp_path / "why.html")
    assert counts == {"decoded": 1, "run": 1}
