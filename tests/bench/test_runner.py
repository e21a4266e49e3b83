import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exll.baselines import NCM
from exll.bench.config import Plan
from exll.bench.executors import Local
from exll.bench.results import ResultsFile
from exll.bench.runner import run
from exll.errors import BenchError
from exll.streams.orderings import arrange
from exll.streams.stream import open_stream
from grids import LAST_SEEN, SLOW, plan, without_times, write_features

HERE = Local(1)


def one(folder: Path, learner: str, order: str, **facts: object) -> dict[str, object]:
    outcome = run(plan(folder, [learner], [order], **facts), folder / "out", HERE)
    assert not outcome.failed
    (result,) = outcome.results
    return result


def test_a_cell_says_what_doing_it_by_hand_says(tmp_path: Path) -> None:
    result = one(tmp_path, "ncm", "class-iid", seeds=[3])
    train, test = (open_stream(f"{tmp_path / 'data.npz'}:{part}") for part in ("train", "test"))
    assert train.vectors is not None
    stream = arrange(train.examples, "class-iid", 3)
    learner = NCM().partial_fit(train.vectors[np.array([e.row for e in stream])], [e.label for e in stream])
    truths = np.array([e.label for e in test.examples])
    right = learner.predict(train.vectors[np.array([e.row for e in test.examples])]) == truths
    assert result["variants"]["NCM"]["accuracy"] == right.mean()  # type: ignore[index]
    assert 0.5 < right.mean() < 1
    assert (result["examples"], result["questions"], result["classes"]) == (48, 48, 4)
    assert result["parameters"] == learner.n_parameters_
    assert result["bytes"] == learner.nbytes_


def test_a_learner_that_only_knows_its_last_class_forgets_all_others(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LAST_SEEN)
    result = one(tmp_path, "mine:LastSeen", "class-iid", evaluate="classes 1", test_then_train=4)
    facts = result["variants"]["LastSeen"]  # type: ignore[index]
    assert facts["accuracy"] == 0.25
    assert facts["forgetting"] == 1.0  # three classes, each from 1 to 0
    assert facts["backward_transfer"] == -1.0
    # Of 12 examples a class, in blocks of 4, the first block is asked while another class was the last one.
    assert facts["test_then_train"] == 32 / 48
    curve = [point["accuracy"]["LastSeen"] for point in result["curve"]]  # type: ignore[attr-defined]
    assert curve == [1.0, 0.5, pytest.approx(1 / 3), 0.25]


def test_exll_answers_with_three_variants_and_says_how_often_either_is_right(tmp_path: Path) -> None:
    result = one(tmp_path, "exll", "iid")
    variants = result["variants"]
    assert list(variants) == ["ExLL-M", "ExLL-P", "ExLL-F"]  # type: ignore[call-overload]
    best = max(variants["ExLL-M"]["accuracy"], variants["ExLL-P"]["accuracy"])  # type: ignore[index]
    assert best <= result["either_right"] <= 1  # type: ignore[operator]
    assert isinstance(result["parameters"], int)


def test_what_an_order_leaves_out_is_asked_where_there_is_no_test_part(tmp_path: Path) -> None:
    write_features(tmp_path / "data.npz", split=False)
    result = one(tmp_path, "ncm", "few-shot 5")
    assert (result["examples"], result["questions"]) == (20, 96 - 20)


def test_an_order_that_leaves_nothing_out_is_a_failure_that_stops_nothing_else(tmp_path: Path) -> None:
    write_features(tmp_path / "data.npz", split=False)
    outcome = run(plan(tmp_path, ["ncm"], ["iid", "few-shot 2"]), tmp_path / "out", HERE)
    assert len(outcome.results) == 1
    ((label, reason),) = outcome.failed.items()
    assert label == "NCM, data, iid, data.npz, seed 0"
    assert "the order iid leaves nothing out" in reason


