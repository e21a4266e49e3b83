import os
import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from exll import ExLLClassifier
from exll.learner import threads
from exll.learner.threads import one_blas_thread, product


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


def large_product(columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 600)), rng.normal(size=(columns, 600)).T


@pytest.mark.parametrize("cores", [2, 3, 4])
@pytest.mark.parametrize("columns", [512, 600, 1001])
def test_a_product_that_is_shared_out_equals_the_whole(
    cores: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, B = large_product(columns)
    monkeypatch.setattr(threads, "_cores", cores)
    helpers = threads._threads()
    submit = Mock(wraps=helpers.submit)
    monkeypatch.setattr(helpers, "submit", submit)
    into = np.full((40, columns + 7), np.nan)
    np.testing.assert_allclose(product(A, B), A @ B, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(product(A, B, out=into[:, :columns]), A @ B, rtol=1e-12, atol=1e-12)
    assert submit.call_count == 2 * (cores - 1)
    assert np.isnan(into[:, columns:]).all()


def test_small_products_are_not_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cores", 2)
    monkeypatch.setattr(threads, "_threads", lambda: pytest.fail("a thread was woken"))
    A, B = large_product(511)
    np.testing.assert_array_equal(product(A, B), A @ B)
    np.testing.assert_array_equal(product(A[:1], B), A[:1] @ B)


def test_whoever_allows_one_thread_gets_one_core() -> None:
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"])
    with threadpool_limits(limits=1, user_api="blas"), one_blas_thread():
        assert threads._cores == 1
    with threadpool_limits(limits=2, user_api="blas"), one_blas_thread():
        assert threads._cores == min(2, threads._usable_cores())
    assert threads._cores == 1  # outside, BLAS has its own threads


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_helpers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = large_product(1001)
    monkeypatch.setattr(threads, "_cores", 2)
    expected = product(A, B)  # the parent's helpers are awake
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # an end to it, should it wait for a thread that is not there
        os._exit(0 if np.allclose(product(A, B), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_model_learned_by_two_cores_is_that_of_one() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(700, 520)) + 0.5, rng.integers(0, 4, 700)
    models = []
    for cores in (1, 2):
        with threadpool_limits(limits=cores, user_api="blas"):
            models.append(ExLLClassifier("paper").fit(X, y))
    one, two = (model.learner_ for model in models)
    assert one.supports == two.supports
    np.testing.assert_allclose(one.centres[0], two.centres[0], rtol=1e-12, atol=1e-12)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_somebody_learns_has_its_threads_back() -> None:
    ExLLClassifier("paper").fit(np.eye(3), ["a", "b", "c"])
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                outside = (blas_threads(), threads._cores)
                with one_blas_thread():
                    inside = blas_threads()
                os._exit(0 if (outside, inside, blas_threads()) == (({2}, 1), {1}, {2}) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.process
def test_whoever_learns_while_python_ends_learns_alone() -> None:
    script = """
import threading, time
import numpy as np
from exll.learner import threads

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
