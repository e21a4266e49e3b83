"""The model in memory. One thread changes it, in the order of commits; any thread may ask at any time. Where it cannot
be changed in place, it is rebuilt in the background."""

import contextlib
import contextvars
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

from exll.errors import LearningInterruptedError
from exll.features.backbone import OnnxBackbone
from exll.learner.preset import DEFAULT_PRESET
from exll.linalg.threads import one_blas_thread
from exll.studio.checkpoints import Checkpoints
from exll.studio.edits import Change, moved_class
from exll.studio.errors import BusyError
from exll.studio.events import Events
from exll.studio.model import Model
from exll.studio.store import Store

Result = TypeVar("Result")

MOST_WAITING, MOST_UNHURRIED = 64, 32
CHUNK = 32
FEW = 128  # examples: to learn so many anew takes a fifth of a second
MOST_REPLAYED = 5000  # examples: more would keep a processor busy for too long after every edit
MOST_IN_PLACE = 500  # examples to learn: others who teach would wait too long for more
CHECKPOINT_EVERY = 500
QUIET_SECONDS = 0.05
LONG_QUIET_SECONDS = 5.0
TELL_SECONDS = 3.0  # between two words about a start that takes long
TIME_FOR_OTHERS = 8.0  # while somebody waits for an answer, learning pauses so many times as long as it worked,
LONGEST_PAUSE = 0.25  # but not longer

log = logging.getLogger(__name__)


