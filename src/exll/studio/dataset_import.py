"""Photos in from a zip with one folder per class. Where a manifest says more of them, they come back as they went out.
Names inside a zip are labels and captions, never paths."""

import secrets
import threading
import time
import unicodedata
import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import BinaryIO

from exll.errors import ExLLError, ImageError
from exll.explain.wording import file_name, readable
from exll.features.image import read_image
from exll.features.regions import parse_box
from exll.streams.folder import is_image_name
from exll.studio.actions import FileResult, Offered, teach_images
from exll.studio.analysed_image import MOST_PIXELS
from exll.studio.class_names import clean_label
from exll.studio.dataset_export import HELD_OUT_FOLDER, NOTHING_FOLDER, SOURCES_FOLDER
from exll.studio.edits import HELD_OUT, IMPORT, NOTHING, TAUGHT, Role
from exll.studio.errors import BusyError, UnreadableError, UnusableError
from exll.studio.limits import MOST_FILE_BYTES
from exll.studio.manifest import MANIFEST, MOST_BYTES, Line, read_csv
from exll.studio.pictures import digest_of
from exll.studio.project import Project
from exll.studio.zip_folders import is_table, read_table
from exll.studio.zip_reading import ZipReader

MOST_ENTRIES = 50_000
BATCH = 32
PROBLEMS_NAMED = 100
ROLES: dict[str, Role] = {role: role for role in (TAUGHT, HELD_OUT, NOTHING)}
LONGEST_FOLDER = 40  # of a name that is shown
LONGEST_CLIP = 64


@dataclass
class Imported:
    """How many files of a zip were taught, held out or marked as nothing, and how many were not, by reason."""

    taught: int = 0
    held_out: int = 0
    nothing: int = 0
    already: int = 0
    conflicts: int = 0
    unreadable: int = 0
    passed_over: int = 0
    problems: list[FileResult] = field(default_factory=list)
    stopped: bool = False  # somebody cancelled or undid it; what it had taught until then is one step
    undone: bool = False  # that step was undone

    def add(self, result: FileResult) -> None:
        if result.example is not None:
            self.taught += result.example.role == TAUGHT
            self.held_out += result.example.role == HELD_OUT
            self.nothing += result.example.role == NOTHING
        self.already += result.status == "already"
        self.conflicts += result.status == "conflict"
        self.unreadable += result.status == "unreadable"
        if result.error and len(self.problems) < PROBLEMS_NAMED:
            self.problems.append(result)

    def refuse(self, name: str, error: str, hint: str = "") -> None:
        self.add(FileResult(name, "unreadable", error=error, hint=hint))


@dataclass(frozen=True)
class Entry:
    """A file of the zip and what it is to be taught as."""

    info: zipfile.ZipInfo
    label: str
    name: str
    role: Role = TAUGHT
    listed: bool = False  # in the manifest
    box: str | None = None
    source: zipfile.ZipInfo | None = None
    taught_at: float | None = None
    clip: str | None = None


def import_dataset(project: Project, file: BinaryIO, stop: threading.Event) -> Imported:
    """Teach every photo under the name of its folder, or as the manifest says, some at a time; each batch is safe as
    soon as it is done. One zip is one step to undo. It ends when ``stop`` is set or the step is undone."""
    with ZipReader(file) as archive:
        return _Import(project, archive, stop).run()


