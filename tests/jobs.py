"""Jobs that other processes do: they must be found by name there."""

import os
import signal


def square(number: int) -> int:
    return number * number


def threads_of_blas(_: int) -> set[int]:
    import numpy as np
    from threadpoolctl import threadpool_info

    assert np.eye(2).sum() == 2
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def fall(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number
