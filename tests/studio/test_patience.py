"""Work of many changes, one after the other, while others teach as fast as they can."""

import io
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from exll.studio import live, sample
from exll.studio.dataset_import import import_dataset
from exll.studio.edits import HELD_OUT, TAUGHT
from exll.studio.errors import BusyError
from exll.studio.project import Project
from served import PATIENCE, png


def import_zip(project: Project) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mug/1.png", png(0, 1))
    import_dataset(project, file, threading.Event())


def fill(project: Project) -> None:
    sample.fill_with_sample(project, lambda: False)


@pytest.mark.parametrize("work", [import_zip, fill])
def test_a_zip_and_the_sample_wait_where_too_many_changes_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[Project], None]
) -> None:
    monkeypatch.setattr(sample, "EVERY", {TAUGHT: 10**6, HELD_OUT: 10**6})
    begun, go_on, refused = threading.Event(), threading.Event(), threading.Event()
    with Project(tmp_path, "nano") as project, ThreadPoolExecutor(1) as pool:
        write = project.live.write

        def noting(change: Callable[[], Any]) -> Future[Any]:
            try:
                return write(change)
            except BusyError:
                refused.set()
                raise

        def long() -> None:
            begun.set()
            go_on.wait(PATIENCE)

        write(long)
        assert begun.wait(PATIENCE)
        for _ in range(live.MOST_WAITING):
            write(lambda: None)
        monkeypatch.setattr(project.live, "write", noting)
        working = pool.submit(work, project)
        assert refused.wait(PATIENCE)
        go_on.set()
        working.result(PATIENCE)
        assert sum(project.store.counts().values()) == 1


def test_a_change_that_comes_while_the_studio_closes_is_made_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Project(tmp_path, "nano") as project:
        waiting = project.live._waiting
        put, closing = waiting.put_nowait, threading.Thread(target=project.live.close)

        def slowly(change: Any) -> None:
            closing.start()
            closing.join(0.2)
            put(change)

        monkeypatch.setattr(waiting, "put_nowait", slowly)
        made = project.live.write(lambda: "made")
        closing.join(PATIENCE)
        assert made.result(1) == "made"
        with pytest.raises(BusyError, match="shutting down"):
            project.live.write(lambda: None)
        monkeypatch.setattr(project.live, "close", lambda: None)
