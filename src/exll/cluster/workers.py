"""The workers: processes of this machine, or those of a Dask scheduler."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Thread
from typing import Any

from exll.errors import ClusterError
from exll.installing import install_command

KEPT = "what is finished is kept, and the same command continues from there."
GONE = f"the Dask scheduler is gone; {KEPT}"
ANSWER_SECONDS = 10
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Workers:
    """A Dask client and its workers. ``release`` frees them."""

    def __init__(self, client: Any, release: Callable[[], None] = lambda: None) -> None:
        self.client, self.release = client, release
        # Then they read and write the folders of this process, and no model has to be sent.
        self.on_this_machine = isinstance(client.cluster, dask_modules()[1].LocalCluster)

    def count(self) -> int:
        """How many tasks they can do at a time; at least one, which waits for the first of them."""
        try:
            threads = self.client.nthreads()
        except OSError as error:  # it tried to connect again, in vain
            raise ClusterError(GONE) from error
        return max(1, sum(map(int, threads.values())))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Inside the block, every error of a client that has lost its scheduler becomes one sentence."""
        dask, distributed = dask_modules()
        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):  # tasks hold models
                yield
        except (CancelledError, distributed.comm.CommClosedError) as error:
            raise ClusterError(GONE) from error

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's dashboard."""
        link: str | None = self.client.dashboard_link
        return link if link and (not self.on_this_machine or _has_dashboard()) else None


@contextmanager
def local_workers(count: int) -> Iterator[Workers]:
    """This number of processes, each with one thread. A process that dies is replaced."""
    dask, distributed = dask_modules()
    settings = {
        "distributed.scheduler.allowed-failures": 0,  # so that every death is told; exll.cluster.handing_out counts
        "distributed.worker.profile.enabled": False,  # a hundred looks per second at what a worker does
        "distributed.worker.daemon": True,  # no worker outlives this process
        # Dask would also have freed memory given back at once, which makes a network 15 % slower.
        "distributed.nanny.pre-spawn-environ": ONE_THREAD,
    }
    with dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,  # Dask would count pages of features files, too
            dashboard_address="127.0.0.1:0",  # without bokeh there is no dashboard, but a port is opened all the same
            silence_logs=logging.CRITICAL,
            preload=["exll.cluster.worker_process"],
        )
        client = distributed.Client(cluster, set_as_default=False)
        closing = Thread(target=_close, args=(client, cluster), name="exll-close")  # meanwhile the model is saved
        try:
            yield Workers(client, closing.start)
        finally:
            if closing.ident is None:
                closing.start()
            closing.join()


def _close(client: Any, cluster: Any) -> None:
    client.close()
    try:
        cluster.close()
    except KeyError:  # of a worker that died before Dask's cluster had noticed it; all others are closed
        cluster.status = dask_modules()[1].core.Status.closed


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
