"""Many workers learn what one would, whoever is killed meanwhile."""

import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from commands import exll, exll_json
from dask_processes import cluster
from deadly import Deadly, write_numbered
from exll import Example, ExLLClassifier, ImageLearner, learn_on_cluster, load, open_stream
from exll.cluster import shards
from exll.cluster.workers import Workers, local_workers
from exll.errors import ClusterError, ImageError
from exll.teaching import prepare_lesson, teach
from pictures import record_video, write_class_folder
from support import random_stream

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Processes of this machine that all tests share."""
    pytest.importorskip("distributed")
    with local_workers(3) as found:
        yield found


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LEAST_EXAMPLES", 12)


@pytest.fixture
def watched(tmp_path: Path) -> Deadly:
    (tmp_path / "watch").mkdir()
    return Deadly(tmp_path / "watch")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "photos", classes=3, each=20)  # 60, in 5 shards


def number(example: Example) -> str:
    """How the network calls it."""
    return f"{example.label[-1]}-{int(Path(example.ref).stem)}"


def number_of(workers: Workers, count: int) -> None:
    workers.client.cluster.scale(count)
    workers.client.wait_for_workers(count, timeout=60)


def test_the_lesson_is_that_of_one_process_and_what_is_known_is_not_taught_twice(
    workers: Workers, watched: Deadly, photos: Path, tmp_path: Path
) -> None:
    (photos / "kind 1" / "003.png").write_bytes(b"no picture")
    for broken in (photos / "kind 2").iterdir():
        broken.write_bytes(b"no picture")
    straight, path = ImageLearner(watched), tmp_path / "m.exll"
    stream = open_stream(photos).ordered("class-iid", 7)
    lesson, _ = prepare_lesson(straight, stream, "class-iid", 7)
    teach(straight, stream, lesson, lambda: None)
    learned = learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client, order="class-iid", seed=7)
    assert learned.classifier.lessons_ == straight.classifier.lessons_
    assert learned.classifier.lessons_[0]["skipped"] == 21
    assert set(learned.kept_thumbnails()) <= {example.ref for example in stream.examples}
    assert learned.kept_thumbnails()
    learned = learn_on_cluster(learned, photos, path, client=workers.client)
    write_numbered(photos, classes=4, each=21)
    more = learn_on_cluster(learned, photos, path, client=workers.client)
    assert [lesson["learned"] for lesson in more.classifier.lessons_] == [39, 0, 45]  # broken ones were tried again
    assert more.classifier.learner_.sample_count == 84
    assert load(path, backbone=watched).classifier.lessons_ == more.classifier.lessons_
    (photos / "kind 0" / "new.png").write_bytes(b"no picture")
    with pytest.raises(ImageError, match="none of JPEG"):
        learn_on_cluster(more, photos, path, client=workers.client, strict=True)


def test_a_killed_worker_costs_its_shard_and_nothing_else(
    workers: Workers, watched: Deadly, photos: Path, tmp_path: Path
) -> None:
    straight, killed = tmp_path / "straight.exll", tmp_path / "killed.exll"
    learn_on_cluster(ImageLearner(watched), photos, straight, client=workers.client)
    (watched.folder / "seen").unlink()
    (watched.folder / "kill 1-7").touch()
    learn_on_cluster(ImageLearner(watched), photos, killed, client=workers.client)
    assert killed.read_bytes() == straight.read_bytes()
    seen = watched.seen()
    assert 60 < len(seen) <= 60 + 12
    assert seen.count("1-7") == 2


def test_a_shard_that_kills_every_worker_is_named_and_all_others_are_learned(
    workers: Workers, watched: Deadly, photos: Path, tmp_path: Path
) -> None:
    path, poison = tmp_path / "m.exll", watched.folder / "poison 1-7"
    poison.touch()
    with pytest.raises(ClusterError, match=r"shard \d of 5, whose files are listed .*, killed 3 workers") as caught:
        learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client)
    listed = Path(re.search(r"listed in (\S+),", str(caught.value))[1]).read_text().split("\n")  # type: ignore[index]
    assert str(photos / "kind 1" / "007.png") in listed
    assert 2 <= watched.seen().count("1-7") <= 3  # one may have died of it while it was only next
    poison.unlink()
    before = len(watched.seen())
    learned = learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client)
    assert learned.classifier.learner_.sample_count == 60
    assert len(watched.seen()) - before == 12


class StopError(Exception):
    """Somebody stops the client."""


def stop_after(most: int) -> Callable[[int], None]:
    def look(done: int) -> None:
        if done >= most:
            raise StopError

    return look


def test_a_stopped_run_goes_on_and_a_damaged_part_is_learned_again(
    workers: Workers, watched: Deadly, photos: Path, tmp_path: Path
) -> None:
    straight, path, parts = tmp_path / "straight.exll", tmp_path / "m.exll", tmp_path / "m.exll.parts"
    learn_on_cluster(ImageLearner(watched), photos, straight, client=workers.client)
    with pytest.raises(StopError):
        learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client, progress=stop_after(36))
    finished = [int(note.stem) for note in parts.glob("[0-9]*.json")]
    assert len(finished) == 3
    damaged = max(parts.glob("*.exll"), key=lambda part: int(part.stem[-3:]) in finished)
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    kept = {*finished} - {*range(int(damaged.stem[:3]), int(damaged.stem[-3:]) + 1)}
    with pytest.raises(ClusterError, match=r"parts of a run over \S+photos with another seed; finish that run"):
        learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client, seed=1)
    with pytest.raises(ClusterError, match="with other parameters of the model; "):
        learn_on_cluster(ImageLearner(watched, max_prototypes=2), photos, path, client=workers.client)
    learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client)
    assert path.read_bytes() == straight.read_bytes()
    assert not parts.exists()
    order, times = open_stream(photos).ordered("iid", 0).examples, Counter(watched.seen())
    for shard, positions in enumerate(shards.cut(60)):
        for example in (order[i] for i in positions):
            assert times[number(example)] == 2 or shard not in kept
            assert times[number(example)] == 3 or shard not in {*finished} - kept


def test_tables_and_videos_are_learned_where_they_lie(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_class_folder(tmp_path, classes=2, each=14))  # the workers are in another folder
    lines = [f"kind {k}/{i:03}.png,{'ab'[k]},{i // 7},0,0,40,40" for i in range(14) for k in range(2)]
    Path("t.csv").write_text("\n".join(["path,label,group,x0,y0,x1,y1", *lines]))
    table = learn_on_cluster(ImageLearner("nano"), "t.csv", "t.exll", client=workers.client)
    straight = ImageLearner("nano")
    lesson, stream = prepare_lesson(straight, open_stream("t.csv"), "as-is", 0)
    teach(straight, stream, lesson, lambda: None)
    assert table.classifier.lessons_ == straight.classifier.lessons_
    refs = [record.ref for record in table.classifier.learner_.records_at(range(28))]
    assert refs == [example.ref for example in stream.examples]
    record_video(Path("v.mp4"), 40)
    stream = open_stream("v.mp4", label="stripes", every=2)
    video = learn_on_cluster(table, stream, "t.exll", client=workers.client)
    assert [lesson["learned"] for lesson in video.classifier.lessons_] == [28, 20]
    assert len([name for name in video.kept_thumbnails() if name.startswith("v.mp4#")]) > 0


def test_the_command_learns_on_a_scheduler_and_says_when_all_is_learned(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = write_class_folder(tmp_path / "data", classes=2, each=13), tmp_path / "m.exll"
    (data / "kind 0" / "broken.png").touch()
    learn = ("learn", data, "-m", model, "--backbone", "nano", "--scheduler", workers.client.scheduler.address)
    result = exll(*learn, "--json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    said = json.loads(result.stdout)
    assert (said["learned"], said["skipped"], said["order"], said["already"]) == (26, 1, "iid", False)
    learn_on_cluster(ImageLearner("nano"), data, tmp_path / "here.exll", client=workers.client)
    assert (tmp_path / "here.exll").read_bytes() == model.read_bytes()  # whether or not the models were sent
    (data / "kind 0" / "broken.png").unlink()
    assert "was learned before" in exll(*learn).stdout
    assert exll_json("evaluate", model, data)["examples"] == 26
    write_class_folder(data, classes=3, each=14)
    assert exll_json(*learn)["examples"] == 42
    assert list(tmp_path.glob("*.parts")) == []


def test_a_killed_scheduler_loses_the_shards_in_work_alone(
    workers: Workers, watched: Deadly, photos: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.exll"
    last = open_stream(photos).ordered("iid", 0).examples[-1]
    hold = watched.folder / f"hold {number(last)}"
    hold.touch()
    with cluster(tmp_path, PYTHONPATH=os.pathsep.join(sys.path)) as (address, processes):

        def kill_the_scheduler() -> None:
            while len(list(tmp_path.glob("m.exll.parts/*.json"))) < 5:  # the manifest, and 4 of 5 shards
                time.sleep(0.02)
            os.killpg(processes[-1].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_the_scheduler, daemon=True)
        killer.start()
        with pytest.raises(ClusterError, match="the Dask scheduler is gone"):
            learn_on_cluster(ImageLearner(watched), photos, path, client=address)
    hold.unlink()
    before = len(watched.seen())
    learned = learn_on_cluster(ImageLearner(watched), photos, path, client=workers.client)
    assert learned.classifier.learner_.sample_count == 60
    assert len(watched.seen()) - before == 12


def test_the_model_is_the_same_whatever_the_number_of_workers(workers: Workers, tmp_path: Path) -> None:
    stream = random_stream(4, width=70, classes=3, samples=120)
    np.savez(tmp_path / "f.npz", X=stream.X, y=np.array(stream.y), class_names=np.array(["a", "b", "c"]))
    files = []
    for count in (3, 2, 1):  # whoever comes after this test has one
        number_of(workers, count)
        path = tmp_path / f"{count}.exll"
        learned = learn_on_cluster(ExLLClassifier(records="vectors"), tmp_path / "f.npz", path, client=workers.client)
        files.append(path.read_bytes())
    assert len(set(files)) == 1
    assert learned.classifier.learner_.sample_count == 120
    assert [record.position for record in learned.classifier.learner_.records_at(range(120))] == list(range(120))
    assert (np.asarray(learned.predict(stream.X)) == np.array(["a", "b", "c"])[stream.y]).mean() > 0.8
    assert not (tmp_path / "1.exll.parts").exists()
