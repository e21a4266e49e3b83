"""Edits change the model in place: answers are right when the edit is acknowledged, with nothing to wait for."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from exll.errors import InputError
from exll.studio import live
from exll.studio.actions import delete, delete_class, merge_class, purge, relabel, rename_class, teach_images, undo
from exll.studio.model import Model
from exll.studio.project import Project
from hand import Hand
from served import PATIENCE, assert_model_is_its_log, assert_model_knows_its_log, settle


@pytest.fixture(autouse=True)
def _small_models_are_changed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FEW", 32)


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[Hand]:
    """A project of 3 classes with 14 examples each."""
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(0))
        teach_kinds(hand)
        yield hand


def teach_kinds(hand: Hand) -> None:
    for _ in range(7):
        for label in ("mug", "pan", "cup"):
            hand.teach(label, 2)


EDITS: dict[str, Callable[[Project], object]] = {
    "relabel": lambda project: relabel(project, [1, 3, 4], "mug"),
    "relabel to a new class": lambda project: relabel(project, [1, 3, 8], "jug"),
    "delete": lambda project: delete(project, [1, 2, 9, 42]),
    "rename": lambda project: rename_class(project, "pan", "bowl"),
    "merge": lambda project: merge_class(project, "pan", "cup"),
    "delete a class": lambda project: delete_class(project, "pan"),
    "delete nearly all": lambda project: delete(project, range(1, 30)),
    "delete all": lambda project: delete(project, range(1, 43)),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_and_its_undo_are_in_the_model_when_they_are_acknowledged(
    hand: Hand, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.Live, "_rebuild_in_background", forbidden)
    before = hand.project.store.counts()
    hand.write(lambda: EDITS[kind](hand.project))
    assert hand.project.store.counts() != before
    assert_model_knows_its_log(hand.project, alike=kind != "merge")
    hand.write(lambda: undo(hand.project))
    assert hand.project.store.counts() == before
    assert_model_knows_its_log(hand.project)


def forbidden(_: object) -> None:
    raise AssertionError("nothing was to be replayed")


def test_a_class_that_is_renamed_and_named_back_is_the_same_to_the_last_bit(hand: Hand) -> None:
    hand.write(lambda: rename_class(hand.project, "pan", "bowl"))
    assert_model_is_its_log(hand.project)
    hand.write(lambda: undo(hand.project))
    assert_model_is_its_log(hand.project)


def test_what_takes_long_to_make_is_made_again_after_an_edit_that_keeps_the_count(hand: Hand) -> None:
    model = hand.project.live.current
    assert "pan" in model.remembered("labels", lambda classifier: classifier.classes_.tolist())
    hand.write(lambda: rename_class(hand.project, "pan", "bowl"))
    assert hand.project.live.current is model
    assert "bowl" in model.remembered("labels", lambda classifier: classifier.classes_.tolist())


def test_nobody_sees_half_of_an_edit(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what was acknowledged before had not been copied yet."""
    monkeypatch.setattr(live, "QUIET_SECONDS", 60)
    hand.teach("mug", 1)
    model, learn, seen = hand.project.live.current, Model.learn, []

    def watched(model: Model, rows: object) -> None:
        seen.append(model.snapshot.classifier.learner_.sample_count)
        learn(model, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(Model, "learn", watched)
    hand.write(lambda: relabel(hand.project, [1, 2], "pan"))
    assert seen == [43]
    assert model.snapshot.classifier.learner_.sample_count == 43


def test_a_model_that_cannot_be_edited_is_replayed(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise InputError("this cannot be forgotten.")

    monkeypatch.setattr(Model, "edit", failing)
    hand.write(lambda: delete(hand.project, [1, 2]))
    settle(hand.project)
    assert_model_is_its_log(hand.project)


def test_an_edit_that_breaks_off_half_way_is_replayed(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, learn = hand.project.live.current, Model.learn

    def breaking(model: Model, rows: object) -> None:
        if model is broken:
            raise MemoryError
        learn(model, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(Model, "learn", breaking)
    hand.write(lambda: relabel(hand.project, [1, 2], "pan"))
    settle(hand.project)
    assert_model_is_its_log(hand.project)


def test_where_very_much_comes_back_nobody_has_to_wait_for_it(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_IN_PLACE", 3)
    hand.write(lambda: relabel(hand.project, [1, 2, 7, 8], "pan"))
    settle(hand.project)
    assert_model_is_its_log(hand.project)


def test_the_preset_paper_is_renamed_in_place_and_else_replayed(tmp_path: Path) -> None:
    with Project(tmp_path / "p", "nano", "paper") as project:
        hand = Hand(project, np.random.default_rng(0))
        teach_kinds(hand)
        model = project.live.current
        hand.write(lambda: rename_class(project, "pan", "bowl"))
        assert (project.live.current, project.live.rebuilding) == (model, False)
        assert_model_is_its_log(project)
        hand.write(lambda: delete(project, [1]))
        settle(project)
        assert project.live.current is not model
        assert_model_is_its_log(project)


def test_while_others_teach_and_ask_edits_are_exact(hand: Hand) -> None:
    project, ended, failed = hand.project, threading.Event(), []

    def ask() -> None:
        vectors = [hand.centres[label].astype(np.float32) for label in ("mug", "cup")]
        while not ended.is_set():
            labels = [project.live.current.predict(vector).label for vector in vectors]
            if labels != ["mug", "cup"]:
                failed.append(labels)

    offers = {label: [hand.offer(label) for _ in range(8)] for label in ("mug", "cup")}

    def teach(label: str) -> None:
        for offer in offers[label]:
            project.live.write(lambda offer=offer: teach_images(project, [offer], label, False)).result()  # type: ignore[misc]

    threads = [threading.Thread(target=teach, args=(label,)) for label in offers]
    asking = threading.Thread(target=ask)
    for thread in (asking, *threads):
        thread.start()
    for number in (3, 4, 9, 10):
        hand.write(lambda number=number: relabel(project, [number], "jug"))  # type: ignore[misc]
        hand.write(lambda number=number: delete(project, [number + 6]))  # type: ignore[misc]
    for thread in threads:
        thread.join()
    ended.set()
    asking.join()
    assert failed == []
    assert_model_knows_its_log(project)


def test_an_edited_model_is_saved_in_a_quiet_moment_and_opened_again(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LONG_QUIET_SECONDS", 0.01)
    hand.write(lambda: delete(hand.project, [1, 2]))
    for _ in range(100 * PATIENCE):
        if hand.project.checkpoints.newest() is not None:
            break
        threading.Event().wait(0.01)
    hand.project.live._save_checkpoint = lambda: None  # type: ignore[method-assign]  # as after a power cut
    hand.project.close()
    with Project(hand.project.folder) as project:
        assert project.checkpoints.newest() is not None
        assert_model_knows_its_log(project)


KILLED = """
import os, sys
from pathlib import Path
from exll.studio.actions import {action}
from exll.studio.live import Live
from exll.studio.project import Project

Live.edit = lambda *_: os.kill(os.getpid(), {signal})
project = Project(Path(sys.argv[1]))
project.live.write(lambda: {action}(project, {arguments})).result()
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("action", "arguments"), [("delete", "[1, 2]"), ("rename_class", "'pan', 'bowl'"), ("undo", "")]
)
def test_killed_between_the_commit_and_the_model_answers_are_right_after_the_next_start(
    hand: Hand, action: str, arguments: str
) -> None:
    hand.project.close()
    code = KILLED.format(action=action, arguments=arguments, signal=int(signal.SIGKILL)).replace(", )", ")")
    ended = subprocess.run([sys.executable, "-c", code, str(hand.project.folder)], env={**os.environ})
    assert ended.returncode == -signal.SIGKILL
    with Project(hand.project.folder) as project:
        assert project.checkpoints.newest() is None  # those on the disk stand for what was before
        assert project.store.counts() != {"mug": 14, "pan": 14, "cup": 14}
        assert_model_is_its_log(project)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_after_a_hundred_random_steps_the_model_knows_its_log(tmp_path: Path, seed: int) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(seed))
        most = 0
        for step in range(100):
            hand.step()
            most = max(most, sum(project.store.counts().values()))
            if step % 10 == 9:
                assert_model_knows_its_log(project, alike=False)
        assert most > 2 * live.FEW


def test_no_saved_model_holds_what_was_purged(hand: Hand) -> None:
    project, models = hand.project, hand.project.folder / "models"
    hand.write(project.live._save_checkpoint)
    assert len(list(models.iterdir())) == 1
    hand.write(lambda: delete(project, [1, 2]))
    hand.write(lambda: purge(project))
    assert not list(models.iterdir())
