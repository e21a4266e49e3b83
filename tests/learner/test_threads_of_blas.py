import threading

import numpy as np
from threadpoolctl import threadpool_info

from exll import ExLLClassifier
from exll.learner.threads import one_blas_thread


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