class Live:
    """``current`` answers. Changes go through ``write``, which runs them one after the other.

    ``in_demand`` says whether people wait for answers: they go before those who teach, who go before a rebuild.
    ``rebuilding`` says that answers are behind what was acknowledged, until a rebuild has ended. ``settling`` says that
    they are not, but that some confidences will change when what was edited in place is replayed. Until it is closed,
    BLAS has one thread (:mod:`exll.linalg.threads`).
    """

    def __init__(
        self,
        store: Store,
        checkpoints: Checkpoints,
        backbone: OnnxBackbone,
        preset: str,
        events: Events,
        in_demand: Callable[[], bool],
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._backbone = backbone
        self._preset = preset
        self._events = events
        self._in_demand = in_demand
        self._waiting: queue.Queue[tuple[Callable[[], Any], Future[Any]] | None] = queue.Queue(MOST_WAITING)
        self._unhurried: deque[Callable[[], Any]] = deque()
        self._wanted = threading.Event()
        self.rebuilding = False
        self.settling = False
        self._closing = False
        self._entering = threading.Lock()  # a change comes in before the studio closes, or not at all
        self._checkpoint = 0, 0  # generation and position of the last one
        with ExitStack() as limited:
            limited.enter_context(one_blas_thread())
            self.current = self._restored(tell)
            self._limited = limited.pop_all()
        self._threads = [
            threading.Thread(target=target, name=f"studio {name}", daemon=True)
            for name, target in (("rebuild", self._rebuild_when_wanted), ("writer", self._write_in_turn))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish what is waiting, save a checkpoint, end."""
        with self._entering:
            self._closing = True
        self._wanted.set()
        rebuild, writer = self._threads
        rebuild.join()
        self._waiting.put(None)
        writer.join()
        self._save_checkpoint()
        self._limited.close()

    def write(self, change: Callable[[], Result]) -> "Future[Result]":
        """Run a change in the writer's thread, in the caller's context; refused at once where too many wait."""
        future: Future[Result] = Future()
        with self._entering:
            if self._closing:
                raise BusyError("the studio is shutting down.")
            try:
                self._waiting.put_nowait((partial(contextvars.copy_context().run, change), future))
            except queue.Full:
                raise BusyError("too many changes are waiting.", "Try again in a moment.") from None
        return future

    def write_patiently(self, change: Callable[[], Result]) -> Result:
        """For a thread that may wait, until there is room for the change and until it is made."""
        while True:
            try:
                future = self.write(change)
            except BusyError:
                if self._closing:
                    raise
                time.sleep(QUIET_SECONDS)
            else:
                return future.result()

    def write_when_idle(self, change: Callable[[], Any]) -> bool:
        """Run a change that nobody waits for, once no other waits; says whether it will be tried. Dropped at once where
        too many wait, and when the studio closes."""
        if self._closing or len(self._unhurried) >= MOST_UNHURRIED:
            return False
        self._unhurried.append(change)
        if self._waiting.empty():
            with contextlib.suppress(BusyError):  # then the writer is awake anyway
                self.write(lambda: None)
        return True

    def follow(self) -> None:
        """Learn what was committed last; to be called by changes that append."""
        rows = self._store.rows_after(self.current.position, CHUNK)
        while rows:
            try:
                self.current.learn(rows)
            except Exception:  # the rows are safe; only this model can no longer be trusted
                log.exception("learning broke off; the model is replayed")
                self._rebuild_in_background()
                return
            rows = self._store.rows_after(self.current.position, CHUNK)
        self.current.acknowledge()
        if self.current.position - self._checkpoint[1] >= CHECKPOINT_EVERY:
            self._save_checkpoint()

    def edit(self, changes: Sequence[Change]) -> None:
        """Change the model in place; to be called right after the commit of a step that did more than append."""
        model = self.current
        try:
            counts = self._store.counts()
            if sum(counts.values()) <= FEW:  # in order, so that undoing leaves the very model of before
                self._adopt(self._new_model())
            elif not self.rebuilding and self._is_quick(changes, counts):
                model.edit(changes, counts, self._store.rows_of(change.example for change in changes))
                model.generation = self._store.generation
                model.acknowledge()
                self.settling = sum(counts.values()) <= MOST_REPLAYED
            else:
                self._rebuild_in_background()
        except Exception:
            log.exception("the model could not be changed in place; it is replayed")
            self._rebuild_in_background()

    def _is_quick(self, changes: Sequence[Change], counts: dict[str, int]) -> bool:
        """Every preset can rename a class; to forget something, others than ours learn everything else again."""
        if (moved := moved_class(changes, counts)) is not None and counts[moved[1]] == len(changes):
            return True
        comes = 0 if moved is not None else sum(change.after is not None for change in changes)
        return self._preset == DEFAULT_PRESET and comes <= MOST_IN_PLACE

    def _rebuild_in_background(self) -> None:
        """Replay the log; until that has ended, the old model answers, and learns what is taught."""
        self.rebuilding = True
        self._events.publish("rebuilding", {"done": 0, "examples": sum(self._store.counts().values())})
        self._wanted.set()

    def _restored(self, tell: Callable[[str], None]) -> Model:
        """The last checkpoint and the tail of the log."""
        model = self._new_model()
        found = self._checkpoints.newest()
        if found is not None:
            model.go_on_from(*found)
            self._checkpoint = model.generation, model.position
        done, total, told_at = 0, sum(self._store.counts().values()), time.monotonic()
        if found is None and total > CHUNK:
            tell(f"learning {total:,} examples ...")
        while rows := self._store.rows_after(model.position, CHUNK):
            model.learn(rows)
            done += len(rows)
            if time.monotonic() - told_at > TELL_SECONDS:
                tell(f"learned {done:,} examples ..." if found else f"learned {done:,} of {total:,} examples ...")
                told_at = time.monotonic()
        model.acknowledge()
        return model

    def _new_model(self) -> Model:
        return Model(self._backbone, self._preset, self._store.generation)

    def _write_in_turn(self) -> None:
        while (waiting := self._next_change()) is not None:
            change, future = waiting
            if not future.set_running_or_notify_cancel():
                continue
            started = time.monotonic()
            try:
                future.set_result(change())
            except BaseException as error:
                future.set_exception(error)
            self._leave_time_for_others(started)

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """A part of long work, of a second or less, after which others have their turn."""
        started = time.monotonic()
        yield
        self._leave_time_for_others(started)

    def _next_change(self) -> tuple[Callable[[], Any], Future[Any]] | None:
        """While no change comes, do what nobody waits for; make what the next who asks would have to wait for; then
        what the next start would have to, where an edit made the last checkpoint useless."""
        while self._unhurried and self._waiting.empty():
            try:
                self._unhurried.popleft()()
            except Exception:
                log.exception("a change that nobody waits for could not be made")
        for seconds, use_the_time in ((QUIET_SECONDS, self._copy), (LONG_QUIET_SECONDS, self._after_edits)):
            try:
                return self._waiting.get(timeout=seconds)
            except queue.Empty:
                use_the_time()
        return self._waiting.get()

    def _copy(self) -> None:
        try:
            _ = self.current.snapshot
        except Exception:
            log.exception("the model cannot be copied; it is replayed")
            self._rebuild_in_background()

    def _after_edits(self) -> None:
        """What was edited in place is replayed, so that in the end an undone step leaves no trace."""
        if self._checkpoint[0] != self.current.generation:
            self._save_checkpoint()
        if self.settling:
            self._wanted.set()

    def _rebuild_when_wanted(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing:
                return
            if not (self.rebuilding or self.settling):  # it was done meanwhile
                continue
            try:
                self._rebuild()
            except Exception:
                log.exception("the model could not be replayed")

    def _rebuild(self) -> None:
        fresh, total = self._new_model(), sum(self._store.counts().values())
        done = 0
        while True:
            started = time.monotonic()
            rows = self._store.rows_after(fresh.position, CHUNK)
            # An edit and its generation are one commit: rows read before this line are of this generation.
            if self._closing or self._store.generation != fresh.generation:
                return
            if not rows:
                break
            fresh.learn(rows)
            done += len(rows)
            if self.rebuilding:  # else the answers are not behind, and nobody waits for it
                self._events.publish("rebuilding", {"done": done, "examples": max(done, total)})
            self._leave_time_for_others(started)
        adopted: Future[None] = Future()
        self._waiting.put((lambda: self._adopt(fresh), adopted))
        adopted.result()

    def _leave_time_for_others(self, started: float) -> None:
        if self._in_demand() and not self._closing:
            time.sleep(min(LONGEST_PAUSE, TIME_FOR_OTHERS * (time.monotonic() - started)))

    def _adopt(self, fresh: Model) -> None:
        """In the writer's thread, so nothing is committed meanwhile."""
        if self._store.generation != fresh.generation:
            return
        while rows := self._store.rows_after(fresh.position, CHUNK):
            fresh.learn(rows)
        fresh.acknowledge()
        self.current = fresh
        changes_answers = self.rebuilding or self.settling  # else whoever edited waits for it
        self.rebuilding = self.settling = False
        self._save_checkpoint()
        if changes_answers:
            self._events.publish("rebuilt", {"generation": fresh.generation})

    def remove_old_checkpoints(self) -> None:
        self._checkpoints.remove_old()

    def _save_checkpoint(self) -> None:
        """Only of a model that stands for what is committed now."""
        model = self.current
        learned = hasattr(model.learner.classifier, "learner_")  # not only examples of nothing
        if not learned or self.rebuilding or model.generation != self._store.generation:
            return
        try:
            self._checkpoints.save(model.learner.classifier, model.generation, model.position)
        except LearningInterruptedError:  # a replay is wanted already, or will be at the next start
            return
        except Exception:  # it only saves the next start some work
            log.exception("the model could not be saved")
            return
        self._checkpoint = model.generation, model.position
