"""Where jobs run: in processes of this machine, or on the workers of a Dask cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

from exll.errors import BenchError
from exll.installing import install_command

Job = TypeVar("Job")
Result = TypeVar("Result")
ANSWER_SECONDS = 10


class Executor(Protocol):
    def run(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[tuple[int, Result]]:
        """The results as they come, each with the number of its job."""
        ...


class Local:
    """Processes of this machine, one per core or as many as given, each with one BLAS thread."""

    def __init__(self, processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1

    def run(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[tuple[int, Result]]:
        if self.processes == 1 or len(jobs) < 2:
            yield from ((number, function(job)) for number, job in enumerate(jobs))
            return
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        try:
            with parallel_config("loky", inner_max_num_threads=1):
                parallel = Parallel(min(self.processes, len(jobs)), batch_size=1, return_as="generator_unordered")
                yield from parallel(delayed(_numbered)(function, number, job) for number, job in enumerate(jobs))
        except TerminatedWorkerError as error:
            raise BenchError(
                "a process was killed, perhaps because memory ran out; what is finished is kept, so run again "
                "with fewer processes at a time (--jobs)."
            ) from error


class Cluster:
    """The workers of a Dask scheduler. A worker that dies loses nothing: others do its jobs again."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise BenchError(f"a cluster needs Dask: {install_command('cluster')}.") from error
        try:
            self._dask: Any = distributed
            self._client = self._dask.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise BenchError(f"no Dask scheduler answers at {address}.") from error

    def run(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[tuple[int, Result]]:
        futures = [self._client.submit(function, job, pure=False) for job in jobs]
        numbers = {future.key: number for number, future in enumerate(futures)}
        try:
            for future in self._dask.as_completed(futures, loop=self._client.loop):
                yield numbers[future.key], future.result()
        except self._dask.scheduler.KilledWorker as error:
            raise BenchError(
                f"one job killed every worker that tried it; what is finished is kept ({error})."
            ) from error
        finally:
            self._client.cancel(futures)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._client.close()


def _numbered(function: Callable[[Job], Result], number: int, job: Job) -> tuple[int, Result]:
    return number, function(job)
