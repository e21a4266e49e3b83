"""Images in and out as a zip with one folder per class, and the model that calls them by their names in it. Names
inside a zip are labels and captions, never paths."""

import copy
import secrets
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from exll.explain.wording import file_name, readable
from exll.streams.folder import is_image_name
from exll.studio.actions import FileResult, Offered, teach_images
from exll.studio.class_names import clean_label
from exll.studio.errors import BusyError, StudioError, UnreadableError, UnusableError
from exll.studio.limits import MOST_FILE_BYTES
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, StoredExample
from exll.studio.zip_folders import folders_of, is_table, read_table, write_table

MOST_ENTRIES = 50_000
BATCH = 32
PROBLEMS_NAMED = 100
LONGEST_FOLDER = 40  # of a name that is shown


@dataclass
class Imported:
    """How many files of a zip were taught, and how many were not, by reason."""

    taught: int = 0
    already: int = 0
    conflicts: int = 0
    unreadable: int = 0
    passed_over: int = 0
    problems: list[FileResult] = field(default_factory=list)

    def add(self, result: FileResult) -> None:
        self.taught += result.status == "taught"
        self.already += result.status == "already"
        self.conflicts += result.status == "conflict"
        self.unreadable += result.status == "unreadable"
        if result.error and len(self.problems) < PROBLEMS_NAMED:
            self.problems.append(result)


def import_images(project: Project, file: BinaryIO) -> Imported:
    """Teach every image under the name of its folder, some at a time; each batch is safe as soon as it is done. One
    zip is one step to undo."""
    imported = Imported()
    try:
        with zipfile.ZipFile(file) as archive:
            entries, group = _images(archive, imported), secrets.token_hex(8)
            for start in range(0, len(entries), BATCH):
                if project.closing.is_set():
                    raise BusyError("the studio is shutting down.", "Import the zip again; what was taught is skipped.")
                _teach_batch(project, archive, entries[start : start + BATCH], group, imported)
                done = min(start + BATCH, len(entries))
                project.events.publish("importing", {"done": done, "images": len(entries)})
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        if isinstance(error, StudioError):
            raise
        raise UnusableError(f"the zip cannot be read: {error}.", "Create it again, without a password.") from error
    return imported


def export_images(project: Project, path: Path) -> None:
    """Images are compressed already: they are only put together."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        folders, named = _named(project)
        write_table(archive, folders)
        for example, name in named:
            archive.writestr(name, project.pictures.image(example.digest))


def export_model(project: Project, path: Path) -> None:
    """It calls its examples what they are called in the zip of images: where that is unpacked beside it, its
    explanations and rules have all pictures, and elsewhere those that the model keeps."""
    model = project.live.current
    model.taught()
    learner = copy.copy(model.learner)
    learner.classifier = copy.deepcopy(learner.classifier)
    named = _named(project)[1]
    names = {str(example.id): name for example, name in named}
    images = {str(example.id): project.pictures.image_path(example.digest) for example, _ in named}
    inner = learner.classifier.learner_
    records = inner.records_at(range(inner.learned_count))
    learner.choose_thumbnails({record.position: images[record.name] for record in records if record.name in images})
    inner.rename_refs(lambda ref: names.get(ref, ref))
    learner.save(path)


def _named(project: Project) -> tuple[dict[str, str], list[tuple[StoredExample, str]]]:
    """The folder of every label, and every example with its name in the zip, the oldest first."""
    examples = project.store.examples(None, LARGEST_ID, -1)[::-1]
    folders = folders_of(dict.fromkeys(example.label for example in examples))
    named = []
    for example in examples:
        image = project.store.image(example.digest)
        suffix = "jpg" if image is None else image.format.lower().replace("jpeg", "jpg")
        named.append((example, f"{folders[example.label]}/{example.id}.{suffix}"))
    return folders, named


def _images(archive: zipfile.ZipFile, imported: Imported) -> list[tuple[zipfile.ZipInfo, str]]:
    """Entries with their labels, in the order of the archive."""
    infos = [info for info in archive.infolist() if not info.is_dir() and not is_table(info.filename)]
    if len(infos) > MOST_ENTRIES:
        raise UnusableError(f"a zip may hold at most {MOST_ENTRIES:,} files; this one holds {len(infos):,}.")
    found, labels = [], read_table(archive)
    for info in infos:
        path, _, name = info.filename.replace("\\", "/").rpartition("/")
        folder = path.rpartition("/")[2]
        if folder in ("", ".", "..") or name.startswith("._") or not is_image_name(name):
            imported.passed_over += 1
            continue
        try:
            found.append((info, clean_label(labels.get(unicodedata.normalize("NFC", path), folder))))
        except UnusableError as error:
            imported.add(
                FileResult(
                    f"{readable(folder, LONGEST_FOLDER)}/{file_name(name)}",
                    "unreadable",
                    error=str(error),
                    hint=error.hint,
                )
            )
    if not found and not imported.unreadable:
        raise UnusableError(
            "the zip holds no images in folders.", "Put the images of each class into a folder with its name."
        )
    return found


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as file:
            content = file.read(MOST_FILE_BYTES + 1)  # the size in the header may be wrong
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise UnreadableError(
            f"the zip cannot be read here: {error}.", "Create it again, without a password."
        ) from error
    if len(content) > MOST_FILE_BYTES:
        raise UnreadableError(f"the image has more than {MOST_FILE_BYTES // 1_000_000} MB.", "Make it smaller.")
    return content


def _teach_batch(
    project: Project,
    archive: zipfile.ZipFile,
    entries: list[tuple[zipfile.ZipInfo, str]],
    group: str,
    imported: Imported,
) -> None:
    offered: dict[str, list[Offered]] = {}
    for info, label in entries:
        name = file_name(info.filename)
        try:
            content = _content(archive, info)
            offered.setdefault(label, []).append(Offered(project.kept_image(content), name))
        except UnreadableError as error:
            imported.add(FileResult(name, "unreadable", error=str(error), hint=error.hint))
    for label, offers in offered.items():
        results = project.live.write(partial(teach_images, project, offers, label, False, group=group)).result()
        for result in results:
            imported.add(result)
