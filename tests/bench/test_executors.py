import os
import signal
import threading
import time
from pathlib import Path

import pytest

from dask_processes import cluster
from exll.bench.executors import Cluster, Local
from exll.bench.runner import run
from exll.errors import BenchError
from grids import SLOW, plan, without_times
from jobs import fall, square, threads_of_blas


@pytest.mark.process
@pytest.mark.parametrize("processes", [1, 2])
def test_each_result_comes_once_with_the_number_of_its_job(processes: int) -> None:
    assert sorted(Local(processes).run(square, range(20))) == [(n, n * n) for n in range(20)]
    assert list(Local(processes).run(square, [])) == []


@pytest.mark.process
def test_a_process_has_one_thread_for_products() -> None:
    assert [threads for _, threads in Local(2).run(threads_of_blas, range(2))] == [{1}, {1}]


@pytest.mark.process
def test_a_process_that_is_killed_is_said_in_one_sentence() -> None:
    with pytest.raises(BenchError, match="a process was killed"):
        list(Local(2).run(fall, range(8)))


@pytest.mark.process
def test_the_grid_completes_though_a_worker_is_killed_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    begun = tmp_path / "begun"
    begun.mkdir()
    planned = plan(tmp_path, ["slow:Slow"], ["iid", "instance"], seeds=6)
    with cluster(tmp_path, SLOW_BEGUN=str(begun), SLOW_SECONDS="0.5") as (address, workers):
        victim = workers[0]

        def kill_when_both_are_busy() -> None:
            while len({mark.name.split("-")[0] for mark in begun.iterdir()}) < 2:
                time.sleep(0.02)
            os.killpg(victim.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_when_both_are_busy, daemon=True)
        killer.start()
        with Cluster(address) as executor:
            outcome = run(planned, tmp_path / "cluster", executor)
        killer.join(60)
        assert victim.wait(60) == -signal.SIGKILL
        assert workers[1].poll() is None
    assert not outcome.failed
    assert len(outcome.results) == outcome.fresh == 12
    assert len(list(begun.iterdir())) > 12  # what the dead one had begun was begun again
    monkeypatch.setenv("SLOW_BEGUN", str(begun))
    monkeypatch.setenv("SLOW_SECONDS", "0")
    alone = run(planned, tmp_path / "alone", Local(1))
    assert without_times(alone.results) == without_times(outcome.results)


@pytest.mark.process
def test_pictures_become_features_on_the_workers(tmp_path: Path) -> None:
    from exll.bench.config import plan_of

    facts = {"dataset": "household", "options": {"instances": 1, "frames": 1, "test_frames": 1}, "orders": ["iid"]}
    planned = plan_of({"learners": ["ncm"], "tasks": [facts]}, tmp_path, "test")
    with cluster(tmp_path, EXLL_CACHE=str(tmp_path / "cache")) as (address, _), Cluster(address) as executor:
        there = run(planned, tmp_path / "there", executor)
    assert (tmp_path / "cache" / "features.sqlite").exists()
    here = run(planned, tmp_path / "here", Local(1))
    assert without_times(here.results) == without_times(there.results)
    assert here.results[0]["variants"]["NCM"]["accuracy"] > 0.4


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("exll.bench.executors.ANSWER_SECONDS", 0.5)
    with pytest.raises(BenchError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Cluster("tcp://127.0.0.1:9")