def test_a_plan_of_which_nothing_can_be_asked_is_refused_before_any_work(tmp_path: Path) -> None:
    write_features(tmp_path / "data.npz", split=False)
    with pytest.raises(
        BenchError, match=r"nothing of data can be asked: .* the order iid or instance leaves nothing out"
    ):
        run(plan(tmp_path, ["ncm"], ["iid", "instance"]), tmp_path / "out", HERE)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("block", "share"),
    [
        (64, None),  # longer than the stream: nothing was asked
        (12, None),  # each block is a class of its own: only what was never taught was asked
        (11, (1 + 2 + 3 + 4) / 48),  # each block begins with some of the class before it; the last is of one class
    ],
)
def test_what_could_not_be_known_when_it_was_asked_is_no_share(tmp_path: Path, block: int, share: float | None) -> None:
    (tmp_path / "mine.py").write_text(LAST_SEEN)
    result = one(tmp_path, "mine:LastSeen", "class-iid", test_then_train=block)
    assert result["variants"]["LastSeen"]["test_then_train"] == share  # type: ignore[index]


def test_labels_that_come_late_are_learned_late(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LAST_SEEN)
    facts = {"evaluate": "classes 1", "test_then_train": 4}
    result = one(tmp_path, "mine:LastSeen", "class-iid", delay=4, **facts)
    # Four classes of 12 examples in blocks of 4: the first two blocks of each class find the class before it.
    assert result["variants"]["LastSeen"]["test_then_train"] == (3 - 2) * 4 * 4 / 48  # type: ignore[index]
    assert [point["classes"] for point in result["curve"]] == [1, 2, 3, 4]  # type: ignore[attr-defined]
    outcome = run(plan(tmp_path, ["mine:LastSeen"], ["class-iid"], delay=12, **facts), tmp_path / "out", HERE)
    assert "delay must be less than the examples before the first point, 12; got 12" in str(outcome.failed)


def test_wrong_labels_are_told_to_the_learner_and_to_nobody_else(tmp_path: Path) -> None:
    clean, wrong = (one(tmp_path, "ncm", "iid", **facts) for facts in ({}, {"wrong_labels": 0.9}))
    accuracies = [result["variants"]["NCM"]["accuracy"] for result in (clean, wrong)]  # type: ignore[index]
    assert accuracies[0] > 0.5 > accuracies[1]
    assert (wrong["options"], clean["options"]) == ({"wrong labels": "90%"}, {})


def test_a_share_held_out_is_asked_where_there_is_no_test_part(tmp_path: Path) -> None:
    write_features(tmp_path / "data.npz", split=False)
    result = one(tmp_path, "ncm", "iid", hold_out=0.3)
    assert (result["examples"], result["questions"]) == (64, 32)  # two of the six videos of every class


def test_a_learner_that_sees_all_data_at_once_is_asked_at_the_end_only(tmp_path: Path) -> None:
    stepwise = plan(tmp_path, ["ncm"], ["class-iid"], evaluate="classes 1", test_then_train=5)

    ncm = stepwise.learners[0]
    offline = replace(ncm, name="Offline NCM", offline=True)
    outcome = run(replace(stepwise, learners=(ncm, offline)), tmp_path / "out", HERE)
    assert [len(result["curve"]) for result in outcome.results] == [4, 1]
    asked_ahead = [result["variants"][result["learner"]]["test_then_train"] for result in outcome.results]
    assert asked_ahead[0] is not None
    assert asked_ahead[1] is None


def grid(folder: Path) -> Plan:
    return plan(folder, ["ncm", "replay-2pc", "exll"], ["iid", "instance"], seeds=2, evaluate="videos", points=3)


@pytest.mark.process
def test_a_rerun_gives_the_same_numbers_here_and_in_other_processes(tmp_path: Path) -> None:
    alone = run(grid(tmp_path), tmp_path / "alone", HERE)
    spread = run(grid(tmp_path), tmp_path / "spread", Local(2))
    assert len(alone.results) == alone.fresh == 12
    assert without_times(alone.results) == without_times(spread.results)


def test_what_is_done_is_not_done_again_and_what_changed_is(tmp_path: Path) -> None:
    first = run(grid(tmp_path), tmp_path / "out", HERE)
    again = run(grid(tmp_path), tmp_path / "out", HERE)
    assert (first.fresh, again.fresh) == (12, 0)
    assert again.results == first.results
    more = run(plan(tmp_path, ["ncm", "slda"], ["iid"], seeds=2, evaluate="videos", points=3), tmp_path / "out", HERE)
    assert more.fresh == 2
    write_features(tmp_path / "data.npz", classes=3)
    assert run(grid(tmp_path), tmp_path / "out", HERE).fresh == 12


