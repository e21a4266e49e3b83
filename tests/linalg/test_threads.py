import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from exll import ExLLClassifier
from exll.linalg.threads import one_blas_thread, product
from exll.types import Matrix


def blas_threads() -> set[int]:
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_the_limit_is_lifted_by_whoever_leaves_last() -> None:
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"])  # both libraries are loaded
    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait()

    other = threading.Thread(target=hold)
    with one_blas_thread():
        other.start()
        entered.wait()
        assert blas_threads() == {1}
    assert blas_threads() == {1}  # the other is still inside
    leave.set()
    other.join()
    assert blas_threads() == before


@contextmanager
def cores_allowed(cores: int, monkeypatch: pytest.MonkeyPatch, there: int = 4) -> Iterator[None]:
    """While somebody learns on a machine of four cores, where BLAS may have so many threads."""
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"])  # both libraries are loaded
    with monkeypatch.context() as patch, threadpool_limits(limits=cores, user_api="blas"):
        patch.setattr(os, "sched_getaffinity", lambda _: set(range(there)), raising=False)
        with one_blas_thread():
            yield


def large_product(columns: int) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 600)), rng.normal(size=(columns, 600)).T


@pytest.mark.parametrize("cores", [2, 3, 4])
@pytest.mark.parametrize("columns", [512, 600, 1001])
def test_a_product_that_is_shared_out_equals_the_whole(
    cores: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, B = large_product(columns)
    into = np.full((40, columns + 7), np.nan)
    with cores_allowed(cores, monkeypatch):
        whole = product(A, B)
        product(A, B, out=into[:, :columns])
    np.testing.assert_allclose(whole, A @ B, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(into[:, :columns], A @ B, rtol=1e-12, atol=1e-12)
    assert np.isnan(into[:, columns:]).all()


def is_made_by(count: int, A: Matrix, B: Matrix, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether so many threads make this product, and the right one. They wait until all of them are at it."""
    multiply, together, seen = np.matmul, threading.Barrier(count), set()

    def noted(*arguments: Any, **options: Any) -> Any:
        together.wait(20)
        seen.add(threading.get_ident())
        return multiply(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(np, "matmul", noted)
        try:
            made = product(A, B)
        except threading.BrokenBarrierError:  # there were fewer
            return False
    return len(seen) == count and np.allclose(made, A @ B, rtol=1e-12, atol=1e-12)


def test_whoever_learns_has_as_many_threads_as_are_allowed_for_a_large_product(monkeypatch: pytest.MonkeyPatch) -> None:
    large = large_product(1001)
    assert is_made_by(1, *large, monkeypatch)  # outside, BLAS has its own threads
    for cores in (1, 2, 3):
        with cores_allowed(cores, monkeypatch):
            assert is_made_by(cores, *large, monkeypatch)
    assert is_made_by(1, *large, monkeypatch)


def test_no_more_threads_work_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    with cores_allowed(4, monkeypatch, there=2):
        assert is_made_by(2, *large_product(1001), monkeypatch)


def test_a_small_product_is_made_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    (A, narrow), (_, wide) = large_product(511), large_product(1001)
    with cores_allowed(2, monkeypatch):
        assert is_made_by(1, A, narrow, monkeypatch)
        assert is_made_by(1, A[:1], wide, monkeypatch)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_helpers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = large_product(1001)
    with cores_allowed(2, monkeypatch):
        expected = product(A, B)  # the parent's helpers are awake
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # an end to it, should it wait for a thread that is not there
        with cores_allowed(2, monkeypatch):
            os._exit(0 if np.allclose(product(A, B), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_model_learned_by_two_cores_is_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(700, 520)) + 0.5, rng.integers(0, 4, 700)
    models = []
    for cores in (1, 2):
        with cores_allowed(cores, monkeypatch):
            models.append(ExLLClassifier("paper").fit(X, y))
    one, two = (model.learner_ for model in models)
    assert one.supports == two.supports
    np.testing.assert_allclose(one.centres[0], two.centres[0], rtol=1e-12, atol=1e-12)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_somebody_learns_has_its_threads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"])
    large = large_product(1001)
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                outside = blas_threads(), is_made_by(1, *large, monkeypatch)
                with one_blas_thread():
                    inside = blas_threads()
                os._exit(0 if (outside, inside, blas_threads()) == (({2}, True), {1}, {2}) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.process
def test_whoever_learns_while_python_ends_learns_alone() -> None:
    script = """
import threading, time
import numpy as np
from exll.linalg import threads

def learn():
    threading.main_thread().join()
    threads._cores = 2
    A, B = np.ones((40, 600)), np.ones((600, 700))
    print(np.array_equal(threads.product(A, B), A @ B))

threads._threads().submit(int).result()
threading.Thread(target=learn).start()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("True\n", "")
