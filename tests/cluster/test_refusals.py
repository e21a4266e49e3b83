"""What cannot be learned on workers is said in one sentence."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import exll
from exll import ExLLClassifier, learn_on_cluster, open_stream
from exll.cluster.parts import Parts
from exll.cluster.run import teach_on_cluster
from exll.cluster.shards import LEAST_EXAMPLES, MOST_SHARDS, cut, merges
from exll.cluster.work import Task, learn_shard
from exll.errors import ClusterError, InputError, StreamError
from exll.streams.stream import Stream
from exll.teaching import prepare_lesson


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    np.savez(tmp_path / "f.npz", X=np.eye(70), y=np.arange(70) % 2)
    return open_stream(tmp_path / "f.npz")


@pytest.mark.parametrize("examples", [1, 255, 600, 2640, 1_000_000])
def test_every_example_is_in_one_shard_and_every_shard_in_one_model(examples: int) -> None:
    shards = cut(examples)
    assert [i for shard in shards for i in shard] == list(range(examples))
    assert len(shards) <= MOST_SHARDS
    assert len(shards) == 1 or min(map(len, shards)) >= LEAST_EXAMPLES
    made_of = merges(len(shards))
    assert len(made_of) == len(shards) - 1
    assert all(left[1] + 1 == right[0] and node == (left[0], right[1]) for node, (left, right) in made_of.items())
    assert not made_of or list(made_of)[-1] == (0, len(shards) - 1)


def test_a_worker_that_does_not_see_the_data_says_so(stream: Stream, tmp_path: Path) -> None:
    task = Task.of(ExLLClassifier(), stream, cache=False, strict=False)
    with pytest.raises(StreamError, match=r"a worker does not see \S+gone.npz: every machine must have the data"):
        learn_shard(task, stream.examples, tmp_path / "gone.npz", None)


def test_a_worker_of_another_version_is_refused(stream: Stream) -> None:
    task = replace(Task.of(ExLLClassifier(), stream, cache=False, strict=False), version="0.0.1")
    with pytest.raises(ClusterError, match=r"all machines must have the same exll: this is 0\.0\.1, a worker has "):
        learn_shard(task, stream.examples, None, None)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "m.exll.parts").mkdir()
    (tmp_path / "m.exll.parts" / "mine.txt").touch()
    with pytest.raises(ClusterError, match="holds something else; move it"):
        Parts(tmp_path / "m.exll.parts", {})
    (tmp_path / "m.exll.parts" / "manifest.json").write_text('{"order": ')
    with pytest.raises(ClusterError, match="is damaged; remove the folder to start again"):
        Parts(tmp_path / "m.exll.parts", {})


def test_what_a_finished_run_left_behind_is_removed(stream: Stream, tmp_path: Path) -> None:
    model, parts = tmp_path / "m.exll", tmp_path / "m.exll.parts"
    assert exll("learn", stream.source, "-m", model).returncode == 0
    parts.mkdir()
    for fingerprint in ("of other data", stream.fingerprint()):
        (parts / "manifest.json").write_text(json.dumps({"fingerprint": fingerprint}))
        assert "was learned before" in exll("learn", stream.source, "-m", model, "--workers", "2").stdout
        assert parts.exists() == (fingerprint == "of other data")


def test_without_dask_the_extra_is_named(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"learning on workers needs Dask: pip install .*\[cluster\]"):
        learn_on_cluster(ExLLClassifier(), stream, workers=2)


def test_a_scheduler_that_does_not_answer_is_named(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("exll.cluster.workers.ANSWER_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9;"):
        learn_on_cluster(ExLLClassifier(), stream, client="tcp://127.0.0.1:9")


def test_vectors_that_keep_their_lengths_are_refused_before_the_work(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    np.savez(tmp_path / "f.npz", X=np.eye(8), y=np.arange(8) % 2)
    stream = open_stream(tmp_path / "f.npz")
    model = ExLLClassifier()
    lesson, _ = prepare_lesson(model, stream, "as-is", 0)
    with pytest.raises(InputError, match="models of vectors with 8 numbers keep their lengths"):
        teach_on_cluster(model, stream, lesson, lambda _: None, tmp_path / "parts", None)  # type: ignore[arg-type]
    assert not (tmp_path / "parts").exists()


def test_options_that_contradict_each_other_are_refused(stream: Stream) -> None:
    with pytest.raises(InputError, match="takes either workers, a number, or client"):
        learn_on_cluster(ExLLClassifier(), stream)
    learn = ("learn", stream.source, "-m", stream.source.with_name("m.exll"), "--workers", "2")
    assert "a worker has one thread" in exll(*learn, "--threads", "2").stderr
    assert "not both" in exll(*learn, "--scheduler", "tcp://127.0.0.1:9").stderr