def test_an_order_spelt_otherwise_is_not_run_again(tmp_path: Path) -> None:
    first = run(plan(tmp_path, ["ncm"], ["few-shot 2"]), tmp_path / "out", HERE)
    again = run(plan(tmp_path, ["ncm"], ["Few-Shot-02"]), tmp_path / "out", HERE)
    assert (first.fresh, again.fresh) == (1, 0)
    assert again.results[0]["order"] == "few-shot 2"


def test_a_class_of_your_own_is_run_again_when_its_code_changes(tmp_path: Path) -> None:
    (tmp_path / "mine_too.py").write_text(LAST_SEEN)
    assert run(plan(tmp_path, ["mine_too:LastSeen"], ["iid"]), tmp_path / "out", HERE).fresh == 1
    assert run(plan(tmp_path, ["mine_too:LastSeen"], ["iid"]), tmp_path / "out", HERE).fresh == 0
    (tmp_path / "mine_too.py").write_text(LAST_SEEN + "# changed\n")
    assert run(plan(tmp_path, ["mine_too:LastSeen"], ["iid"]), tmp_path / "out", HERE).fresh == 1


def test_a_learner_of_scikit_learn_can_take_part(tmp_path: Path) -> None:
    result = one(tmp_path, "sklearn.linear_model:SGDClassifier", "iid", test_then_train=5)
    assert result["variants"]["SGDClassifier"]["accuracy"] > 0.5  # type: ignore[index]
    assert result["parameters"] is None


def test_results_cannot_go_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(BenchError, match="is a file; results go into a folder"):
        run(grid(tmp_path), tmp_path / "out", HERE)


PROGRAM = """
from pathlib import Path
from exll.bench.config import read_plan
from exll.bench.executors import Local
from exll.bench.runner import run
if __name__ == "__main__":
    run(read_plan(Path("plan.toml")), Path("out"), Local(2))
"""
PLAN = 'learners = ["slow:Slow"]\nseeds = 12\n[[tasks]]\ndataset = "data.npz"\norders = ["iid"]\n'


@pytest.mark.process
def test_a_run_that_was_killed_goes_on_where_it_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_features(tmp_path / "data.npz")
    (tmp_path / "begun").mkdir()
    for name, text in (("slow.py", SLOW), ("plan.toml", PLAN), ("program.py", PROGRAM)):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("SLOW_BEGUN", str(tmp_path / "begun"))
    monkeypatch.setenv("SLOW_SECONDS", "0.3")
    program = [sys.executable, "program.py"]
    victim = subprocess.Popen(program, cwd=tmp_path, start_new_session=True)
    results = ResultsFile(tmp_path / "out" / "results.jsonl")
    deadline = time.monotonic() + 120
    while len(results.read()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)  # the run and its processes: a power cut
    victim.wait()
    stood = len(results.read())
    assert 3 <= stood < 12
    with results.path.open("ab") as file:
        file.write(b'{"key": "half a li')
    for mark in (tmp_path / "begun").iterdir():
        mark.unlink()
    monkeypatch.setenv("SLOW_SECONDS", "0")
    subprocess.run(program, cwd=tmp_path, check=True)
    assert len(list((tmp_path / "begun").iterdir())) == 12 - stood
    assert len(results.read()) == 12
    straight = tmp_path / "straight"
    straight.mkdir()
    for name in ("data.npz", "slow.py", "plan.toml", "program.py"):
        (straight / name).write_bytes((tmp_path / name).read_bytes())
    subprocess.run(program, cwd=straight, check=True)
    uninterrupted = ResultsFile(straight / "out" / "results.jsonl").read()
    by_seed = [
        sorted(without_times(list(r.values())), key=lambda e: e["seed"]) for r in (results.read(), uninterrupted)
    ]
    assert by_seed[0] == by_seed[1]
