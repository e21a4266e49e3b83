"""One BLAS thread while learning.

numpy and scipy bring a BLAS each, with a pool of threads each, and both pools wait by spinning. Learning goes back and
forth between them in steps of microseconds, so on a small machine the pools fight: measured on two cores, learning is
ten times faster with one thread. The count is global to the process, so whoever comes last restores it.
"""

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
            _controller = _controller or ThreadpoolController().select(user_api="blas")
            _limiter = _controller.limit(limits=1)
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()
