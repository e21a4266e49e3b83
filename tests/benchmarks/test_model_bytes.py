from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import model_bytes


@pytest.mark.parametrize("records", ["vectors", "2"])
def test_all_bytes_of_a_file_are_counted_once(records: str, tmp_path: Path) -> None:
    options = Namespace(samples=30, features=None, records=records, preset="glocal")
    model, path = model_bytes.taught(8, options), tmp_path / "model.exll"
    model.save(path)
    found = model_bytes.bytes_by_part(path)
    assert found.pop("in memory") == model.nbytes_
    assert found.pop("file") == sum(found.values()) == path.stat().st_size
    assert {"statistics", "precision", "prototypes", "reservoir", "records", "header"} <= found.keys()


def test_features_are_widened_by_projections_of_their_own(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 5))
    np.savez(tmp_path / "features.npz", X=X, y=np.arange(20), split=np.repeat(["train", "test"], 10))
    wide, y = model_bytes.examples(7, 8, tmp_path / "features.npz")
    assert wide.shape == (8, 7)
    np.testing.assert_array_equal(wide[:, :5], X[y])
    assert model_bytes.examples(4, 8, tmp_path / "features.npz")[0].shape == (8, 4)
