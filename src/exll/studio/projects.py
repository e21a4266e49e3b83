"""Several projects in one studio: the folder that it was started with, and those in its folder ``projects``.

They are opened when somebody asks for them. Of opening, closing and moving a project one is done at a time; it holds up
no other project.
"""

import asyncio
import contextvars
import logging
import os
import sqlite3
import threading
import time
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from exll.errors import ExLLError
from exll.studio.errors import BusyError, ConflictError, MissingError, UnusableError
from exll.studio.project import Project
from exll.studio.sample import fill_with_sample
from exll.studio.store import DATABASE
from exll.studio.zip_folders import RESERVED

FIRST = ""  # the name of the project that the studio was started with
PREFIX = "/projects/"
FOLDER, REMOVED = "projects", ".removed"
SAMPLE = "sample"
LONGEST_NAME = 60
MOST_NAME_BYTES = 200  # a folder's name has at most 255, and one that is removed gets the time added
MOST_OPEN = 8
MOST_PROJECTS = 500
MOST_WAITING = 256  # as many as the server has connections
PATIENCE_SECONDS = 10.0  # for requests under way, before a project is closed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    name: str
    title: str
    used_at: float

    @property
    def root(self) -> str:
        return root_of(self.name)


def root_of(name: str) -> str:
    """What the addresses of a project begin with."""
    return "" if name == FIRST else PREFIX + quote(name)


def is_project_name(name: str) -> bool:
    """Letters and digits of any script, spaces, ``-``, ``_`` and ``.``, in one spelling; on no system a path.

    >>> [is_project_name(name) for name in ("shelf 2", "../shelf", ".shelf", "nul", "shelf.")]
    [True, False, False, False, False]
    """
    return not _fault(name) and name == unicodedata.normalize("NFKC", name).strip()


def _fault(name: str) -> str:
    """Why a name cannot be that of a project; empty where it can."""
    odd = next((c for c in name if not (c in " -_." or unicodedata.category(c)[0] in "LM" or c.isdecimal())), "")
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters; at most {LONGEST_NAME} are possible"
    if odd:
        return f"it contains {odd if odd.isprintable() else f'the character U+{ord(odd):04X}'}"
    if len(name.encode()) > MOST_NAME_BYTES:
        return f"it has {len(name.encode())} bytes; at most {MOST_NAME_BYTES} are possible"
    if name[0] == "." or name[-1] == ".":
        return "it has a dot at one end"
    return "Windows keeps it for itself" if RESERVED.fullmatch(name) else ""