class _Import:
    def __init__(self, project: Project, archive: ZipReader, stop: threading.Event) -> None:
        self._project, self._archive, self._stop = project, archive, stop
        self._imported = Imported()
        self._group = secrets.token_hex(8)
        self._sources: dict[zipfile.ZipInfo, str | UnreadableError] = {}  # digests; at most one per entry of the zip
        self._labels: defaultdict[str, set[str]] = defaultdict(set)  # that the manifest gives a photo, by its digest

    def run(self) -> Imported:
        entries = self._entries()
        try:
            self._teach_all(entries)
        finally:
            self._tell(len(entries), len(entries))  # pages show progress until then
        return self._imported

    def _tell(self, done: int, images: int) -> None:
        self._project.events.publish("importing", {"done": done, "images": images})

    def _teach_all(self, entries: list[Entry]) -> None:
        for start in range(0, len(entries), BATCH):
            if self._project.closing.is_set():
                raise BusyError(
                    "the project is being closed.", "Import the zip again; photos that are here already are skipped."
                )
            if self._stop.is_set():
                break
            self._teach(entries[start : start + BATCH])
            self._tell(min(start + BATCH, len(entries)), len(entries))
        self._imported.stopped = self._stop.is_set()
        self._imported.undone = self._project.store.is_undone(self._group)

    def _entries(self) -> list[Entry]:
        """Those of the manifest in its order, then the others in that of the archive."""
        infos = [info for info in self._archive.files() if not is_table(info.filename)]
        if len(infos) > MOST_ENTRIES:
            raise UnusableError(f"a zip may hold at most {MOST_ENTRIES:,} files; this one holds {len(infos):,}.")
        by_path = {_normal(info.filename): info for info in infos}
        above, lines = self._manifest(by_path)
        entries = [entry for line in lines.values() if (entry := self._listed_entry(above, line, by_path)) is not None]
        known = {above + _normal(path) for line in lines.values() for path in (line.file, line.source)}
        labels = read_table(self._archive)
        for path, info in by_path.items():
            if path not in known and path != above + MANIFEST:
                entry = self._unlisted_entry(path, info, labels)
                entries += [] if entry is None else [entry]
        if not entries and not self._imported.unreadable:
            raise UnusableError(
                "the zip holds no photos in folders.", "Put the photos of each class into a folder with its name."
            )
        return entries

    def _manifest(self, by_path: dict[str, zipfile.ZipInfo]) -> tuple[str, dict[str, Line]]:
        """The folder that it is in, and its lines by file; the first line of a file counts."""
        paths = [path for path in by_path if path.rpartition("/")[2] == MANIFEST]
        for path in sorted(paths, key=lambda path: path.count("/"))[:1]:
            lines = read_csv(self._archive.read(by_path[path], MOST_BYTES), MOST_ENTRIES)
            if lines is not None:
                by_file: dict[str, Line] = {}
                for line in lines:
                    by_file.setdefault(_normal(line.file), line)
                return path.removesuffix(MANIFEST), by_file
        return "", {}

    def _listed_entry(self, above: str, line: Line, by_path: dict[str, zipfile.ZipInfo]) -> Entry | None:
        name = file_name(line.name or line.file)
        info, source = by_path.get(above + _normal(line.file)), by_path.get(above + _normal(line.source))
        if info is None:
            self._imported.refuse(name, f"{MANIFEST} names this file, and the zip does not hold it.")
            return None
        if line.role not in ROLES:
            self._imported.refuse(name, f"a role is one of {', '.join(ROLES)}; got {readable(line.role, 40)!r}.")
            return None
        try:
            label = "" if line.role == NOTHING else clean_label(line.label)
            box = None if not line.box or source is None else line.box
            if box is not None:
                parse_box(box)
        except ExLLError as error:
            self._imported.refuse(name, str(error), getattr(error, "hint", ""))
            return None
        source, clip = None if box is None else source, line.clip[:LONGEST_CLIP] or None
        return Entry(info, label, name, ROLES[line.role], True, box, source, _time_of(line.taught_at), clip)

    def _unlisted_entry(self, path: str, info: zipfile.ZipInfo, labels: dict[str, str]) -> Entry | None:
        folders, _, name = path.rpartition("/")
        above, _, folder = folders.rpartition("/")
        if folder in ("", ".", "..", SOURCES_FOLDER) or name.startswith("._") or not is_image_name(name):
            self._imported.passed_over += 1
            return None
        if folder == NOTHING_FOLDER:
            return Entry(info, "", file_name(name), NOTHING)
        role: Role = HELD_OUT if above.rpartition("/")[2] == HELD_OUT_FOLDER else TAUGHT
        try:
            return Entry(info, clean_label(labels.get(folders, folder)), file_name(name), role)
        except UnusableError as error:
            self._imported.refuse(f"{readable(folder, LONGEST_FOLDER)}/{file_name(name)}", str(error), error.hint)
            return None

    def _teach(self, entries: list[Entry]) -> None:
        """In their order: photos that follow one another and are of one class are taught together."""
        offered: list[tuple[Entry, bool, Offered]] = []
        for entry in entries:
            try:
                offered.append((entry, *self._offered(entry)))
            except ImageError as error:
                self._imported.refuse(entry.name, str(error), getattr(error, "hint", ""))
        for (label, role, two), run in groupby(offered, lambda offer: (offer[0].label, offer[0].role, offer[1])):
            work = partial(self._write, [offer for *_, offer in run], label, two, role)
            for result in self._project.live.write_patiently(work):
                self._imported.add(result)

    def _write(self, offers: list[Offered], label: str, two: bool, role: Role) -> list[FileResult]:
        """Whoever undoes an import stops it: between two writes nobody else writes."""
        if self._project.store.is_undone(self._group):
            self._stop.set()
        if self._stop.is_set():
            return []
        return teach_images(self._project, offers, label, two, IMPORT, group=self._group, role=role)

    def _offered(self, entry: Entry) -> tuple[bool, Offered]:
        """And whether the photo may have two labels: where the manifest gives it both."""
        project, image = self._project, self._project.kept_image(self._content(entry.info))
        source = None if entry.source is None else self._source(entry.source)
        known = {example.label for example in project.store.taught_as(image.digest)}
        two = entry.listed and known <= self._labels[image.digest]
        if entry.listed:
            self._labels[image.digest].add(entry.label)
        return two, Offered(image, entry.name, entry.box, source, entry.taught_at, entry.clip)

    def _source(self, info: zipfile.ZipInfo) -> str:
        """The digest of a whole photo, which is decoded once however many regions of it are taught."""
        found = self._sources.get(info)
        if isinstance(found, UnreadableError):
            raise UnreadableError(str(found), found.hint)
        if found is not None and self._project.pictures.has(found):
            return found
        try:
            content = self._content(info)
            read_image(content, most_pixels=MOST_PIXELS)
        except ImageError as error:
            self._sources[info] = UnreadableError(str(error), getattr(error, "hint", ""))
            raise
        self._sources[info] = digest = digest_of(content)
        self._project.pictures.keep(digest, content)
        return digest

    def _content(self, info: zipfile.ZipInfo) -> bytes:
        content = self._archive.read(info, MOST_FILE_BYTES)
        if len(content) > MOST_FILE_BYTES:
            raise UnreadableError(f"the photo has more than {MOST_FILE_BYTES // 1_000_000} MB.", "Make it smaller.")
        return content


def _time_of(taught_at: str) -> float | None:
    """Seconds since 1970; None where it is no time, or has not come yet. A time without a zone is UTC.

    >>> _time_of("1970-01-02T00:00:00+00:00"), _time_of("1970-01-02 00:00"), _time_of("last week")
    (86400.0, 86400.0, None)
    """
    try:
        given = datetime.fromisoformat(taught_at)
        seconds = (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= time.time() else None


def _normal(path: str) -> str:
    """One spelling of a path, whichever system packed it."""
    return unicodedata.normalize("NFC", path.replace("\\", "/"))
