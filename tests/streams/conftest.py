"""Small data to stream: files that are images by name only, for streams never look inside."""

from collections.abc import Callable
from pathlib import Path

import pytest

Plant = Callable[..., Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Writes files with these names into a folder, each with its name as content, and gives the folder."""

    def write(*names: str, root: Path = tmp_path / "data") -> Path:
        root.mkdir(parents=True, exist_ok=True)
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(name.encode("utf-8", "surrogateescape"))
        return root

    return write
