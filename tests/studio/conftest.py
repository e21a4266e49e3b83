from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Served, served


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "project") as running:
        yield running
