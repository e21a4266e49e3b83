from pathlib import Path

import pytest

from pictures import write_class_folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for all these tests, and none of the user's."""
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path_factory.getbasetemp() / "exll-cache"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_class_folder(tmp_path_factory.mktemp("data"), classes=3, each=12)
