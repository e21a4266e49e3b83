"""The workers: processes of this machine, or those of a Dask scheduler."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from exll.errors import ClusterError
from exll.installing import install_command

ANSWER_SECONDS = 10
MOST_DEATHS = 3  # of workers in one task, until that task is taken for the reason
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Workers(NamedTuple):
    """A Dask client, and whether its workers read and write the folders of this process."""

    client: Any
    on_this_machine: bool = False

    @property
    def dashboard(self) -> str | None:
        """Where one can watch them."""
        link: str | None = self.client.dashboard_link
        return link if link and (not self.on_this_machine or _has_dashboard()) else None


@contextmanager
def local_workers(count: int) -> Iterator[Workers]:
    """So many processes, each with one thread. One that dies is replaced."""
    dask, distributed = dask_modules()
    settings = {
        "distributed.scheduler.allowed-failures": MOST_DEATHS - 1,
        "distributed.worker.daemon": True,  # no worker outlives this process
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0" if _has_dashboard() else None,
            silence_logs=logging.CRITICAL,
            env=ONE_THREAD,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield Workers(client, on_this_machine=True)


@contextmanager
def existing_workers(address: str) -> Iterator[Workers]:
    """The workers of a scheduler that somebody has started."""
    _, distributed = dask_modules()
    try:
        client = distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}; 'dask scheduler' starts one.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError as error:
            raise ClusterError(
                f"the Dask scheduler at {address} has no workers; 'dask worker {address} --nthreads 1' starts one."
            ) from error
        yield Workers(client)


def _has_dashboard() -> bool:
    return find_spec("bokeh") is not None


def dask_modules() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ClusterError(f"learning on workers needs Dask: {install_command('cluster')}.") from error
    return dask, distributed
