import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from exll.features import cache as cache_module
from exll.features.cache import FeatureCache


def vector(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=256).astype(np.float32)


def key(number: int) -> bytes:
    return FeatureCache.key("identity", str(number).encode())


def test_what_was_put_is_got_to_the_bit(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path / "c.sqlite")
    cache.put([(key(i), vector(i)) for i in range(5)])
    found = FeatureCache(tmp_path / "c.sqlite").get([key(3), key(99), key(0)], 256)
    assert set(found) == {key(3), key(0)}
    np.testing.assert_array_equal(found[key(3)], vector(3))


def test_a_key_is_the_backbone_and_the_content() -> None:
    keys = {FeatureCache.key(identity, content) for identity in ("a", "b") for content in (b"x", b"y")}
    assert len(keys) == 4


def test_the_least_recently_used_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr("exll.features.cache.time.time", lambda: now[0])
    monkeypatch.setattr(cache_module, "CHECK_EVERY", 1)
    cache = FeatureCache(tmp_path / "c.sqlite", most_bytes=10 * 1024)  # ten vectors
    for i in range(10):
        now[0] += 10_000
        cache.put([(key(i), vector(i))])
    now[0] += 10_000
    assert key(0) in cache.get([key(0)], 256)  # used again: now the youngest
    now[0] += 10_000
    cache.put([(key(10), vector(10))])
    left = cache.get([key(i) for i in range(11)], 256)
    assert key(0) in left
    assert key(10) in left
    assert key(1) not in left
    assert cache.nbytes <= 10 * 1024


def test_a_damaged_file_is_started_anew(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"this is not a database" * 100)
    cache = FeatureCache(path)
    cache.put([(key(1), vector(1))])
    assert key(1) in cache.get([key(1)], 256)


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    cache = FeatureCache(tmp_path / "folder")  # a folder is no database
    cache.put([(key(1), vector(1))])
    assert cache.get([key(1)], 256) == {}
    assert cache.nbytes == 0


def test_its_place_and_size_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "here"))
    FeatureCache().put([(key(1), vector(1))])
    assert (tmp_path / "here" / "features.sqlite").exists()
    monkeypatch.setenv("EXLL_CACHE_MB", "0")
    assert FeatureCache().get([key(1)], 256) == {}


FILL = """
import sys
from pathlib import Path
import numpy as np
from exll.features.cache import FeatureCache
path, first = Path(sys.argv[1]), int(sys.argv[2])
cache = FeatureCache(path)
for i in range(first, first + 300):
    cache.put([(FeatureCache.key("identity", str(i).encode()), np.random.default_rng(i).normal(size=256))])
    cache.get([FeatureCache.key("identity", str(j).encode()) for j in range(max(0, i - 5), i)], 256)
"""


@pytest.mark.process
def test_two_processes_may_use_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    processes = [subprocess.Popen([sys.executable, "-c", FILL, str(path), first]) for first in ("0", "200")]
    assert [process.wait() for process in processes] == [0, 0]
    found = FeatureCache(path).get([key(i) for i in range(500)], 256)
    assert len(found) == 500
    np.testing.assert_array_equal(found[key(250)], vector(250))
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_vector_of_another_length_is_not_taken_for_one(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path / "c.sqlite")
    cache.put([(key(1), vector(1)[:5]), (key(2), vector(2))])
    assert set(cache.get([key(1), key(2)], 256)) == {key(2)}


def test_damaged_pages_cost_one_run_and_are_cleared_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    FeatureCache(path).put([(key(i), vector(i)) for i in range(300)])
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
    content = path.read_bytes()
    path.write_bytes(content[:16384] + b"\x5a" * (len(content) - 16384))
    damaged = FeatureCache(path)
    assert damaged.get([key(3)], 256) == {}
    fresh = FeatureCache(path)
    fresh.put([(key(3), vector(3))])
    assert key(3) in fresh.get([key(3)], 256)


def test_nonsense_in_the_environment_means_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXLL_CACHE_MB", "much")
    cache = FeatureCache(tmp_path / "c.sqlite")
    cache.put([(key(1), vector(1))])
    assert key(1) in cache.get([key(1)], 256)
