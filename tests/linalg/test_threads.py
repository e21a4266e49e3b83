import os
import signal
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from exll import ExLLClassifier
from exll.linalg.threads import one_blas_thread
from support import blas_threads


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
                outside = blas_threads()
                with one_blas_thread():
                    inside = blas_threads()
                os._exit(0 if (outside, inside, blas_threads()) == ({2}, {1}, {2}) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
