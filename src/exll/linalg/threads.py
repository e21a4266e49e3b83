"""One BLAS thread while somebody learns.

numpy and scipy bring a BLAS each, with a pool of threads each, and both pools wait by spinning. Learning goes back and
forth between them in steps of microseconds, so on a small machine the pools fight: measured on two cores, learning is
ten times faster with one thread. The count is global to the process, so whoever comes last restores it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders = 0
_controller: ThreadpoolController | None = None
_limiter: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    global _holders, _controller, _limiter
    with _lock:
        if _holders == 0:
            _controller = _controller or _blas_of_numpy_and_scipy()
            _limiter = _controller.limit(limits=1)
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders = max(0, _holders - 1)  # a process that was forked here began with none
            if _holders == 0:
                _limiter.restore_original_limits()


def _blas_of_numpy_and_scipy() -> ThreadpoolController:
    from scipy.linalg import blas  # noqa: F401 - a library that is loaded later would not be limited

    return ThreadpoolController().select(user_api="blas")


def _start_anew() -> None:
    """A forked process has none of its parent's threads, and nobody learns in it yet."""
    global _lock, _holders
    _lock = threading.Lock()
    if _holders:
        _limiter.restore_original_limits()
    _holders = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
