"""One lesson on many workers, from the side of the client: it hands out tasks, keeps what is finished, and makes one
model of it."""

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from exll.cluster.parts import Parts, folder_beside
from exll.cluster.shards import Node, cut, merges
from exll.cluster.work import Part, Task, do, learn_shard, merge_parts
from exll.cluster.workers import KEPT, Workers, dask_modules, existing_workers, local_workers
from exll.errors import ClusterError, ExLLError, InputError
from exll.loading import load
from exll.saving.whole_files import write_whole
from exll.streams.example import Example
from exll.streams.orderings import order_name
from exll.streams.stream import Stream, default_order, open_stream
from exll.teaching import Lesson, Model, lessons_before, prepare_lesson
from exll.version import __version__

Progress = Callable[[int], None]  # how many examples are learned or skipped


def learn_on_cluster(
    model: Model,
    data: Stream | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    client: Any = None,
    order: str | None = None,
    seed: int = 0,
    again: bool = False,
    strict: bool = False,
    cache: bool = False,
    progress: Progress = lambda done: None,
) -> Model:
    """Teach a model a whole stream on many workers; gives a new model, which is the same however many they are.

    ``workers`` starts so many processes on this machine; ``client`` is a Dask client, or the address of a scheduler. An
    ``order`` and the other options are those of ``exll learn``. Where a ``path`` is given the model is saved there at
    the end. Until then all that is finished is kept beside it, in ``path + ".parts"``, and the same call goes on from
    there.

    A script that calls this with ``workers`` needs ``if __name__ == "__main__":``, as with any processes of Python.

    >>> from exll import ImageLearner, learn_on_cluster
    >>> learn_on_cluster(ImageLearner(), "photos", "things.exll", workers=4)  # doctest: +SKIP
    ImageLearner(backbone='efficientnet_lite0', looks=2, preset='glocal'): 81 classes, 2,640 examples
    """
    if (workers is None) == (client is None):
        raise InputError("learning on a cluster takes either workers, a number, or client, a Dask client or address.")
    stream = data if isinstance(data, Stream) else open_stream(data)
    order = order_name(order or default_order(stream.kind))
    lesson, rest = prepare_lesson(model, stream.ordered(order, seed), order, seed, again)
    if not rest.examples:
        return model
    with ExitStack() as stack:
        if workers is not None:
            found = stack.enter_context(local_workers(workers))
        elif isinstance(client, str):
            found = stack.enter_context(existing_workers(client))
        else:
            found = Workers(client)
        target = Path(path or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exll-"))) / "model.exll")

        def save(learned: Model) -> None:
            if path is not None:
                learned.save(target)

        return teach_on_cluster(
            model, rest, lesson, save, folder_beside(target), found, strict=strict, cache=cache, progress=progress
        )


def teach_on_cluster(
    model: Model,
    stream: Stream,
    lesson: Lesson,
    save: Callable[[Model], None],
    folder: Path,
    workers: Workers,
    *,
    strict: bool = False,
    cache: bool = False,
    progress: Progress = lambda done: None,
) -> Model:
    """Learn the rest of a lesson on workers. ``stream`` is in the lesson's order already; what is finished is kept in
    ``folder`` until ``save`` is done with the new model."""
    task = Task.of(model, stream, cache, strict)
    examples, digests = stream.examples[lesson.position :], stream.digests[lesson.position :]
    manifest = {
        "source": lesson.source,
        "fingerprint": lesson.fingerprint,
        "order": lesson.order,
        "seed": lesson.seed,
        "sequence": hashlib.sha256(b"".join(own.named for own in digests)).hexdigest(),
        "model": task.describe(),
        "exll": __version__,
    }
    run = _Run(task, examples, Parts(folder, manifest), workers, lambda done: progress(lesson.position + done))
    learned = run.learned(model)
    before = lessons_before(model, lesson)
    known = base64.b64decode(lesson.digests) + lesson.note(examples, digests, run.reasons())
    lesson.digests = base64.b64encode(known).decode()
    if hasattr(learned.classifier, "learner_"):
        learned.classifier.lessons_ = [*before, asdict(lesson)]
        save(learned)
    run.parts.remove()
    return learned


class DeadlyError(ClusterError):
    """A task that killed every worker that tried it."""


class _Run:
    """Examples that are learned in shards: which models there are, which can be made now, and who makes them."""

    def __init__(self, task: Task, examples: list[Example], parts: Parts, workers: Workers, progress: Progress) -> None:
        self.task, self.examples, self.parts, self.workers = task, examples, parts, workers
        self.progress = progress
        self.shards = cut(len(examples))
        self.made_of = merges(len(self.shards))
        self.all: Node = 0, len(self.shards) - 1
        self.held: dict[Node, Path | None] = {}  # where the model is of what is finished; None where nothing is learned
        self._find(self.all)

    def learned(self, base: Model) -> Model:
        """The model of all shards, merged behind what the base knows."""
        with self.workers.answering():
            self._work()
            found = self.held[self.all]
            if found is None:
                return base
            if hasattr(base.classifier, "learner_"):
                before, found = self.parts.folder / "base.exll", self.parts.folder / "whole.exll"
                base.save(before)
                self._keep(found, self._result(self._merge(before, self.held[self.all], found), None))
        model: Model = load(found, type(base), backbone=base.backbone)
        return model

    def reasons(self) -> list[str | None]:
        """Why examples were skipped, for each of them; None for those that were learned."""
        skipped = [self.parts.skipped(shard) or {} for shard in range(len(self.shards))]
        return [own.get(i) for own, shard in zip(skipped, self.shards, strict=True) for i in range(len(shard))]

    def _find(self, node: Node) -> None:
        """Go on with what an earlier run has finished."""
        if self.parts.whole(node):
            self.held[node] = self.parts.place(node)
        elif node in self.made_of:
            for below in self.made_of[node]:
                self._find(below)
        elif self.parts.empty(node[0]):
            self.held[node] = None

    def _work(self) -> None:
        """Hand out what can be made until there is a model of all. No worker has two tasks at a time, so if one dies
        it is known at which."""
        running: dict[Any, Node] = {}
        deadly: dict[Node, ClusterError] = {}
        completed: Queue[Any] = Queue()
        self.progress(self._done())
        try:
            while True:
                free = max(1, sum(self.workers.client.nthreads().values())) - len(running)
                begun = {*running.values(), *deadly}
                waiting = [node for node in self._ready(self.all) if node not in begun]
                for node in waiting[: max(0, free)]:
                    future = self._submit(node)
                    running[future] = node
                    future.add_done_callback(completed.put)
                if not running:
                    break
                with suppress(Empty):  # from time to time, to see whether there are more workers
                    future = completed.get(timeout=1)
                    node = running.pop(future)
                    try:
                        self._finish(node, self._result(future, node))
                    except DeadlyError as error:  # the others are learned all the same
                        deadly[node] = error
                    self.progress(self._done())
        finally:
            self.workers.client.cancel(list(running))
        if deadly:
            raise next(iter(deadly.values()))

    def _ready(self, node: Node) -> Iterator[Node]:
        """What can be made now of all that a model needs. Where one of two learned nothing, the other is both."""
        if node in self.held:
            return
        below = self.made_of.get(node, ())
        for child in below:
            yield from self._ready(child)
        if all(child in self.held for child in below):
            models = [self.held[child] for child in below]
            if None in models:
                self.held[node] = next((model for model in models if model is not None), None)
            else:
                yield node

    def _submit(self, node: Node) -> Any:
        into = self.parts.place(node)
        if node in self.made_of:
            left, right = (self.held[child] for child in self.made_of[node])
            return self._merge(left, right, into)
        examples = [self._at_its_place(self.examples[i]) for i in self.shards[node[0]]]
        seen = next((example.path for example in examples if example.path and example.path.exists()), None)
        return self._sent(learn_shard, examples, self.task.source if examples[0].path is None else seen, into=into)

    def _merge(self, left: Path | None, right: Path | None, into: Path) -> Any:
        assert left is not None
        assert right is not None
        here = self.workers.on_this_machine
        return self._sent(
            merge_parts, *(part.absolute() if here else part.read_bytes() for part in (left, right)), into=into
        )

    def _sent(self, function: Callable[..., Any], *arguments: Any, into: Path) -> Any:
        place = into.absolute() if self.workers.on_this_machine else None
        packed = dask_modules()[1].protocol.pickle.dumps((function, self.task, *arguments, place))
        return self.workers.client.submit(do, packed, pure=False)

    @staticmethod
    def _at_its_place(example: Example) -> Example:
        """A worker may work in another folder."""
        return example if example.path is None else replace(example, path=example.path.absolute())

    def _finish(self, node: Node, result: Any) -> None:
        place = self.parts.place(node)
        if node in self.made_of:
            self._keep(place, result)
            for child in self.made_of[node]:
                if (model := self.held.pop(child)) is not None:
                    model.unlink(missing_ok=True)
            self.held[node] = place
            return
        model, skipped = result
        if model is not None:
            self._keep(place, model)
        self.parts.note(node[0], skipped, len(self.shards[node[0]]))
        self.held[node] = None if model is None else place

    @staticmethod
    def _keep(place: Path, model: Part) -> None:
        if isinstance(model, bytes):
            write_whole(place, model)

    def _done(self) -> int:
        return sum(len(self.shards[shard]) for first, last in self.held for shard in range(first, last + 1))

    def _result(self, future: Any, node: Node | None) -> Any:
        """What a worker gives, or one sentence about why it does not."""
        _, distributed = dask_modules()
        try:
            return future.result()
        except ExLLError:
            raise
        except distributed.scheduler.KilledWorker as error:
            raise DeadlyError(f"{self._doing(node)} killed {error.allowed_failures + 1} workers; {KEPT}") from error
        except (ImportError, RuntimeError) as error:
            missing = error if isinstance(error, ImportError) else error.__cause__
            if not isinstance(missing, ImportError) or not str(missing.name).startswith("exll"):
                raise
            raise ClusterError(
                f"the scheduler and every worker need exll {__version__}; one of them has none, or another one."
            ) from error

    def _doing(self, node: Node | None) -> str:
        if node is None or node in self.made_of:
            return "merging two models"
        names = self.parts.folder / f"{node[0]:03}.txt"
        names.write_text("".join(f"{self.examples[i].ref}\n" for i in self.shards[node[0]]), "utf-8")
        return f"shard {node[0] + 1} of {len(self.shards)}, whose files {names} lists,"
