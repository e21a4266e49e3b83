"""A Dask scheduler and its workers, each a process of its own that a test can kill."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def program(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env={**os.environ, **environment},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@contextmanager
def cluster(folder: Path, **environment: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A real scheduler and two workers, each a process of its own; the scheduler is the last of them."""
    distributed: Any = pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    told = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = ["distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", *told]
    worker = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder), *told]
    with (
        program(*scheduler, **environment) as first,
        program(*worker, **environment) as one,
        program(*worker, **environment) as other,
    ):
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        client = distributed.Client(scheduler_file=str(file), timeout=60, set_as_default=False)
        address: str = client.scheduler.address
        client.wait_for_workers(2, timeout=60)
        client.close()
        yield address, [one, other, first]
