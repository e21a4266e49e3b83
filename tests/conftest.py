"""Shared by all tests: the same examples on every run, and the development data where it lies beside the checkout."""

import os
import signal
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products, several test processes: threads would only wait

import pytest
from hypothesis import settings

from commands import exll
from dealing import dealt
from made_once import made_once

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job, where Ctrl-C could not be tested
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("exll", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("exll")

LONG = {"browser": 8, "process": 8, "slow": 4, "fuzz": 1}  # marks, and about how long such a test takes
HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks that follow from where a test lies and how it is made; the others stand at the tests. Where several
    processes share the tests, each begins with what takes long."""
    for item in items:
        if item.path.is_relative_to(HERE / "browser"):
            item.add_marker(pytest.mark.browser)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.fuzz)
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    if processes > 1:
        items[:] = dealt(items, processes, LONG)


@pytest.fixture(scope="session")
def after_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``exll demo`` ran; ``said.txt`` has what it printed."""
    with made_once(tmp_path_factory, "after-demo") as folder:
        if not folder.exists():
            folder.mkdir()
            result = exll("demo", cwd=folder)
            assert result.returncode == 0, result.stderr
            (folder / "said.txt").write_text(result.stdout)
    return folder


@pytest.fixture
def data_folder() -> Path:
    if not DATA.is_dir():
        pytest.skip("the development data is not beside this checkout")
    return DATA
