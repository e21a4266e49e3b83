"""Another network for a project: all photos are read again in the background while the old network answers.

The new vectors go to a file of their own. When all are there, the project is closed, and one transaction puts them in
the place of the old ones: whenever the power fails, the project has either the old network or the new one.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from exll.errors import ExLLError
from exll.features.backbone import OnnxBackbone
from exll.studio.analysed_image import analyse
from exll.studio.errors import ConflictError, MissingError
from exll.studio.pictures import Pictures
from exll.studio.project import Project, locked
from exll.studio.projects import Projects
from exll.studio.store import DATABASE

NEW_VECTORS = "new-vectors.db"
TELL_EVERY = 0.25  # seconds
LONGEST_PAUSE = 0.25

log = logging.getLogger(__name__)


class StoppedError(Exception):
    """Somebody wants the old network back, or the studio ends."""


class Rereading:
    """One change of a project's network. ``error`` says why it broke off."""

    def __init__(self, projects: Projects, name: str, network: str) -> None:
        self.network, self.done, self.photos = network, 0, 0
        self.running, self.error = True, ""
        self._projects, self._name = projects, name
        self._stop = threading.Event()

    def cancel(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """In a thread of its own."""
        try:
            with self._projects.held(self._name) as project:
                try:
                    network = project.networks.open(self.network)
                    self._read_all(project, network)
                except BaseException:
                    self.running = False
                    raise
                finally:
                    self._tell(project)
            change = f"the network {self.network}"
            self._projects.reopen(self._name, lambda folder: replace_vectors(folder, network), change).result()
        except StoppedError:
            pass
        except ExLLError as error:
            self._failed(str(error))
        except Exception as error:
            log.exception("the network could not be changed")
            self._failed(f"something went wrong inside ({type(error).__name__})")
        finally:
            self.running = False

    def _read_all(self, project: Project, network: OnnxBackbone) -> None:
        with new_vectors(project.folder, network.identity) as vectors:
            while missing := missing_digests(vectors):  # photos are taught meanwhile
                (self.photos,) = vectors.execute(f"SELECT count(*) FROM ({WITH_VECTORS})").fetchone()
                told = 0.0
                for place, digest in enumerate(missing):
                    if self._stop.is_set() or project.closing.is_set() or self._projects.closed:
                        raise StoppedError
                    started = time.monotonic()
                    read(vectors, project.pictures, digest, network)
                    self.done = self.photos - len(missing) + place + 1
                    if time.monotonic() - told > TELL_EVERY:
                        told = time.monotonic()
                        self._tell(project)
                    if project.recent_images.waiting:
                        time.sleep(min(LONGEST_PAUSE, time.monotonic() - started))

    def _failed(self, sentence: str) -> None:
        self.running, self.error = False, f"{sentence.rstrip('.')}. The old network is still in use."
        try:
            with self._projects.held(self._name) as project:
                project.rereading = self
                self._tell(project)
        except ExLLError:
            log.exception("the project could not be opened again")

    def _tell(self, project: Project) -> None:
        project.events.publish("reading", self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        names = ("network", "done", "photos", "running", "error")
        return {name: getattr(self, name) for name in names}


WITH_VECTORS = "SELECT digest FROM project.images UNION SELECT digest FROM project.inbox"


@contextmanager
def new_vectors(folder: Path, identity: str) -> Iterator[sqlite3.Connection]:
    """Vectors of one network, as far as they were read; those of another are dropped."""
    with closing(sqlite3.connect(folder / NEW_VECTORS, timeout=30, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # what is lost is read again
        connection.execute("CREATE TABLE IF NOT EXISTS vectors (identity TEXT, digest TEXT PRIMARY KEY, vector BLOB)")
        connection.execute("DELETE FROM vectors WHERE identity <> ?", (identity,))
        connection.execute("ATTACH ? AS project", (str(folder / DATABASE),))
        yield connection


def missing_digests(vectors: sqlite3.Connection) -> list[str]:
    return [digest for (digest,) in vectors.execute(f"{WITH_VECTORS} EXCEPT SELECT digest FROM vectors")]


def read(vectors: sqlite3.Connection, pictures: Pictures, digest: str, network: OnnxBackbone) -> None:
    try:
        vector = analyse(pictures.image(digest), network).vector
    except ExLLError as error:
        needed = vectors.execute(f"SELECT 1 FROM ({WITH_VECTORS}) WHERE digest = ?", (digest,)).fetchone()
        if isinstance(error, MissingError) and not needed:  # it left the Inbox, or was removed for good, meanwhile
            return
        query = "SELECT name FROM project.examples WHERE digest = ? LIMIT 1"
        (name,) = vectors.execute(query, (digest,)).fetchone() or (digest[:12],)
        raise ConflictError(f"the photo {name} cannot be read again: {error}") from error
    vectors.execute("INSERT INTO vectors VALUES (?, ?, ?)", (network.identity, digest, vector.astype("<f4").tobytes()))


def replace_vectors(folder: Path, network: OnnxBackbone) -> None:
    """The new vectors in the place of the old ones, all or none. For a project that is closed."""
    with closing(locked(folder)), new_vectors(folder, network.identity) as vectors:
        for digest in missing_digests(vectors):
            read(vectors, Pictures(folder), digest, network)
    facts = {"backbone": network.source, "looks": str(network.looks), "backbone_identity": network.identity}
    with closing(locked(folder)), closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("ATTACH ? AS new", (str(folder / NEW_VECTORS),))
        connection.execute("BEGIN IMMEDIATE")
        for table in ("images", "inbox"):
            connection.execute(
                f"UPDATE main.{table} SET vector = (SELECT vector FROM new.vectors WHERE digest = main.{table}.digest)"
            )
        connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
        connection.execute("UPDATE facts SET value = CAST(value AS INTEGER) + 1 WHERE name = 'generation'")
        connection.execute("COMMIT")
    remove_new_vectors(folder)


def remove_new_vectors(folder: Path) -> None:
    for path in folder.glob(f"{NEW_VECTORS}*"):
        path.unlink(missing_ok=True)
