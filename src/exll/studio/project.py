"""One project: its folder, its model and its threads, opened and closed together."""

import os
import secrets
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from exll.errors import ExLLError, OtherBackboneError
from exll.features.backbone import DEFAULT, OnnxBackbone
from exll.features.regions import PixelBox
from exll.kept_thumbnails import PER_PROTOTYPE
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.studio.analysed_image import AnalysedImage, analyse
from exll.studio.checkpoints import Checkpoints
from exll.studio.edits import Undone
from exll.studio.events import Events
from exll.studio.incoming import Incoming
from exll.studio.live import Live
from exll.studio.networks import Networks
from exll.studio.pictures import Pictures, digest_of, thumbnail_of
from exll.studio.recent_images import RecentImages
from exll.studio.store import DATABASE, Store, StoredImage
from exll.studio.thread_pool import BoundedPool
from exll.vision import ImageLearner

if TYPE_CHECKING:
    from exll.studio.rereading import Rereading

LOCK = "studio.lock"
LOOKING = (os.cpu_count() or 2) + 1  # while one waits for its turn in Python, the others keep all cores busy
MOST_LOOKING, MOST_READING, MOST_STUDYING = 64, 256, 8


class Project:
    """Three thread pools: ``looking`` decodes images and runs the network, ``reading`` answers from the disk and the
    model, and ``studying`` is what takes seconds, so that nobody who asks waits behind it."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        backbone: str | None = None,
        preset: str | None = None,
        tell: Callable[[str], None] = lambda words: None,
        networks: Networks | None = None,
    ) -> None:
        """``tell`` hears what takes a while."""
        self.folder = _usable_folder(Path(folder))
        self.networks = networks or Networks()
        self._lock = locked(self.folder)
        try:
            self.store = Store(self.folder)
            try:
                self.backbone = _backbone_of(self.store, backbone, self.networks, tell)
                self.preset = _preset_of(self.store, self.backbone, preset)
                self.key = _key_of(self.store)
                self.pictures = Pictures(self.folder)
                self.pictures.tidy(self.store.digests())
                self.checkpoints = Checkpoints(self.folder, self.store)
                self.events = Events()
                self.recent_images = RecentImages()
                self.incoming = Incoming()
                self.looking = BoundedPool(LOOKING, MOST_LOOKING, "looking")
                self.live = Live(
                    self.store,
                    self.checkpoints,
                    self.backbone,
                    self.preset,
                    self.events,
                    in_demand=lambda: self.recent_images.waiting > 0,
                    tell=tell,
                )
            except BaseException:
                self.store.close()
                raise
        except BaseException:
            self._lock.close()
            raise
        self.reading = BoundedPool(4, MOST_READING, "reading")
        self.studying = BoundedPool(2, MOST_STUDYING, "studying")
        self.closing = threading.Event()  # long work is to end
        self._closed = False
        self.imports: set[threading.Event] = set()  # one for each that runs; set, it stops
        self.rereading: Rereading | None = None  # the last one since the project was opened
        self.last_undone: Undone | None = None  # since the project was opened, for pages that did not hear of it

    @property
    def unnamed(self) -> int:
        """How many photos of the Inbox need a name, as the model last saw them."""
        return len(self.store.inbox_numbers() - self.incoming.known)

    def close(self) -> None:
        """Nothing that was acknowledged needs this; it saves the next start some work."""
        if self._closed:
            return
        self._closed = True
        self.closing.set()
        self.events.close()
        for pool in (self.studying, self.looking, self.reading):
            pool.close()
        self.live.close()
        self.store.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kept_image(self, content: bytes, box: PixelBox | None = None) -> StoredImage:
        """Analyse an image and bring it to the disk; one that was taught before need not be analysed."""
        known = self.store.image(digest_of(content)) if box is None else None
        if known is not None:
            self.pictures.keep(known.digest, content)
            return known
        return self.keep(analyse(content, self.backbone, box))

    def keep(self, image: AnalysedImage) -> StoredImage:
        """Bring an analysed image to the disk."""
        self.pictures.keep(image.digest, image.content)
        self.pictures.keep_thumbnail(image.digest, thumbnail_of(image.seen.picture))
        return StoredImage(image.digest, image.format, len(image.content), image.vector)

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def false_alarms(self) -> float:
        """How strict every answer of this project is: the share of known things that may be called unusual."""
        return float(self.store.metadata("false_alarms") or FALSE_ALARMS)

    @property
    def thumbnails(self) -> int:
        """How many photos per prototype an exported model holds, to be shown in its explanations."""
        return int(self.store.metadata("thumbnails") or PER_PROTOTYPE)

    @property
    def inbox(self) -> bool:
        """Whether photos that were asked about and found unusual are kept."""
        return self.store.metadata("inbox") != "off"


def _usable_folder(folder: Path) -> Path:
    if folder.is_file():
        raise ExLLError(
            f"{folder} cannot be used as a project's folder: it is a file. A project holds the photos themselves, and "
            "a model file does not; name a new folder and teach the photos there."
        )
    own = {LOCK, f"{LOCK}-journal"}  # what a start that was broken off leaves behind
    if folder.is_dir() and not (folder / DATABASE).exists() and any(path.name not in own for path in folder.iterdir()):
        raise ExLLError(f"{folder} is not empty and holds no project; choose an empty or a new folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExLLError(f"{folder} cannot be used as a project's folder: {error.strerror}.") from error
    return folder


def locked(folder: Path) -> sqlite3.Connection:
    """Held until closed, or until the process is no more, however it ends."""
    lock = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        raise ExLLError(f"{folder} is open in another studio; close that one first.") from error
    return lock


def _backbone_of(store: Store, wanted: str | None, networks: Networks, tell: Callable[[str], None]) -> OnnxBackbone:
    """The one that the project's vectors were made with."""
    tell(f"loading the network {wanted or store.metadata('backbone') or DEFAULT} ...")
    identity = store.metadata("backbone_identity")
    if identity is None:
        backbone = networks.open(wanted or DEFAULT)
        store.set_metadata("backbone", backbone.source)
        store.set_metadata("looks", str(backbone.looks))
        store.set_metadata("backbone_identity", backbone.identity)
        return backbone
    looks = int(store.metadata("looks") or 1)  # older projects did not store it
    try:
        return networks.open(wanted or store.metadata("backbone") or DEFAULT, looks, identity)
    except OtherBackboneError as error:
        raise ExLLError(
            f"this project was taught with the backbone {store.metadata('backbone')} (identity {identity[:12]}), and "
            f"{error.source} is another one (identity {error.identity[:12]}); choose it on the Project page, or begin "
            "a new project for it."
        ) from error


def _key_of(store: Store) -> str:
    """What tells this project from another at the same address: browsers keep its photos for a year, and its uploads
    until they are sent."""
    key = store.metadata("key")
    if key is None:
        key = secrets.token_hex(8)
        store.set_metadata("key", key)
    return key


def _preset_of(store: Store, backbone: OnnxBackbone, wanted: str | None) -> str:
    """Another preset is another model of the same examples: they are replayed."""
    known = store.metadata("preset")
    preset = wanted or known or ImageLearner(backbone).classifier.preset
    ImageLearner(backbone, preset).classifier._check_parameters()
    if known is None:
        store.set_metadata("preset", preset)
    elif preset != known:
        store.renew("preset", preset)
    return preset
