"""Whoever asks the studio waits for nobody who teaches, though there is one learner only."""

import gc
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from exll.learner.lagging import LaggingPrecision
from exll.learner.statistics import Scatter
from exll.studio import live
from exll.studio.model import Model
from exll.studio.project import Project
from served import PATIENCE, Served, assert_model_is_its_log, png, served
from support import blas_threads

PAGES = ("classes", "rules", "map", "suspects", "project", "project/report")


def teach_some(studio: Served) -> None:
    for kind in range(3):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(4)))


def held_in_memory(kind: type) -> int:
    gc.collect()
    return sum(isinstance(thing, kind) for thing in gc.get_objects())


@pytest.mark.slow
def test_every_question_is_answered_while_the_writer_learns(studio: Served) -> None:
    teach_some(studio)
    asked = studio.ask(png(1, 50)).json()
    with studio.project.live.current.learner.classifier.learner_._changing():
        assert studio.ask(png(1, 50)).json() == asked
        explained = studio.ask(png(1, 50), "/api/explain").json()
        assert explained["prediction"] == asked["prediction"]
        for where in explained["where"]:
            assert studio.client.get(where["picture"]).status_code == 200
        for page in PAGES:
            assert studio.client.get(f"/api/{page}").status_code == 200


def test_photos_taught_one_by_one_are_copied_once_when_somebody_asks(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "QUIET_SECONDS", 60)
    teach_some(studio)
    copies, copy = [], Model._copy

    def counted(model: Model) -> None:
        copies.append(model.position)
        copy(model)

    monkeypatch.setattr(Model, "_copy", counted)
    assert studio.ask(png(3, 0)).json()["prediction"]["label"] != "new"
    before = len(copies)
    numbers = [studio.taught("new", png(3, seed))[0] for seed in range(4)]
    assert len(copies) == before
    for _ in range(2):
        assert studio.ask(png(3, 0)).json()["prediction"]["label"] == "new"
    assert copies[before:] == [numbers[-1]]


def test_where_nothing_more_is_taught_the_next_who_asks_waits_for_nobody(studio: Served) -> None:
    teach_some(studio)
    model, deadline = studio.project.live.current, time.monotonic() + PATIENCE
    while model._copied[0] < model._version:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with model.learner.classifier.learner_._changing():
        assert studio.ask(png(1, 50)).json()["prediction"]["label"] == "kind 1"


@pytest.mark.slow
def test_one_learner_is_in_memory(tmp_path: Path) -> None:
    of_one_learner = {Scatter: 2, LaggingPrecision: 1}  # the lift has a scatter of its own
    before = {kind: held_in_memory(kind) for kind in of_one_learner}
    with served(tmp_path / "p") as studio:
        teach_some(studio)
        assert {kind: held_in_memory(kind) - count for kind, count in before.items()} == of_one_learner
        model = studio.project.live.current
        own, shown = (one.classifier.learner_._records.all_vectors() for one in (model.learner, model.snapshot))
        assert own is not None
        assert shown is not None
        assert np.shares_memory(own.codes, shown.codes)


def test_a_model_that_broke_off_leaves_no_checkpoint_and_is_replayed_at_the_next_start(tmp_path: Path) -> None:
    with served(tmp_path / "p") as studio:
        teach_some(studio)
        assert studio.ask(png(0, 50)).status_code == 200
        studio.project.live.current.learner.classifier.learner_._broken = True
        assert studio.ask(png(0, 50)).status_code == 200
    with Project(tmp_path / "p") as project:
        assert project.checkpoints.newest() is None
        assert_model_is_its_log(project)


def test_blas_has_one_thread_while_a_project_is_open(tmp_path: Path) -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with Project(tmp_path / "p", "nano"):
            assert blas_threads() == {1}
        assert blas_threads() == {2}
