"""Cores while learning: one BLAS thread, and our own hands for the few products that are worth sharing.

numpy and scipy bring a BLAS each, with a pool of threads each, and both pools wait by spinning. Learning goes back and
forth between them in steps of microseconds, so on a small machine the pools fight: measured on two cores, learning is
ten times faster with one thread. The count is global to the process, so whoever comes last restores it.

The large products of a block are then shared out by hand, to threads that sleep while they wait. Whoever allows BLAS
one thread only (``OPENBLAS_NUM_THREADS=1``, ``threadpool_limits``) gets one core here too.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from exll.types import Matrix

MOST_CORES = 4
SHARED_COLUMNS = 512  # of a product, at least: below, waking a thread costs more than it saves
SHARED_MULTIPLICATIONS = 10_000_000
COLUMN_STEP = 64  # parts that start at its multiples have the bits of the whole, with the BLAS that numpy brings

_lock = threading.Lock()
_holders = 0
_controller: ThreadpoolController | None = None
_limiter: Any = None
_cores = 1  # to share large products among, while somebody learns
_helpers: ThreadPoolExecutor | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    global _holders, _controller, _limiter, _cores
    with _lock:
        if _holders == 0:
            _controller = _controller or ThreadpoolController().select(user_api="blas")
            allowed = [library["num_threads"] for library in _controller.info()]
            _cores = min([MOST_CORES, _usable_cores(), *allowed])
            _limiter = _controller.limit(limits=1)
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders = max(0, _holders - 1)  # a process that was forked here began with none
            if _holders == 0:
                _limiter.restore_original_limits()
                _cores = 1


def product(A: Matrix, B: Matrix, out: Matrix | None = None) -> Matrix:
    """A @ B; inside ``one_blas_thread`` a large one is made by several cores, each a part of B's columns."""
    columns, cores = B.shape[1], _cores
    if cores == 1 or columns < SHARED_COLUMNS or A.size * columns < SHARED_MULTIPLICATIONS:
        whole: Matrix = np.matmul(A, B, out=out)
        return whole
    result = np.empty((len(A), columns)) if out is None else out
    steps = columns // COLUMN_STEP
    edges = [COLUMN_STEP * (steps * part // cores) for part in range(cores)] + [columns]
    parts = [slice(start, stop) for start, stop in pairwise(edges)]
    others = [_submitted(A, B[:, part], result[:, part]) for part in parts[1:]]
    try:
        np.matmul(A, B[:, parts[0]], out=result[:, parts[0]])
    finally:
        wait(others)  # nobody writes into the result when it is the caller's again
    for other in others:
        other.result()
    return result


def _submitted(A: Matrix, B: Matrix, out: Matrix) -> "Future[Matrix]":
    try:
        return _threads().submit(np.matmul, A, B, out=out)
    except RuntimeError:  # Python is ending and wakes no more threads; whoever learns to the last does it alone
        done: Future[Matrix] = Future()
        done.set_result(np.matmul(A, B, out=out))
        return done


def _threads() -> ThreadPoolExecutor:
    global _helpers
    with _lock:
        _helpers = _helpers or ThreadPoolExecutor(MOST_CORES - 1, thread_name_prefix="exll-product")
        return _helpers


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _forget_threads() -> None:
    """A forked process has none of its parent's threads, and nobody learns in it yet."""
    global _helpers, _lock, _holders, _cores
    _helpers, _lock = None, threading.Lock()
    if _holders:
        _limiter.restore_original_limits()
    _holders, _cores = 0, 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
