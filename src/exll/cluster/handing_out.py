"""Tasks for the workers, one per worker at a time; their results are kept as they come."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, TypeAlias

from exll.cluster.shards import Node
from exll.cluster.tree import ModelTree
from exll.cluster.work import do
from exll.cluster.workers import KEPT, Workers, dask_modules
from exll.errors import ClusterError, ExLLError
from exll.version import __version__

LOOK_SECONDS = 1  # between two looks at how many workers there are
SUSPECT = 2  # deaths

Progress: TypeAlias = Callable[[int], None]  # gets how many examples are learned or skipped


def hand_out(tree: ModelTree, workers: Workers, progress: Progress) -> None:
    """Have the workers make all models.

    A task whose worker dies is tried again. A task during which two workers died is tried alone when all others are
    done: if that worker dies too, the task is the reason.
    """
    running: dict[Any, Node] = {}
    deaths: Counter[Node] = Counter()
    deadly: dict[Node, ClusterError] = {}
    completed: Queue[Any] = Queue()
    progress(tree.done)
    with workers.answering():
        try:
            while True:
                waiting = [node for node in tree.ready() if node not in running.values() and node not in deadly]
                chosen = [node for node in waiting if deaths[node] < SUSPECT][: max(0, workers.count() - len(running))]
                for node in chosen or ([] if running else waiting[:1]):
                    future = workers.client.submit(do, _packed(tree.job(node, workers.on_this_machine)), pure=False)
                    running[future] = node
                    future.add_done_callback(completed.put)
                if not running:
                    break
                with suppress(Empty):
                    future = completed.get(timeout=LOOK_SECONDS)
                    node = running.pop(future)
                    died = _finish(tree, node, future)
                    if died and deaths[node] >= SUSPECT:
                        deadly[node] = ClusterError(
                            f"{tree.in_words(node)} killed {deaths[node] + died} workers; {KEPT}"
                        )
                    deaths[node] += died
                    progress(tree.done)
        finally:
            workers.client.cancel(list(running))
    if deadly:
        raise next(iter(deadly.values()))


def _packed(job: Any) -> bytes:
    """A task as bytes: the scheduler opens what it is given, and need not open this."""
    packed: bytes = dask_modules()[1].protocol.pickle.dumps(job)
    return packed


def _finish(tree: ModelTree, node: Node, future: Any) -> int:
    """Keep the result of a worker, or raise one sentence about why there is none; returns how many workers died."""
    try:
        tree.finish(node, future.result())
    except ExLLError:
        raise
    except dask_modules()[1].scheduler.KilledWorker as error:
        return int(error.allowed_failures) + 1
    except (ImportError, RuntimeError) as error:
        missing = error if isinstance(error, ImportError) else error.__cause__
        if not isinstance(missing, ImportError) or not str(missing.name).startswith("exll"):
            raise
        raise ClusterError(
            f"the scheduler and every worker need exll {__version__}; one of them has no exll, or another version."
        ) from error
    return 0
