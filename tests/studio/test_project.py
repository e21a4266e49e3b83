"""A project's folder, and the bounds on what waits."""

import asyncio
import socket
import sqlite3
import threading
from pathlib import Path

import pytest

from exll.errors import ExLLError
from exll.studio import live
from exll.studio.errors import BusyError
from exll.studio.project import Project
from exll.studio.serving import listen
from exll.studio.thread_pool import BoundedPool
from networks import write_network
from served import Served, png, served


def test_a_folder_is_open_in_one_studio_at_a_time(tmp_path: Path) -> None:
    with Project(tmp_path / "p"), pytest.raises(ExLLError, match="is open in another studio"):
        Project(tmp_path / "p")
    Project(tmp_path / "p").close()


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ExLLError, match="is not empty and holds no project"):
        Project(tmp_path)
    with pytest.raises(
        ExLLError, match=r"cannot be used as a project's folder: it is a file\. A project holds the photos"
    ):
        Project(tmp_path / "letter.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_project_of_a_newer_or_broken_kind_is_refused_in_words(tmp_path: Path) -> None:
    Project(tmp_path / "p").close()
    connection = sqlite3.connect(tmp_path / "p" / "studio.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ExLLError, match="was made by a newer exll"):
        Project(tmp_path / "p")
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "studio.db").write_bytes(b"not a database, but long enough to look like one" * 99)
    with pytest.raises(ExLLError, match="cannot be used as a project"):
        Project(tmp_path / "q")


def test_a_project_keeps_its_backbone(tmp_path: Path) -> None:
    Project(tmp_path / "p").close()
    other = write_network(tmp_path / "other.onnx")
    with pytest.raises(ExLLError, match="begin a new project for it"):
        Project(tmp_path / "p", str(other))


def test_leftovers_of_a_power_cut_are_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    with served(tmp_path / "p") as studio:
        studio.taught("mug", png(0, 0))
        studio.post("/api/examples/delete", ids=[1])
        studio.taught("mug", png(0, 1))
    orphan = tmp_path / "p" / "images" / "ab" / ("ab" * 32)
    orphan.write_bytes(b"never became an example")
    (orphan.parent / ".0123.tmp").write_bytes(b"half")
    with Project(tmp_path / "p") as project:
        assert list(orphan.parent.iterdir()) == []
        assert len([path for path in (tmp_path / "p" / "images").rglob("*") if path.is_file()]) == 2
        assert project.pictures.image(project.store.example(1).digest) == png(0, 0)


def test_a_lost_thumbnail_is_made_anew(studio: Served) -> None:
    (number,) = studio.taught("mug", png(0, 0))
    (thumbnail,) = (path for path in (studio.project.folder / "thumbnails").rglob("*") if path.is_file())
    content = thumbnail.read_bytes()
    thumbnail.unlink()
    assert studio.client.get(f"/api/examples/{number}/thumbnail").status_code == 200
    assert thumbnail.read_bytes() == content


def test_changes_that_pile_up_are_refused_and_not_queued_for_ever(studio: Served) -> None:
    begun, going_on = threading.Event(), threading.Event()

    def hold() -> bool:
        begun.set()
        return going_on.wait()

    futures = [studio.project.live.write(hold)]
    try:
        begun.wait()
        futures += [studio.project.live.write(lambda: True) for _ in range(live.MOST_WAITING)]
        response = studio.teach("mug", png(0, 0))
    finally:
        going_on.set()
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert all(future.result() for future in futures)
    studio.taught("mug", png(0, 0))


def test_work_that_piles_up_is_refused() -> None:
    pool, going_on = BoundedPool(1, 2, "test"), threading.Event()

    async def pile_up() -> None:
        first, second = (asyncio.create_task(pool.run(going_on.wait)) for _ in range(2))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.run(going_on.wait)
        going_on.set()
        assert all(await asyncio.gather(first, second))
        assert await pool.run(lambda: 3) == 3

    asyncio.run(pile_up())
    pool.close()


def test_answers_are_sent_at_once() -> None:
    """asyncio switches the waiting for more bytes off only for sockets that are named TCP."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_a_start_that_takes_long_says_what_it_does(tmp_path: Path) -> None:
    with served(tmp_path / "p") as studio:
        studio.taught("mug", *(png(0, seed) for seed in range(33)))
    for model in (tmp_path / "p" / "models").iterdir():
        model.unlink()
    heard: list[str] = []
    with Project(tmp_path / "p", tell=heard.append):
        assert heard == ["loading the network nano ...", "learning 33 examples ..."]
