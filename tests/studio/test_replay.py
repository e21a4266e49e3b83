"""Where a model is replayed it is its log, to the last bit: after any steps, and from any checkpoint."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from exll.studio import live
from exll.studio.actions import delete, relabel, teach_images, undo
from exll.studio.model import Model
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, Row
from hand import Hand
from served import PATIENCE, assert_model_is_its_log, assert_model_knows_its_log, settle

pytestmark = pytest.mark.slow


@pytest.fixture
def nothing_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FEW", -1)
    monkeypatch.setattr(live.Live, "_is_quick", lambda *_: False)


@pytest.mark.usefixtures("nothing_in_place")
@pytest.mark.parametrize("seed", range(2))
def test_after_any_steps_the_model_equals_a_fresh_replay(tmp_path: Path, seed: int) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(seed))
        for i in range(40):
            hand.step()
            if i % 10 == 9:  # at other times the next step comes while a rebuild is under way
                settle(project)
                assert_model_is_its_log(project)


@pytest.mark.parametrize("checkpoint_every", [1, 7, LARGEST_ID])
def test_opened_again_the_model_knows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every: int
) -> None:
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", checkpoint_every)
    rng = np.random.default_rng(7)
    for _ in range(5):
        with Project(tmp_path / "p", "nano") as project:
            assert_model_knows_its_log(project, alike=False)
            hand = Hand(project, rng)
            for _ in range(12):
                hand.step()
            if checkpoint_every == LARGEST_ID:
                monkeypatch.setattr(project.live, "_save_checkpoint", lambda: None)  # as after a power cut
        names = [path.name for path in (tmp_path / "p" / "models").iterdir()]
        assert len(names) <= 2


def test_a_checkpoint_spares_the_replay_and_a_damaged_one_costs_it(tmp_path: Path) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(1))
        for _ in range(5):
            hand.teach()
        count = sum(project.store.counts().values())
    (checkpoint,) = (tmp_path / "p" / "models").iterdir()
    with Project(tmp_path / "p", "nano") as project:
        found = project.checkpoints.newest()
        assert found is not None
        assert found[1] == count
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    with Project(tmp_path / "p", "nano") as project:
        assert project.checkpoints.newest() is None
        assert_model_is_its_log(project)


@pytest.mark.usefixtures("nothing_in_place")
def test_answers_go_on_during_a_rebuild_and_what_is_taught_meanwhile_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(2))
        for _ in range(30):
            hand.teach()
        old = project.live.current
        going_on, learn = threading.Event(), Model.learn

        def waiting_learn(model: Model, rows: list[Row]) -> None:
            if model is not old:
                assert going_on.wait(30)
            learn(model, rows)

        monkeypatch.setattr(Model, "learn", waiting_learn)
        hand.write(lambda: delete(project, [1, 2, 3]))
        offers = [hand.offer("new one") for _ in range(4)]
        hand.write(lambda: teach_images(project, offers, "new one", False))
        assert project.live.rebuilding
        assert project.live.current is old
        assert old.predict(offers[0].image.vector).label == "new one"
        going_on.set()
        settle(project)
        assert project.live.current is not old
        assert project.live.current.predict(offers[0].image.vector).label == "new one"
        assert_model_is_its_log(project)


@pytest.mark.usefixtures("nothing_in_place")
def test_an_edit_during_a_rebuild_starts_it_anew(tmp_path: Path) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(3))
        for _ in range(40):
            hand.teach()
        for number in range(1, 20):
            hand.write(lambda number=number: delete(project, [number]))  # type: ignore[misc]
        settle(project)
        assert_model_is_its_log(project)


def test_learning_that_breaks_off_costs_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(4))
        hand.teach()
        broken, learn = project.live.current, Model.learn

        def breaking(model: Model, rows: list[Row]) -> None:
            if model is broken:
                raise MemoryError
            learn(model, rows)

        monkeypatch.setattr(Model, "learn", breaking)
        hand.teach()
        for _ in range(100 * PATIENCE):
            if project.live.current is not broken:
                break
            threading.Event().wait(0.01)
        assert_model_is_its_log(project)


def test_another_preset_or_version_is_never_taken_for_this_one_s_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Project(tmp_path / "p", "nano") as project:
        Hand(project, np.random.default_rng(5)).teach()
    monkeypatch.setattr("exll.studio.checkpoints.__version__", "9.9")
    with Project(tmp_path / "p", "nano") as project:
        assert project.checkpoints.newest() is None
        assert_model_is_its_log(project)


def test_a_replayed_model_takes_over_with_all_that_was_committed_and_only_while_it_is_not_outdated(
    tmp_path: Path,
) -> None:
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(6))
        for _ in range(4):
            hand.teach()
        store = project.store
        fresh, outdated = (Model(project.backbone, project.preset, g) for g in (store.generation, 0))
        fresh.learn(store.rows_after(0, 2))  # the rest was taught after it had caught up
        hand.write(lambda: project.live._adopt(outdated))
        assert project.live.current is not outdated
        hand.write(lambda: project.live._adopt(fresh))
        assert project.live.current is fresh
        assert_model_is_its_log(project)


def test_learning_gives_way_to_those_who_wait_for_an_answer_and_to_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("exll.studio.live.time.sleep", pauses.append)
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(5))
        hand.teach()
        hand.write(lambda: None)  # the writer is past what came after the row
        assert pauses == []
        with project.recent_images.answering(), project.recent_images.answering():
            assert project.recent_images.waiting == 2
            hand.teach()
            hand.write(lambda: None)
        assert pauses
        assert 0 < max(pauses) <= live.LONGEST_PAUSE
        before = len(pauses)
        assert project.recent_images.waiting == 0
        hand.write(lambda: None)
        hand.write(lambda: None)
        assert len(pauses) <= before + 1  # one may have been decided while they still waited


def test_after_a_quiet_while_an_undone_step_has_left_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.live.FEW", 10)
    monkeypatch.setattr("exll.studio.live.LONG_QUIET_SECONDS", 0.1)
    with Project(tmp_path / "p", "nano") as project:
        hand = Hand(project, np.random.default_rng(7))
        for _ in range(12):
            hand.teach()
        edited = project.live.current
        hand.write(lambda: relabel(project, [2, 3, 4], "jug"))
        hand.write(lambda: undo(project))
        assert project.live.settling or project.live.current is not edited
        deadline = time.monotonic() + PATIENCE
        while project.live.current is edited:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            assert not project.live.rebuilding  # nobody has to wait for it
        assert not project.live.settling
        assert_model_is_its_log(project)
