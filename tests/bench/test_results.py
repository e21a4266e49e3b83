import json
from pathlib import Path

import pytest

from exll.bench.results import Grid, ResultsFile
from exll.errors import BenchError


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "new folder" / "results.jsonl")
    assert file.read() == {}
    with file.writing() as writer:
        writer.add({"key": "a", "value": 1})
        assert file.read() == {"a": {"key": "a", "value": 1}}  # each line counts as soon as it is written
        writer.add({"key": "b", "value": "ä\n"})
        writer.add({"key": "a", "value": 2})
    assert {key: entry["value"] for key, entry in file.read().items()} == {"a": 2, "b": "ä\n"}


@pytest.mark.parametrize("cut", range(1, 24))
def test_half_a_last_line_is_no_result_and_is_cleared_away(tmp_path: Path, cut: int) -> None:
    file = ResultsFile(tmp_path / "results.jsonl")
    whole = json.dumps({"key": "a", "value": 1}).encode() + b"\n"
    file.path.write_bytes(whole + whole[:-cut])
    assert list(file.read()) == ["a"]
    with file.writing() as writer:
        writer.add({"key": "c"})
    assert file.path.read_bytes() == whole + b'{"key": "c"}\n'


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b"\xff", b"3"])
def test_a_line_that_is_no_result_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"key": "a"}\n' + line + b"\n")
    with pytest.raises(BenchError, match="line 2 is not a result"):
        ResultsFile(path).read()


def test_two_runs_cannot_write_into_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    file = ResultsFile(tmp_path / "results.jsonl")
    with file.writing(), pytest.raises(BenchError, match="another run is writing"), file.writing():
        pass
    with file.writing():  # and the lock goes with the run
        pass


def test_the_grid_of_a_folder_is_kept_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    assert Grid.read(tmp_path) is None
    Grid("title", "exll bench demo", ["a", "b"]).write(tmp_path)
    assert Grid.read(tmp_path) == Grid("title", "exll bench demo", ["a", "b"])
    (tmp_path / "grid.json").write_text('{"title": ')
    assert Grid.read(tmp_path) is None
