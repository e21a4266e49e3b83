"""Shared by all tests: the same examples on every run, and the development data where it lies beside the checkout."""

import os
import signal
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products, several test processes: threads would only wait

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job, where Ctrl-C could not be tested
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("exll", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("exll")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def data_folder() -> Path:
    if not DATA.is_dir():
        pytest.skip("the development data is not beside this checkout")
    return DATA