class Projects:
    """Whoever opened the first project closes it; the others are closed here."""

    def __init__(self, first: Project) -> None:
        self._given, self._folder = first, first.folder
        self._networks = first.networks
        self._open = OrderedDict({FIRST: first})  # the one that was used last is the last
        self._uses: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._filling: set[str] = set()  # those that are being taught the sample
        self._sampling = asyncio.Lock()
        self.closed = False
        self.background = ThreadPoolExecutor(2, "studio background")  # work that nobody waits for; it watches closed
        self._busy: set[str] = set()  # names, casefolded, of those that are being opened, closed or moved
        self._threads = ThreadPoolExecutor(MOST_WAITING, "studio projects")

    # -- for requests

    async def use(self, name: str) -> Project:
        """Opened where it is not; until :meth:`leave` is called, nobody closes it."""
        while (project := self._taken(name)) is None:
            await asyncio.wrap_future(self._threads.submit(self._open_one, name))
        return project

    def leave(self, name: str) -> None:
        with self._changed:
            self._uses[name] -= 1
            if not self._uses[name]:
                del self._uses[name]
                self._changed.notify_all()

    @contextmanager
    def held(self, name: str) -> Iterator[Project]:
        """For work in the background, of a project that is open."""
        project = self._taken(name)
        if project is None:
            raise BusyError("this project is being opened.", "Try again in a moment.")
        try:
            yield project
        finally:
            self.leave(name)

    def title(self, name: str) -> str:
        return name or self._folder.resolve().name

    async def entries(self) -> list[Entry]:
        """The first, and then the others by name."""
        return await asyncio.to_thread(self._entries)

    async def make(self, name: str) -> Entry:
        """A new, empty one, with the network of the first."""
        clean = unicodedata.normalize("NFKC", name).strip()
        if fault := _fault(clean):
            raise UnusableError(
                f"{clean[:LONGEST_NAME]!r} cannot be the name of a project: {fault}.",
                "Use letters, digits, spaces, '-', '_' and '.'.",
            )
        return await asyncio.wrap_future(self._threads.submit(self._make, clean))

    async def sample(self, current: str) -> Entry:
        """The drawn household, in the current project if that is empty, else in one of its own."""
        async with self._sampling:  # a second click finds what the first one began
            own = next((name for name in self._names() if name.casefold() == SAMPLE), SAMPLE)
            for name in (current, own):
                if name in self._filling:
                    return self._entry(name)
                if name == SAMPLE and SAMPLE not in self._names():
                    await self.make(SAMPLE)
                if await self._is_empty(name):
                    self._filling.add(name)
                    self.background.submit(contextvars.copy_context().run, self._fill, name)  # a step says who made it
                    return self._entry(name)
            return self._entry(own)

    async def _is_empty(self, name: str) -> bool:
        project = await self.use(name)
        try:
            return not await project.reading.run(project.store.digests)
        finally:
            self.leave(name)

    def _fill(self, name: str) -> None:
        try:
            with self.held(name) as project:
                fill_with_sample(project, lambda: self.closed)
        except Exception:
            log.exception("the sample could not be taught")
        finally:
            self._filling.discard(name)

    async def remove(self, name: str) -> None:
        """Its folder is moved to ``projects/.removed``; nothing is deleted."""
        await asyncio.wrap_future(self._threads.submit(self._remove, name))

    def reopen(self, name: str, meanwhile: Callable[[Path], None], change: str) -> "Future[None]":
        """Close a project, do something to its folder, open it again. Requests for it wait meanwhile, and its event
        streams end with the event 'reopening', which says what is changed. Not to be waited for by one who uses it."""
        return self._threads.submit(self._reopen, name, meanwhile, change)

    def end_streams(self) -> None:
        for project in [*self._open.values()]:
            project.events.close()

    def close(self) -> None:
        self.closed = True
        self.background.shutdown(cancel_futures=True)
        self._threads.shutdown(cancel_futures=True)
        for project in self._open.values():
            if project is not self._given:
                project.close()

    # -- in threads of their own

    def _open_one(self, name: str) -> None:
        self._folder_of(name)  # what is no project has no turn
        with self._turn(name):
            self._open_in_turn(name)

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: name.casefold() not in self._busy)
            self._busy.add(name.casefold())
        try:
            yield
        finally:
            self._end_turn(name)

    def _end_turn(self, name: str) -> None:
        with self._changed:
            self._busy.remove(name.casefold())
            self._changed.notify_all()

    # -- in the turn of the project

    def _open_in_turn(self, name: str) -> None:
        if self.closed:
            raise BusyError("the studio is shutting down.")
        if name in self._open:
            return
        folder = self._folder_of(name)
        self._make_room()
        self._open_folder(name, folder)

    def _open_folder(self, name: str, folder: Path, backbone: str | None = None, preset: str | None = None) -> None:
        try:
            project = Project(folder, backbone, preset, networks=self._networks)
        except (OSError, sqlite3.Error) as error:
            raise ExLLError(f"{folder} cannot be opened as a project: {error}.") from error
        with self._changed:
            self._open[name] = project

    def _make_room(self) -> None:
        with self._changed:
            if len(self._busy.union(map(str.casefold, self._open))) <= MOST_OPEN + 1:
                return
            unused = (name for name in self._open if name != FIRST and not self._uses[name])
            idle = next((name for name in unused if name.casefold() not in self._busy), None)
            if idle is None:
                raise BusyError(f"{MOST_OPEN} other projects are in use.", "Close the pages of one of them.")
            self._busy.add(idle.casefold())
            project = self._open.pop(idle)
        try:
            project.close()
        finally:
            self._end_turn(idle)

    def _close_one(self, name: str) -> None:
        with self._changed:
            project = self._open.pop(name, None)
        if project is not None:
            project.closing.set()
            project.events.close()
            with self._changed:
                self._changed.wait_for(lambda: not self._uses[name], PATIENCE_SECONDS)
            project.close()

    def _make(self, name: str) -> Entry:
        with self._turn(name):
            names = [other.casefold() for other in self._names()]
            if name.casefold() in (*names, self.title(FIRST).casefold()):
                raise ConflictError(f'there is a project "{name}" already.', "Open it, or choose another name.")
            if len(names) >= MOST_PROJECTS:
                raise ConflictError(f"a studio has at most {MOST_PROJECTS} projects.", "Remove one first.")
            self._make_room()
            first = self._open.get(FIRST, self._given)
            self._open_folder(name, self._folder / FOLDER / name, first.backbone.source, first.preset)
            return self._entry(name)

    def _remove(self, name: str) -> None:
        if name == FIRST:
            raise ConflictError("the studio was started with this project.", "Remove another one.")
        with self._turn(name):
            folder = self._folder_of(name)
            self._close_one(name)
            removed = self._folder / FOLDER / REMOVED
            removed.mkdir(exist_ok=True)
            folder.rename(removed / f"{name} {time.time_ns()}")

    def _reopen(self, name: str, meanwhile: Callable[[Path], None], change: str) -> None:
        with self._turn(name):
            folder = self._folder_of(name)
            if name in self._open:
                self._open[name].events.publish("reopening", {"change": change})
            self._close_one(name)
            try:
                meanwhile(folder)
            finally:
                self._open_in_turn(name)

    # -- names and folders

    def _taken(self, name: str) -> Project | None:
        with self._changed:
            project = self._open.get(name)
            if project is not None:
                self._open.move_to_end(name)
                self._uses[name] += 1
            return project

    def _folder_of(self, name: str) -> Path:
        if name == FIRST:
            return self._folder
        if name not in self._names():
            raise MissingError(
                f'there is no project "{name[:LONGEST_NAME]}".', "The Project page lists those there are."
            )
        return self._folder / FOLDER / name

    def _names(self) -> list[str]:
        return [path.name for path in self._folders() if (path / DATABASE).is_file()]

    def _folders(self) -> list[Path]:
        """A link could lead anywhere."""
        try:
            with os.scandir(self._folder / FOLDER) as found:
                return [
                    Path(entry.path)
                    for entry in found
                    if is_project_name(entry.name) and entry.is_dir(follow_symlinks=False)
                ]
        except FileNotFoundError:
            return []

    def _entries(self) -> list[Entry]:
        return [self._entry(name) for name in (FIRST, *sorted(self._names(), key=str.casefold))]

    def _entry(self, name: str) -> Entry:
        folder = self._folder if name == FIRST else self._folder / FOLDER / name
        times = [path.stat().st_mtime for path in folder.glob(f"{DATABASE}*")]
        return Entry(name, self.title(name), max(times, default=0.0))
